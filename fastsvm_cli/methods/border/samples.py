"""Sample the borders of all pairs, as many as requested or as a target needs."""

from collections.abc import Callable, Sequence

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli._native import BorderFile, FoldedScaling, Header, Samples
from fastsvm_cli.methods.border.roots import DecisionFunction
from fastsvm_cli.methods.border.rows import HELD_OUT, BorderRows
from fastsvm_cli.methods.border.sampler import Sampler
from fastsvm_cli.methods.method import part_of
from fastsvm_cli.models.base import Model

#: Per pair, even if --target is not met.
MOST_SAMPLES = 100_000


class Sampling:
    """Options of sampling.

    count: samples per pair of classes. target: instead, largest share of labels that differ. tolerance: largest |f -
    level| at a sample. sampling: "refined", "dense" or "random". local: nearest samples that answer together, if better
    than one.
    """

    def __init__(
        self,
        *,
        count: int = 100,
        tolerance: float = 1e-4,
        sampling: str = "refined",
        local: int = 1,
        target: "float | None" = None,
        seed: int = 0,
        on_progress: "Callable[[float, str], None] | None" = None,
    ):
        self.count, self.tolerance, self.order, self.local, self.target = count, tolerance, sampling, local, target
        self.rng, self.on_progress = np.random.default_rng(seed), on_progress


class SampledBorder:
    """A compiled border.

    measured: number of rows. different: labels that differ on them. parted: whether other rows placed the samples.
    Numbers of pairs: one_sided, one class wins on all rows; without_root, no root within the tolerance; short, fewer
    samples than requested.
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
    levels: "list[float]",
    rows: BorderRows,
    values: np.ndarray,
    *,
    unseen: np.ndarray,
    fingerprint: str,
    sampling: Sampling,
    folded: "FoldedScaling | None" = None,
) -> SampledBorder:
    """Sample the borders of decision functions f_p.

    values: f_p at the rows, (rows, pairs). unseen: the same, with each row left out of f_p.
    """
    rng, target, on_progress = sampling.rng, sampling.target, sampling.on_progress
    # Half of the rows place samples, the others measure.
    order = rng.permutation(len(rows))
    parted = len(rows) >= HELD_OUT
    placing, measuring = (order[: len(order) // 2], order[len(order) // 2 :]) if parted else (order, order)
    task = header.task()
    reference = _labels(task, unseen[measuring])
    held_out = rows.chunk.select(measuring.tolist())
    samplers = _samplers(header, functions, levels, rows, values, placing, sampling)

    def model_of(most: int, k: int = 1) -> Model:
        samples = []
        for pair, sampler in enumerate(samplers):
            if len(sampler.points):
                rows_of = np.stack([sampler.points[:most], sampler.normals[:most]], axis=1)
                samples.append(Samples(levels[pair], len(rows_of), rows_of.ravel()))
            else:  # all rows are on one side
                samples.append(Samples(_median(values[:, pair]) if len(values) else -header.rho[pair], 0, np.zeros(0)))
        features = rows.columns.tolist() if any(pair.count for pair in samples) else []  # no samples: no features
        return Model(
            BorderFile(header, fingerprint=fingerprint, features=features, samples=samples, local=k, folded=folded)
        )

    def differ(model: Model) -> int:
        decisions, predictions = _native.Decisions(len(functions)), _native.Predictions()
        model.decision_values(held_out, decisions)
        _native.predict(task, decisions, False, predictions)
        return int(np.sum(np.asarray(predictions.label) != reference))

    def grow(most: int, shown: str = "") -> None:
        for at, sampler in enumerate(samplers):
            sampler.grow(most, part_of(on_progress, at / len(samplers), (at + 1) / len(samplers), shown))
            if on_progress:
                on_progress((at + 1) / len(samplers), shown)

    def best(most: int) -> "tuple[int, Model]":
        tried = [
            (differ(model), model.local, model) for model in (model_of(most, k) for k in sorted({1, sampling.local}))
        ]
        different, _, model = min(tried, key=lambda each: each[:2])
        return different, model

    count = sampling.count
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
        # A prefix is a smaller set.
        while different <= target * len(measuring) and count - least > max(1, count // 16):
            middle = (least + count) // 2
            found = best(middle)
            if found[0] <= target * len(measuring):
                count, (different, model) = middle, found
            else:
                least = middle
    model = _round(model, functions, sampling.tolerance)
    return SampledBorder(model, len(measuring), differ(model), parted, samplers, count)


def _samplers(
    header: Header,
    functions: "Sequence[DecisionFunction]",
    levels: "list[float]",
    rows: BorderRows,
    values: np.ndarray,
    placing: np.ndarray,
    sampling: Sampling,
) -> "list[Sampler]":
    out = []
    for pair, i, j in header.class_pairs:
        f = values[placing, pair] - levels[pair]
        mine = np.isin(rows.classes[placing], (i, j))
        if not (np.any(f[mine] > 0) and np.any(f[mine] < 0)):  # labels do not separate the sides
            mine[:] = True
        out.append(
            Sampler(
                functions[pair],
                levels[pair],
                rows.x[placing][mine],
                f[mine],
                sampling=sampling.order,
                tolerance=sampling.tolerance,
                rng=sampling.rng,
            )
        )
    return out


def _median(values: np.ndarray) -> float:
    values = np.sort(values)
    return float(0.5 * values[(len(values) - 1) // 2] + 0.5 * values[len(values) // 2])


def _labels(task: _native.Task, values: np.ndarray) -> np.ndarray:
    decisions, predictions = _native.Decisions(values.shape[1]), _native.Predictions()
    decisions.resize(len(values))
    np.asarray(decisions.value)[:] = values
    _native.predict(task, decisions, False, predictions)
    return np.array(predictions.label)


def _round(model: Model, functions: "Sequence[DecisionFunction]", tolerance: float) -> Model:
    """Round to single precision if samples stay within the tolerance."""
    rounded = []
    for samples, function in zip(model.samples, functions):
        # The tolerance must hold for decimal numbers, which single precision would round again.
        exact = np.asarray(samples.rows)
        rows = exact.astype(np.float32)
        if not np.all((np.abs(rows) > 1e-37) & (np.abs(rows) < 1e37) | (exact == 0)):
            return model
        text = _native.format_numbers(rows)
        rows = np.array(_native.parse_numbers(text, 0, len(rows))[0]) if len(rows) else exact
        points = rows.reshape(samples.count, 2, -1)[:, 0] if samples.count else rows
        if samples.count and np.max(np.abs(function.value_and_gradient(points)[0] - samples.level)) > tolerance:
            return model
        rounded.append(Samples(samples.level, samples.count, rows))
    file = BorderFile(
        model.header,
        fingerprint=model.fingerprint,
        features=model.features,
        samples=rounded,
        local=model.local,
        single=True,
        folded=model.folded,
    )
    return Model(file)
