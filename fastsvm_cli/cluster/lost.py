"""What can become of work that is on a cluster, in words for the user."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fastsvm_cli.errors import FastsvmError

if TYPE_CHECKING:
    from distributed import Client

#: Seconds that a scheduler is given to have a worker.
PATIENCE = 30.0


@contextmanager
def demanding_workers(client: "Client") -> "Iterator[int]":
    """The number of threads of all workers, of which there must be one; in the block, a scheduler or workers that go
    are a FastsvmError."""
    import asyncio
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
        yield sum(client.nthreads().values())
    except (TimeoutError, asyncio.TimeoutError):  # one from Python 3.11 on
        raise FastsvmError(f"--dask: the scheduler has no worker within {PATIENCE:g} s") from None
    except KilledWorker as fault:
        raise FastsvmError(
            f"--dask: {fault.allowed_failures + 1} workers died at the same task: is their memory enough?"
        ) from None
    except (CancelledError, CommClosedError, OSError) as fault:
        why = str(fault).strip().partition("\n")[0] or type(fault).__name__
        raise FastsvmError(f"--dask: the scheduler was lost, or all workers were: {why}") from None
