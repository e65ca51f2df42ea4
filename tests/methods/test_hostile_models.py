"""Models with numbers at the ends of a double's range: compiled and read back, or refused in one line."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.cli import fastsvm as group
from fastsvm_cli.comparisons import agreement
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.models import load_model, parse_model
from support.evaluation import decide, parse, reference, values
from support.hostile import hostile_machine
from support.oracles import Machine, data_text
from support.profiles import calm


def compile_here(folder, machine, *words, rows=()):
    """Compile, with warnings of numpy's as errors, and check what is written. Returns the reason, or None."""
    folder, vectors = Path(folder), machine.vectors
    model, data, out = folder / "m", folder / "rows", folder / "out"
    out.unlink(missing_ok=True)
    model.write_bytes(machine.text())
    labels = machine.label or [0.5]
    count = len(vectors) + len(rows) or 1
    data.write_bytes(data_text([*vectors, *rows] or [{1: 1.0}], [labels[i % len(labels)] for i in range(count)]))
    words = [str(data) if word == "rows" else str(word) for word in words]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        done = CliRunner().invoke(group, [*words, str(model), str(out)])
    if isinstance(done.exception, FastsvmError):
        assert not out.exists() and "\n" not in str(done.exception)
        return str(done.exception).replace(str(model), "m")
    if done.exception is not None:
        raise done.exception
    check(out, machine, parse([*vectors, *rows, {}]))
    return None


def check(path, machine, chunk):
    """The written model answers, and its radii hold."""
    model = load_model(str(path))
    assert model.to_text() == path.read_bytes()
    if not model.certified:
        values(model, chunk)
        return
    value, radius = decide(model, chunk)
    with np.errstate(all="ignore"):
        error = np.abs(value - reference(parse_model(machine.text(), "m"), chunk))
        assert np.all((error <= radius) | ~np.isfinite(radius))


