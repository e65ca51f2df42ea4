"""Certificate sums on the workers of a Dask cluster."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastsvm_cli.cluster.scheduler import requiring_workers
from fastsvm_cli.methods.approx.pair_sums import AddUp, PairSums, totals
from fastsvm_cli.methods.parallel import threads_here

if TYPE_CHECKING:
    from distributed import Client

#: Tasks per thread, to end at about the same time.
_TASKS_EACH = 20
#: Maximum parts, of a second each, per task: the loss if a worker dies.
_MOST_PARTS = 60


def over(client: "Client") -> AddUp:
    """Return an AddUp that uses all workers of a cluster.

    Totals equal one process's, bit for bit, if processors have the same instructions.
    """

    def add_up(pairs: PairSums, on_progress: "Callable[[float], None] | None") -> "list[float]":
        count = len(pairs.parts)
        with requiring_workers(client) as threads:
            size = max(1, min(count // (_TASKS_EACH * threads), _MOST_PARTS))
            sent = client.scatter(pairs, broadcast=True, hash=False)
            slices = [(first, min(first + size, count)) for first in range(0, count, size)]
            tasks = [client.submit(_sums, sent, *each, pure=False) for each in slices]
            return totals(each for part in _in_order(client, tasks, slices, pairs, on_progress) for each in part)

    return add_up


def _in_order(
    client: "Client",
    tasks: "list[Any]",
    slices: "list[tuple[int, int]]",
    pairs: PairSums,
    on_progress: "Callable[[float], None] | None",
) -> "list[list[list[float]]]":
    from distributed import as_completed

    def work(each: "tuple[int, int]") -> float:
        return pairs.parts.share(each[1]) - pairs.parts.share(each[0])

    share, at, found = 0.0, {task.key: number for number, task in enumerate(tasks)}, {}
    try:
        for task in as_completed(tasks, loop=client.loop):
            number = at[task.key]
            found[number] = task.result()  # raises the task's error
            share += work(slices[number])
            if on_progress is not None:
                on_progress(min(share, 1.0))
    finally:
        client.cancel(tasks)
    return [found[number] for number in range(len(tasks))]


def _sums(pairs: PairSums, first: int, last: int) -> "list[list[float]]":
    """Return the sums of the parts first, ..., last - 1 by one thread: Dask runs one per task."""
    with threads_here(1):
        return [pairs.parts.sums(part) for part in range(first, last)]
