"""Models and rows that a cascade refuses, in a line, or takes, however hostile. Warnings of numpy are errors."""

import warnings

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
from support.messages import cases
from support.oracles import Machine
from support.paths import GOLDEN
from support.reducing import as_rows
from support.scaling import scaled_folder
from zoo.traits import TRAITS, specimen

#: Rows, and the calibration's budget: few rows suffice.
COUNT, BUDGET = 400, 0.05
FAR = "rows: rows far from the support vectors found, expected rows like those to predict"
#: Parts of messages.
REASONS = (
    FAR,
    "rows to test on of which",
    "no cascade found that is faster than the exact model in a run of 1000000 rows",
    "support vectors too long for a fit",
    "decision values too large for a fit",
    "no support vectors found, expected some",
    "a linear kernel found, which is as cheap as any stage",
    "a precomputed kernel found; cascade needs the vectors",
    "a regression model found; cascade takes classifiers",
)


def machine_of(x, kernel="rbf", *, factor=1.0, rho=0.1, **parameters):
    """A model of the vectors x, half of them of each class, with random coefficients."""
    n = len(x)
    coef = factor * (np.random.default_rng(3).random((n, 1)) + 0.1) * np.where(np.arange(n) < n // 2, 1, -1)[:, None]
    parameters = {"gamma": 0.5, "label": [0, 1], "nr_sv": [n // 2, n - n // 2], **parameters}
    return Machine("c_svc", kernel, as_rows(x), coef, [rho], **parameters)


def outcome(machine, rows, budget=BUDGET, confidence=0.95):
    """A model with a cascade that answers, or the message."""
    model, chunk = parse_model(machine.text(), "m"), parse(rows)
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


def normal(n, d):
    return np.random.default_rng(d).standard_normal((n, d))


VECTORS, ROWS = normal(120, 4), normal(COUNT, 4)
SCALES = 10.0 ** np.array([-12, -4, 4, 12])
MIXED = np.vstack([ROWS[:-5], 1e300 * ROWS[-5:]])
#: Beside the zoo's: message or "", model.
HOSTILE_MODELS = {
    **{f"gamma {g}": ("", machine_of(VECTORS, gamma=g)) for g in (0.0, -0.5, 1e-300, 1e-12, 10.0, 1e6, 1e300)},
    **{
        f"{kernel} {g}": ("too large" if "p" in kernel and g > 1 else "", machine_of(VECTORS, kernel, gamma=g, **more))
        for kernel, more in (("polynomial", {"coef0": 1.0, "degree": 3}), ("sigmoid", {"coef0": 1.0}))
        for g in (1e-300, 0.5, 1e300)
    },
    "two vectors, repeated": ("", machine_of(np.repeat(VECTORS[:2], 60, axis=0))),
    "a constant feature": ("", machine_of(np.hstack([VECTORS[:, :3], np.full((120, 1), 3.1)]))),
    "scales": ("", machine_of(VECTORS * SCALES)),
    "huge features": ("too long", machine_of(1e300 * VECTORS)),
    "tiny coefficients": ("", machine_of(VECTORS, factor=1e-300, rho=0.0)),
    "coefficients 0": ("", machine_of(VECTORS, factor=0.0, rho=0.0)),
    "huge coefficients": ("too large", machine_of(VECTORS, factor=1e300)),
    "huge rho": ("too large", machine_of(VECTORS, rho=1e300)),
    "wide polynomial": ("", machine_of(normal(60, 1100), "polynomial", gamma=0.001, coef0=1.0, degree=2)),
}
HOSTILE_ROWS = {
    "equal": np.repeat(ROWS[:1], COUNT, axis=0),
    "empty": np.zeros((COUNT, 0)),
    "huge": 1e300 * ROWS,
    "some huge": MIXED,
    "scales": ROWS * SCALES,
    "tiny": 1e-300 * ROWS,
}


def assert_compiled_or_refused(found, why, name):
    if why or isinstance(found, str):
        assert why in found and any(reason in found for reason in REASONS), (name, found)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("part", range(4))
def test_hostile_models_are_compiled_or_refused_in_a_line(part):
    for name, (why, machine) in [*HOSTILE_MODELS.items()][part::4]:
        assert_compiled_or_refused(outcome(machine, as_rows(ROWS)), why, name)


@pytest.mark.full
@pytest.mark.parametrize("part", range(4))
def test_every_trait_is_compiled_or_refused_in_a_line(part):
    for name in [*TRAITS][part::4]:
        found, machine = specimen(name), specimen(name).machine
        if len(machine.pairs) < 100 and len(machine.features) < 1000:
            assert_compiled_or_refused(outcome(machine, (found.rows * COUNT)[:COUNT]), "", name)


@pytest.mark.full
def test_hostile_rows_are_taken_or_refused_in_a_line():
    for name, x in HOSTILE_ROWS.items():
        found = outcome(machine_of(normal(200, 4), gamma=0.01), as_rows(x))
        assert_compiled_or_refused(found, "", name)
        assert name != "huge" or found == FAR
        if name == "some huge" and not isinstance(found, str):
            assert (np.array(found.cascade().label(parse(as_rows(MIXED[-5:])))[0]) < 0).all()


def test_too_few_rows_are_told_with_the_number_needed():
    printed = (
        "rows: {} rows found, expected more: a budget of {} % with {} % confidence needs {} rows to test on without a"
    )
    for found, budget, confidence, needed in cases("too few rows for a cascade"):
        message = outcome(machine_of(VECTORS), as_rows(ROWS[:found]), budget, confidence)
        assert message.startswith(printed.format(found, f"{100 * budget:g}", f"{100 * confidence:.10g}", needed))
    noisy = outcome(machine_of(VECTORS, gamma=20.0, rho=0.0), as_rows(0.2 * ROWS), 0.011)
    assert "rows to test on of which" in noisy or REASONS[2] in noisy


def test_an_embedded_range_and_a_model_of_raw_rows(tmp_path):
    folder = scaled_folder(tmp_path)

    def run(*words):
        return forked.fastsvm(words, cwd=folder, text=True, check=True).stdout

    words = ["cascade", "--rows", "1000000", "--budget", "20%", "--confidence", "50%", "--data"]
    assert "range is embedded: the model takes raw rows" in run(*words, "rows", "--scale", "range", "model", "carried")
    run(*words, "scaled", "model", "plain")
    assert load_model(str(folder / "carried")).stages
    assert run("predict", "rows", "carried") == run("predict", "scaled", "plain")
    folded = load_model(str(GOLDEN / "raw-rows" / "c_svc.cascade"))
    assert folded.folded.inherited and folded.raw_rows
