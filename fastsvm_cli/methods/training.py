"""Train by libsvm-official in this process."""

from collections.abc import Iterable
from threading import Thread

from fastsvm_cli import _native
from fastsvm_cli.errors import MissingPackageError
from fastsvm_cli.models import ExactModel, parse_libsvm
from fastsvm_cli.text.read_rows import read_bytes


def libsvm_problem(chunks: "Iterable[_native.Chunk]") -> "tuple[list[float], list[dict[int, float]]]":
    """Return (labels, rows) in libsvm-official's format."""
    labels: list[float] = []
    rows: list[dict[int, float]] = []
    for chunk in chunks:
        labels += [label for (label,) in chunk.leading.tolist()]
        starts, indices, values = chunk.indptr.tolist(), chunk.indices.tolist(), chunk.values.tolist()
        rows += [dict(zip(indices[at:to], values[at:to])) for at, to in zip(starts, starts[1:])]
    return labels, rows


def load_libsvm() -> None:
    """Import libsvm-official.

    Interrupts must not raise meanwhile: its import of scipy catches every exception.
    """
    try:
        import libsvm.svmutil  # noqa: F401
    except ImportError:
        raise MissingPackageError("libsvm-official", "it is not installed: pip install 'fastsvm[libsvm]'") from None
    except Exception as error:  # OSError: its library fits another system
        why = f"it does not load: {' '.join(str(error).split())}"
        raise MissingPackageError("libsvm-official", why) from None


def train(labels: "list[float]", rows: "list[dict[int, float]]", options: str, path: str) -> ExactModel:
    """Train as svm-train does; write the model to `path` and return it. LIBSVM's thread survives interrupts."""
    from libsvm.svm import kernel_names, svm_parameter, svm_problem
    from libsvm.svmutil import svm_save_model, svm_train

    parameters = svm_parameter(options)
    parameters.print_func = _say_nothing()
    problem = svm_problem(labels, rows, isKernel=parameters.kernel_type == kernel_names.PRECOMPUTED)
    trained: list[object] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            trained.append(svm_train(problem, parameters))
        except BaseException as error:
            failures.append(error)

    worker = Thread(target=work, daemon=True)
    try:
        worker.start()
    except RuntimeError:  # no more threads
        work()
    else:
        worker.join()
    if failures:
        raise failures[0]
    svm_save_model(path, trained[0])
    return parse_libsvm(read_bytes(path), path)


def _say_nothing() -> object:
    # A Python function could lose an interrupt, or outlive the interpreter.
    import ctypes

    from libsvm.svm import PRINT_STRING_FUN

    return ctypes.cast(ctypes.CDLL(None).strlen, PRINT_STRING_FUN)
