"""Kernel density estimates as models (Mills): border --density. With a variable bandwidth, decision values are log(S_i
/ S_j), compared with the formula in extended precision; with a fixed one, the model is a LIBSVM model."""

import re
import subprocess

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model

from fastsvm_cli import _native
from fastsvm_cli.errors import FileError
from fastsvm_cli.methods.border.density import compile_density
from fastsvm_cli.models import parse_model
from fastsvm_cli.models.base import ExactModel
from support import oracles
from support.checksums import with_checksum
from support.evaluation import error_of, parse, values
from support.messages import no_pair, not_finite, sentences, values_of_key
from support.oracles import Machine, data_text

pytestmark = pytest.mark.usefixtures("best_instruction_set")
UNKNOWN = 1000  # an index that no row has


def classes_of(labels, order):
    return [order.index(label) for label in labels]


def some_rows(rng, n, d, *, spread=1.0, density=1.0, offset=0.0):
    return oracles.random_rows(rng, n, list(range(1, d + 1)), density=density, scale=spread, offset=offset)


def parted(rng, n, labels):
    """Labels of n rows: each label once in this order, then random ones."""
    return labels + rng.choice(labels, n - len(labels)).tolist()


def adaptive(rows, y, weight):
    return compile_density([parse(rows, y)], "train", fingerprint="f", bandwidth=None, weight=weight)


def fixed(rows, y, bandwidth):
    return compile_density([parse(rows, y)], "train", fingerprint="f", bandwidth=bandwidth)


# ---- decision values


@pytest.mark.full(few=1)
@pytest.mark.parametrize("labels", [[1, -1], [-1, 1, 5], [3, 0, 7, -2]])
@pytest.mark.parametrize("n", [6, 7, 13, 40, 100])
@pytest.mark.parametrize("d, density", [(1, 1.0), (5, 0.6), (30, 0.2)])
def test_log_odds_match_the_formula(labels, n, d, density):
    rng = np.random.default_rng([n, d, len(labels)])
    y = parted(rng, n, labels)
    rows = [
        {j: v + 0.4 * labels.index(label) for j, v in row.items()}
        for label, row in zip(y, some_rows(rng, n, d, density=density))
    ]
    order = [1, -1] if sorted(set(y)) == [-1, 1] else labels
    few = min(y.count(a) + y.count(b) for a in labels for b in labels if a != b)
    z = some_rows(rng, 6, d, density=density) + [{}, {1: 30.0}, {1: 0.5, UNKNOWN: 2.0}, dict(rows[0])]
    for weight in (0.3, 1.0, 0.5 * few, few - 0.01):
        expected = np.array([oracles.density_log_odds(rows, classes_of(y, order), row, weight) for row in z], float)
        model = adaptive(rows, y, weight)
        found = values(model, parse(z))
        # The weights' sum never falls to the weight if that many rows equal z.
        usable = np.array([rows.count(row) < weight for row in z])
        assert found[usable] == pytest.approx(expected[usable], rel=1e-9, abs=1e-9), weight
        assert model.kind == "density" and model.header.label == order


@pytest.mark.parametrize("scale, shift", [(1e-6, 0.0), (1e6, 0.0), (1.0, 1000.0)])
def test_neither_unit_nor_zero_of_the_data_counts(scale, shift):
    rng = np.random.default_rng(5)
    y = parted(rng, 60, [1, -1])
    rows, z = some_rows(rng, 60, 3), some_rows(rng, 30, 3)
    moved = [[{j: scale * row.get(j, 0.0) + shift for j in (1, 2, 3)} for row in each] for each in (rows, z)]
    before, after = values(adaptive(rows, y, 7.0), parse(z)), values(adaptive(moved[0], y, 7.0), parse(moved[1]))
    np.testing.assert_allclose(after, before, rtol=1e-8, atol=1e-9)


def test_a_rows_value_depends_on_that_row_alone():
    rng = np.random.default_rng(6)
    y = parted(rng, 50, [2, 5, 1])
    model, chunk = adaptive(some_rows(rng, 50, 4), y, 6.0), parse(some_rows(rng, 67, 4))
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
    y = parted(rng, 90, [-1, 1])
    rows = [{j: v + 0.5 * label for j, v in row.items()} for label, row in zip(y, some_rows(rng, 90, 3))]
    (tmp_path / "train").write_bytes(data_text(rows, y))
    z = some_rows(rng, 40, 3)
    (tmp_path / "test").write_bytes(data_text(z, [1] * 40))
    return rows, y, z


