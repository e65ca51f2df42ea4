"""Where the words beside points go: a small search, the same every time, in which no two overlap."""

from collections.abc import Iterator, Sequence
from math import cos, hypot, pi, sin
from typing import NamedTuple

_ANGLES = 16
_DISTANCES = (4.0, 7.0, 11.0, 16.0, 22.0, 30.0, 40.0, 52.0)
_ROUNDS = 4
_APART = 1.0  # between two boxes, and from the edge
_MISSING = 1000.0  # what a label costs that has no place; the first ones more
_CROSSED = 40.0  # what a line from a point to its label through another label costs, in points of distance


class Box(NamedTuple):
    """Between x0 and x1, y0 and y1."""

    x0: float
    y0: float
    x1: float
    y1: float

    def overlaps(self, other: "Box", apart: float = 0.0) -> bool:
        """Whether the two are nearer than that."""
        return (
            self.x0 < other.x1 + apart
            and other.x0 < self.x1 + apart
            and self.y0 < other.y1 + apart
            and other.y0 < self.y1 + apart
        )

    def holds(self, other: "Box") -> bool:
        """Whether the other lies within."""
        return self.x0 <= other.x0 and other.x1 <= self.x1 and self.y0 <= other.y0 and other.y1 <= self.y1

    def crosses(self, ends: "tuple[tuple[float, float], tuple[float, float]]") -> bool:
        """Whether the line between two points passes through it."""
        (x, y), (to_x, to_y) = ends
        first, last = 0.0, 1.0  # of the line, the part within
        for start, way, low, high in ((x, to_x - x, self.x0, self.x1), (y, to_y - y, self.y0, self.y1)):
            if way == 0:
                if not low < start < high:
                    return False
                continue
            one, other = sorted(((low - start) / way, (high - start) / way))
            first, last = max(first, one), min(last, other)
        return first < last

    def nearest(self, x: float, y: float) -> "tuple[float, float]":
        """The point of it that is nearest to (x, y)."""
        return min(max(x, self.x0), self.x1), min(max(y, self.y0), self.y1)


class _Choice(NamedTuple):
    """Where a label may be. cost: in points of distance, of all but the other labels. end: of the line to its point."""

    cost: float
    box: Box
    end: "tuple[float, float]"


def place(
    anchors: "Sequence[tuple[float, float]]",
    sizes: "Sequence[tuple[float, float]]",
    hidden: "Sequence[tuple[Box, float]]",
    area: Box,
) -> "list[Box | None]":
    """A box of each size within the area, near its anchor, that overlaps no other box; None where there is no room, the
    last first. hidden: what a label should not hide, and how much farther from its anchor it may go for that. All in
    points of print."""
    choices = [_choices(anchor, size, hidden, area) for anchor, size in zip(anchors, sizes)]
    count = len(anchors)
    best: list[_Choice | None] = []
    least = float("inf")
    for first in range(max(count, 1)):  # who is placed first decides much: everyone once
        placed: list[_Choice | None] = [None] * count
        for _ in range(_ROUNDS):
            before = list(placed)
            for step in range(count):
                at = (first + step) % count
                others = [(anchors[other], each) for other, each in enumerate(placed) if other != at and each]
                placed[at] = _best(anchors[at], choices[at], others)
            if placed == before:
                break
        cost = sum(_MISSING * (count - at) if each is None else each.cost for at, each in enumerate(placed))
        cost += sum(
            _crossed(anchors[at], one, anchors[other], two)
            for at, one in enumerate(placed)
            for other, two in enumerate(placed[:at])
            if one and two
        )
        if cost < least:
            best, least = placed, cost
    return [each and each.box for each in best]


def _crossed(anchor: "tuple[float, float]", one: _Choice, other_anchor: "tuple[float, float]", other: _Choice) -> float:
    """What it costs that the line of one label goes through the other."""
    return _CROSSED * (other.box.crosses((anchor, one.end)) + one.box.crosses((other_anchor, other.end)))


def _best(
    anchor: "tuple[float, float]", choices: "list[_Choice]", others: "list[tuple[tuple[float, float], _Choice]]"
) -> "_Choice | None":
    """The cheapest one beside these. choices: by their cost."""
    best, least = None, float("inf")
    for each in choices:
        if each.cost >= least:
            break
        if any(each.box.overlaps(other.box, _APART) for _, other in others):
            continue
        cost = each.cost + sum(_crossed(anchor, each, point, other) for point, other in others)
        if cost < least:
            best, least = each, cost
    return best


def _choices(
    anchor: "tuple[float, float]", size: "tuple[float, float]", hidden: "Sequence[tuple[Box, float]]", area: Box
) -> "list[_Choice]":
    """All there are for one label, by their cost."""
    x, y = anchor
    own = Box(x, y, x, y)
    strangers = [(box, price) for box, price in hidden if box.x0 < box.x1 and not box.overlaps(own)]
    out = []
    for box in _places(anchor, size, area):
        if not area.holds(box):
            continue
        end = box.nearest(x, y)
        distance = hypot(end[0] - x, end[1] - y)
        cost = distance + sum(price for each, price in hidden if box.overlaps(each))
        if distance > _DISTANCES[1]:
            cost += sum(price / 5 for each, price in strangers if each.crosses((anchor, end)))
        out.append(_Choice(cost, box, end))
    return sorted(out, key=lambda each: each.cost)


def _places(anchor: "tuple[float, float]", size: "tuple[float, float]", area: Box) -> "Iterator[Box]":
    """Around the anchor, then anywhere."""
    width, height = size
    for distance in _DISTANCES:
        for turn in range(_ANGLES):
            angle = 2 * pi * turn / _ANGLES
            across, up = cos(angle), sin(angle)
            x = anchor[0] + distance * across + (across - 1) * width / 2
            y = anchor[1] + distance * up + (up - 1) * height / 2
            yield Box(x, y, x + width, y + height)
    columns, rows = 8, 16
    for row in range(rows + 1):
        for column in range(columns + 1):
            x = area.x0 + _APART + (area.x1 - area.x0 - width - 2 * _APART) * column / columns
            y = area.y0 + _APART + (area.y1 - area.y0 - height - 2 * _APART) * row / rows
            yield Box(x, y, x + width, y + height)
