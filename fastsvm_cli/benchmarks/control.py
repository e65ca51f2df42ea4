"""The honest rival of any compiled model: an SVM trained on fewer rows, small enough to be fast by itself (the
control that libAGF's authors use)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fastsvm_cli.benchmarks.quality import Answers
from fastsvm_cli.comparisons.agreement import agreement
from fastsvm_cli.compilers.training import libsvm_problem, train
from fastsvm_cli.errors import FileError, ModelFormatError
from fastsvm_cli.text.data import read_chunks
from fastsvm_cli.text.header import KERNEL_TYPES, SVM_TYPES

if TYPE_CHECKING:
    from fastsvm_cli.text.scaling import Scaling


class Control:
    """An SVM trained on some of the rows.

    path: of its model file. rows: how many it was trained on. of: how many there are. disagreement: with the exact
    model, a share of labels. cost: C."""

    def __init__(self, path: str, rows: int, of: int, disagreement: float, cost: float):
        self.path, self.rows, self.of, self.disagreement, self.cost = path, rows, of, disagreement, cost


def subsample_control(
    exact: Answers,
    train_file: str,
    target: float,
    folder: str,
    *,
    cost: "float | None" = None,
    seed: int = 0,
    scaling: "Scaling | None" = None,
    on_progress: "Callable[[float, str], None] | None" = None,
) -> "Control | None":
    """The SVM on the fewest rows, drawn at random, whose disagreement with the exact model on the test rows is
    `target` or less; None where not even all rows give one. Trained by libsvm-official with the exact model's
    kernel, and its C: `cost`, or the largest |coefficient|. Raises ModelFormatError for models other than c_svc, and
    FileError."""
    header = exact.model.header
    classes = header.label or []
    if header.svm_type != "c_svc" or header.kernel_type == "precomputed":
        raise ModelFormatError(
            exact.model.path,
            f"a {header.svm_type} model with a {header.kernel_type} kernel found, expected c_svc and LIBSVM's own"
            " kernel: only that is trained again",
        )
    cost = cost or float(np.max(np.abs(np.asarray(exact.model.vectors.leading)), initial=0.0)) or 1.0
    labels, rows = libsvm_problem(read_chunks(train_file, scaling=scaling))
    if not rows:
        raise FileError(train_file, "no rows found, expected some to train on")
    order = np.random.default_rng(seed).permutation(len(labels))
    words = (
        f"-s {SVM_TYPES.index('c_svc')} -t {KERNEL_TYPES.index(header.kernel_type)} -g {header.gamma!r} -r"
        f" {header.coef0!r} -d {header.degree} -c {cost!r}"
    )

    def attempt(count: int) -> "Control | None":
        taken = order[:count]
        if on_progress:
            on_progress(count / len(labels), f"{count} rows")
        # Class by class in the order of the exact model's labels, because LIBSVM orders classes by their first rows.
        taken = sorted(
            taken.tolist(),
            key=lambda row: classes.index(int(labels[row])) if int(labels[row]) in classes else -1,
        )
        if {int(labels[row]) for row in taken} != set(classes):
            return None
        path = f"{folder}/control{count}.model"
        model = train([labels[row] for row in taken], [rows[row] for row in taken], words, path)
        return Control(path, count, len(labels), agreement(model, exact.model, exact.chunks).disagreement, cost)

    least, count, best = 0, max(8, 4 * header.nr_class), None
    while True:
        count = min(count, len(labels))
        found = attempt(count)
        if found is not None and found.disagreement <= target:
            best = found
            break
        if count == len(labels):
            return None
        least, count = count, 2 * count
    while best.rows - least > max(4, best.rows // 10):
        middle = (least + best.rows) // 2
        found = attempt(middle)
        if found is not None and found.disagreement <= target:
            best = found
        else:
            least = middle
    return best
