"""Kernel values from whole numbers, for features on one grid, on every instruction set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from support.oracles import EXTENDED, data_text
from support.profiles import calm

PANEL = 32
SINGLE = 2.0**-24

pytestmark = pytest.mark.usefixtures("best_instruction_set")


def _chunk(rows):
    return _native.parse(data_text(rows))[0]


def _tiles(vectors, gamma, order=None, kernel="rbf"):
    chunk = _chunk(vectors)
    model = _native.SvmModel(
        kernel=_native.Kernel(kernel, gamma, 0.0, 3),
        regression=False,
        nr_sv=[len(vectors)],
        rho=[],
        vectors=chunk,
    )
    return _native.GridTiles.of(model, list(range(len(vectors))) if order is None else order)


def _values(tiles, rows, count):
    """(rows, count) values, and relative errors of the rows."""
    values, errors = tiles.kernel_values(_chunk(rows), list(range(len(rows))), 0, -(-count // PANEL) * PANEL)
    values = np.array(values, np.float32).reshape(len(rows), -1)
    assert np.isfinite(values).all()
    return values[:, :count], np.array(errors)


def _squared_distances(vectors, rows):
    """(rows, vectors), from differences in extended precision."""
    columns = sorted(set().union(*vectors, *rows))
    position = {index: c for c, index in enumerate(columns)}

    def dense(points):
        out = np.zeros((len(points), len(columns)), EXTENDED)
        for p, point in enumerate(points):
            for index, value in point.items():
                out[p, position[index]] = value
        return out

    x, z = dense(vectors), dense(rows)
    return np.array([((x - row) ** 2).sum(axis=1) for row in z], EXTENDED)


def _exact(vectors, rows, gamma):
    """(rows, vectors) kernel values with a relative error of at most 1e-14."""
    return np.exp(-EXTENDED(gamma) * _squared_distances(vectors, rows))


def _hold(values, errors, exact):
    """Rows with a finite error keep to it."""
    for row, error, k in zip(values, errors, exact):
        if np.isfinite(error):
            assert (np.abs(row.astype(EXTENDED) - k) <= k * (EXTENDED(error) + 1e-13) + EXTENDED(2.0) ** -126).all()


#: Name -> (number of levels, value of level k in column c).
GRIDS = {
    "binary": (2, lambda k, c: float(k)),
    "one step of three": (2, lambda k, c: 3.0 * k),
    "plus and minus one": (2, lambda k, c: 2.0 * k - 1),
    "ternary": (3, lambda k, c: k - 1.0),
    "bytes": (256, lambda k, c: float(k)),
    "bytes to one": (256, lambda k, c: float(f"{k / 255:g}")),
    "thirds": (4, lambda k, c: float(f"{k / 3:.6f}")),
    "sixteen levels": (16, lambda k, c: float(f"{-1 + k / 7.5:g}")),
    "offsets": (16, lambda k, c: c + 0.25 * k),
    "offsets in digits": (5, lambda k, c: float(f"{c % 7 / 3 + k / 3:.6f}")),
    "two levels in digits": (2, lambda k, c: float(f"{k / 7:g}")),
}
ROUNDED = {"bytes to one", "thirds", "sixteen levels", "offsets in digits", "two levels in digits"}


def _points(generator, name, n, d, density):
    levels, value = GRIDS[name]
    out = []
    for _ in range(n):
        k = generator.integers(0, levels, d) * (generator.random(d) < density)
        point = {c + 1: value(int(k[c]), c + 1) for c in range(d)}
        out.append({index: v for index, v in point.items() if v != 0})
    return out


def _spread(generator, squared):
    """A gamma that gives kernel values of any size."""
    return float(10 ** generator.uniform(-3, 2.2) / max(float(np.median(squared.astype(float))), 1e-3))


@pytest.mark.full(few=7)
@pytest.mark.parametrize("d", [1, 5, 63, 64, 65, 780])
@pytest.mark.parametrize("name", GRIDS)
def test_values_are_within_their_error(instruction_set, name, d):
    generator = np.random.default_rng(d)
    for density in (0.1, 0.9) if d < 780 else (0.4,):
        n = 70 if d < 780 else 40
        # The vectors show all levels: rows have no smaller steps.
        vectors = _points(generator, name, n, d, density) + [
            {c + 1: v for c in range(d) if (v := GRIDS[name][1](k, c + 1)) != 0} for k in range(GRIDS[name][0])
        ]
        rows = _points(generator, name, 13, d, density) + vectors[:2]
        squared = _squared_distances(vectors, rows)
        for _ in range(3):
            gamma = _spread(generator, squared)
            tiles = _tiles(vectors, gamma)
            assert tiles is not None
            assert tiles.binary == (GRIDS[name][0] == 2)
            values, errors = _values(tiles, rows, len(vectors))
            assert np.isfinite(errors).all()
            if name not in ROUNDED:
                assert (errors < 5 * SINGLE).all()
            _hold(values, errors, np.exp(-EXTENDED(gamma) * squared))


@given(
    st.integers(0, 2**32),
    st.sampled_from(list(GRIDS)),
    st.integers(1, 70),
    st.sampled_from([1, 2, 5, 31, 33, 63, 64, 65, 130]),
    st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    st.sampled_from(_native.instruction_sets()),
    st.sampled_from(["nothing", "one ulp", "off", "outside", "another grid"]),
)
@calm(300)
def test_no_row_of_any_kind_breaks_its_error(seed, name, n, d, density, build, change):
    generator = np.random.default_rng(seed)
    assert _native.select_instruction_set(build)
    vectors, rows = _points(generator, name, n, d, density), _points(generator, name, 9, d, density)
    for row in rows[::2]:
        index = int(generator.integers(1, d + 1))
        if change == "one ulp":
            row[index] = float(np.nextafter(row.get(index, 0.0), 9.0))
        elif change == "off":
            row[index] = row.get(index, 0.0) + float(10 ** generator.uniform(-9, 1))
        elif change == "outside":
            row[d + index] = float(10 ** generator.uniform(-6, 3))
        elif change == "another grid":
            row[index] = float(generator.integers(-300, 600)) / 7
    if change == "one ulp" and vectors[0]:
        index = max(vectors[0])
        vectors[0][index] = float(np.nextafter(vectors[0][index], 9.0))
    squared = _squared_distances(vectors, rows)
    gamma = _spread(generator, squared)
    tiles = _tiles(vectors, gamma)
    if tiles is None:
        return
    values, errors = _values(tiles, rows, n)
    _hold(values, errors, np.exp(-EXTENDED(gamma) * squared))


def test_a_row_off_the_grid_has_an_infinite_error(instruction_set):
    vectors = [{1: 1.0, 2: 0.0, 3: 1.0}, {1: 0.0, 2: 1.0}]
    tiles = _tiles(vectors, 0.5)
    rows = [{1: 1.0}, {1: 0.5}, {2: 2.0}, {3: -1.0}, {1: 1e300}, {3: 1.001}, {}]
    _, errors = _values(tiles, rows, 2)
    assert np.isfinite(errors).tolist() == [True, False, False, False, False, False, True]


def test_a_row_without_an_entry_that_every_vector_has(instruction_set):
    """Zero is on the grid of the first column, but not of the second: 0.5, 1.5."""
    vectors = [{1: 1.0, 2: 0.5, 3: 3.0}, {1: 2.0, 2: 1.5}, {1: 3.0, 2: 0.5}]
    tiles = _tiles(vectors, 0.5)
    rows = [{2: 0.5}, {1: 1.0}, {1: 1.0, 2: 1.5}]
    values, errors = _values(tiles, rows, 3)
    assert np.isfinite(errors).tolist() == [True, False, True]
    _hold(values, errors, _exact(vectors, rows, 0.5))


def test_entries_that_no_vector_has_count_in_the_distance(instruction_set):
    vectors = [{1: 1.0}, {2: 1.0}, {}]
    rows = [{1: 1.0, 7: 0.3}, {5: 1e-9}, {9: 20.0}, {9: 1e200}, {2: 1.0, 6: 9.3, 7: 0.01}, {}]
    values, errors = _values(_tiles(vectors, 1.0), rows, 3)
    assert np.isfinite(errors).all()
    _hold(values, errors, _exact(vectors, rows, 1.0))
    assert values[0][0] == pytest.approx(np.exp(-0.09), rel=1e-6)
    assert (values[2:4] == 0).all()


def test_the_order_of_the_vectors_and_its_gaps(instruction_set):
    vectors = _points(np.random.default_rng(1), "bytes", 5, 40, 0.7)
    rows = vectors[:3]
    order = [4, -1, 0, *[-1] * 30, 2]
    values, errors = _values(_tiles(vectors, 1e-6, order), rows, len(order))
    exact = _exact(vectors, rows, 1e-6)
    _hold(values[:, [0, 2, 33]], errors, exact[:, [4, 0, 2]])
    assert values[2][33] == 1


@pytest.mark.full
def test_a_part_of_the_vectors_is_the_same_numbers(instruction_set):
    generator = np.random.default_rng(2)
    for name in ("binary", "ternary", "bytes"):
        vectors = _points(generator, name, 150, 700, 0.4)
        tiles = _tiles(vectors, 1e-3)
        chunk = _chunk(vectors[:7])
        whole, _ = tiles.kernel_values(chunk, list(range(7)), 0, 160)
        part, _ = tiles.kernel_values(chunk, [5, 6], 64, 128)
        assert [row[64:128] for row in whole[5:]] == part


@pytest.mark.parametrize("name", ["binary", "thirds", "bytes", "bytes to one"])
def test_all_instruction_sets_take_the_same_rows(best_instruction_set, name):
    generator = np.random.default_rng(3)
    vectors, rows = _points(generator, name, 64, 300, 0.3), _points(generator, name, 8, 300, 0.3)
    found = []
    for build in _native.instruction_sets():
        assert _native.select_instruction_set(build)
        found.append(_values(_tiles(vectors, 0.01), rows, 64))
    for values, errors in found[1:]:
        assert np.isfinite(errors).all()
        assert values == pytest.approx(found[0][0], rel=8 * SINGLE, abs=2.0**-126)


def test_wide_bits_are_counted_to_the_last(instruction_set):
    """Counts beyond a byte, and rows of mostly empty words."""
    generator = np.random.default_rng(4)
    d = 5000
    vectors = [{int(c) + 1: 1.0 for c in generator.permutation(d)[:k]} for k in (1, 40, 2500, 4999, 0)]
    vectors.append(dict.fromkeys(range(1, d + 1), 1.0))
    rows = [vectors[4], vectors[5], vectors[0], vectors[1], {3: 1.0, 4000: 1.0}, vectors[2], vectors[3]]
    for count in (1, len(rows)):
        values, errors = _values(_tiles(vectors, 1e-3), rows[:count], 6)
        assert (errors < (5 if instruction_set == "avx2" else 4) * SINGLE).all()  # B34 with avx2, a table elsewhere
        _hold(values, errors, _exact(vectors, rows[:count], 1e-3))


def test_the_largest_distance_of_the_most_features_is_counted_to_the_last(instruction_set):
    d = 4096
    vectors = [{}, dict.fromkeys(range(1, d + 1), 255.0), {1: 1.0}]
    squared = 255**2 * d
    gamma = 20 / squared
    values, errors = _values(_tiles(vectors, gamma), vectors, 3)
    _hold(values, errors, _exact(vectors, vectors, gamma))
    assert values[0][1] == pytest.approx(np.exp(-20.0), rel=5e-7)


@pytest.mark.full(few=5)
@pytest.mark.parametrize("largest", [1, 31, 32, 63, 64, 127, 128, 254, 255, 256, 300])
@pytest.mark.parametrize("feature", [1.0, 3.0])
def test_every_distance_up_to_the_edge_of_a_table(instruction_set, largest, feature):
    """Bits, and four levels whose features add 9 each: D = 0, 1, ... to where exp is computed in another way."""
    bits = feature == 1
    vectors = [dict.fromkeys(range(1, d // (1 if bits else 9) + 1), feature) for d in range(largest + 1)]
    vectors += [{1: feature}, {1: 1.0}]
    for gamma in (1e-6, 0.01, 60 / largest, 88 / largest, 2.0):
        rows = [{}, {1: feature}, vectors[largest]]
        values, errors = _values(_tiles(vectors, gamma), rows, len(vectors))
        assert (errors < 5 * SINGLE).all()
        _hold(values, errors, _exact(vectors, rows, gamma))


@pytest.mark.full(few=1)
@pytest.mark.parametrize("d", [3, 64, 780])
@pytest.mark.parametrize("name", GRIDS)
def test_sums_are_those_of_the_values(instruction_set, name, d):
    generator = np.random.default_rng(d)
    vectors = _points(generator, name, 300, d, 0.5)
    rows = [*_points(generator, name, 7, d, 0.5), vectors[0], {**vectors[1], d + 5: 0.125}, {1: 1e9}]
    tiles = _tiles(vectors, _spread(generator, _squared_distances(vectors, rows[:2])))
    coef = np.zeros(320, np.float32)
    coef[:300] = generator.random(300)
    for count in (1, len(rows)):
        for start, stop in ((0, 320), (32, 64), (64, 256)):
            chunk = _chunk(rows)
            values, errors = tiles.kernel_values(chunk, list(range(count)), start, stop)
            sums = tiles.kernel_sums(chunk, list(range(count)), start, coef[start:stop].tolist())
            known = np.isfinite(errors)
            expected = np.array(values, np.float64) @ coef[start:stop].astype(np.float64)
            assert np.isfinite(sums).all()
            assert np.array(sums)[known] == pytest.approx(expected[known], rel=6 * SINGLE, abs=400 * 2.0**-126)


def test_values_between_the_steps_of_the_first_vectors_refine_the_step():
    """Only the last vector shows the step."""
    vectors = [{1: float(i % 2)} for i in range(9000)] + [{1: 0.5}, {1: 1 / 6}]
    tiles = _tiles(vectors, 0.5)
    assert tiles.step == pytest.approx(1 / 6)
    assert not tiles.binary


@pytest.mark.parametrize(
    "vectors, gamma, kernel",
    [
        ([{1: 0.1234}, {1: 0.7654}, {1: 3.14159}, {1: 2.71828}], 0.5, "rbf"),  # arbitrary numbers
        ([{1: 0.0, 2: 1.0}, {1: 300.0}], 0.5, "rbf"),  # more than 256 levels
        ([{1: 1.0}, {1: 0.0}], 0.5, "linear"),
        ([{1: 1.0}, {1: 0.0}], 0.5, "exponential"),
        ([{1: 1.0}, {1: 0.0}], 0.0, "rbf"),
        ([{1: 1.0}, {1: 0.0}], 1e-300, "rbf"),
        ([{1: 1e200}, {1: -1e200}], 1.0, "rbf"),
        ([{1: 1e308}, {1: -1e308}], 1.0, "rbf"),
        ([{1: 0.333333}, {1: 0.666667}, {1: 1.0}], 1e9, "rbf"),  # six digits are too few
        ([{c: float(c % 3) for c in range(1, 4098)}, {}], 0.5, "rbf"),  # too wide
        ([], 0.5, "rbf"),
    ],
)
def test_what_is_on_no_grid_is_known_as_such(vectors, gamma, kernel):
    assert _tiles(vectors, gamma, kernel=kernel) is None


def test_a_model_that_is_mostly_zeros_is_not_filled_up():
    vectors = [{int(c): 1.0} for c in np.random.default_rng(5).integers(1, 60000, 40000)]
    assert _tiles(vectors, 0.5) is None


def test_the_polynomial_is_right_from_one_to_nothing(instruction_set):
    """Sums of four squares are all possible distances; no table reaches the end."""
    generator = np.random.default_rng(6)
    vectors = [{c + 1: float(k) for c, k in enumerate(generator.integers(0, 256, 4))} for _ in range(64)]
    near = [{c: v + float(generator.integers(-2, 3)) for c, v in x.items()} for x in vectors]
    rows = [row for row in near if all(0 <= v < 256 for v in row.values())] + vectors[:3]
    for last in (60000, 100000, 150000):
        gamma = 127 * np.log(2) / last
        values, errors = _values(_tiles(vectors, gamma), rows, 64)
        assert (errors < 5 * SINGLE).all()
        exact = _exact(vectors, rows, gamma)
        _hold(values, errors, exact)
        assert (values[exact < 2.0**-127] == 0).all()
        assert (exact < 2.0**-127).any() and ((exact > 2.0**-126) & (exact < 2.0**-100)).any()
