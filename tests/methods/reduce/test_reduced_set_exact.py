"""predict --exact with a reduced set. Labels and values of usual and unusual models are in the zoo's parity table."""

import json

import numpy as np
import pytest

from fastsvm_cli.methods.reduce.reduction import refit
from fastsvm_cli.prediction import Fallback
from support.evaluation import parse, values
from support.in_process import Libsvm
from support.oracles import data_text, random_rows
from support.reducing import exact_model, lines, reduce, some_machine, split


@pytest.mark.full
@pytest.mark.parametrize("classes", [2, 4])
def test_exact_lines_are_libsvms_also_where_probabilities_were_fitted_anew(tmp_path, classes):
    decided = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        machine = some_machine(seed, classes=classes, n=20, d=2, gamma=0.1, probability=True)
        (tmp_path / "m").write_bytes(machine.text())
        rows = [*random_rows(rng, 20, [1, 2, 3]), *machine.vectors[:10], {}, {1000: 1e5}]
        chunk = parse(rows, rng.choice(machine.label, len(rows)).tolist())
        model = refit(reduce(machine, 8).model, [chunk])
        assert model.header.probA != machine.probA
        ours, counts = lines(model, rows, probability=True, exact=Fallback(lambda m=machine: exact_model(m), 0.0))
        assert [line.split() for line in ours] == Libsvm(tmp_path / "m").lines(rows, True), seed
        decided += counts.rows - counts.evaluated
    assert not decided or classes == 2


def test_the_scale_of_exact_regression_noise_is_the_exact_models(fastsvm, tmp_path):
    machine = some_machine(2, "epsilon_svr", probability=True)
    (tmp_path / "m").write_bytes(machine.text())
    rows = random_rows(np.random.default_rng(2), 60, [1, 2, 3, 4, 5])
    (tmp_path / "rows").write_bytes(data_text(rows, values(exact_model(machine), parse(rows))[:, 0].tolist()))
    fastsvm("reduce", "-q", "--vectors", 5, "--data", "rows", "m", "small")
    assert split((tmp_path / "small").read_bytes())[0].probA != machine.probA
    printed = [
        fastsvm("predict", "-b", 1, *options, "rows", file, "out").out.splitlines()[:2]
        for options, file in (([], "m"), (["--exact", "m", "--tolerance", 0.1], "small"))
    ]
    assert printed[0] == printed[1] and "sigma=" in printed[0][1]


def test_a_reduced_set_may_itself_be_the_exact_model(fastsvm, tmp_path):
    """The fast evaluation still gives the labels that it decides."""
    (tmp_path / "m").write_bytes(some_machine(23, n=60, d=2).text())
    for source, count, name in (("m", 8, "first"), ("first", 5, "second")):
        fastsvm("reduce", "-q", "--vectors", count, "--no-finish", source, name)
    (tmp_path / "rows").write_bytes(data_text(random_rows(np.random.default_rng(23), 200, [1, 2], scale=2)))
    summary = json.loads(fastsvm("predict", "--json", "--exact", "first", "rows", "second", "out").out)
    first, second = (fastsvm("predict", "-q", "rows", name).out for name in ("first", "second"))
    assert (tmp_path / "out").read_text() == first != second
    assert 0 < summary["rows_evaluated"] < 200
    assert summary["rows_by_reference_sum"] < 0.1 * summary["rows_evaluated"]
