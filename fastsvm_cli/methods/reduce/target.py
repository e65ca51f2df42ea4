"""The smallest reduced set that keeps to a target, decided on rows that its placement has not seen.

Some rows choose a size, others test it. Test 0 takes sizes from large to small, up to the first that fails ("fixed
sequence", statement (2) of comparisons.py), with confidence 1 - delta_0. If its first one fails, tests 1, 2, ... take
larger ones, up to one that passes, with 1 - delta_i: delta_0 = 0.8 delta, delta_i = 0.2 delta / 2^i. A test takes a set
whose share among rows drawn like these is above the target with probability at most delta_i, and all delta_i add up to
delta: at most the share `target` of such rows gets another label, with confidence 1 - delta. The set of all vectors
needs no test. A class rules a set out as in `bench`, with no confidence of its own.

Rows that are support vectors were trained on: each part is measured on a model without its own, reduced as far. For new
rows, that is an estimate: other coefficients remember them. Without rows, a quarter of the support vectors is left out,
and measured on.
"""

from collections.abc import Callable
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from fastsvm_cli import _native
from fastsvm_cli.comparisons import (
    Budget,
    Changed,
    answers,
    changed_labels,
    rms_interval_95,
    rows_needed,
    share_of_spread,
    upper_bound,
)
from fastsvm_cli.methods import Progress, silent
from fastsvm_cli.methods.feature_space import FeatureSpace, Matrix, classes_of_vectors, dense, matrix, near_origin
from fastsvm_cli.methods.reduce.placement import finish_seconds, gaussian
from fastsvm_cli.methods.reduce.reduction import Reduction, compile_reduced_set, lossless, row_keys, some_vectors
from fastsvm_cli.models import ExactModel, Model, Precision
from fastsvm_cli.text.read_rows import smaller_chunks

_RIDGE = 1e-6  # added to the kernel matrix's diagonal of ones
_ITERATIONS, _TOLERANCE = 100, 1e-3  # of conjugate gradients; of the residual's norm
_STORED = 4096  # support vectors of a function whose kernel matrix is stored
_DIGITS = 6  # svm-train writes 8
_LARGE = 1e100


def among(rows: _native.Chunk, others: _native.Chunk) -> np.ndarray:
    """Return which rows have the features of one of the others, to six digits: bool (rows)."""
    known = set(row_keys(others, _six_digits))
    return np.fromiter((key in known for key in row_keys(rows, _six_digits)), bool, rows.rows)


@np.errstate(all="ignore")
def _six_digits(values: np.ndarray) -> "list[np.ndarray]":
    power = _DIGITS - 1 - np.floor(np.log10(np.abs(values)))
    return [np.rint(values * 10.0**power), power]


def without(model: ExactModel, held: np.ndarray, space: FeatureSpace) -> ExactModel:
    """Return the RBF model whose functions are the projections on the span of support vectors not `held`, (total_sv).

    Values at these are the model's; at those held, estimates of leave-one-out (Vapnik and Chapelle, "Bounds on Error
    Expectation for Support Vector Machines", 2000, section 3).
    """
    header, values = model.header, space.at_support_vectors[0]
    x, out = near_origin(matrix(model.vectors)[0]), np.array(model.vectors.leading)
    of = classes_of_vectors(header)
    for p, i, j in header.class_pairs:
        members = [(i, j - 1), (j, i)] if header.classification else [(0, 0)]
        mine = [(np.flatnonzero(~held & (of == of_class)), column) for of_class, column in members]
        rows = np.concatenate([each for each, _ in mine])
        if not len(rows):
            continue
        start = np.concatenate([out[each, column] for each, column in mine])
        found = _solution(x[rows], header.gamma, values[rows, p], start)
        for each, column in mine:
            out[each, column], found = found[: len(each)], found[len(each) :]
    return some_vectors(model, np.flatnonzero(~held).tolist(), out)


def _solution(x: Matrix, gamma: float, values: np.ndarray, start: np.ndarray) -> np.ndarray:
    # Conjugate gradients from `start`, whose invisible parts stay.
    kernel, n = gaussian(x, gamma), len(values)
    size = max(float(np.abs(values).max()), float(np.abs(start).max()))
    if size > _LARGE:  # squares of the residual would overflow
        return size * _solution(x, gamma, values / size, start / size)
    if n <= _STORED:
        k = kernel(x)
        k[np.diag_indices(n)] += _RIDGE
    else:
        z = dense(x)

        def times(v: np.ndarray) -> np.ndarray:
            return kernel.times(z, v.reshape(n, 1))[:, 0] + _RIDGE * v.ravel()

        k = LinearOperator((n, n), times, dtype=float)
    return cg(k, values, x0=start, rtol=_TOLERANCE, maxiter=_ITERATIONS)[0]


