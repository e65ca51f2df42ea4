import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from fastsvm_cli.benchmarks.attempts import CompileAll, Outcome, refused_before, run
from fastsvm_cli.benchmarks.cases import Bench
from fastsvm_cli.cluster.scheduler import Address, connect, demanding_workers
from fastsvm_cli.methods.method import Attempt

if TYPE_CHECKING:
    from subprocess import Popen

    from distributed import Client

#: Commands on a worker, by the `bench` that started them; None once it has ended.
_running: "dict[str, set[Popen] | None]" = {}
_lock = Lock()


class _Unwanted(Exception):
    """The client cancelled this task."""


def side_by_side(address: str, bench: Bench, patience: float) -> CompileAll:
    """Compile on workers' threads; after one reduced set is given up, cancel larger ones. All attempts finish before
    the first outcome is yielded, to keep later timings undisturbed. Raise FastsvmError if no scheduler answers; the
    returned function raises like connect and demanding_workers."""
    if Address(address).workers is None:
        with connect(address):
            pass

    def compile_all(tried: "list[tuple[Attempt, str]]", begins: "Callable[[str], None]") -> "Iterator[Outcome]":
        with open(bench.exact_file, "rb") as file:
            text = file.read()
        begins(f"{len(tried)} attempts on the cluster")
        with connect(address) as client, demanding_workers(client):
            made = _made(client, bench, tried, text, patience, begins)
        for (_, path), (outcome, model) in zip(tried, made):
            if model is not None:
                with open(path, "wb") as file:
                    file.write(model)
            yield outcome

    return compile_all


def _made(
    client: "Client",
    bench: Bench,
    tried: "list[tuple[Attempt, str]]",
    text: bytes,
    patience: float,
    begins: "Callable[[str], None]",
) -> "list[tuple[Outcome, bytes | None]]":
    from distributed import as_completed

    owner = uuid4().hex
    sent = client.scatter(text, broadcast=True, hash=False)
    threads = bench.thread_words() or ["--threads", "1"]
    tasks: dict[Any, int] = {}
    found: dict[int, tuple[Outcome, bytes | None]] = {}
    for at, (each, _) in enumerate(tried):
        why = refused_before(bench, each, None)
        if why is not None:
            found[at] = Outcome(0.0, why), None
        else:
            words = [*each.arguments, *threads]
            tasks[client.submit(_compile, owner, sent, bench.exact_file, words, patience, pure=False)] = at
    try:
        for task in as_completed(list(tasks), loop=client.loop):
            at = tasks[task]
            if at in found:  # cancelled, with an outcome
                continue
            found[at] = task.result()  # or raises: a lost scheduler cancels all tasks
            each = tried[at][0]
            begins(f"{len(found)} of {len(tried)} attempts compiled on the cluster")
            if found[at][0].given_up and each.reduces:
                too_large = [other for other in tasks if tasks[other] > at and tried[tasks[other]][0].reduces]
                for other in too_large:
                    if tasks[other] not in found:
                        why = refused_before(bench, tried[tasks[other]][0], each.name)
                        found[tasks[other]] = Outcome(0.0, why), None
                client.cancel(too_large)
    finally:
        client.cancel(list(tasks))
        with suppress(Exception):  # already reported
            client.run(end_processes, owner, on_error="ignore")
    return [found[at] for at in range(len(tried))]


def _compile(
    owner: str, text: bytes, exact_file: str, words: "list[str]", patience: float
) -> "tuple[Outcome, bytes | None]":
    from tempfile import TemporaryDirectory

    from distributed import get_worker

    worker = get_worker()
    task = worker.get_current_task()

    def end_with_client() -> None:
        """End if the scheduler released the task: the client was killed."""
        known = worker.state.tasks.get(task)
        if known is None or known.state == "cancelled":
            raise _Unwanted

    # Dask removes that folder even if the worker is killed.
    with TemporaryDirectory(dir=worker.local_directory, ignore_cleanup_errors=True) as folder:
        model, out = os.path.join(folder, os.path.basename(exact_file)), os.path.join(folder, "out", "model")
        os.mkdir(os.path.dirname(out))
        with open(model, "wb") as file:
            file.write(text)
        outcome = run(
            [*fastsvm_words(), *words, "-q", model, out],
            patience,
            on_start=lambda process: note(owner, process),
            on_wait=end_with_client,
        )
        if outcome.failed is not None:
            outcome.failed = outcome.failed.replace(model, exact_file)
            return outcome, None
        with open(out, "rb") as made:
            return outcome, made.read()


def fastsvm_words() -> "list[str]":
    """Return this process's fastsvm command. -m would search the worker's directory first."""
    script = os.path.join(os.path.dirname(sys.executable), "fastsvm")
    return [script] if os.access(script, os.X_OK) else [sys.executable, "-m", "fastsvm_cli"]


def note(owner: str, process: "Popen") -> None:
    with _lock:
        those = _running.setdefault(owner, set())
        if those is None:
            process.kill()
        else:
            those.add(process)


def end_processes(owner: str) -> None:
    with _lock:
        for process in _running.get(owner) or ():
            process.kill()
        _running[owner] = None
