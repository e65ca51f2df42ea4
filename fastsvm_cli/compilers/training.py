"""Training by libsvm-official, for what fastsvm trains itself: a folded linear model, the folds of a
cross-validation, a benchmark's control."""

from collections.abc import Iterable

from fastsvm_cli import _native
from fastsvm_cli.models import parse_libsvm
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.text.data import read_bytes


def libsvm_problem(chunks: "Iterable[_native.Chunk]") -> "tuple[list[float], list[dict[int, float]]]":
    """(labels, rows) as libsvm-official takes them; the rows were read by fastsvm, so that their faults are told in
    its words."""
    labels: list[float] = []
    rows: list[dict[int, float]] = []
    for chunk in chunks:
        labels += [label for (label,) in chunk.leading.tolist()]
        starts, indices, values = chunk.indptr.tolist(), chunk.indices.tolist(), chunk.values.tolist()
        rows += [dict(zip(indices[at:to], values[at:to])) for at, to in zip(starts, starts[1:])]
    return labels, rows


def load_libsvm() -> None:
    """Import libsvm-official now. It catches whatever is raised while it imports scipy: an interrupt, too, which
    therefore must not be raised then (interruption.raising)."""
    from contextlib import suppress

    with suppress(Exception):  # whoever needs it will say so
        import libsvm.svmutil  # noqa: F401


def train(labels: "list[float]", rows: "list[dict[int, float]]", options: str, path: str) -> ExactModel:
    """The model that svm-train makes with these options; its file is `path`."""
    from libsvm.svmutil import svm_save_model, svm_train

    svm_save_model(path, svm_train(labels, rows, f"-q {options}"))
    return parse_libsvm(read_bytes(path), path)