CONFIDENCE = 0.95
_FIRST_TEST = 0.8  # share of 1 - CONFIDENCE
_LARGER = 1.5  # than the size before
#: Sizes of test 0, over the chosen one: for unseen rows; for rows of the training, whose parts differ more.
_SIZES, _SIZES_OF_TRAINING = (1.25,), (3.0, 2.0, 1.25)
#: Rows of a part, over the least that can show the target; least share of the rows of the training.
_ENOUGH, _LEAST_PART = 4, 0.25
_TRAINED = 0.05  # share of the support vectors among the rows of the training
_HELD_OUT = 4  # of so many support vectors, one is held out
_FIRST = 8  # vectors
_PATIENCE = 10.0  # estimated seconds of final descents, after which no smaller size is tried


class Seen(NamedTuple):
    """Comparison of a reduced set with the model on rows."""

    rows: int
    different: int
    share: float  # of labels that differ; regression: root mean square difference, in standard deviations
    high: float  # regression: upper end of the share's 95 % interval
    changed: "Changed | None"

    def within(self, budget: float, confidence: float) -> bool:
        """Return whether, with this confidence, the set keeps to a budget; for regression, whether `high` does."""
        if self.changed is None:
            return self.high <= budget
        over = Budget(budget).class_over(self.changed)
        return upper_bound(self.different, self.rows, confidence) <= budget and over is None


class Sample(NamedTuple):
    """Rows on which a target was decided."""

    target: float
    seen: Seen  # the result on them
    bound: "float | None"  # share with CONFIDENCE: the target, or the least that these rows show
    held: int  # support vectors among them
    measured: "_native.Chunk | None"  # None, as the bound, if only support vectors are known
    whole: bool  # no smaller set passed

    @property
    def shortfall(self) -> "str | None":
        """Why no reduced set reached the target, or None."""
        target = self.target
        not_reached = f"the target of {100 * target:.3g} % was not reached"
        if self.bound is not None and self.bound > target:
            return (
                f"{not_reached}: {self.seen.rows} rows to test on can show {100 * self.bound:.3g} % at best; give"
                f" {2 * rows_needed(target, _confidence(0))} rows or more"
            )
        return f"{not_reached} by fewer vectors: the model keeps all of them" if self.whole else None


def _confidence(test: int) -> float:
    return 1 - (1 - CONFIDENCE) * (_FIRST_TEST if test == 0 else (1 - _FIRST_TEST) / 2**test)


class _Sizes:
    # how: of compile_reduced_set

    def __init__(self, model: ExactModel, how: "dict[str, Any]", on_progress: Progress):
        self.model, self.space, self._how, self._on_progress = model, FeatureSpace(model), how, on_progress
        self._made: dict[int, Reduction] = {}

    @property
    def slow(self) -> bool:
        # By an estimate: no clock changes results.
        total, parts = self.model.header.total_sv, len(self.model.header.label or [0])
        seconds = sum(finish_seconds(total, count, parts) for count in self._made)
        return bool(self._how.get("finishing", True)) and seconds > _PATIENCE

    def of(self, count: int) -> Reduction:
        if count not in self._made:
            words = f"{count} vectors, "

            def shown(share: float, more: str) -> None:  # nobody knows how many sizes will follow: no share
                self._on_progress(0.0, words + more)

            self._made[count] = compile_reduced_set(
                self.model, count=count, space=self.space, on_progress=shown, **self._how
            )
        return self._made[count]


