"""Models and rows that a cascade refuses, in a line, or takes, however hostile. Warnings of numpy are errors."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.methods.cascade import METHOD
from fastsvm_cli.methods.cascade.calibration import calibrate
from fastsvm_cli.methods.method import require
from fastsvm_cli.models import load_model, parse_model
from support import forked
from support.evaluation import parse
from support.oracles import Machine
from support.paths import GOLDEN
from support.scaling import scaled_folder

#: Rows, and the calibration's budget: few rows suffice.
COUNT, BUDGET = 400, 0.05
NO_GAIN = "no cascade found that is faster than the exact model in a run of 1000000 rows"

FAR = "rows far from the support vectors found, expected rows like those to predict"


def as_rows(x, first=1):
    return [dict(enumerate(row, first)) for row in x.tolist()]


def machine_of(x, classes=2, kernel="rbf", *, factor=1.0, rho=0.1, first=1, svm_type="c_svc", **parameters):
    """A model of the vectors x, the same number for each class, with random coefficients."""
    rng, n = np.random.default_rng(3), len(x) // classes
    coef = factor * (rng.random((len(x), classes - 1)) + 0.1) * np.where(np.arange(len(x)) < n, 1, -1)[:, None]
    rhos = [rho] * (classes * (classes - 1) // 2)
    machine = Machine(svm_type, kernel, as_rows(x, first), coef, rhos, **{"gamma": 0.5, **parameters})
    if svm_type == "c_svc":
        machine.label, machine.nr_sv = list(range(classes)), [n] * classes
    return machine


def outcome(machine, x, budget=BUDGET, confidence=0.95):
    """A model with a cascade that answers, or the message."""
    model, chunk = parse_model(machine.text(), "m"), parse(as_rows(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            require("m", METHOD.reason_against(model))
            how = {"budget": budget, "confidence": confidence, "job": 10**6}
            found = calibrate(model, chunk, "rows", fingerprint="f" * 32, **how).model
        except FastsvmError as error:
            assert str(error).isprintable() and len(str(error)) < 250
            return str(error)
    again = parse_model(found.to_text(), "again")
    assert again.to_text() == found.to_text()
    out = _native.Decisions(model.pairs, False, True)
    again.decision_values(chunk, out)
    return again


def normal(n, d, scale=1.0):
    return scale * np.random.default_rng(d).standard_normal((n, d))


VECTORS, ROWS = normal(120, 4), normal(COUNT, 4)
SCALES = 10.0 ** np.array([-12, -4, 4, 12])
MIXED = np.vstack([ROWS[:-5], 1e300 * ROWS[-5:]])
HOSTILE_MODELS = {
    **{f"gamma {g}": machine_of(VECTORS, gamma=g) for g in (0.0, -0.5, 1e-300, 1e-12, 10.0, 1e6, 1e300)},
    **{
        f"{kernel} {g}": machine_of(VECTORS, kernel=kernel, gamma=g, coef0=1.0, degree=3)
        for kernel in ("polynomial", "sigmoid")
        for g in (1e-300, 0.5, 1e300)
    },
    "a vector": machine_of(VECTORS[:2]),
    "equal vectors": machine_of(np.repeat(VECTORS[:1], 120, axis=0)),
    "two vectors, repeated": machine_of(np.repeat(VECTORS[:2], 60, axis=0)),
    "empty vectors": machine_of(np.zeros((120, 0))),
    "a constant feature": machine_of(np.hstack([VECTORS[:, :3], np.full((120, 1), 3.1)])),
    "feature 0": machine_of(VECTORS, first=0),
    "scales": machine_of(VECTORS * SCALES),
    "tiny features": machine_of(1e-300 * VECTORS),
    "huge features": machine_of(1e300 * VECTORS),
    "tiny coefficients": machine_of(VECTORS, factor=1e-300, rho=0.0),
    "coefficients 0": machine_of(VECTORS, factor=0.0, rho=0.0),
    "huge coefficients": machine_of(VECTORS, factor=1e300),
    "huge rho": machine_of(VECTORS, rho=1e300),
    "no vectors": machine_of(VECTORS[:0]),
    "a class": machine_of(VECTORS[:0], classes=1),
    "an empty class": replace(machine_of(VECTORS, classes=3), nr_sv=[60, 60, 0]),
    "40 classes": machine_of(VECTORS, classes=40),
    "one-class": machine_of(VECTORS, svm_type="one_class"),
    "wide": machine_of(normal(60, 1100), gamma=0.001),
    "wide polynomial": machine_of(normal(60, 1100), kernel="polynomial", gamma=0.001, coef0=1.0, degree=2),
}
HOSTILE_ROWS = {
    "equal": np.repeat(ROWS[:1], COUNT, axis=0),
    "empty": np.zeros((COUNT, 0)),
    "huge": 1e300 * ROWS,
    "some huge": MIXED,
    "scales": ROWS * SCALES,
    "tiny": 1e-300 * ROWS,
}


@pytest.mark.full(few=1)
@pytest.mark.parametrize("names", [list(HOSTILE_MODELS)[part::6] for part in range(6)], ids=" - ".join)
def test_hostile_models_are_compiled_or_refused_in_a_line(names):
    refused = {
        "huge features": "support vectors too long for a fit",
        "huge coefficients": "decision values too large for a fit",
        "huge rho": "decision values too large for a fit",
        "polynomial 1e+300": "decision values too large for a fit",
        "no vectors": "no support vectors found",
        "a class": "no support vectors found",
    }
    for name in names:
        found, why = outcome(HOSTILE_MODELS[name], ROWS), refused.get(name)
        if why or isinstance(found, str):
            assert found == f"rows: {FAR}" or (found.startswith("m: ") and (why or NO_GAIN) in found), name


def test_hostile_rows_are_taken_or_refused_in_a_line():
    for name, x in HOSTILE_ROWS.items():
        found = outcome(machine_of(normal(600, 4), gamma=0.01), x)
        assert not isinstance(found, str) or found == f"rows: {FAR}" or found.startswith(f"m: {NO_GAIN}"), name
        assert name != "huge" or found == f"rows: {FAR}"
        if name == "some huge":
            left = np.array(found.cascade().label(parse(as_rows(MIXED[-5:])))[0]) < 0
            assert left.all()


def test_too_few_rows_are_told_with_the_number_needed():
    printed = (
        "rows: {} rows found, expected more: a budget of {} % with {} % confidence needs {} rows to test on without a"
    )
    for found, budget, confidence, needed in (
        (400, 0.001, 0.95, 2995),
        (0, 0.05, 0.95, 59),
        (60, 0.05, 0.95, 59),
        (200, 0.05, 0.999999, 270),
        (400, 1e-30, 0.95, "3e+30"),
        (1, 0.9, 0.5, 1),
    ):
        message = outcome(machine_of(VECTORS), ROWS[:found], budget, confidence)
        assert message.startswith(printed.format(found, f"{100 * budget:g}", f"{100 * confidence:.10g}", needed))
    noisy = outcome(machine_of(VECTORS, gamma=20.0, rho=0.0), 0.2 * ROWS, 0.011)
    assert "rows to test on of which" in noisy or NO_GAIN in noisy


def test_the_command_refuses_before_it_reads_rows(fastsvm, tmp_path):
    for name, why in (
        ("epsilon_svr.model", "a regression model found"),
        ("exponential.precomputed", "a precomputed kernel found"),
        ("version2/c_svc.cascade", "a compiled model found"),
    ):
        done = fastsvm("cascade", "--data", "missing", GOLDEN / name, code=1)
        assert done.err.startswith(f"Error: {GOLDEN / name}:") and why in done.err and done.err.count("\n") == 1
    (tmp_path / "linear").write_bytes(machine_of(VECTORS, kernel="linear").text())
    (tmp_path / "rbf").write_bytes(machine_of(VECTORS).text())
    (tmp_path / "empty").write_bytes(b"")
    assert "a linear kernel found" in fastsvm("cascade", "--data", "missing", "linear", code=1).err
    assert "Error: empty: 0 rows found" in fastsvm("cascade", "--data", "empty", "rbf", code=1).err
    assert "cascade needs rows to calibrate on: --data ROWS" in fastsvm("cascade", "rbf", code=2).err
    assert not (tmp_path / "rbf.cascade").exists()


def test_an_embedded_range_and_a_model_of_raw_rows(tmp_path):
    folder = scaled_folder(tmp_path)

    def run(*words):
        return forked.fastsvm(words, cwd=folder, text=True, check=True).stdout

    words = ["cascade", "--rows", "1000000", "--budget", "20%", "--confidence", "50%", "--data"]
    assert "range is embedded: the model takes raw rows" in run(*words, "rows", "--scale", "range", "model", "carried")
    run(*words, "scaled", "model", "plain")
    assert load_model(str(folder / "carried")).stages and run("predict", "rows", "carried") == run(
        "predict", "scaled", "plain"
    )
    folded = load_model(str(GOLDEN / "raw-rows" / "c_svc.cascade"))
    assert folded.folded.inherited and folded.raw_rows