def two(vectors, coefficients, gamma=0.5, kernel="rbf", **parameters):
    """Two classes of as many vectors."""
    sizes, coef = [len(vectors) // 2] * 2, np.array(coefficients, float)[:, None]
    return Machine("c_svc", kernel, vectors, coef, [0.25], gamma, label=[1, -1], nr_sv=sizes, **parameters)


LONG = two([{1: 1e200}, {2: 1e200}, {1: 1.0}, {2: 1.0}], [1, -1, 1, -1])
ENDS = {
    # Twins with equal kernel values in double precision.
    "far": two([{1: 1000.0}, {1: 1000.0000001}], [1, -1], gamma=5e-6),
    "large": two(
        [{1: float(i), 2: float(i % 3)} for i in range(8)], [1e155, -2e155, 3e155, 1e155, -1e155, 5e154, -1e155, 1e155]
    ),
    "tiny": two([{1: 1e-200 * i, 2: 1e-190} for i in range(8)], np.ones(8)),
    "opposite": two([{1: (-1.0) ** i * 9e153, 2: float(i)} for i in range(8)], np.ones(8)),
    "equal": two([{1: 1.0}] * 2 + [{1: 2.0}] * 2, [1.7e308, 1.7e308, -1.0, 1.0]),
    "heavy": two([{1: 1.0}, {1: 2.0}, {1: 3.0}, {1: 4.0}], [1.7e308, 1.7e308, -1.0, 1.0]),
    "long": LONG,
}


@pytest.mark.full(few=2)
@pytest.mark.parametrize("name", ENDS)
def test_the_ends_of_a_double_are_compiled_or_refused(tmp_path, name):
    machine = ENDS[name]
    for optimizer in ("none", "irprop", "fixed-point"):
        refused = compile_here(tmp_path, machine, "reduce", "--vectors", 1, "--optimizer", optimizer)
        assert refused is None or "overflow" in refused or "came to no rest" in refused
    for words in (["reduce", "--lossless"], ["border"]):
        refused = compile_here(tmp_path, machine, *words)
        assert refused is None or "overflow" in refused
    if name in ("tiny", "opposite"):  # squared distances underflow or overflow: dividing all changes no cluster
        for words in (["order", "--method", "triangle", "--lists", 5], ["approx", "--centers", 5]):
            assert compile_here(tmp_path, machine, *words) is None


def test_approx_refuses_what_it_could_not_read(tmp_path):
    for words in (["--degree", 1], ["--center", "origin", "--precision", "double"], ["--centers", 2], ["--rank", 1]):
        assert "overflow" in compile_here(tmp_path, LONG, "approx", *words)
    compile_here(tmp_path, LONG, "approx", "--certify")
    large = two([{1: 1.0}, {1: 2.0}], [1e39, 1.0])
    assert "overflows single precision" in compile_here(tmp_path, large, "approx")
    assert compile_here(tmp_path, large, "approx", "--precision", "double") is None
    vectors = [{j: float(i == j) * 3e19 for j in range(1, 4)} for i in range(4)]
    steep = two(vectors, [1, 2, -3, 1.0], 1.0, "polynomial", coef0=1.0, degree=2)
    for words in (["--rank", 2], ["--tolerance", 1e-9]):
        refused = compile_here(tmp_path, steep, "approx", "--precision", "single", *words)
        assert refused == "m: a coefficient of the expansion overflows single precision: scale the data"


def test_border_levels_are_finite(tmp_path):
    """Without samples the level is the middle of the values: half the sum of two of 1.7e308, or none if even odds
    overflow."""
    large = two([{1: 0.0}, {1: 1.0}], [1.7e308, 1e300], gamma=1e-9)
    large.rho = [0.0]
    assert compile_here(tmp_path, large, "border") is None
    odds = two([{1: 0.0}, {1: 1.0}], [1.0, -1.0])
    odds.probA, odds.probB = [1e-200], [1e200]
    assert (
        compile_here(tmp_path, odds, "border")
        == "m: both classes are as likely at a decision value that overflows: sample where it is 0 (--raw)"
    )
    assert compile_here(tmp_path, odds, "border", "--raw") is None


def test_without_loss_does_not_hide_a_vector_that_overflows(tmp_path):
    """gamma 0 times a distance that overflows is NaN to svm-predict, whatever the coefficient."""
    machine = two([{1: 1.0}, {1: 1e155}, {1: 2.0}, {1: 3.0}], [1, 0, -1, 1], gamma=0.0)
    assert "squared norm of a support vector overflows" in compile_here(tmp_path, machine, "reduce", "--lossless")


def test_values_that_are_too_far_apart_to_square_are_a_difference_too():
    one, other = (
        parse_model(Machine("nu_svr", "rbf", [{1: 1.0}], np.array([[a]]), [0.0], gamma=0.5).text(), "m")
        for a in (1e200, -1e200)
    )
    seen = agreement(one, other, [parse([{1: 1.0}, {1: 2.0}])])
    assert seen.difference == float("inf") and not seen.share <= 0.01


# ---- any numbers

WILD = [0.0, 1e-300, 1e300, -1e300, 1e154, -1.5e160, 1e-160, 1e100, 1e38, 1e39, 1e-45, 2.3e-308, 1.7e308]


def wild_machine(seed, kernel):
    """A hostile model of few vectors, some of whose numbers are anything that a double holds."""
    rng = np.random.default_rng(seed)
    machine, x = hostile_machine(rng, kernel)
    count = int(rng.integers(0, min(12, len(x)) + 1))
    machine.vectors, machine.coef = machine.vectors[:count], machine.coef[:count]
    size, share = float(rng.choice([1.0, 1.0, 1e-300, 1e-8, 1e10, 1e150, 1e300])), rng.choice([0, 0, 0.1])
    with np.errstate(over="ignore"):
        machine.coef = np.clip(size * machine.coef, -1.7e308, 1.7e308)
    machine.gamma = float(rng.choice([0.0, 1e-300, 1e-30, 5e-6, 0.5, machine.gamma, machine.gamma, 10.0, 1e6, 1e300]))

    def wild(number):
        return float(rng.choice(WILD)) if rng.random() < share else number

    machine.vectors = [{j: wild(value) for j, value in row.items()} for row in machine.vectors]
    machine.coef = np.vectorize(wild, otypes=[float])(machine.coef)
    machine.rho = [wild(number) for number in machine.rho]
    if machine.classification:
        cuts = np.sort(rng.integers(0, count + 1, machine.nr_class - 1))
        machine.nr_sv = np.diff([0, *cuts, count]).tolist()
        if rng.random() < 0.5:
            machine.probA, machine.probB = ([wild(rng.normal()) for _ in machine.rho] for _ in range(2))
    return machine


OPTIONS = {
    "approx": st.tuples(
        st.sampled_from(["", "--degree 1", "--degree 3", "--rank 2", "--tolerance 0.01"]),
        st.sampled_from(["", "--centers 3"]),
        st.sampled_from(["", "--certify"]),
        st.sampled_from(["", "--precision double"]),
    ),
    "reduce": st.tuples(
        st.sampled_from(["--vectors 1", "--vectors 3", "--ratio 0.5", "--target 0.3", "--lossless"]),
        st.sampled_from(["", "--init random", "--init alpha", "--init cluster"]),
        st.sampled_from(["", "--optimizer irprop", "--optimizer fixed-point"]),
        st.sampled_from(["", "--no-finish", "--data rows"]),
    ),
    "order": st.sampled_from(
        [["--points 3"], ["--sequence sgma"], ["--method triangle"], ["--method triangle", "--lists 4"]]
    ),
    "border": st.tuples(
        st.sampled_from(["--samples 5", "--target 0.3"]),
        st.sampled_from(["", "--sampling random", "--sampling dense"]),
        st.sampled_from(["", "--local 3", "--data rows"]),
    ),
}


@pytest.mark.full(few=2)
@pytest.mark.parametrize("command", OPTIONS)
@calm(60)
@given(data=st.data())
def test_any_model_is_compiled_or_refused(command, data):
    kernels = ["rbf", "linear", "polynomial"] if command in ("border", "order") else ["rbf"]
    machine = wild_machine(data.draw(st.integers(0, 2**32)), data.draw(st.sampled_from(kernels)))
    if command == "border" and machine.svm_type == "one_class":  # needs --data
        machine.svm_type = "nu_svr"
    words = " ".join(data.draw(OPTIONS[command])).split()
    if "--lossless" in words:
        words = ["--lossless"]
    elif "--target" in words and "cluster" in words:  # does not go with --init cluster
        words = words[:2]
    with tempfile.TemporaryDirectory() as folder:
        compile_here(folder, machine, command, *words, rows=[{1: 0.5}, {2: -1.0}])
