"""Arrays give the same bits as the same numbers in a file."""

import pickle
import re

import numpy as np
import pandas
import pytest
import scipy.sparse

import fastsvm_cli
from support.arrays import in_sorted_order, sparse_rows, written_numbers
from support.in_process import Libsvm
from support.model_files import BORDERS, COMPILED, DENSITIES, EXACT, ORDERED, REDUCED, exact_name
from support.oracles import Machine
from support.paths import GOLDEN

KINDS = EXACT + COMPILED + REDUCED + ORDERED + BORDERS + DENSITIES


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The golden rows without feature 0, for which an array has no column."""
    path = tmp_path_factory.mktemp("rows") / "data"
    path.write_text(re.sub(r" 0:\S+", "", (GOLDEN / "data").read_text()))
    return path


@pytest.mark.full(few=8)
@pytest.mark.parametrize("name", KINDS)
def test_golden_models(fastsvm, data, tmp_path, name):
    """Labels, values, probabilities; with radii: proofs, radii, and answers with the exact model."""
    model = fastsvm_cli.load_model(str(GOLDEN / name))
    header, (rows, _) = model.header, sparse_rows(data, first_index=model.first_index)
    how = {"n_features_in": rows.shape[1]} | ({} if header.regression else {"decision_function_shape": "ovo"})
    fast = fastsvm_cli.load(GOLDEN / name, **how)
    written = written_numbers(fastsvm, data, GOLDEN / name, "--values")
    assert np.array_equal(fast.predict(rows), written[:, 0])
    assert np.array_equal(pickle.loads(pickle.dumps(fast)).predict(rows), written[:, 0])
    if header.classification:
        assert np.array_equal(fast.classes_, sorted(header.label))
        values = in_sorted_order(written[:, 1 : 1 + header.pairs], header.label)
        assert np.array_equal(fast.decision_function(rows).reshape(values.shape), values)
    elif not header.regression:
        assert np.array_equal(fast.decision_function(rows), written[:, 1])
    if hasattr(fast, "predict_proba"):
        likely = written_numbers(fastsvm, data, GOLDEN / name, "-b", "1")[:, 1:]
        likely = likely[:, np.argsort(header.label)] if header.classification else likely
        assert np.array_equal(*(np.vectorize("{:g}".format)(each) for each in (fast.predict_proba(rows), likely)))
    if not model.certified:
        return
    tolerance = {"tolerance": 0.01} if header.regression else {}
    options = ["--tolerance", "0.01"] if header.regression else []
    decisions = fastsvm_cli.Decisions(header.pairs, True)
    (chunk,) = fastsvm_cli.read_chunks(str(data))
    model.decision_values(chunk, decisions, fastsvm_cli.Wanted.values())
    radii = np.array(decisions.radius)
    radii = in_sorted_order(radii, header.label, signed=False) if header.classification else radii
    found = fast.radius(rows)
    assert found.ndim == (1 if header.pairs == 1 else 2) and np.array_equal(found.reshape(radii.shape), radii)
    fastsvm("predict", "-q", "--open-rows", "open", *options, data, GOLDEN / name, "/dev/null")
    open_rows = [int(line.rpartition("#")[2]) for line in (tmp_path / "open").read_text().splitlines()]
    assert [line for line, sure in enumerate(fast.proven(rows, **tolerance), 1) if not sure] == open_rows
    exact = GOLDEN / exact_name(name)
    answer = written_numbers(fastsvm, data, GOLDEN / name, "--exact", exact, *options)[:, 0]
    assert np.array_equal(fastsvm_cli.load(GOLDEN / name, exact=exact, **how, **tolerance).predict(rows), answer)


@pytest.mark.parametrize("certified", [False, True])
def test_probabilities_of_four_classes(fastsvm, folder, certified):
    """Compared in the six digits of %g."""
    name, exact = ("colors.model.approx", folder / "colors.model") if certified else ("colors.model", None)
    fast = fastsvm_cli.load(folder / name, exact=exact)
    rows, _ = sparse_rows(folder / "colors.test", fast.n_features_in_)
    options = ["--exact", exact] if certified else []
    written = written_numbers(fastsvm, folder / "colors.test", folder / name, "-b", "1", *options)
    likely, found = written[:, 1:][:, np.argsort(fast.model.header.label)], fast.predict_proba(rows)
    assert np.array_equal(*(np.vectorize("{:g}".format)(each) for each in (found, likely)))
    assert np.array_equal(fast.classes_[np.argmax(found, axis=1)], written[:, 0])


def test_a_precomputed_kernel_takes_kernel_values(tmp_path):
    """scikit-learn's rows are those of the kernel matrix; LIBSVM's begin with a serial. The last training rows need not
    be support vectors."""
    rng = np.random.default_rng(5)
    cross = rng.standard_normal((15, 40))
    cross[0] = 0  # zero kernel values
    serials = [{0: float(i)} for i in range(1, 31)]
    machine = Machine(
        "c_svc", "precomputed", serials, rng.standard_normal((30, 1)), [0.1], label=[1, -1], nr_sv=[9, 21]
    )
    (tmp_path / "m").write_bytes(machine.text())
    lines = [{0: i + 1.0, **{j + 1: float(v) for j, v in enumerate(row)}} for i, row in enumerate(cross)]
    libsvm = Libsvm(tmp_path / "m")
    labels = [int(line[0]) for line in libsvm.lines(lines)]
    fast, loose = fastsvm_cli.load(tmp_path / "m", n_features_in=40), fastsvm_cli.load(tmp_path / "m")
    assert np.array_equal(fast.decision_function(cross), libsvm.values(lines)[:, 0])
    with pytest.raises(ValueError, match="is expecting"):
        loose.predict(cross[:, : loose.n_features_in_ - 1])
    serials = np.arange(1, 16.0)[:, None]
    for make in (np.asarray, scipy.sparse.csr_matrix, pandas.DataFrame):
        assert fast.predict(make(cross)).tolist() == loose.predict(make(cross)).tolist() == labels
        for first in (serials, serials[::-1], 0 * serials):  # LIBSVM's layout, never taken for kernel values
            rows = make(np.hstack([first, cross]))
            with pytest.raises(ValueError, match=r"without LIBSVM's column of serials: X\[:, 1:\]"):
                fast.predict(rows)
            for some in (rows, rows[:1]):
                with pytest.raises(ValueError, match="without LIBSVM's column of serials, and say n_features_in="):
                    loose.predict(some)
