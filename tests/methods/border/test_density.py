"""Kernel density estimates (Mills): as models by border --density, and their borders. With a variable bandwidth,
decision values are log(S_i / S_j), compared with the formula in extended precision; with a fixed one, the model is a
LIBSVM model."""

import re

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import FileError
from fastsvm_cli.methods.border.borders import compile_density
from fastsvm_cli.models import ExactModel
from support import oracles
from support.bordering import as_row, labelled, numbers, samples_of
from support.evaluation import parse, values
from support.in_process import Libsvm
from support.oracles import BorderFile, Machine, border_values, data_text, random_rows
from support.training import train as trained

pytestmark = pytest.mark.usefixtures("best_instruction_set")
UNKNOWN = 1000  # an index that no row has


def some_rows(rng, n, d, *, spread=1.0, density=1.0):
    return random_rows(rng, n, list(range(1, d + 1)), density=density, scale=spread)


def adaptive(rows, y, weight):
    return compile_density([parse(rows, y)], "train", fingerprint="f", bandwidth=None, weight=weight)


def words(text):
    return [line.split() for line in text.splitlines()]


# ---- decision values


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "labels, n, d, density",
    [([1, -1], 6, 1, 1.0), ([3, 0, 7, -2], 7, 30, 0.2), ([-1, 1, 5], 13, 5, 0.6), ([-1, 1], 100, 5, 0.6)],
)
def test_log_odds_match_the_formula(labels, n, d, density):
    rng = np.random.default_rng([n, d, len(labels)])
    rows, y = labelled(rng, n, d, labels, apart=0.4, density=density)
    order = [1, -1] if sorted(set(y)) == [-1, 1] else labels
    few = min(y.count(a) + y.count(b) for a in labels for b in labels if a != b)
    z = some_rows(rng, 6, d, density=density) + [{}, {1: 30.0}, {1: 0.5, UNKNOWN: 2.0}, dict(rows[0])]
    for weight in (0.3, 1.0, 0.5 * few, few - 0.01):
        classes = list(map(order.index, y))
        expected = np.array([oracles.density_log_odds(rows, classes, row, weight) for row in z], float)
        model = adaptive(rows, y, weight)
        # The weights' sum never falls to the weight if that many rows equal z.
        usable = np.array([rows.count(row) < weight for row in z])
        found = values(model, parse(z))[usable]
        assert found == pytest.approx(expected[usable], rel=1e-9, abs=1e-9), weight
        assert model.kind == "density" and model.header.label == order


@pytest.mark.parametrize("scale, shift", [(1e-6, 0.0), (1e6, 0.0), (1.0, 1000.0)])
def test_neither_unit_nor_zero_of_the_data_counts(scale, shift):
    rng = np.random.default_rng(5)
    (rows, y), z = labelled(rng, 60, 3, [1, -1]), some_rows(rng, 30, 3)
    moved = [[{j: scale * row.get(j, 0.0) + shift for j in (1, 2, 3)} for row in each] for each in (rows, z)]
    before, after = values(adaptive(rows, y, 7.0), parse(z)), values(adaptive(moved[0], y, 7.0), parse(moved[1]))
    np.testing.assert_allclose(after, before, rtol=1e-8, atol=1e-9)


def test_a_rows_value_depends_on_that_row_alone():
    rng = np.random.default_rng(6)
    model, chunk = adaptive(*labelled(rng, 50, 4, [2, 5, 1]), 6.0), parse(some_rows(rng, 67, 4))
    whole = values(model, chunk)
    for threads in (1, 2, 5):
        _native.set_threads(threads)
        assert np.array_equal(values(model, chunk), whole)
    assert np.array_equal(np.concatenate([values(model, chunk.select([row])) for row in range(chunk.rows)]), whole)
    for name in _native.instruction_sets():
        assert _native.select_instruction_set(name)
        assert values(model, chunk) == pytest.approx(whole, rel=1e-9, abs=1e-10)


def test_where_no_bandwidth_gives_the_weight():
    """More rows than the weight equal z, all rows do, or a distance overflows."""
    rows, y = [{1: 1.0}] * 5 + [{1: 2.0}, {1: -3.0}], [1, 1, 1, -1, -1, -1, 1]
    found = values(adaptive(rows, y, 2.0), parse([{1: 1.0}, {1: 1.5}, {1: 1e200}]))
    assert found[0, 0] == pytest.approx(np.log(3 / 2)) and np.isfinite(found).all() and found[2, 0] == 0
    same = adaptive([{2: 0.5}] * 6, [1, 1, 1, 1, -1, -1], 3.0)
    assert values(same, parse([{2: 0.5}, {2: 9.0}, {}]))[:, 0] == pytest.approx(np.full(3, np.log(2)))
    none = adaptive([{}] * 5, [1, 1, -1, -1, -1], 3.0)  # rows without entries
    assert values(none, parse([{}, {3: 1.0}]))[:, 0] == pytest.approx(np.full(2, np.log(2 / 3)))


