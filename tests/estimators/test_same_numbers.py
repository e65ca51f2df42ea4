"""Arrays give the same labels as the same numbers in a file. The parity table compares other answers."""

import pickle
import re

import numpy as np
import pandas
import pytest
import scipy.sparse

import fastsvm_cli
from support.arrays import sparse_rows, written_numbers
from support.in_process import Libsvm
from support.model_files import BORDERS, COMPILED, DENSITIES, EXACT, ORDERED, REDUCED
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
    """Labels and proofs, also of kinds that the parity table has not."""
    model, path = fastsvm_cli.load_model(str(GOLDEN / name)), GOLDEN / name
    rows, _ = sparse_rows(data, first_index=model.first_index)
    fast = fastsvm_cli.load(path, n_features_in=rows.shape[1])
    for each in (fast, pickle.loads(pickle.dumps(fast))):
        assert np.array_equal(each.predict(rows), written_numbers(fastsvm, data, path)[:, 0])
    if not model.certified:
        return
    within = {"tolerance": 0.01} if model.header.regression else {}
    options = [word for name, value in within.items() for word in (f"--{name}", value)]
    fastsvm("predict", "-q", "--open-rows", "open", *options, data, path, "/dev/null")
    open_rows = [int(line.rpartition("#")[2]) for line in (tmp_path / "open").read_text().splitlines()]
    assert [line for line, sure in enumerate(fast.proven(rows, **within), 1) if not sure] == open_rows


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
