"""Arrays give the same bits as the same numbers in a file."""

import re

import numpy as np
import pandas
import pytest
import scipy.sparse

import fastsvm_cli
from support.arrays import sparse_rows, written_numbers
from support.model_files import BORDERS, COMPILED, DENSITIES, EXACT, ORDERED, REDUCED, exact_name
from support.paths import GOLDEN

CERTIFIED = [name for name in COMPILED + REDUCED if fastsvm_cli.load_model(str(GOLDEN / name)).certified]
LIKELY = [name for name in EXACT if fastsvm_cli.load_model(str(GOLDEN / name)).header.has_probability]
KINDS = EXACT + COMPILED + REDUCED + ORDERED + BORDERS + DENSITIES


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The golden rows without feature 0, for which an array has no column."""
    path = tmp_path_factory.mktemp("rows") / "data"
    path.write_text(re.sub(r" 0:\S+", "", (GOLDEN / "data").read_text()))
    return path


def _loaded(data, name, **options):
    rows, _ = sparse_rows(data, first_index=fastsvm_cli.load_model(str(GOLDEN / name)).first_index)
    return fastsvm_cli.load(GOLDEN / name, n_features_in=rows.shape[1], **options), rows


@pytest.mark.full(few=1)
@pytest.mark.parametrize("name", KINDS)
def test_labels_and_values_of_every_golden_model(fastsvm, data, name):
    fast, rows = _loaded(data, name)
    written = written_numbers(fastsvm, data, GOLDEN / name, "--values")
    labels = written_numbers(fastsvm, data, GOLDEN / name)[:, 0]
    header = fast.model.header
    assert np.array_equal(fast.predict(rows), labels)
    assert np.array_equal([fast.predict(rows[at])[0] for at in range(len(labels))], labels)
    # Feature 2000000000 does not fit in a dense matrix.
    narrow = [at for at in range(len(labels)) if rows[at].indices.max(initial=0) < 20]
    assert len(narrow) > len(labels) // 2
    small = fastsvm_cli.load(GOLDEN / name, n_features_in=max(20, fast.model.columns))
    dense = rows[narrow][:, :20].toarray() if small.n_features_in_ == 20 else rows[narrow]
    assert np.array_equal(small.predict(dense), labels[narrow])
    if header.regression:
        assert not hasattr(fast, "decision_function")
        return
    for each in (fast, small):
        each.set_params(decision_function_shape="ovo")
    values, found = written[:, 1 : 1 + header.pairs], fast.decision_function(rows)
    assert np.array_equal(small.decision_function(dense), found[narrow])
    if header.classification:
        assert np.array_equal(fast.classes_, sorted(header.label))
        assert np.array_equal(found.reshape(len(labels), -1), _in_order(values, header.label))
    else:
        assert np.array_equal(found, values[:, 0]) and np.array_equal(found > 0, labels > 0)


def _in_order(values, label, signed=True):
    """LIBSVM's values in scikit-learn's order: sorted classes; for two, positive for the second."""
    pairs = [(i, j) for i in range(len(label)) for j in range(i + 1, len(label))]
    columns = {}
    for pair, (i, j) in enumerate(pairs):
        columns[label[i], label[j]] = values[:, pair]
        columns[label[j], label[i]] = -values[:, pair] if signed else values[:, pair]
    classes = sorted(label)
    if len(classes) == 2 and signed:
        classes = classes[::-1]
    return np.stack([columns[a, b] for at, a in enumerate(classes) for b in classes[at + 1 :]], axis=1)


@pytest.mark.full(few=3)
@pytest.mark.parametrize("name", CERTIFIED)
def test_radii_and_proofs_of_every_certified_golden_model(fastsvm, data, tmp_path, name):
    fast, rows = _loaded(data, name)
    header = fast.model.header
    decisions = fastsvm_cli.Decisions(header.pairs, True)
    (chunk,) = fastsvm_cli.read_chunks(str(data))
    fast.model.decision_values(chunk, decisions, fastsvm_cli.Wanted.values())
    radii = np.array(decisions.radius)
    found = fast.radius(rows)
    assert found.shape == ((rows.shape[0],) if header.pairs == 1 else radii.shape)
    if header.classification:
        radii = _in_order(radii, header.label, signed=False)
    assert np.array_equal(found.reshape(radii.shape), radii)
    tolerance = ["--tolerance", "0.01"] * header.regression
    fastsvm("predict", "-q", "--open-rows", "open", *tolerance, data, GOLDEN / name, "/dev/null")
    open_rows = [int(line.rpartition("#")[2]) for line in (tmp_path / "open").read_text().splitlines()]
    proven = fast.proven(rows, tolerance=0.01) if header.regression else fast.proven(rows)
    assert [line for line, sure in enumerate(proven, 1) if not sure] == open_rows


@pytest.mark.full(few=3)
@pytest.mark.parametrize("name", CERTIFIED)
def test_with_the_exact_model_behind_it(fastsvm, data, name):
    exact = GOLDEN / exact_name(name)
    regression = fastsvm_cli.load_model(str(exact)).header.regression
    tolerance = {"tolerance": 0.01} if regression else {}
    fast, rows = _loaded(data, name, exact=exact, **tolerance)
    options = ["--exact", exact, *(["--tolerance", "0.01"] if regression else [])]
    written = written_numbers(fastsvm, data, GOLDEN / name, *options)
    assert np.array_equal(fast.predict(rows), written[:, 0])
    if not regression:
        assert np.array_equal(fast.predict(rows), fastsvm_cli.load(exact, n_features_in=rows.shape[1]).predict(rows))


@pytest.mark.parametrize("certified", [False, True])
def test_probabilities(fastsvm, folder, certified):
    """Compared in the six digits of %g."""
    name = "colors.model.approx" if certified else "colors.model"
    options = ["--exact", folder / "colors.model"] * certified
    fast = fastsvm_cli.load(folder / name, exact=folder / "colors.model" if certified else None)
    rows, _ = sparse_rows(folder / "colors.test", fast.n_features_in_)
    written = written_numbers(fastsvm, folder / "colors.test", folder / name, "-b", "1", *options)
    order = np.argsort(fast.model.header.label)
    found = fast.predict_proba(rows)
    assert found.shape == (rows.shape[0], 4)
    assert [[f"{p:g}" for p in row] for row in found] == [[f"{p:g}" for p in row] for row in written[:, 1:][:, order]]
    assert np.array_equal(fast.classes_[np.argmax(found, axis=1)], written[:, 0])


@pytest.mark.parametrize("name", LIKELY)
def test_probabilities_of_golden_models(fastsvm, data, name):
    fast, rows = _loaded(data, name)
    header = fast.model.header
    if header.regression:
        assert not hasattr(fast, "predict_proba")
        return
    written = written_numbers(fastsvm, data, GOLDEN / name, "-b", "1")[:, 1:]
    if header.classification:
        written = written[:, np.argsort(header.label)]
    assert [[f"{p:g}" for p in row] for row in fast.predict_proba(rows)] == [[f"{p:g}" for p in row] for row in written]


def test_a_precomputed_kernel_takes_kernel_values(fastsvm, tmp_path):
    """scikit-learn's rows are those of the kernel matrix; LIBSVM's begin with a serial."""
    from libsvm.svmutil import svm_save_model, svm_train

    rng = np.random.default_rng(5)
    x, z = rng.standard_normal((40, 3)), rng.standard_normal((15, 3))
    z[0] = 0  # zero kernel values
    gram, cross = x @ x.T, z @ x.T
    y = np.where(x[:, 0] + x[:, 1] > 0, 1.0, -1.0)
    serial = [{0: i + 1, **{j + 1: float(v) for j, v in enumerate(row)}} for i, row in enumerate(gram)]
    svm_save_model(str(tmp_path / "m"), svm_train(y.tolist(), serial, "-q -t 4"))
    lines = [
        f"0 0:{i + 1} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row)) for i, row in enumerate(cross)
    ]
    (tmp_path / "rows").write_text("\n".join(lines) + "\n")
    fast = fastsvm_cli.load(tmp_path / "m", n_features_in=40)
    written = written_numbers(fastsvm, "rows", "m", "--values")
    assert np.array_equal(fast.predict(cross), written[:, 0])
    sign = 1 if fast.model.header.label[0] == 1 else -1
    assert np.array_equal(fast.decision_function(cross), sign * written[:, 1])
    loose = fastsvm_cli.load(tmp_path / "m")  # the last training rows need not be support vectors
    assert np.array_equal(loose.predict(cross), written[:, 0])
    with pytest.raises(ValueError, match="is expecting"):
        loose.predict(cross[:, : loose.n_features_in_ - 1])
    serials = np.arange(1, 16.0)[:, None]
    for make in (np.asarray, scipy.sparse.csr_matrix, pandas.DataFrame):
        assert np.array_equal(loose.predict(make(cross)), written[:, 0])
        for first in (serials, serials[::-1], 0 * serials):  # LIBSVM's layout, never taken for kernel values
            rows = make(np.hstack([first, cross]))
            with pytest.raises(ValueError, match=r"without LIBSVM's column of serials: X\[:, 1:\]"):
                fast.predict(rows)
            for some in (rows, rows[:1]):
                with pytest.raises(ValueError, match="without LIBSVM's column of serials, and say n_features_in="):
                    loose.predict(some)