def test_far_rows_have_finite_odds():
    """All weights of a class underflow; their logarithm does not."""
    rng = np.random.default_rng(8)
    rows = some_rows(rng, 20, 2, spread=1e-3) + [{1: 1000.0 + 1e-3 * v, 2: 0.0} for v in rng.standard_normal(20)]
    y, z = [1] * 20 + [-1] * 20, [{1: 0.0002, 2: 0.0}, {1: 1000.0002}]
    found = values(adaptive(rows, y, 5.0), parse(z))[:, 0]
    expected = [float(oracles.density_log_odds(rows, [0] * 20 + [1] * 20, row, 5.0)[0]) for row in z]
    assert found == pytest.approx(expected, rel=1e-9) and found[0] > 1e6 and found[1] < -1e6


# ---- the command


@pytest.fixture
def train(tmp_path):
    rng = np.random.default_rng(11)
    (rows, y), z = (
        labelled(rng, 90, 3, [-1, 1], apart=1.0),
        [as_row(row) for row in rng.normal(0.5, 1, (40, 3)).tolist()],
    )
    (tmp_path / "train").write_bytes(data_text(rows, y))
    (tmp_path / "test").write_bytes(data_text(z))
    return numbers(rows, 3), np.array(y), numbers(z, 3)


@pytest.mark.full
def test_labels_and_probabilities_are_the_papers(fastsvm, tmp_path, train):
    x, y, at = train
    done = fastsvm("border", "--bandwidth", "adaptive", "-W", 9, "--density", "train")
    first, second = done.out.splitlines()
    assert first == "90 training rows of 2 classes -> a density estimate of 90 weights that add up to 9"
    assert re.fullmatch(r"[\d.]+ KB: train\.density", second) and done.err == ""
    r = np.array([float(oracles.density(x, y, row, None, 9.0)) for row in at])  # P(1 | z) - P(-1 | z)
    found = fastsvm("predict", "-q", "test", "train.density").out.split()
    assert found == ["1" if each > 0 else "-1" for each in r] and 5 < found.count("1") < 35
    head, *lines = words(fastsvm("predict", "-q", "-b", 1, "test", "train.density").out)
    assert head == ["labels", "1", "-1"]
    expected = np.stack([(1 + r) / 2, (1 - r) / 2], axis=1)
    assert np.array(lines, float)[:, 1:] == pytest.approx(expected, abs=2e-6)
    shown = np.array(words(fastsvm("predict", "-q", "--values", "test", "train.density").out), float)
    assert np.tanh(shown[:, 1] / 2) == pytest.approx(r, abs=1e-10)


@pytest.mark.parametrize("labels, bandwidth", [([-1, 1], 0.3), ([4, 2, 9], 1.5)])
def test_of_a_fixed_bandwidth_it_is_a_libsvm_model(fastsvm, tmp_path, labels, bandwidth):
    rng = np.random.default_rng(12)
    rows, y = labelled(rng, 70, 2, labels, apart=0.7, density=0.9)
    z = [{j: v + 0.7 for j, v in row.items()} for row in some_rows(rng, 50, 2, density=0.9)]
    (tmp_path / "train").write_bytes(data_text(rows, y))
    done = fastsvm("border", "--bandwidth", bandwidth, "--density", "train", "model")
    assert f"a LIBSVM model, the density estimate of bandwidth {bandwidth:g}" in done.out
    machine = Machine.read((tmp_path / "model").read_bytes())
    assert machine.gamma == 1 / (2 * bandwidth**2)
    assert set(machine.rho) == {0.0} and set(np.ravel(machine.coef)) <= {1.0, -1.0}
    assert machine.label == ([1, -1] if labels == [-1, 1] else labels)
    x, at = numbers(rows, 2), numbers(z, 2)
    classes = [x[np.array(y) == label] for label in machine.label]
    sums = np.array([[oracles.density_weights(each, row, bandwidth).sum() for each in classes] for row in at])
    expected = [machine.label[c] for c in np.argmax(sums, axis=1)]  # the class of the largest density
    theirs = Libsvm(tmp_path / "model")
    assert theirs.labels(z) == expected and len(set(expected)) > 1
    differences = [[float(row[i] - row[j]) for i, j in machine.pairs] for row in sums]
    assert theirs.values(z) == pytest.approx(np.array(differences), abs=1e-10)


@pytest.mark.full
def test_a_matrix_that_is_too_large_is_refused():
    wide = [parse([{j + 1000 * part: 1.0 for j in range(1000)} for part in range(600)], [1, 2] * 300)]
    with pytest.raises(FileError, match=r"600 rows of 600000 features found, which take 2\.9 GB as a dense matrix"):
        compile_density(wide, "train", fingerprint="f", bandwidth=None, weight=3.0)
    assert isinstance(compile_density(wide, "train", fingerprint="f", bandwidth=1.0), ExactModel)


