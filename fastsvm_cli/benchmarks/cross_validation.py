"""Cross-validation of exact and compiled models (approxsvm's approx-xval)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastsvm_cli import __version__, _native
from fastsvm_cli.comparisons.agreement import agreement
from fastsvm_cli.console.terminal import Row, tables
from fastsvm_cli.errors import FileError
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.training import libsvm_problem, train
from fastsvm_cli.text.numbers import json_document
from fastsvm_cli.text.read_rows import select_rows

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


class Setting(NamedTuple):
    """Parameters of the models: gamma and C of the exact ones, degree of the expansions."""

    gamma: float
    cost: float
    degree: int


class Split(NamedTuple):
    """Result of one split. exact, compiled: accuracy, 0 to 1. disagreement: share of labels that differ."""

    rows: int
    vectors: int
    exact: float
    compiled: float
    disagreement: float


def cross_validate(
    chunks: "list[_native.Chunk]",
    path: str,
    splits: int,
    setting: Setting,
    *,
    folder: str,
    seed: int = 0,
    on_progress: "Callable[[float, str], None] | None" = None,
) -> "list[Split]":
    """Cross-validate C-SVMs with RBF kernels and their expansions, in stratified splits, with models in `folder`.

    Labels must be two or more whole numbers with `splits` rows each.
    """
    labels = np.concatenate([np.asarray(chunk.leading)[:, 0] for chunk in chunks])
    found, counts = np.unique(labels, return_counts=True)
    if len(found) < 2 or np.any(found != np.floor(found)):
        raise FileError(path, f"{len(found)} different labels found, expected two or more whole numbers: classes")
    if counts.min() < splits:
        raise FileError(
            path,
            f"{counts.min()} rows of class {found[counts.argmin()]:g} found, expected {splits} or more, one for each"
            " split",
        )
    rng, part = np.random.default_rng(seed), np.empty(len(labels), int)
    for label in found:
        mine = rng.permutation(np.flatnonzero(labels == label))
        part[mine] = np.arange(len(mine)) % splits
    _, rows = libsvm_problem(chunks)
    out = []
    for split in range(splits):
        training = np.flatnonzero(part != split).tolist()
        exact = train(
            [labels[row] for row in training],
            [rows[row] for row in training],
            f"-g {setting.gamma!r} -c {setting.cost!r}",
            f"{folder}/split{split}.model",
        )
        compiled = compile_maclaurin(exact, fingerprint="-", degree=setting.degree)
        seen = agreement(compiled, exact, select_rows(chunks, np.flatnonzero(part == split).tolist()))
        out.append(
            Split(
                seen.rows,
                exact.header.total_sv,
                seen.reference_score.correct / seen.rows,
                seen.score.correct / seen.rows,
                seen.disagreement,
            )
        )
        if on_progress:
            on_progress((split + 1) / splits, f"split {split + 1}")
    return out


def as_json(data_file: str, splits: "list[Split]", setting: Setting) -> str:
    """Return the JSON document of the splits."""
    whole = _whole(splits)
    document = {
        "fastsvm": __version__,
        "data_file": data_file,
        **setting._asdict(),
        "splits": [split._asdict() for split in splits],
        "exact": whole.exact,
        "compiled": whole.compiled,
        "disagreement": whole.disagreement,
    }
    return json_document(document, 1)


def as_table(
    data_file: str, splits: "list[Split]", setting: Setting, *, ascii_only: bool = False
) -> "list[Text | Table]":
    """Return the table of the splits, to print."""
    gamma, cost, degree = setting
    title = f"{data_file}: {len(splits)} splits, gamma {gamma:g}, C {cost:g}, expansion of degree {degree}"
    heads = ("split", "rows", "support vectors", "exact", "compiled", "labels that differ")
    rows = [Row(str(at), _cells(split, str(split.vectors))) for at, split in enumerate(splits, 1)]
    rows.append(Row("all", _cells(_whole(splits), "")))
    return tables(heads, rows, [(title, range(5))], 80, ascii_only=ascii_only)


def _cells(split: Split, vectors: str) -> "list[str]":
    shares = f"{100 * split.exact:.2f} %", f"{100 * split.compiled:.2f} %", f"{100 * split.disagreement:.3g} %"
    return [str(split.rows), vectors, *shares]


def _whole(splits: "list[Split]") -> Split:
    rows = sum(split.rows for split in splits)
    means = (sum(each[at] * each.rows for each in splits) / rows for at in (2, 3, 4))
    return Split(rows, 0, *means)