@pytest.mark.full
def test_labels_and_probabilities_are_the_papers(fastsvm, tmp_path, train):
    rows, y, z = train
    done = fastsvm("border", "--bandwidth", "adaptive", "-W", 9, "--density", "train")
    assert (
        done.out.splitlines()[0] == "90 training rows of 2 classes -> a density estimate of 90 weights that add up to 9"
    )
    assert re.fullmatch(r"[\d.]+ KB: train\.density", done.out.splitlines()[1]) and done.err == ""
    x, at = oracles.dense(rows, [1, 2, 3]), oracles.dense(z, [1, 2, 3])
    r = np.array([float(oracles.density(x, np.array(y), row, None, 9.0)) for row in at])  # P(1 | z) - P(-1 | z)
    labels = fastsvm("predict", "-q", "test", "train.density").out.split()
    assert labels == ["1" if each > 0 else "-1" for each in r] and 5 < labels.count("1") < 35
    lines = fastsvm("predict", "-q", "-b", 1, "test", "train.density").out.splitlines()
    assert lines[0] == "labels 1 -1"
    found = np.array([line.split() for line in lines[1:]], float)
    assert found[:, 1:] == pytest.approx(np.stack([(1 + r) / 2, (1 - r) / 2], axis=1), abs=2e-6)
    shown = np.array(
        [line.split() for line in fastsvm("predict", "-q", "--values", "test", "train.density").out.splitlines()], float
    )
    assert np.tanh(shown[:, 1] / 2) == pytest.approx(r, abs=1e-10)


