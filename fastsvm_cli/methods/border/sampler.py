"""Draw border samples of one pair of classes."""

from collections.abc import Callable

import numpy as np

from fastsvm_cli.methods.border.roots import DecisionFunction, roots_between
from fastsvm_cli.methods.feature_space import row_norms, squared_distances

# A line's second end is the nearest of this many random rows on the other side.
NEAREST_ROWS = 2000
_ROUNDS = 16
# Minimum distance between samples, over the median distance of rows to their nearest sample.
_DUPLICATE = 0.01
_FRUITLESS = 20  # rounds without a new sample


class Sampler:
    """Border samples of one pair of classes.

    points, normals: (n, d), the samples so far. x: (m, d), rows to draw from; f: (m), decision values minus level.
    """

    def __init__(
        self,
        function: DecisionFunction,
        level: float,
        x: np.ndarray,
        f: np.ndarray,
        *,
        sampling: str,
        tolerance: float,
        rng: np.random.Generator,
    ):
        self.function, self.level, self.tolerance, self.sampling, self._rng = function, level, tolerance, sampling, rng
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

    def grow(self, count: int, on_step: "Callable[[float], None] | None" = None) -> None:
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
            if on_step:
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
                second[mine] = among[
                    np.argmin(
                        squared_distances(self._moved[among], self._norms[among], self._moved[first[mine]]), axis=1
                    )
                ]
        up = self._above[first][:, None]
        one, other = self._x[first], self._x[second]
        return roots_between(
            self.function, self.level, np.where(up, one, other), np.where(up, other, one), 0.5 * self.tolerance
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
