"""`predict --dask` in this process, with a single worker thread."""

import contextlib
import functools
import os
import sys
import tempfile
from unittest import mock

from fastsvm_cli import cli
from fastsvm_cli.cluster import run
from support.processes import Finished


@functools.cache
def client():
    """Client of a cluster in this process, on a free port: Dask warns if another process has its usual one."""
    import distributed

    return distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", set_as_default=False
    )


def close():
    if client.cache_info().currsize:
        client().close()
        client.cache_clear()


def predict(*arguments, before=lambda block: None, code=0):
    """before: called with each block on the worker, where it may raise. Returns a Finished whose `done` lists the parts
    made."""
    plain, done = run.answer_block, []

    def do(job, block, where):
        before(block)
        out = plain(job, block, where)
        done.append(block.part)
        return out

    @contextlib.contextmanager
    def connect(address, say):
        yield client()

    with mock.patch.object(run, "answer_block", do):
        printed = run_here("predict", *arguments, code=code, connect=connect)
    printed.done = done
    return printed


def run_here(*arguments, code=0, connect=run.connect):
    ended = 0
    with (
        mock.patch.object(run, "connect", connect),
        mock.patch.object(sys, "argv", ["fastsvm", *map(str, arguments)]),
        _captured(1, "stdout") as out,
        _captured(2, "stderr") as err,
    ):
        try:
            cli.main()
        except SystemExit as stop:
            ended = stop.code
    finished = Finished(arguments, ended, out[0], err[0])
    assert ended == code and "Traceback" not in finished.err, str(finished)
    return finished


@contextlib.contextmanager
def _captured(descriptor, name):
    """Yield a list that the text written to a standard stream is appended to, by Python or the core."""
    texts, before = [], os.dup(descriptor)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), descriptor)
        try:
            with (
                open(descriptor, "w", buffering=1, closefd=False) as stream,
                mock.patch.object(sys, name, stream),
            ):
                yield texts
        finally:
            os.dup2(before, descriptor)
            os.close(before)
            file.seek(0)
            texts.append(file.read().decode())


def parts(folder):
    """Output of `cat FOLDER/part*`."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("part*")))
