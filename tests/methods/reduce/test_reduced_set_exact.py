"""predict --exact with a reduced set."""

import json

import numpy as np
import pytest

from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.prediction.pipeline import Fallback
from support.evaluation import parse, reference
from support.in_process import Libsvm
from support.oracles import data_text, random_rows
from support.reducing import exact_model, fingerprint, lines, reduce, some_machine

pytestmark = pytest.mark.usefixtures("serial_libsvm")


def exact_lines(machine, count, rows, *, probability=False, allowed=0.0, **options):
    model = reduce(machine, count, **options).model
    return lines(model, [parse(rows)], probability=probability, exact=Fallback(lambda: exact_model(machine), allowed))


@pytest.mark.full(few=1)
@pytest.mark.parametrize("probability", [False, True])
@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("nu_svc", 3), ("c_svc", 4), ("one_class", 2)])
def test_exact_lines_are_libsvms(tmp_path, svm_type, classes, probability):
    decided = seen = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        machine = some_machine(
            seed,
            svm_type,
            classes,
            n=int(rng.integers(10, 30)),
            d=2,
            gamma=float(10 ** rng.uniform(-3, -0.5)),
            probability=probability,
        )
        (tmp_path / "m").write_bytes(machine.text())
        rows = [*random_rows(rng, 20, [1, 2, 3]), *machine.vectors[:10], {}, {1000: 1e5}]
        ours, run_counts = exact_lines(machine, 8, rows, probability=probability)
        assert [line.split() for line in ours] == Libsvm(tmp_path / "m").lines(rows, probability), seed
        decided, seen = decided + run_counts.rows - run_counts.evaluated, seen + run_counts.rows
    if probability and classes > 2:
        assert decided == 0
    assert decided > 0.1 * seen or probability


@pytest.mark.full(few=2)
@pytest.mark.parametrize("tolerance", [0.0, 1e-9, 1.0])
def test_exact_regression_values_are_within_the_tolerance(tolerance):
    proven = 0
    for seed in range(4):
        machine = some_machine(seed, "nu_svr", n=25, d=2, gamma=0.05)
        rows = [*random_rows(np.random.default_rng(seed), 20, [1, 2, 3]), *machine.vectors[:10]]
        ours, run_counts = exact_lines(machine, 10, rows, allowed=tolerance)
        assert np.all(np.abs(np.array(ours, float) - reference(exact_model(machine), parse(rows))[:, 0]) <= tolerance)
        proven += run_counts.rows - run_counts.evaluated
    assert proven > 0 or tolerance < 1e-3


@pytest.mark.full
@pytest.mark.parametrize("name", ["rings-probability", "colors-probability"])
def test_exact_probabilities_are_the_exact_models_also_where_those_of_the_set_were_fitted_anew(
    fastsvm, trained, reduced, name
):
    model, test = trained[name]
    refitted = reduced(name, 100, data=test)
    assert load_model(str(refitted)).header.probA != load_model(str(model)).header.probA
    assert (
        fastsvm("predict", "-q", "-b", 1, "--exact", model, test, refitted).out
        == fastsvm("predict", "-q", "-b", 1, test, model).out
    )


@pytest.mark.full
def test_the_scale_of_exact_regression_noise_is_the_exact_models(fastsvm, tmp_path, trained, reduced):
    model, test = trained["waves"]
    refitted = reduced("waves", 10, data=test)
    assert load_model(str(refitted)).header.probA[0] > 1.05 * load_model(str(model)).header.probA[0]
    printed = [
        fastsvm("predict", "-b", 1, *options, test, file, "out").out.splitlines()[:2]
        for options, file in (([], model), (["--exact", model, "--tolerance", 0.1], refitted))
    ]
    assert printed[0] == printed[1] and "sigma=" in printed[0][1]


def test_a_reduced_set_may_itself_be_the_exact_model(fastsvm, tmp_path):
    """The fast evaluation still gives the labels that it decides."""
    machine = some_machine(23, n=60, d=2)
    text = reduce(machine, 8, finishing=False).model.to_text()
    (tmp_path / "first").write_bytes(text)
    second = compile_reduced_set(
        parse_model(text, "first"), fingerprint=fingerprint(text), count=5, finishing=False
    ).model
    (tmp_path / "second").write_bytes(second.to_text())
    (tmp_path / "rows").write_bytes(data_text(random_rows(np.random.default_rng(23), 200, [1, 2], scale=2)))
    summary = json.loads(fastsvm("predict", "--json", "--exact", "first", "rows", "second", "out").out)
    assert (
        (tmp_path / "out").read_text()
        == fastsvm("predict", "-q", "rows", "first").out
        != fastsvm("predict", "-q", "rows", "second").out
    )
    assert 0 < summary["rows_evaluated"] < 200
    assert summary["rows_by_reference_sum"] < 0.1 * summary["rows_evaluated"]
