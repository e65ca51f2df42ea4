"""Connect to a Dask scheduler, or start one on this machine."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from fastsvm_cli import _native, system
from fastsvm_cli.errors import FastsvmError, MissingPackageError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster
    from distributed.utils import LoopRunner

#: Seconds for a scheduler to answer.
TIMEOUT = 5.0
#: Seconds for a scheduler's first worker.
PATIENCE = 30.0
_ADDRESS = re.compile(r"(?:tcp|tls)://[^\s/]+:[0-9]{1,5}/?|wss?://[^\s/]\S*")


def local_workers(address: str) -> "int | None":
    """Return N of `local:N`, by default the number of usable processors; None for a scheduler's address.

    Raises ValueError with the expected form.
    """
    local = re.fullmatch(r"local(?::([1-9][0-9]{0,3}))?", address)
    if local is not None:
        return int(local[1]) if local[1] else _native.usable_processors()
    if not _ADDRESS.fullmatch(address):
        raise ValueError(f"'{address}' found, expected tcp://HOST:PORT, tls://HOST:PORT, local or local:N")
    return None


@contextmanager
def required_dask() -> "Iterator[None]":
    """Convert a missing package of the dask extra to MissingPackageError."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "dask").partition(".")[0]
        raise MissingPackageError(name, "it is not installed: pip install 'fastsvm[dask]'") from None


@contextmanager
def connect(address: str, say: "Callable[[str], None]" = lambda line: None) -> "Iterator[Client]":
    """Yield a client; worker processes of `local` end with the block.

    say: receives lines for the user. Raises FastsvmError if no scheduler answers.
    """
    try:
        workers = local_workers(address)
    except ValueError as error:
        raise FastsvmError(f"--dask: {error}") from None
    with required_dask():
        import dask
        import distributed
    import logging

    # Dask's log repeats our messages, or reports lost workers, which are not errors of the job.
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio", "bokeh"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    quiet = {
        "logging.distributed": "critical",
        "distributed.admin.log-length": 1000,
        "distributed.admin.large-graph-warning-threshold": "1 PB",  # models may be large
    }
    with dask.config.set(quiet):
        with (
            nullcontext(address) if workers is None else _local_cluster(workers) as target,
            _closed(_client(distributed, target, say)) as client,
        ):
            if client.dashboard_link:
                say(f"Dashboard: {client.dashboard_link}")
            yield client


@contextmanager
def requiring_scheduler() -> "Iterator[None]":
    """Convert the loss of scheduler or workers to FastsvmError."""
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise FastsvmError(
            f"--dask: {error.allowed_failures + 1} workers died at the same task: is their memory enough?"
        ) from None
    except FastsvmError:
        raise
    except (CancelledError, CommClosedError, OSError) as error:
        why = _first_line(error) or type(error).__name__
        raise FastsvmError(f"--dask: the scheduler was lost, or all workers were: {why}") from None


@contextmanager
def requiring_workers(client: "Client") -> "Iterator[int]":
    """Wait for a worker, and yield the number of threads; convert errors like requiring_scheduler.

    Raises FastsvmError if no worker appears within PATIENCE seconds.
    """
    import asyncio

    with requiring_scheduler():
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except (TimeoutError, asyncio.TimeoutError):  # one class from Python 3.11 on
            raise FastsvmError(f"--dask: the scheduler has no worker within {PATIENCE:g} s") from None
        yield sum(client.nthreads().values())


@contextmanager
def _local_cluster(workers: int) -> "Iterator[LocalCluster]":
    import logging

    import dask
    import distributed

    directory = dask.config.get("temporary-directory", None)  # the user's choice of disk
    if directory is not None:
        os.makedirs(directory, exist_ok=True)
    with system.temporary_folder(prefix="fastsvm-dask-", dir=directory) as folder:
        loop = cluster = None
        try:
            # A half-started cluster could not be closed.
            with dask.config.set({"temporary-directory": folder}), system.held():
                loop = _loop_that_is_not_interrupted()
                cluster = distributed.LocalCluster(
                    loop=loop.loop,
                    n_workers=workers,
                    threads_per_worker=max(1, _native.usable_processors() // workers),
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                    memory_limit=0,  # no limit: models may be large
                )
            yield cluster
        except (OSError, RuntimeError, TimeoutError) as error:
            if cluster is not None:
                raise
            why = _first_line(error)
            raise FastsvmError(f"no worker processes could be started on this machine: {why}") from None
        finally:
            with system.held():
                if cluster is not None:
                    cluster.close(timeout=10)
                if loop is not None:
                    loop.stop(timeout=5)


def _loop_that_is_not_interrupted() -> "LoopRunner":
    """Return the thread that starts workers, with SIGINT blocked: only the client handles Ctrl-C."""
    import signal
    import sys
    from multiprocessing import resource_tracker

    from distributed.utils import LoopRunner

    # Python's helper process. Started from the loop, it would clear the mask, and warn about remains of an interrupted
    # client.
    sys.warnoptions.append("ignore:resource_tracker")
    resource_tracker.ensure_running()
    sys.warnoptions.pop()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        runner = LoopRunner()
        runner.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return runner


@contextmanager
def _closed(client: "Client") -> "Iterator[Client]":
    try:
        yield client
    finally:
        with suppress(OSError, RuntimeError, TimeoutError):  # the scheduler is gone
            client.close(timeout=5)


def _client(distributed, target, say: "Callable[[str], None]") -> "Client":
    import warnings

    if isinstance(target, str) and target.startswith(("tls:", "wss:")):
        if distributed.Security().get_connection_args("client").get("ssl_context") is None:
            raise FastsvmError(
                f"no certificates for {target}: Dask's settings say where they are, distributed.comm.tls.ca-file,"
                " client.cert and client.key"
            )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            client = distributed.Client(target, timeout=TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TimeoutError, RuntimeError, ImportError) as error:
            why = _first_line(error) or type(error).__name__
            raise FastsvmError(f"no Dask scheduler answers at {target}: {why}") from None
    if any("Mismatched versions" in str(each.message) for each in caught):
        say("Note: the scheduler or its workers have other versions of Dask, or of what it needs, than this machine.")
    return client


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]