@pytest.mark.full
@pytest.mark.parametrize("labels", [[-1, 1], [4, 2, 9]])
@pytest.mark.parametrize("bandwidth", [0.3, 1.5])
def test_of_a_fixed_bandwidth_it_is_a_libsvm_model(fastsvm, tmp_path, svm_predict, labels, bandwidth):
    rng = np.random.default_rng(12)
    y = parted(rng, 70, labels)
    rows = [
        {j: v + 0.7 * labels.index(label) for j, v in row.items()}
        for label, row in zip(y, some_rows(rng, 70, 2, density=0.9))
    ]
    z = [{j: v + 0.7 for j, v in row.items()} for row in some_rows(rng, 50, 2, density=0.9)]
    (tmp_path / "train").write_bytes(data_text(rows, y)), (tmp_path / "test").write_bytes(data_text(z))
    done = fastsvm("border", "--bandwidth", bandwidth, "--density", "train", "model")
    assert f"a LIBSVM model, the density estimate of bandwidth {bandwidth:g}" in done.out
    machine = Machine.read((tmp_path / "model").read_bytes())
    assert machine.gamma == 1 / (2 * bandwidth**2)
    assert set(machine.rho) == {0.0} and set(np.ravel(machine.coef)) <= {1.0, -1.0}
    assert svm_load_model(str(tmp_path / "model")) and machine.label == ([1, -1] if labels == [-1, 1] else labels)
    columns = sorted(set().union(*rows, *z))
    x, at = oracles.dense(rows, columns), oracles.dense(z, columns)
    sums = np.array(
        [
            [oracles.density_weights(x[np.array(y) == label], row, bandwidth).sum() for label in machine.label]
            for row in at
        ]
    )
    expected = [str(machine.label[c]) for c in np.argmax(sums, axis=1)]  # the class of the largest density
    assert len(set(expected)) > 1
    assert fastsvm("predict", "-q", "test", "model").out.split() == expected
    subprocess.run([svm_predict, "test", "model", "theirs"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "theirs").read_text().split() == expected
    shown = fastsvm("predict", "-q", "--values", "test", "model").out.splitlines()
    pairs = [(i, j) for i in range(len(labels)) for j in range(i + 1, len(labels))]
    differences = np.array([[float(row[i] - row[j]) for i, j in pairs] for row in sums])
    assert np.array([line.split()[1:] for line in shown], float) == pytest.approx(differences, abs=1e-10)


@pytest.mark.full
def test_every_command_copes(fastsvm, tmp_path, train):
    fastsvm("border", "-q", "--bandwidth", "adaptive", "-W", 9, "--density", "train")
    fastsvm("border", "-q", "--bandwidth", 0.8, "--density", "train", "fixed")
    done = fastsvm("bench", "--runs", 1, "--max-seconds", 1, "test", "fixed", "train.density")
    assert "train.density" in done.out
    for command in ("approx", "reduce", "order", "border"):
        more = ["--vectors", 5] if command == "reduce" else []
        fastsvm(command, "-q", *more, "fixed", "out")
    done = fastsvm("bound", "train.density", "test", code=1)
    assert (
        done.err
        == "Error: train.density: a density estimate found, whose gamma is another one for every row: it has no bound\n"
    )
    fastsvm("bound", "fixed", "test")
    exact = fastsvm("predict", "--exact", "fixed", "test", "train.density", code=1)
    assert "the model has no certificates" in exact.err


@pytest.mark.full(few=3)
@pytest.mark.parametrize("options, message", sentences("density"))
def test_wrong_usage(fastsvm, train, options, message):
    assert message in fastsvm("border", *options.split(), "train", code=2).err


@pytest.mark.full
def test_a_matrix_that_is_too_large_is_refused():
    wide = [parse([{j + 1000 * part: 1.0 for j in range(1000)} for part in range(600)], [1, 2] * 300)]
    with pytest.raises(
        FileError,
        match=r"600 rows of 600000 features found, which take 2\.9 GB as a dense matrix, expected at most 2\.1 GB",
    ):
        compile_density(wide, "train", fingerprint="f", bandwidth=None, weight=3.0)
    assert isinstance(compile_density(wide, "train", fingerprint="f", bandwidth=1.0), ExactModel)


# ---- the file


def estimate():
    rng = np.random.default_rng(3)
    return adaptive(some_rows(rng, 7, 3, density=0.8), [2, 1, 2, 4, 1, 4, 4], 2.5).to_text()


def test_the_file_reads_back():
    text = estimate()
    model = parse_model(text, "m")
    assert model.to_text() == text
    assert model.weight == 2.5 and model.header.label == [2, 1, 4] and model.header.nr_sv == [2, 2, 3]
    assert np.asarray(model.rows.leading)[:, 0].tolist() == [2, 2, 1, 1, 4, 4, 4]
    chunk = parse(some_rows(np.random.default_rng(4), 9, 3))
    assert np.array_equal(values(parse_model(text.replace(b"\n", b"\r\n"), "m"), chunk), values(model, chunk))


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            b"weight 2.5",
            b"weight 4",
            (
                "weight 4 and classes of 2 and 2 rows found, expected a weight above 0 and below the rows of any two"
                " classes"
            ),
        ),
        (b"weight 2.5", b"weight 0", "weight 0 and classes"),
        (b"weight 2.5", b"weight nan", f"weight {not_finite('nan')}"),
        (b"weight 2.5", b"weight 1 2", values_of_key(2, "weight", 1)),
        (b"weight 2.5\n", b"", "the header ends without 'weight'"),
        (b"nr_sv 2 2 3", b"nr_sv 0 4 3", "weight 2.5 and classes of 0 and 3 rows found"),
        (b"nr_sv 2 2 3", b"nr_sv 2 3 2", "a row of another class than 1 found, which 'nr_sv' announces"),
        (b"total_sv 7", b"total_sv 8", "nr_sv adds up to 7, expected total_sv 8"),
        (b"\nrows\n2 ", b"\nrows\n2 0:x ", no_pair("0:x")),
        (b"\nrows\n2 ", b"\nrows\n1 ", "a row of another class than 2 found"),
        (b"\nrows\n", b"\nrows\n2 1:1\n", "text found after the rows that total_sv announces"),
        (b"svm_type c_svc", b"svm_type epsilon_svr", "found"),
    ],
)
def test_files_that_are_wrong(old, new, message):
    text = estimate()
    assert old in text
    assert message in error_of(with_checksum(text.replace(old, new, 1)))


def test_a_file_that_lacks_rows():
    text = estimate()
    last = text[: text.index(b"checksum")].rstrip(b"\n").rfind(b"\n") + 1
    assert "6 rows found, expected 7" in error_of(with_checksum(text[:last] + text[text.index(b"checksum") :]))
    assert "the last line is not 'end'" in error_of(text[:-4])


def compiled_of(nr_sv, weight, rows):
    classes = len(nr_sv)
    header = _native.Header(
        "c_svc",
        "rbf",
        gamma=1.0,
        nr_class=classes,
        total_sv=rows.rows,
        rho=[0.0] * (classes * (classes - 1) // 2),
        label=list(range(classes)),
        nr_sv=nr_sv,
    )
    return _native.DensityFile(header, fingerprint="f", weight=weight, rows=rows)


def test_the_native_core_refuses_what_does_not_fit():
    chunk = parse([{1: 1.0}, {1: 2.0}, {1: 3.0}])
    for nr_sv, weight in (
        ([1, 1], 1.0),
        ([3], 1.0),
        ([1, 2], 3.0),
        ([1, 2], 0.0),
        ([1, 2], float("nan")),
        ([3, 0], 1.0),
        ([4, -1], 1.0),
    ):
        with pytest.raises(ValueError):
            compiled_of(nr_sv, weight, chunk).model()
