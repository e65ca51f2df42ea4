"""Blocks handed to workers, and what comes back: few at a time, in order, again where a fault can pass."""

import queue
from collections import deque
from collections.abc import Callable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any

from fastsvm_cli import __version__
from fastsvm_cli.cluster import work
from fastsvm_cli.cluster.blocks import Block
from fastsvm_cli.cluster.job import Job
from fastsvm_cli.cluster.shards import one_line
from fastsvm_cli.errors import FastsvmError

if TYPE_CHECKING:
    from distributed import Client, Future

#: How often a block is tried whose fault can pass. Dask itself moves the block of a worker that died to another one, up
#: to distributed.scheduler.allowed-failures times for each of these.
TRIES = 4
#: Small blocks go together, so that the scheduler's milliseconds for each task do not count.
_TOGETHER_BYTES = 1 << 20
_TOGETHER = 32
_IDLE = 5.0  # seconds without workers, until that is said
_LOOK = 0.5  # seconds between two looks at whether all is well
_ROOM = 3.0  # tasks that wait or run, per thread of the workers: enough for none to wait for the client


class Gone(FastsvmError):
    """The scheduler does not answer any longer."""


class Crew:
    """The workers of a scheduler, told of a job for the `with` block. address: the scheduler's, for messages. say:
    called with a line for the user. Raises FastsvmError where they cannot do it."""

    def __init__(self, client: "Client", job: Job, address: str, say: "Callable[[str], None]"):
        self._client, self._job, self._address, self._say = client, job, address, say
        self._done: queue.Queue[Future] = queue.Queue()
        self._running: dict[Future, list[Block]] = {}
        self._threads, self._looked = 0, 0.0
        self._idle_since: float | None = None
        self._told_idle = False

    def __enter__(self) -> "Crew":
        from fastsvm_cli.cluster.plugin import JobPlugin

        self._plugin = JobPlugin(self._job)
        try:
            self._client.register_plugin(self._plugin)
        except FastsvmError:
            self._dismiss()
            raise
        except Exception as error:
            self._dismiss()
            why = one_line(error)
            raise FastsvmError(
                f"the workers of {self._address} cannot take the job (have they fastsvm {__version__}?): {why}"
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._dismiss()

    def _dismiss(self) -> None:
        """Nobody works at the job any longer, or holds it: where one worker refuses it, the others do not."""
        try:
            if self._running:
                self._client.cancel(list(self._running), force=True)
            self._client.unregister_worker_plugin(self._plugin.name)
        except Exception:  # the scheduler has gone, and with it all of that
            pass

    def run(self, blocks: "list[Block]") -> "Iterator[tuple[Block, dict[str, Any]] | None]":
        """(block, its record or its last fault), as they come, and None now and then while none does. A fault that
        concerns all blocks is the last one. Raises Gone."""
        waiting = deque(_groups(blocks))
        tries: dict[str, int] = {}
        while waiting or self._running:
            self._look()
            while waiting and len(self._running) < max(2.0, _ROOM * self._threads):
                self._submit(waiting.popleft())
            try:
                future = self._done.get(timeout=_LOOK)
            except queue.Empty:
                yield None
                continue
            group = self._running.pop(future, None)
            if group is None:
                continue
            told, weight = self._told(future, group)
            for block in group:
                fault = told.get(block.part)
                if fault is None:  # behind one that concerns all
                    continue
                if fault.get("fault") == work.AGAIN:
                    tries[block.part] = tries.get(block.part, 0) + weight
                    if tries[block.part] < TRIES:
                        waiting.appendleft([block])
                        continue
                yield block, fault

    def _submit(self, group: "list[Block]") -> None:
        try:
            future = self._client.submit(
                work.do_blocks, self._job.key, group, pure=False, key=f"fastsvm-{group[0].part}-{_serial()}"
            )
        except Exception as error:
            raise Gone(f"the scheduler at {self._address} does not answer any longer ({one_line(error)})") from None
        self._running[future] = group
        future.add_done_callback(self._done.put)

    def _told(self, future: "Future", group: "list[Block]") -> "tuple[dict[str, dict[str, Any]], int]":
        """{part: record or fault} of a task that has ended, and how many tries it counts as."""
        try:
            if future.status == "finished":
                return {each["part"]: each for each in future.result(timeout=60)}, 1
            error = future.exception(timeout=60) if future.status == "error" else None
        except Exception as fault:
            error = fault
        self._look(at_once=True)
        why, weight = one_line(error) if error is not None else "the scheduler has lost it", 1
        if type(error).__name__ == "KilledWorker":
            why, weight = "every worker that had it died", 2
        elif isinstance(error, ImportError) or "deserialization of the task graph" in why:
            # Nobody there can read a task. Dask's scheduler does, before a worker sees it.
            why = f"the scheduler at {self._address} cannot read the job: install fastsvm {__version__} there too"
            return {group[0].part: {"part": group[0].part, "fault": work.JOB, "why": why, "line": None}}, 1
        return {each.part: {"part": each.part, "fault": work.AGAIN, "why": why, "line": None} for each in group}, weight

    def _look(self, at_once: bool = False) -> None:
        """Whether there is a scheduler, and how many threads its workers have."""
        if monotonic() - self._looked < _LOOK and not at_once:
            return
        self._looked = monotonic()
        if self._client.status not in ("running", "connecting"):
            raise Gone(f"the scheduler at {self._address} does not answer any longer")
        if self._client.status != "running":
            return
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        self._threads = sum(each["nthreads"] for each in workers.values())
        if workers:
            self._idle_since, self._told_idle = None, False
            return
        self._idle_since = self._idle_since or self._looked
        if not self._told_idle and self._looked - self._idle_since >= _IDLE:
            self._say(f"{self._address} has no workers at the moment: waiting for one.")
            self._told_idle = True


def _groups(blocks: "list[Block]") -> "Iterator[list[Block]]":
    """Neighbouring blocks, together while they are small."""
    group: list[Block] = []
    size = 0
    for block in blocks:
        if group and (size + block.size > _TOGETHER_BYTES or len(group) == _TOGETHER):
            yield group
            group, size = [], 0
        group.append(block)
        size += block.size
    if group:
        yield group


def _serial() -> str:
    import os

    return os.urandom(6).hex()
