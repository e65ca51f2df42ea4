"""`predict --dask` in this process, with a client whose one worker is this process too."""

import contextlib
import io
import pickle
import sys
from unittest import mock

from fastsvm_cli import cli
from fastsvm_cli.cluster import run
from support.processes import Finished


class Future:
    """Of a task that has ended."""

    def __init__(self, value):
        self.status, self._value = ("error" if isinstance(value, BaseException) else "finished"), value

    def result(self, timeout=None):
        return self._value

    def exception(self, timeout=None):
        return self._value

    def add_done_callback(self, callback):
        callback(self)


class Client:
    """What cluster/crew.py asks of distributed's. before: called with (the blocks of a task); what it raises is the
    task's exception. tasks: the blocks of all of them."""

    status = "running"

    def __init__(self, before=lambda blocks: None):
        self._before, self.tasks, self.plugins = before, [], {}

    def register_plugin(self, plugin):
        self.plugins[plugin.name] = pickle.loads(pickle.dumps(plugin))
        self.plugins[plugin.name].setup(None)

    def unregister_worker_plugin(self, name):
        self.plugins.pop(name).teardown(None)

    def scheduler_info(self, n_workers):
        return {"workers": {"this": {"nthreads": 1}}}

    def submit(self, function, *arguments, pure, key):
        function, arguments = pickle.loads(pickle.dumps((function, arguments)))
        self.tasks.append([block.part for block in arguments[1]])
        try:
            self._before(arguments[1])
            return Future(function(*arguments))
        except Exception as error:
            return Future(error)

    def cancel(self, futures, force):
        pass


def predict(*arguments, client=None, code=0):
    """`fastsvm predict` with these arguments; every scheduler is `client`."""
    client = client or Client()

    @contextlib.contextmanager
    def connect(address, say):
        yield client

    return run_here("predict", *arguments, code=code, connect=connect)


def run_here(*arguments, code=0, connect=run.connect):
    """fastsvm in this process. Raises AssertionError where it ends with another exit code."""
    out, err, ended = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(run, "connect", connect),
        mock.patch.object(sys, "argv", ["fastsvm", *map(str, arguments)]),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "stdout", _Standard(out)),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            ended = stop.code
    finished = Finished(arguments, ended, out.getvalue(), err.getvalue())
    assert ended == code and "Traceback" not in finished.err, str(finished)
    return finished


class _Standard:
    """Standard output whose text is kept; its descriptor stays what it is."""

    def __init__(self, text):
        self._text = text

    def write(self, words):
        return self._text.write(words)

    def flush(self):
        pass

    def fileno(self):
        return 1

    def isatty(self):
        return False


def parts(folder):
    """What `cat FOLDER/part-*` prints."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("part-*")))
