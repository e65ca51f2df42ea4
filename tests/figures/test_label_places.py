"""Where the words beside points go."""

import random

import pytest

from fastsvm_cli.figures.labels import Box, place

AREA = Box(0, 0, 170, 110)


def overlap(one, other):
    return max(one.x0, other.x0) < min(one.x1, other.x1) and max(one.y0, other.y0) < min(one.y1, other.y1)


@pytest.mark.parametrize("seed", range(8))
def test_labels_overlap_nowhere_and_stay_inside(seed):
    draw = random.Random(seed)
    anchors = [(draw.uniform(0, 170), draw.uniform(0, 110)) for _ in range(9)]
    anchors[1:4] = [anchors[0]] * 3  # all on one point
    sizes = [(draw.uniform(20, 80), 8.0) for _ in anchors]
    placed = place(anchors, sizes, [(Box(x - 3, y - 3, x + 3, y + 3), 14.0) for x, y in anchors], AREA)
    assert all(box is not None for box in placed)
    for at, box in enumerate(placed):
        assert (box.x1 - box.x0, box.y1 - box.y0) == pytest.approx(sizes[at])
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= 170 and box.y1 <= 110
        assert not any(overlap(box, other) for other in placed[:at])
    assert placed == place(anchors, sizes, [(Box(x - 3, y - 3, x + 3, y + 3), 14.0) for x, y in anchors], AREA)


def test_a_lonely_label_is_beside_its_point_and_hides_it_not():
    (box,) = place([(80.0, 50.0)], [(40.0, 8.0)], [(Box(77, 47, 83, 53), 14.0)], AREA)
    assert not overlap(box, Box(77, 47, 83, 53))
    x, y = box.nearest(80, 50)
    assert abs(x - 80) <= 8 and abs(y - 50) <= 8


def test_what_has_no_room_has_no_place():
    first, second = place([(20.0, 5.0), (20.0, 5.0)], [(38.0, 8.0), (38.0, 8.0)], [], Box(0, 0, 40, 10))
    assert first is not None and second is None
    assert place([(20.0, 5.0)], [(50.0, 8.0)], [], Box(0, 0, 40, 10)) == [None]


@pytest.mark.parametrize(
    "ends, crossed",
    [
        (((0, 5), (20, 5)), True),
        (((0, 20), (20, 20)), False),
        (((0, 0), (4, 4)), False),
        (((0, 0), (20, 10)), True),
        (((12, -5), (12, 30)), True),
        (((8, 5), (12, 5)), True),
    ],
)
def test_a_line_crosses_a_box(ends, crossed):
    assert Box(5, 2, 15, 8).crosses(ends) is crossed
    assert Box(5, 2, 15, 8).crosses(ends[::-1]) is crossed
