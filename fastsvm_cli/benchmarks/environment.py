"""The machine and programs of a measurement, child processes, and LIBSVM in this process."""

import os
import platform
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence

from fastsvm_cli import __version__, _native
from fastsvm_cli.methods.training import libsvm_problem
from fastsvm_cli.system import held, name_of, processor_name
from fastsvm_cli.text.read_rows import select_rows

_TICK = 0.5  # seconds between calls of on_wait


def describe(threads: int) -> dict:
    """Return the machine, system and program versions, as plain values. threads: 0 for all."""
    return {
        "processor": processor_name(),
        "cores": _native.usable_processors(),
        "threads": threads,
        "kernels": _native.instruction_set(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "fastsvm": __version__,
        "libsvm_official": _libsvm_version(),
        "svm_predict": shutil.which("svm-predict"),
    }


def short(machine: dict) -> str:
    """Return the processor and its instruction set in few words."""
    return f"{machine['processor']}, {machine['kernels']}"


def native_program() -> "str | None":
    """Return the path of fastsvm-predict, beside this program or Python or on the PATH, or None."""
    folders = [os.path.dirname(os.path.abspath(each)) for each in (sys.argv[0], sys.executable)]
    return shutil.which("fastsvm-predict", path=os.pathsep.join([*folders, os.environ.get("PATH", "")]))


def fastsvm_command() -> "list[str]":
    """Return the words that start this installation's command."""
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script) == "fastsvm" and os.access(script, os.X_OK):
        return [script]
    return [sys.executable, "-m", "fastsvm_cli"]


def run_process(
    words: Sequence[str], environment: "dict | None" = None, on_wait: "Callable[[], None] | None" = None
) -> "tuple[int, str]":
    """Run a process, which ends with this one; return its exit code and standard error.

    on_wait: called every half second.
    """
    process = None
    try:
        with held():  # no signal between start and assignment
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
            )
        printed = _heard(process, on_wait)
    except BaseException:
        if process is not None:
            process.kill()
            process.wait()
        raise
    return process.returncode, printed.decode("utf-8", "replace")


def _heard(process: "subprocess.Popen", on_wait: "Callable[[], None] | None") -> bytes:
    assert process.stderr is not None
    buffers = []
    with process.stderr as stream:
        while True:
            if not select.select([stream], [], [], None if on_wait is None else _TICK)[0]:
                if on_wait is not None:
                    on_wait()
                continue
            buffer = os.read(stream.fileno(), 1 << 16)
            if not buffer:
                break
            buffers.append(buffer)
    process.wait()
    return b"".join(buffers)


class LibsvmScoring:
    """LIBSVM's own prediction of the rows that `take` selects."""

    def __init__(self, path: str, chunks: "list[_native.Chunk]"):
        from libsvm.svm import gen_svm_nodearray, libsvm
        from libsvm.svmutil import svm_load_model

        with open(path, "rb") as file:
            if not file.read(8).isascii():  # LIBSVM would print a message
                raise ValueError("libsvm reads no compressed models")
            # libsvm-official takes only UTF-8 names.
            self._model = svm_load_model(name_of(file))
        self._library, self._nodes, self._chunks = libsvm, gen_svm_nodearray, chunks
        if self._model is None:
            raise ValueError("libsvm-official cannot read this model")
        self._rows: list = []
        self.rows = 0  # selected

    def take(self, most: int) -> None:
        """Select at most this many evenly spread rows."""
        total = sum(chunk.rows for chunk in self._chunks)
        count = min(total, most)
        _, rows = libsvm_problem(select_rows(self._chunks, [at * total // count for at in range(count)]))
        self._rows, self.rows = [self._nodes(row, isKernel=True)[0] for row in rows], count  # which keeps zeros

    def __call__(self) -> int:
        """Predict the selected rows, and return their number."""
        predict, model = self._library.svm_predict, self._model
        for nodes in self._rows:
            predict(model, nodes)
        return self.rows


def _libsvm_version() -> "str | None":
    from importlib.metadata import distributions

    return next((each.version for each in distributions(name="libsvm-official")), None)
