"""Jobs done on all threads, side by side, and handed back in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from fastsvm_cli import _native

if TYPE_CHECKING:
    import threading

Job = TypeVar("Job")


class _Task(Generic[Job]):
    def __init__(self, job: Job):
        self.job, self.done = job, False
        self.failure: BaseException | None = None


def size_for(seconds: float, size: int, took: float, least: int, most: int) -> int:
    """How large the next job is to be to take so many seconds, where one of this size took `took`."""
    return max(least, min(most, int(size * seconds / max(took, 1e-9))))


class SideBySide(Generic[Job]):
    """Threads that do jobs side by side; a context manager: they end with its block.

    new_worker: called on every thread, the caller's included, for what does a job there: a function that takes one. Two
    of these run at a time, but never one of them twice. What a worker asks the core for runs on one thread, unless
    there is but one job: that has all of them.
    threads: how many, the caller's included.
    """

    def __init__(self, new_worker: "Callable[[], Callable[[Job], None]]", threads: int):
        self._new_worker, self._threads = new_worker, threads
        self._waiting: deque[_Task[Job]] = deque()  # not begun
        self._helpers: list[threading.Thread] = []
        self._closed = False

    def __enter__(self) -> "SideBySide[Job]":
        return self

    def __exit__(self, *_: object) -> None:
        if self._helpers:
            with self._changed:
                self._closed = True
                self._changed.notify_all()
            for helper in self._helpers:
                helper.join()

    def run(self, jobs: "Iterable[Job]", ready: "Callable[[], bool]") -> "Iterator[Job]":
        """Every job, once it is done, in order; what a worker raised is raised in its place. ready: whether the next
        job can be had at once: where it cannot, what has been begun comes first. The first job is done before any
        other, so that what is made when it is first needed is made once."""
        mine = self._new_worker()
        pending: deque[_Task[Job]] = deque()
        first = True
        for job in jobs:
            if first or (not pending and (self._threads == 1 or not ready())):
                first = False
                mine(job)
                yield job
                continue
            pending.append(self._hand_out(_Task(job)))
            # Enough for all threads while this one reads, or writes; no more, for the sake of memory.
            while pending and (len(pending) > 2 * self._threads or not ready()):
                yield self._finished(pending, mine)
        while pending:
            yield self._finished(pending, mine)

    def _hand_out(self, task: "_Task[Job]") -> "_Task[Job]":
        if not self._helpers:
            self._start()
        with self._changed:
            self._waiting.append(task)
            self._changed.notify_all()
        return task

    def _start(self) -> None:
        import threading

        self._changed = threading.Condition()
        for _ in range(self._threads - 1):
            helper = threading.Thread(target=self._help, daemon=True)
            try:
                helper.start()
            except RuntimeError:  # no thread to be had: those that there are do the work
                break
            self._helpers.append(helper)

    def _help(self) -> None:
        _native.set_threads_here(1)
        worker = None
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                task = self._waiting.popleft()
            try:
                worker = worker or self._new_worker()
                worker(task.job)
            except BaseException as failure:  # raised where the job is handed back
                task.failure = failure
            with self._changed:
                task.done = True
                self._changed.notify_all()

    def _finished(self, pending: "deque[_Task[Job]]", mine: "Callable[[Job], None]") -> Job:
        """The first of those pending; until it is done, this thread does what is waiting."""
        task = pending.popleft()
        while not task.done:
            with self._changed:
                while not task.done and not self._waiting:
                    self._changed.wait()
                own = None if task.done else self._waiting.popleft()
            if own is not None:
                self._do(own, mine)
        if task.failure is not None:
            raise task.failure
        return task.job

    def _do(self, task: "_Task[Job]", worker: "Callable[[Job], None]") -> None:
        before = _native.set_threads_here(1)
        try:
            worker(task.job)
        except Exception as failure:
            task.failure = failure
        finally:
            _native.set_threads_here(before)
        task.done = True
