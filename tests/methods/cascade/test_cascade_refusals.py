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
from support.paths import GOLDEN
from support.scaling import scaled_folder

#: Rows, and the calibration's budget: few rows suffice.
COUNT, BUDGET = 400, 0.05
NO_GAIN = "no cascade found that is faster than the exact model in a run of 1000000 rows"

FAR = "rows far from the support vectors found, expected rows like those to predict"


def rows_text(x, first=1):
    return "".join("0 " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, first)) + "\n" for row in x.tolist())


def model_text(x, classes=2, kernel="rbf\ngamma 0.5", factor=1.0, rho=0.1, first=1, svm_type="c_svc"):
    """A model of the vectors x, the same number for each class, with random coefficients."""
    rng, n = np.random.default_rng(3), len(x) // classes
    sizes = [n] * classes if len(x) else [0] * classes
    pairs = classes * (classes - 1) // 2
    header = f"svm_type {svm_type}\nkernel_type {kernel}\nnr_class {classes}\ntotal_sv {len(x)}\n"
    header += "rho" + f" {rho}" * pairs + "\n"
    if svm_type == "c_svc":
        header += f"label {' '.join(map(str, range(classes)))}\nnr_sv {' '.join(map(str, sizes))}\n"
    lines = rows_text(x, first).splitlines()
    coefs = factor * (rng.random((len(x), max(classes - 1, 1))) + 0.1) * np.where(np.arange(len(x)) < n, 1, -1)[:, None]
    body = [" ".join(map(repr, coef)) + line[1:] + "\n" for coef, line in zip(coefs.tolist(), lines)]
    return (header + "SV\n" + "".join(body)).encode()


def outcome(text, rows, budget=BUDGET, confidence=0.95):
    """A model with a cascade that answers, or the message."""
    model, chunk = parse_model(text, "m"), _native.parse(rows.encode())[0]
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
    **{f"gamma {g}": model_text(VECTORS, kernel=f"rbf\ngamma {g}") for g in (0, -0.5, 1e-300, 1e-12, 10, 1e6, 1e300)},
    **{
        f"{kernel} {g}": model_text(VECTORS, kernel=f"{kernel}\ngamma {g}\ncoef0 1" + degree)
        for kernel, degree in (("polynomial", "\ndegree 3"), ("sigmoid", ""))
        for g in (1e-300, 0.5, 1e300)
    },
    "a vector": model_text(VECTORS[:2]),
    "equal vectors": model_text(np.repeat(VECTORS[:1], 120, axis=0)),
    "two vectors, repeated": model_text(np.repeat(VECTORS[:2], 60, axis=0)),
    "empty vectors": model_text(np.zeros((120, 0))),
    "a constant feature": model_text(np.hstack([VECTORS[:, :3], np.full((120, 1), 3.1)])),
    "feature 0": model_text(VECTORS, first=0),
    "scales": model_text(VECTORS * SCALES),
    "tiny features": model_text(1e-300 * VECTORS),
    "huge features": model_text(1e300 * VECTORS),
    "tiny coefficients": model_text(VECTORS, factor=1e-300, rho=0),
    "coefficients 0": model_text(VECTORS, factor=0, rho=0),
    "huge coefficients": model_text(VECTORS, factor=1e300),
    "huge rho": model_text(VECTORS, rho=1e300),
    "no vectors": model_text(VECTORS[:0]),
    "a class": model_text(VECTORS[:0], classes=1),
    "an empty class": model_text(VECTORS, classes=3).replace(b"nr_sv 40 40 40", b"nr_sv 60 60 0"),
    "40 classes": model_text(VECTORS, classes=40),
    "one-class": model_text(VECTORS, svm_type="one_class"),
    "wide": model_text(normal(60, 1100), kernel="rbf\ngamma 0.001"),
    "wide polynomial": model_text(normal(60, 1100), kernel="polynomial\ngamma 0.001\ncoef0 1\ndegree 2"),
}
HOSTILE_ROWS = {
    "equal": np.repeat(ROWS[:1], COUNT, axis=0),
    "empty": np.zeros((COUNT, 0)),
    "huge": 1e300 * ROWS,
    "some huge": MIXED,
    "scales": ROWS * SCALES,
    "tiny": 1e-300 * ROWS,
}


@pytest.mark.full(few=3)
@pytest.mark.parametrize("name", HOSTILE_MODELS)
def test_hostile_models_are_compiled_or_refused_in_a_line(name):
    found = outcome(HOSTILE_MODELS[name], rows_text(ROWS))
    refused = {
        "support vectors too long for a fit": ["huge features"],
        "decision values too large for a fit": ["huge coefficients", "huge rho", "polynomial 1e+300"],
        "no support vectors found": ["no vectors", "a class"],
    }
    why = next((why for why, names in refused.items() if name in names), None)
    if why or isinstance(found, str):
        assert found == f"rows: {FAR}" or (found.startswith("m: ") and (why or NO_GAIN) in found)


@pytest.mark.parametrize("name", HOSTILE_ROWS)
def test_hostile_rows_are_taken_or_refused_in_a_line(name):
    found = outcome(model_text(normal(600, 4), kernel="rbf\ngamma 0.01"), rows_text(HOSTILE_ROWS[name]))
    assert not isinstance(found, str) or found == f"rows: {FAR}" or found.startswith(f"m: {NO_GAIN}")
    assert name != "huge" or found == f"rows: {FAR}"
    if name == "some huge":
        left = np.array(found.cascade().label(_native.parse(rows_text(MIXED[-5:]).encode())[0])[0]) < 0
        assert left.all()


def test_too_few_rows_are_told_with_the_number_needed():
    text, rows = model_text(VECTORS), rows_text(ROWS)
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
        message = outcome(text, "".join(rows.splitlines(keepends=True)[:found]), budget, confidence)
        assert message.startswith(printed.format(found, f"{100 * budget:g}", f"{100 * confidence:.10g}", needed))
    noisy = outcome(model_text(VECTORS, kernel="rbf\ngamma 20", rho=0), rows_text(0.2 * ROWS), 0.011)
    assert "rows to test on of which" in noisy or NO_GAIN in noisy


def test_the_command_refuses_before_it_reads_rows(fastsvm, tmp_path):
    for name, why in (
        ("epsilon_svr.model", "a regression model found"),
        ("exponential.precomputed", "a precomputed kernel found"),
        ("version2/c_svc.cascade", "a compiled model found"),
    ):
        done = fastsvm("cascade", "--data", "missing", GOLDEN / name, code=1)
        assert done.err.startswith(f"Error: {GOLDEN / name}:") and why in done.err and done.err.count("\n") == 1
    (tmp_path / "linear").write_bytes(model_text(VECTORS, kernel="linear"))
    (tmp_path / "rbf").write_bytes(model_text(VECTORS))
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