def test_the_core_refuses_what_does_not_fit():
    rows = parse([{1: 1.0}, {1: 2.0}, {1: 3.0}])
    nan = float("nan")
    for nr_sv, weight in (([1, 1], 1.0), ([3], 1.0), ([1, 2], 3.0), ([1, 2], nan), ([3, 0], 1.0), ([4, -1], 1.0)):
        pairs, label = len(nr_sv) * (len(nr_sv) - 1) // 2, list(range(len(nr_sv)))
        how = dict(nr_class=len(nr_sv), total_sv=3, rho=[0.0] * pairs, label=label, nr_sv=nr_sv)
        header = _native.Header("c_svc", "rbf", gamma=1.0, **how)
        with pytest.raises(ValueError):
            _native.DensityFile(header, fingerprint="f", weight=weight, rows=rows).model()


# ---- borders


@pytest.mark.full(few=1)
@pytest.mark.parametrize("bandwidth, weight", [(0.5, None), (None, 12)])
def test_borders_of_density_estimates(fastsvm, tmp_path, train, bandwidth, weight):
    x, y, at = train
    options = ("--bandwidth", bandwidth) if bandwidth else ("--bandwidth", "adaptive", "-W", weight)
    done = fastsvm("border", *options, "--samples", 60, "train")
    assert done.out.startswith("90 training rows -> 60 border samples in 3 features\n")
    assert "support vectors" not in done.out and "Trial" not in done.out
    border = BorderFile.read((tmp_path / "train.border").read_bytes())
    first = int(border.header["label"][0])

    def f(z):
        return oracles.density(x, y * first, z, bandwidth, weight)

    assert border.levels == [0.0] and max(abs(float(f(sample[0]))) for sample in border.samples[0]) <= 1e-4
    for point, normal in border.samples[0][:5]:
        slope = oracles.slope(f, point, 1e-7)
        np.testing.assert_allclose(normal.astype(float), slope.astype(float), rtol=1e-3, atol=1e-3)
    head, *lines = words(fastsvm("predict", "-q", "-b", 1, "test", "train.border").out)
    assert head[1:] == border.header["label"]
    decisions, gaps = border_values(border, list(map(as_row, at.tolist())))
    t, clear = np.tanh(decisions[:, 0].astype(float)), gaps[:, 0] > 1e-12
    expected = np.clip(np.stack([(1 + t) / 2, (1 - t) / 2], axis=1), 1e-7, 1 - 1e-7)
    assert clear.sum() > 30 and np.array(lines, float)[clear, 1:] == pytest.approx(expected[clear], abs=2e-6)
    assert np.mean([np.sign(float(f(z))) == np.sign(each) for z, each in zip(at, t)]) > 0.8


@pytest.mark.full(few=1)
@pytest.mark.parametrize("labels", [[-1, 1], [0, 7, 3]])
def test_labels_of_density_borders_are_in_svm_trains_order(fastsvm, tmp_path, labels):
    rng = np.random.default_rng(16)
    x, y = labelled(rng, 63, 2, labels, apart=3.0)
    (tmp_path / "train").write_bytes(data_text(x, y))
    fastsvm("border", "-q", "--bandwidth", 0.8, "--samples", 15, "train", "b")
    border = BorderFile.read((tmp_path / "b").read_bytes())
    order = Machine.read(trained(tmp_path / "m", x, y, "-c 1").read_bytes()).label
    assert list(map(int, border.header["label"])) == order
    assert border.header["nr_sv"] == [str(y.count(label)) for label in order] and min(map(len, border.samples)) > 0
    plain = fastsvm("predict", "-q", "train", "b").out.split()
    likely = [line[0] for line in words(fastsvm("predict", "-q", "-b", 1, "train", "b").out)[1:]]
    assert min(np.mean(np.array(found, int) == y) for found in (plain, likely)) > 0.9


@pytest.mark.full
@pytest.mark.parametrize("options", ["1e-3", "adaptive -W 0.01", "adaptive -W 89.999"])
def test_extreme_bandwidths_end_in_a_model_or_one_line(fastsvm, train, options):
    done = fastsvm("border", "--bandwidth", *options.split(), "train", "b", code=None)
    if done.code:
        assert done.code == 1 and done.err.startswith("Error: train") and done.err.count("\n") == 1
    else:
        assert "RuntimeWarning" not in done.err
        fastsvm("predict", "-q", "-b", 1, "train", "b")


def test_rows_without_features_have_no_border(fastsvm, tmp_path):
    (tmp_path / "train").write_text("1\n-1\n1\n-1\n")
    assert "no border between the rows" in fastsvm("border", "--bandwidth", 1, "train", "b").err
    assert samples_of(tmp_path / "b") == [0] and fastsvm("predict", "-q", "train", "b").out.count("\n") == 4
