"""Border samples of all pairs: rows, roots on lines between them, and as many samples as requested or needed."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import BorderFile, FoldedScaling, Header, Samples
from fastsvm_cli.methods import Progress, part_of, silent
from fastsvm_cli.methods.feature_space import classes_of_vectors, matrix, row_norms, squared_distances
from fastsvm_cli.models import ExactModel, Model
from fastsvm_cli.text.read_rows import select_rows

#: Limits of rows, and of rows times features.
CLOUD_ROWS, CLOUD_CELLS = 40_000, 1 << 25
#: Fewer rows both place and measure.
HELD_OUT = 50


class BorderRows:
    """Rows x (n, d) to draw lines between.

    columns: LIBSVM indices (d). classes: (n), -1 if unknown. positions: (n), in the file.
    """

    def __init__(self, chunk: _native.Chunk, classes: np.ndarray, positions: np.ndarray, columns: np.ndarray):
        self.chunk, self.classes, self.positions, self.columns = chunk, classes, positions, columns
        self.x = matrix(chunk, columns)[0].toarray()

    def __len__(self) -> int:
        return len(self.x)


def rows_for(model: ExactModel, chunks: "list[_native.Chunk] | None", rng: np.random.Generator) -> BorderRows:
    """Draw rows from chunks; default: support vectors."""
    header = model.header
    if chunks is None:
        vectors = model.vectors
        columns, classes = np.unique(np.asarray(vectors.indices)), classes_of_vectors(header)
        chosen = np.sort(rng.choice(vectors.rows, _most_rows(vectors.rows, len(columns)), replace=False))
        return BorderRows(vectors.select(chosen.tolist()), classes[chosen], chosen, columns)
    columns = np.unique(
        np.concatenate([np.asarray(model.vectors.indices), *(np.asarray(chunk.indices) for chunk in chunks)])
    )
    return drawn_rows(chunks, {label: at for at, label in enumerate(header.label or [])}, columns, rng)


def drawn_rows(
    chunks: "list[_native.Chunk]", position: "dict[int, int]", columns: np.ndarray, rng: np.random.Generator
) -> BorderRows:
    """Draw at most CLOUD_ROWS rows, fewer of many features. position: class of each label."""
    total = sum(chunk.rows for chunk in chunks)
    chosen = np.sort(rng.choice(total, _most_rows(total, len(columns)), replace=False))
    rows = _native.Chunk.concatenate(select_rows(chunks, chosen.tolist()))
    classes = [position.get(label[0], -1) if label else -1 for label in rows.leading.tolist()]
    return BorderRows(rows, np.array(classes, int), chosen, columns)


def _most_rows(total: int, d: int) -> int:
    return min(total, CLOUD_ROWS, max(HELD_OUT, CLOUD_CELLS // max(d, 1)))


def looks_one_hot(chunk: _native.Chunk) -> bool:
    """Return whether most features have one value besides 0: no row lies between categories."""
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


_ROOT_STEPS = 100


#: Kernel values in memory.
BLOCK_CELLS = 1 << 22


class DecisionFunction:
    """A sum over n vectors, with its gradient. norms: (n), squared. level: its value on the border."""

    norms: np.ndarray
    level = 0.0

    def value_and_gradient(
        self, z: np.ndarray, left_out: "np.ndarray | None" = None
    ) -> "tuple[np.ndarray, np.ndarray]":
        """Return f(z) (m), and its gradient (m, d).

        left_out: the vector whose term each z lacks, or -1; only of a density.
        """
        f, gradient = np.empty(len(z)), np.empty(z.shape)
        size = max(1, BLOCK_CELLS // max(len(self.norms), 1))
        for at in range(0, len(z), size):
            part = slice(at, at + size)
            f[part], gradient[part] = self._block(z[part], None if left_out is None else left_out[part])
        return f, gradient

    def _block(self, z: np.ndarray, left_out: "np.ndarray | None") -> "tuple[np.ndarray, np.ndarray]":
        raise NotImplementedError


def roots_between(
    function: DecisionFunction, level: float, first: np.ndarray, second: np.ndarray, tolerance: float
) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Find roots of f - level on lines between two rows, by safeguarded Newton steps.

    first, second: (m, d), f > level and f < level; other pairs are skipped. Return (points (k, d), |f - level| <=
    tolerance, gradients (k, d), pair indices (k)).
    """
    at_first, at_second = function.value_and_gradient(first)[0] - level, function.value_and_gradient(second)[0] - level
    pair = np.flatnonzero((at_first > 0) & (at_second < 0))
    start, along = first[pair], second[pair] - first[pair]
    low, high = np.zeros(len(pair)), np.ones(len(pair))  # f - level > 0 at low, < 0 at high
    t = at_first[pair] / (at_first[pair] - at_second[pair])  # root of the linear interpolation
    before = np.full(len(pair), np.inf)
    points, gradients, done = [], [], []
    for _ in range(_ROOT_STEPS):
        if not len(pair):
            break
        z = start + t[:, None] * along
        f, gradient = function.value_and_gradient(z)
        f -= level
        rest = np.abs(f) <= tolerance
        points.append(z[rest])
        gradients.append(gradient[rest])
        done.append(pair[rest])
        going = ~rest & np.isfinite(f)
        pair, start, along, low, high, t, before, f, gradient = (
            each[going] for each in (pair, start, along, low, high, t, before, f, gradient)
        )
        low, high = np.where(f > 0, t, low), np.where(f < 0, t, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = t - f / np.einsum("ij,ij->i", gradient, along)
        # Newton's step inside the bracket if |f| has halved, else bisection.
        t = np.where((newton > low) & (newton < high) & (np.abs(f) <= 0.5 * before), newton, 0.5 * (low + high))
        before = np.abs(f)
    if not points:
        return first[:0], first[:0], np.zeros(0, int)
    return np.concatenate(points), np.concatenate(gradients), np.concatenate(done)


# A line's second end is the nearest of this many random rows on the other side.
NEAREST_ROWS = 2000
_ROUNDS = 16
# Minimum distance between samples, over the median distance of rows to their nearest sample.
_DUPLICATE = 0.01
_FRUITLESS = 20  # rounds without a new sample


class Sampler:
    """Border samples of a pair of classes.

    points, normals: (n, d). x: (m, d), rows to draw from; f: (m), decision values minus level.
    """

    def __init__(self, function: DecisionFunction, x: np.ndarray, f: np.ndarray, how: "Sampling"):
        self.function, self.tolerance, self.sampling, self._rng = function, how.tolerance, how.sampling, how.rng
        self._x, self._above, self._sided = x, f > 0, f != 0
        self._center = x.mean(axis=0) if len(x) else 0.0  # fewer digits are lost about the mean
        self._moved = x - self._center
        self._norms = row_norms(self._moved)
        self._positive, self._negative = np.flatnonzero(f > 0), np.flatnonzero(f < 0)
        self.points, self.normals = np.zeros((0, x.shape[1])), np.zeros((0, x.shape[1]))
        self._near = NEAREST_ROWS
        # Per row: squared distance to the nearest sample, and that sample's decision value.
        self._distance, self._value = np.full(len(x), np.inf), np.zeros(len(x))
        self.one_sided = self.exhausted = not (len(self._positive) and len(self._negative))

    def grow(self, count: int, on_step: Progress = silent) -> None:
        """Sample up to `count` points."""
        fruitless = 0
        while len(self.points) < count and not self.exhausted:
            if self.sampling != "refined":
                needed = count - len(self.points)
                first, near = self._draw(needed), np.full(needed, self.sampling == "dense")
            elif not len(self.points):
                needed = max(1, count // 4)
                first, near = self._draw(needed), np.ones(needed, bool)
            else:
                needed = min(count - len(self.points), max(1, len(self.points) // 4, count // _ROUNDS))
                wrong = self._rng.permutation(np.flatnonzero(self._sided & ((self._value > 0) != self._above)))
                # Some rows stay wrong with any sample.
                wrong = wrong[: needed // 2 if fruitless else needed]
                first = np.concatenate([wrong, self._draw(needed - len(wrong))])
                # Once no row is wrong, use lines of any length.
                near = np.arange(needed) < len(wrong)
            before = len(self.points)
            self._add(*self._roots(first, near))
            added = len(self.points) - before
            fruitless = 0 if added else fruitless + 1
            if 2 * added < needed:  # near rows are exhausted: draw any
                self._near = 1
            self.exhausted = fruitless == _FRUITLESS
            on_step(len(self.points) / count)

    def _draw(self, count: int) -> np.ndarray:
        half = (count + int(self._rng.integers(2))) // 2
        return np.concatenate([self._rng.choice(self._positive, half), self._rng.choice(self._negative, count - half)])

    def _roots(self, first: np.ndarray, near_one: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
        second = np.empty_like(first)
        for side, others in ((True, self._negative), (False, self._positive)):
            mine = self._above[first] == side
            second[mine] = self._rng.choice(others, mine.sum())
            mine &= near_one
            if mine.any():
                among = others if len(others) <= self._near else self._rng.choice(others, self._near, replace=False)
                squares = squared_distances(self._moved[among], self._norms[among], self._moved[first[mine]])
                second[mine] = among[np.argmin(squares, axis=1)]
        up = self._above[first][:, None]
        one, other = self._x[first], self._x[second]
        return roots_between(
            self.function, self.function.level, np.where(up, one, other), np.where(up, other, one), 0.5 * self.tolerance
        )[:2]

    def _add(self, points: np.ndarray, normals: np.ndarray) -> None:
        sound = np.all(np.isfinite(normals), axis=1)
        points, normals = points[sound], normals[sound]
        if not len(self.points) and len(points) > 1:  # the first sample gives the next ones' distances
            self._add(points[:1], normals[:1])
            points, normals = points[1:], normals[1:]
        least = (_DUPLICATE * np.median(np.sqrt(self._distance))) ** 2 if len(self.points) else 0.0
        moved, held = points - self._center, self.points - self._center
        norms, held_norms = row_norms(moved), row_norms(held)
        chosen: list[int] = []
        for i in range(len(points)):
            one = moved[i : i + 1]
            nearest = min(
                np.min(squared_distances(held, held_norms, one), initial=np.inf),
                np.min(squared_distances(moved[chosen], norms[chosen], one), initial=np.inf),
            )
            if nearest > least:
                chosen.append(i)
        points, normals, moved = points[chosen], normals[chosen], moved[chosen]
        self.points, self.normals = np.vstack([self.points, points]), np.vstack([self.normals, normals])
        for at in range(0, len(chosen), 256):
            part = slice(at, at + 256)
            squares = squared_distances(self._moved, self._norms, moved[part])  # (part, m)
            best = np.argmin(squares, axis=0)
            nearest = squares[best, np.arange(len(best))]
            closer = nearest < self._distance
            at_best = best[closer] + at
            self._distance[closer] = nearest[closer]
            self._value[closer] = np.einsum("ij,ij->i", normals[at_best], self._x[closer] - points[at_best])


#: Per pair, even if --target is not met.
MOST_SAMPLES = 100_000


class Sampling(NamedTuple):
    """Options of sampling."""

    rng: np.random.Generator
    samples: int = 100  # per pair
    tolerance: float = 1e-4  # largest |f - level| at a sample
    sampling: str = "refined"  # or "dense", "random"
    local: int = 1  # nearest samples that answer together, if better than one
    target: "float | None" = None  # largest share of labels that differ, instead of samples
    on_progress: Progress = silent


class SampledBorder:
    """A compiled border.

    different: labels that differ on `measured` rows; parted: other rows placed the samples. one_sided, without_root,
    short: pairs in which one class wins all rows; no root is within the tolerance; samples are missing.
    """

    warning = None

    def __init__(
        self, model: Model, measured: int, different: int, parted: bool, samplers: "list[Sampler]", count: int
    ):
        self.model, self.measured, self.different, self.parted = model, measured, different, parted
        self.one_sided = sum(sampler.one_sided for sampler in samplers)
        self.without_root = sum(not len(sampler.points) for sampler in samplers) - self.one_sided
        self.short = sum(0 < len(sampler.points) < count for sampler in samplers)

    @property
    def counts(self) -> "list[int]":
        """Number of samples per pair of classes."""
        return [pair.count for pair in self.model.samples]

    @property
    def disagreement(self) -> float:
        """Share of the measured rows whose label differs."""
        return self.different / self.measured if self.measured else 0.0


def sample_border(
    header: Header,
    functions: "Sequence[DecisionFunction]",
    rows: BorderRows,
    values: np.ndarray,
    *,
    unseen: np.ndarray,
    fingerprint: str,
    sampling: Sampling,
    folded: "FoldedScaling | None" = None,
) -> SampledBorder:
    """Sample the borders of decision functions f_p.

    values: f_p at the rows, (rows, pairs); unseen: the same, with each row left out of f_p.
    """
    target, on_progress = sampling.target, sampling.on_progress
    # Half of the rows place samples, the others measure.
    order = sampling.rng.permutation(len(rows))
    parted = len(rows) >= HELD_OUT
    placing, measuring = (order[: len(order) // 2], order[len(order) // 2 :]) if parted else (order, order)
    samplers = []
    for pair, i, j in header.class_pairs:
        f = values[placing, pair] - functions[pair].level
        mine = np.isin(rows.classes[placing], (i, j))
        if not (np.any(f[mine] > 0) and np.any(f[mine] < 0)):  # labels do not separate the sides
            mine[:] = True
        samplers.append(Sampler(functions[pair], rows.x[placing][mine], f[mine], sampling))
    task, decisions, predictions = header.task(), _native.Decisions(len(functions)), _native.Predictions()
    held_out = rows.chunk.select(measuring.tolist())

    def labels() -> np.ndarray:
        _native.predict(task, decisions, False, predictions)
        return np.array(predictions.label)

    decisions.resize(len(measuring))
    np.asarray(decisions.value)[:] = unseen[measuring]
    reference = labels()

    def differ(model: Model) -> int:
        model.decision_values(held_out, decisions)
        return int(np.sum(labels() != reference))

    def model_of(samples: "list[Samples]", local: int, single: bool = False) -> Model:
        features = rows.columns.tolist() if any(pair.count for pair in samples) else []  # no samples: no features
        file = BorderFile(
            header,
            fingerprint=fingerprint,
            features=features,
            samples=samples,
            local=local,
            single=single,
            folded=folded,
        )
        return Model(file)

    def grown(most: int) -> "list[Samples]":
        samples = []
        for pair, sampler in enumerate(samplers):
            if len(sampler.points):
                rows_of = np.stack([sampler.points[:most], sampler.normals[:most]], axis=1)
                samples.append(Samples(sampler.function.level, len(rows_of), rows_of.ravel()))
            else:  # all rows are on one side
                samples.append(Samples(_median(values[:, pair]) if len(values) else -header.rho[pair], 0, np.zeros(0)))
        return samples

    def grow(most: int, shown: str = "") -> None:
        for at, sampler in enumerate(samplers):
            sampler.grow(most, part_of(on_progress, at / len(samplers), (at + 1) / len(samplers), shown))
            on_progress((at + 1) / len(samplers), shown)

    def best(most: int) -> "tuple[int, Model]":
        models = [model_of(grown(most), k) for k in sorted({1, sampling.local})]
        return min(((differ(model), model) for model in models), key=lambda each: each[0])

    count = sampling.samples
    if target is None:
        grow(count)
        different, model = best(count)
    else:
        count, least, allowed = 8, 0, target * len(measuring)
        while True:
            grow(count, f"{count} samples")
            different, model = best(count)
            if different <= allowed or count >= MOST_SAMPLES or all(sampler.exhausted for sampler in samplers):
                break
            least, count = count, min(2 * count, MOST_SAMPLES)
        # A prefix is a smaller set.
        while different <= allowed and count - least > max(1, count // 16):
            middle = (least + count) // 2
            found = best(middle)
            if found[0] <= allowed:
                count, (different, model) = middle, found
            else:
                least = middle
    rounded = _rounded(model.samples, functions, sampling.tolerance)
    model = model if rounded is None else model_of(rounded, model.local, single=True)
    return SampledBorder(model, len(measuring), differ(model), parted, samplers, count)


def _median(values: np.ndarray) -> float:
    values = np.sort(values)
    return float(0.5 * values[(len(values) - 1) // 2] + 0.5 * values[len(values) // 2])


def _rounded(
    samples: "Sequence[Samples]", functions: "Sequence[DecisionFunction]", tolerance: float
) -> "list[Samples] | None":
    # In single precision, or None if a sample would leave the border.
    rounded = []
    for each, function in zip(samples, functions):
        # The tolerance must hold for decimal numbers, which single precision would round again.
        exact = np.asarray(each.rows)
        rows = exact.astype(np.float32)
        if not np.all((np.abs(rows) > 1e-37) & (np.abs(rows) < 1e37) | (exact == 0)):
            return None
        text = _native.format_numbers(rows)
        rows = np.array(_native.parse_numbers(text, 0, len(rows))[0]) if len(rows) else exact
        points = rows.reshape(each.count, 2, -1)[:, 0] if each.count else rows
        if each.count and np.max(np.abs(function.value_and_gradient(points)[0] - each.level)) > tolerance:
            return None
        rounded.append(Samples(each.level, each.count, rows))
    return rounded