class _Part:
    def __init__(self, whole: _Sizes, rows: _native.Chunk, held: np.ndarray):
        self.rows, self.held = rows, held
        self.sizes, model = whole, whole.model
        if held.any():
            model = without(model, held, whole.space)
            self.sizes = _Sizes(model, whole._how, whole._on_progress)
        self.total = model.header.total_sv
        self._labels = _labels(model, rows)
        self._seen: dict[int, Seen] = {}

    def seen(self, count: int) -> Seen:
        if count not in self._seen:
            found = _labels(self.sizes.of(count).model, self.rows)
            self._seen[count] = _compared(self.sizes.model, found, self._labels)
        return self._seen[count]

    def smallest(self, least: int, passes: "Callable[[Seen], bool]") -> int:
        # Doubled until one passes, then bisected.
        low, count, found = 0, min(least, self.total), None
        while found is None or (found - low > max(2, found // 6) and not self.sizes.slow):
            if found is not None:
                count = (low + found) // 2
            if count >= self.total or passes(self.seen(count)):
                found = count
            else:
                low, count = count, min(self.total, count * 2)
        return found


def reduce_to(
    model: ExactModel,
    target: float,
    rows: "_native.Chunk | None",
    *,
    seed: int = 0,
    on_progress: Progress = silent,
    **how: Any,
) -> Reduction:
    """Return the smallest set found that keeps to a target, with its `sample`.

    target: largest share of labels that differ; for regression, largest root mean square difference in standard
    deviations of the exact values. rows: like those to predict; None: support vectors are measured on. how: of
    compile_reduced_set.
    """
    total, least = model.header.total_sv, max(len(model.header.label or [0]), _FIRST)
    if total <= least or not model.pairs:
        return lossless(model, how["fingerprint"])
    whole = _Sizes(model, {**how, "seed": seed}, on_progress)
    if rows is None:
        some = model.vectors.select(list(range(0, total, _HELD_OUT)))
        held = among(model.vectors, some)
        if held.all():  # each equals one of these
            return lossless(model, how["fingerprint"])
        part = _Part(whole, model.vectors.select(np.flatnonzero(held).tolist()), held)
        return _found(part, whole, part.smallest(least, lambda seen: seen.share <= target), target, None)
    order, half = np.random.default_rng(seed).permutation(rows.rows).tolist(), rows.rows // 2
    trained = among(model.vectors, rows).mean() > _TRAINED
    if trained and model.header.classification and target < 1:  # leave no more support vectors out than needed
        half = min(half, max(_ENOUGH * rows_needed(target, _confidence(0)), ceil(_LEAST_PART * rows.rows)))
    parts = [rows.select(sorted(part)) for part in (order[:half] or order, order[-half:])]
    held_by_part = [among(model.vectors, part) for part in parts]
    if any(held.all() for held in held_by_part):  # nothing is left to place, as where every row is given twice
        return lossless(model, how["fingerprint"])
    choosing, testing = (_Part(whole, part, held) for part, held in zip(parts, held_by_part))
    chosen = choosing.smallest(least, lambda seen: seen.within(_shown_by(choosing, target), _confidence(0)))
    budget, test = _shown_by(testing, target), 0

    def passes(size: int) -> bool:
        return size >= testing.total or testing.seen(size).within(budget, _confidence(test))

    first, *smaller = (
        _scaled(times * chosen, choosing.total, testing.total)
        for times in (_SIZES_OF_TRAINING if trained and not choosing.sizes.slow else _SIZES)
    )
    size = first
    if passes(first):
        for each in smaller:
            if testing.sizes.slow or not passes(each):
                break
            size = each
    while not passes(size):
        size, test = _scaled(_LARGER * size, testing.total, testing.total), test + 1
    return _found(testing, whole, size, target, budget)


def _found(part: _Part, whole: _Sizes, taken: int, target: float, bound: "float | None") -> Reduction:
    out = whole.of(_scaled(taken, part.total, whole.model.header.total_sv))
    held = among(part.rows, whole.model.vectors) if part.held.any() else np.zeros(0)
    measured = None if bound is None else part.rows
    out.sample = Sample(target, part.seen(taken), bound, int(held.sum()), measured, taken >= part.total)
    return out


def _scaled(count: float, of: int, to: int) -> int:
    return min(to, ceil(count * to / max(of, 1)))


def _shown_by(part: _Part, target: float) -> float:
    # The target, or the least share that so many rows show
    return target if part.sizes.model.header.regression else max(target, upper_bound(0, part.rows.rows, _confidence(0)))


def _labels(model: Model, rows: _native.Chunk) -> np.ndarray:
    parts = smaller_chunks([rows], model.pairs)
    found = [np.array(predictions.label) for _, _, predictions in answers(model, parts, Precision.labels())]
    return np.concatenate([np.zeros(0), *found])


@np.errstate(all="ignore")
def _compared(model: ExactModel, found: np.ndarray, exact: np.ndarray) -> Seen:
    rows, differ = len(exact), found != exact
    different, changed = int(differ.sum()), changed_labels(model.header, exact, differ)
    if changed is not None:
        return Seen(rows, different, changed.share, 0.0, changed)
    squares = (found - exact) ** 2
    total, fourths, scale = float(squares.sum()), float((squares * squares).sum()), float(exact.std())
    share = share_of_spread((total / rows) ** 0.5, scale, abs(float(exact[0])))
    high = share_of_spread(rms_interval_95(total, fourths, rows)[1], scale, abs(float(exact[0])))
    return Seen(rows, different, share, high, None)
