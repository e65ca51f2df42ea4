"""Exact model, or training rows alone -> border samples (Mills, "When Support Vector Machines are just too slow").

given      a decision function f per pair of classes, with its gradient (gradients.py)
wanted     border samples b_i, where f = level, and their normals n_i = grad f(b_i), so that f(z) is near
           level + n_i.(z - b_i) at the nearest b_i
method     roots of f - level on lines between two rows on either side (roots.py). Beyond the paper, which draws both at
           random: from rows whose side the samples so far get wrong, to near ones on the other side
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.compilers.border.density import check_weight, classes_of, dense_rows, density_header
from fastsvm_cli.compilers.border.gradients import DensityFunction, MachineFunction
from fastsvm_cli.compilers.border.roots import DecisionFunction
from fastsvm_cli.compilers.border.sampler import Sampler
from fastsvm_cli.compilers.feature_space import FeatureSpace, matrix
from fastsvm_cli.compilers.refusals import demand
from fastsvm_cli.errors import FileError, ModelFormatError
from fastsvm_cli.models.border import BorderModel, Samples
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.folded import Folded
from fastsvm_cli.text.data import select_rows
from fastsvm_cli.text.header import Header, class_pairs

#: Samples per pair at which a border is complete even where --target is not met.
MOST_SAMPLES = 100_000
# Rows that samples are placed and measured by, at most; and rows times features.
_CLOUD_ROWS, _CLOUD_CELLS = 40_000, 1 << 25
# Fewer rows than this are not parted into those that place samples and those that measure them.
_HELD_OUT = 50


class Rows:
    """The rows that a border is sampled and measured by. x: (n, d) dense. columns: LIBSVM indices of the features (d).
    classes: (n) indices of the classes of their labels, -1 where a label is none of them. places: (n) of the rows in
    their file. chunk: the same rows."""

    def __init__(self, chunk: _native.Chunk, classes: np.ndarray, places: np.ndarray, columns: np.ndarray):
        self.chunk, self.classes, self.places, self.columns = chunk, classes, places, columns
        self.x = matrix(chunk, columns)[0].toarray()

    def __len__(self) -> int:
        return len(self.x)


class Border:
    """What compiling a border made.

    model: the border model. measured: the rows that it was measured on. different: how many labels differ on these.
    parted: whether they took no part in placing the samples; where rows are few, all of them did both. one_sided: pairs
    of which one class wins on all rows. without_root: pairs whose roots are not within the tolerance. short: pairs with
    fewer samples than wanted."""

    def __init__(
        self, model: BorderModel, measured: int, different: int, parted: bool, samplers: "list[Sampler]", count: int
    ):
        self.model, self.measured, self.different, self.parted = model, measured, different, parted
        self.one_sided = sum(sampler.one_sided for sampler in samplers)
        self.without_root = sum(not len(sampler.points) for sampler in samplers) - self.one_sided
        self.short = sum(0 < len(sampler.points) < count for sampler in samplers)

    @property
    def counts(self) -> "list[int]":
        """The samples of every pair."""
        return [pair.count for pair in self.model.samples]

    @property
    def disagreement(self) -> float:
        return self.different / self.measured if self.measured else 0.0


@np.errstate(all="ignore")  # what overflows is refused, or is no root
def compile_border(
    model: ExactModel,
    *,
    fingerprint: str,
    count: int = 100,
    tolerance: float = 1e-4,
    sampling: str = "refined",
    local: int = 1,
    target: "float | None" = None,
    raw: bool = False,
    chunks: "list[_native.Chunk] | None" = None,
    seed: int = 0,
    on_progress: "Callable[[float, str], None] | None" = None,
) -> Border:
    """Border samples of an exact classification or one-class model.

    count: samples per pair of classes; with `target`, as many as bring the share of labels that differ to it or below.
    tolerance: the largest |f - level| at a sample.
    raw: sample where f = 0 although the model has probability parameters; otherwise where the conditional-probability
    difference tanh(-(A f + B) / 2) is 0, which is at f = -B / A. chunks: rows to draw from; the support vectors without
    them. Raises ModelFormatError for models without a border or a gradient.
    """
    header = model.header
    demand(model.path, refusal(model))
    rng = np.random.default_rng(seed)
    rows = _rows_of(model, chunks, rng)
    # |x|^2 has what the gradient's columns do not know; so every feature of a row is a column.
    x, _ = matrix(model.vectors, rows.columns)
    x = x.toarray() if x.shape[0] * x.shape[1] <= _CLOUD_CELLS else x
    coefficients = FeatureSpace(model).coefficients
    decisions = _native.Decisions(model.pairs)
    model.evaluator.fast_values(rows.chunk, decisions)
    values = np.array(decisions.value)
    if not np.all(np.isfinite(values)):
        raise ModelFormatError(
            model.path, "a decision value overflows on the rows that the border would be drawn through: scale the data"
        )
    functions, levels = [], []
    for p in range(model.pairs):
        mine = np.flatnonzero(coefficients[:, p])
        functions.append(MachineFunction(x[mine], coefficients[mine, p], header.rho[p], model.kernel))
        level = 0.0
        if header.classification and header.probA and header.probB and not raw and header.probA[p] != 0:
            level = -header.probB[p] / header.probA[p]
        if not isfinite(level):
            raise ModelFormatError(
                model.path,
                "both classes are as likely at a decision value that overflows: sample where it is 0 (--raw)",
            )
        levels.append(level)
    return _sample(
        header,
        functions,
        levels,
        rows,
        values,
        unseen=values,
        fingerprint=fingerprint,
        folded=model.inheritance,
        count=count,
        tolerance=tolerance,
        sampling=sampling,
        local=local,
        target=target,
        rng=rng,
        on_progress=on_progress,
    )


@np.errstate(all="ignore")
def compile_density_border(
    chunks: "list[_native.Chunk]",
    path: str,
    *,
    fingerprint: str,
    bandwidth: "float | None",
    weight: float = 0.0,
    count: int = 100,
    tolerance: float = 1e-4,
    sampling: str = "refined",
    local: int = 1,
    target: "float | None" = None,
    seed: int = 0,
    on_progress: "Callable[[float, str], None] | None" = None,
) -> Border:
    """Border samples without an SVM: where kernel density estimates of two classes are equal
    (gradients.DensityFunction). bandwidth: h, or None for a variable one with `weight`. Labels come in the order in
    which they first occur, as svm-train has them. Raises FileError for rows that cannot be parted into classes."""
    rng = np.random.default_rng(seed)
    found, whole = classes_of(chunks, path)
    place = {label: at for at, label in enumerate(found)}
    x, columns = dense_rows(chunks, path)
    functions, members = [], []
    for _, i, j in class_pairs(len(found)):
        mine = np.flatnonzero((whole == i) | (whole == j))
        if bandwidth is None:
            check_weight(weight, len(mine), found[i], found[j], path)
        members.append(mine)
        functions.append(DensityFunction(x[mine], np.where(whole[mine] == i, 1.0, -1.0), bandwidth, weight))
    rows = _draw_rows(chunks, place, columns, rng)
    values = np.stack([function.value_and_gradient(rows.x)[0] for function in functions], axis=1)
    # What a row says of itself is no measure of what the estimate says of others.
    unseen = np.stack(
        [function.value_and_gradient(rows.x, own)[0] for function, own in zip(functions, _own(members, rows.places))],
        axis=1,
    )
    if not (np.all(np.isfinite(values)) and np.all(np.isfinite(unseen))):
        raise FileError(path, "the density estimates overflow: scale the data")
    spread = bandwidth or float(np.median(functions[0].bandwidths(rows.x[:200])))
    # P(first) - P(second) is tanh of the border decision (Mills): LIBSVM's sigmoid with A = -2, B = 0.
    header = density_header(found, whole, spread, -2.0)
    return _sample(
        header,
        functions,
        [0.0] * len(functions),
        rows,
        values,
        unseen=unseen,
        fingerprint=fingerprint,
        count=count,
        tolerance=tolerance,
        sampling=sampling,
        local=local,
        target=target,
        rng=rng,
        on_progress=on_progress,
    )


def refusal(model: ExactModel) -> "str | None":
    """Why a model has no border samples, or None."""
    header = model.header
    if header.regression:
        return f"a model of type {header.svm_type} found, expected classes: the values of a regression have no border"
    if header.kernel_type == "precomputed":
        return "a precomputed kernel found, which has no gradient"
    return None


def needs_rows(model: ExactModel) -> bool:
    """Whether its border is found only between rows that are given: the support vectors of a one-class model lie on one
    side of it."""
    return model.header.svm_type == "one_class"


def looks_one_hot(chunk: _native.Chunk) -> bool:
    """Whether most features have one value besides 0: categories, between which a root lies where no row ever is."""
    indices, values = np.asarray(chunk.indices), np.asarray(chunk.values)
    seen = values != 0
    if not seen.any():
        return False
    columns, at = np.unique(indices[seen], return_inverse=True)
    low, high = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    np.minimum.at(low, at, values[seen])
    np.maximum.at(high, at, values[seen])
    absent = np.bincount(at, minlength=len(columns)) < chunk.rows
    return bool(len(columns) > 4 and np.mean((low == high) & absent) > 0.8)


def _rows_of(model: ExactModel, chunks: "list[_native.Chunk] | None", rng: np.random.Generator) -> Rows:
    header = model.header
    if chunks is None:
        vectors = model.vectors
        columns = np.unique(np.asarray(vectors.indices))
        classes = (
            np.repeat(np.arange(header.nr_class), header.nr_sv)
            if header.classification
            else np.zeros(vectors.rows, int)
        )
        kept = np.sort(rng.choice(vectors.rows, _most_rows(vectors.rows, len(columns)), replace=False))
        return Rows(vectors.select(kept.tolist()), classes[kept], kept, columns)
    columns = np.unique(
        np.concatenate([np.asarray(model.vectors.indices), *(np.asarray(chunk.indices) for chunk in chunks)])
    )
    return _draw_rows(chunks, {label: at for at, label in enumerate(header.label or [])}, columns, rng)


def _draw_rows(
    chunks: "list[_native.Chunk]", place: "dict[int, int]", columns: np.ndarray, rng: np.random.Generator
) -> Rows:
    """At most as many rows as are used, drawn evenly."""
    total = sum(chunk.rows for chunk in chunks)
    kept = np.sort(rng.choice(total, _most_rows(total, len(columns)), replace=False))
    rows = _native.Chunk.concatenate(select_rows(chunks, kept.tolist()))
    # Rows without labels are of no class.
    classes = [place.get(label[0], -1) if label else -1 for label in rows.leading.tolist()]
    return Rows(rows, np.array(classes, int), kept, columns)


def _own(members: "list[np.ndarray]", places: np.ndarray) -> "list[np.ndarray]":
    """Per function, which of its rows each of the rows `places` is, -1 where it has none of them."""
    out = []
    for mine in members:
        at = np.minimum(np.searchsorted(mine, places), len(mine) - 1)
        out.append(np.where(mine[at] == places, at, -1))
    return out


def _most_rows(total: int, d: int) -> int:
    return min(total, _CLOUD_ROWS, max(_HELD_OUT, _CLOUD_CELLS // max(d, 1)))


def _sample(
    header: Header,
    functions: "Sequence[DecisionFunction]",
    levels: "list[float]",
    rows: Rows,
    values: np.ndarray,
    *,
    unseen: np.ndarray,
    fingerprint: str,
    folded: "Folded | None" = None,
    count: int,
    tolerance: float,
    sampling: str,
    local: int,
    target: "float | None",
    rng: np.random.Generator,
    on_progress: "Callable[[float, str], None] | None",
) -> Border:
    # Half of the rows place samples; the other half, which they do not know, says how good they are.
    order = rng.permutation(len(rows))
    parted = len(rows) >= _HELD_OUT
    placing, measuring = (order[: len(order) // 2], order[len(order) // 2 :]) if parted else (order, order)
    task = header.task()
    reference = _labels(task, unseen[measuring])
    held_out = rows.chunk.select(measuring.tolist())
    samplers = []
    for pair, i, j in header.class_pairs:
        f = values[placing, pair] - levels[pair]
        mine = np.isin(rows.classes[placing], (i, j))
        if not (np.any(f[mine] > 0) and np.any(f[mine] < 0)):  # labels that say nothing
            mine[:] = True
        samplers.append(
            Sampler(
                functions[pair],
                levels[pair],
                rows.x[placing][mine],
                f[mine],
                sampling=sampling,
                tolerance=tolerance,
                rng=rng,
            )
        )

    def model_of(most: int, k: int = 1) -> BorderModel:
        samples = []
        for pair, sampler in enumerate(samplers):
            if len(sampler.points):
                rows_of = np.stack([sampler.points[:most], sampler.normals[:most]], axis=1)
                samples.append(Samples(levels[pair], len(rows_of), rows_of.ravel()))
            else:  # one side only, as far as the rows tell
                samples.append(Samples(_median(values[:, pair]) if len(values) else -header.rho[pair], 0, np.zeros(0)))
        features = rows.columns.tolist() if any(pair.count for pair in samples) else []  # as many as there are numbers
        return BorderModel(header, fingerprint=fingerprint, features=features, samples=samples, local=k, folded=folded)

    def differ(model: BorderModel) -> int:
        decisions, predictions = _native.Decisions(len(functions)), _native.Predictions()
        model.decision_values(held_out, decisions)
        _native.predict(task, decisions, False, predictions)
        return int(np.sum(np.asarray(predictions.label) != reference))

    def grow(most: int, shown: str = "") -> None:
        for at, sampler in enumerate(samplers):
            sampler.grow(most, on_progress and partial(_show_share, on_progress, at, len(samplers), shown))
            if on_progress:
                on_progress((at + 1) / len(samplers), shown)

    def best(most: int) -> "tuple[int, BorderModel]":
        """Labels that differ, and the model: with one nearest sample, or with `local` of them where that is better."""
        tried = [(differ(model), model.local, model) for model in (model_of(most, k) for k in sorted({1, local}))]
        different, _, model = min(tried, key=lambda each: each[:2])
        return different, model

    if target is None:
        grow(count)
        different, model = best(count)
    else:
        count, least = 8, 0
        while True:
            grow(count, f"{count} samples")
            different, model = best(count)
            if (
                different <= target * len(measuring)
                or count >= MOST_SAMPLES
                or all(sampler.exhausted for sampler in samplers)
            ):
                break
            least, count = count, min(2 * count, MOST_SAMPLES)
        # Samples come in an order: fewer are the first ones.
        while different <= target * len(measuring) and count - least > max(1, count // 16):
            middle = (least + count) // 2
            found = best(middle)
            if found[0] <= target * len(measuring):
                count, (different, model) = middle, found
            else:
                least = middle
    model = _round(model, functions, tolerance)
    return Border(model, len(measuring), differ(model), parted, samplers, count)


def _show_share(on_progress: "Callable[[float, str], None]", at: int, of: int, words: str, share: float) -> None:
    on_progress((at + share) / of, words)


def _median(values: np.ndarray) -> float:
    """The middle one, or the mean of the two, which may be too large to add up."""
    values = np.sort(values)
    return float(0.5 * values[(len(values) - 1) // 2] + 0.5 * values[len(values) // 2])


def _labels(task: _native.Task, values: np.ndarray) -> np.ndarray:
    decisions, predictions = _native.Decisions(values.shape[1]), _native.Predictions()
    decisions.resize(len(values))
    np.asarray(decisions.value)[:] = values
    _native.predict(task, decisions, False, predictions)
    return np.array(predictions.label)


def _round(model: BorderModel, functions: "Sequence[DecisionFunction]", tolerance: float) -> BorderModel:
    """The model with the digits of single precision, where every sample stays within the tolerance with it; as it is
    otherwise."""
    rounded = []
    for samples, function in zip(model.samples, functions):
        # What counts is the number that the text says, which single precision would round once more.
        rows = samples.rows.astype(np.float32)
        if not np.all((np.abs(rows) > 1e-37) & (np.abs(rows) < 1e37) | (samples.rows == 0)):
            return model
        text = _native.format_numbers(rows)
        rows = np.array(_native.parse_numbers(text, 0, len(samples.rows))[0]) if len(samples.rows) else samples.rows
        points = rows.reshape(samples.count, 2, -1)[:, 0] if samples.count else rows
        if samples.count and np.max(np.abs(function.value_and_gradient(points)[0] - samples.level)) > tolerance:
            return model
        rounded.append(Samples(samples.level, samples.count, rows))
    return BorderModel(
        model.header,
        fingerprint=model.fingerprint,
        features=model.features,
        samples=rounded,
        local=model.local,
        single=True,
        folded=model.folded,
    )
