"""Compiled models do not depend on the features' units, nor on their zero where the kernel does not: features times s
with gamma / s^2, features + t."""

from dataclasses import replace

import numpy as np
import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.border.borders import compile_border
from fastsvm_cli.methods.feature_space import clusters_of
from fastsvm_cli.methods.order.orders import compile_geometry, compile_triangle
from fastsvm_cli.methods.reduce import reduction as reduced_set
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import parse_model
from support.evaluation import decide, parse, values
from support.oracles import random_machine
from support.reducing import as_rows

POWERS, SCALES, SHIFTS = (2.0**-10, 4.0), (1000.0, 0.37), (3.0, 1000.0, -1e5)
CHANGES = [(s, 0.0) for s in (*POWERS, *SCALES)] + [(1.0, t) for t in SHIFTS]
#: (scale, shift, classes)
MOVES = [(*change, 2 + at % 2) for at, change in enumerate(CHANGES)]


def machine_of(seed=0, n=60, d=3, gamma=0.5, classes=2, svm_type="c_svc"):
    rng = np.random.default_rng(seed)
    return random_machine(
        rng, svm_type, "rbf", as_rows(rng.standard_normal((n, d)).round(5)), nr_class=classes, gamma=gamma
    )


def changed(machine, scale, shift):
    return replace(machine, vectors=rows_of(machine.vectors, scale, shift), gamma=machine.gamma / scale**2)


def rows_of(rows, scale, shift):
    return [{j: scale * v + shift for j, v in row.items()} for row in rows]


def exact(machine):
    return parse_model(machine.text(), "m")


def numbers(chunk, d):
    return np.asarray(chunk.values).reshape(-1, d)


METHODS = {
    "greedy": {},
    "greedy, unfinished": {"finishing": False},
    "irprop": {"init": "random", "optimizer": "irprop", "finishing": False},
    "irprop, finished": {"init": "random", "optimizer": "irprop"},
    "alpha": {"init": "alpha", "finishing": False},
    "cluster": {"init": "cluster", "finishing": False},
    "fixed-point": {"init": "alpha", "optimizer": "fixed-point", "finishing": False},
}


def reduced(machine, count=8, **options):
    return compile_reduced_set(exact(machine), fingerprint="f", count=count, **options)


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_reduce_finds_as_near_a_set(method):
    """Steps of iRprop+ are relative to the unit."""
    for scale, shift, classes in MOVES:
        machine = machine_of(classes=classes, gamma=2.0)
        if method == "fixed-point":
            machine.coef = np.abs(machine.coef)
        one, other = (reduced(each, **METHODS[method]) for each in (machine, changed(machine, scale, shift)))
        assert other.model.header.total_sv == one.model.header.total_sv == 8
        assert other.distance == pytest.approx(one.distance, rel=2e-3 if "finished" in method else 2e-4)
        if "finished" not in method or method == "greedy, unfinished":  # a descent may end anywhere nearby
            z, moved = (numbers(found.model.vectors, 3) for found in (one, other))
            np.testing.assert_allclose((moved - shift) / scale, z, atol=1e-3)


def test_reduce_and_order_refuse_what_is_too_far_from_the_origin_for_a_proof():
    """Inner products in double precision lose these kernel values."""
    far = exact(changed(machine_of(gamma=2.0), 1.0, 1e9))
    for compiler, options in ((compile_reduced_set, {"count": 8}), (compile_geometry, {})):
        with pytest.raises(ModelFormatError, match="no bound of its rounding is known: scale the data"):
            compiler(far, fingerprint="f", **options)


@pytest.mark.full(few=4)
@pytest.mark.parametrize("method, scale", [(method, POWERS[at % 2]) for at, method in enumerate(METHODS)])
def test_reduce_takes_the_same_steps_in_units_that_change_no_digit(monkeypatch, method, scale):
    """Bit for bit, without the decimal rounding for a short file."""
    monkeypatch.setattr(reduced_set, "short_numbers", lambda z, part: z)
    machine = machine_of(classes=2, gamma=2.0)
    machine.coef = np.abs(machine.coef) if method == "fixed-point" else machine.coef
    one, other = (reduced(each, **METHODS[method]).model for each in (machine, changed(machine, scale, 0.0)))
    np.testing.assert_array_equal(numbers(other.vectors, 3), scale * numbers(one.vectors, 3))
    np.testing.assert_array_equal(np.asarray(other.vectors.leading), np.asarray(one.vectors.leading))


@pytest.mark.parametrize(
    "options, scale",
    [
        ({}, 4.0),
        ({"degree": 4}, 2.0**-10),
        ({"certify": True}, 4.0),
        ({"single": False}, 2.0**-10),
        ({"rank": 2, "single": False}, 4.0),
    ],
    ids=str,
)
def test_approx_about_the_origin_is_the_same_in_units_that_change_no_digit(options, scale):
    machine, rows = machine_of(gamma=0.05), machine_of(1).vectors
    cases = [
        (compile_maclaurin(exact(each), fingerprint="f", center="origin", **options), parse(rows_of(rows, s, 0.0)))
        for each, s in ((machine, 1.0), (changed(machine, scale, 0.0), scale))
    ]
    np.testing.assert_array_equal(*(values(*case) for case in cases))
    if options.get("certify"):
        np.testing.assert_allclose(*(decide(*case)[1] for case in cases), rtol=1e-9)


@pytest.mark.parametrize("clusters", [1, 4])
def test_approx_about_the_mean_gives_the_same_values(clusters):
    """The centre is rounded in decimal for a short file."""
    machine, rows = machine_of(gamma=0.02), machine_of(1).vectors
    options = {"degree": 4, "single": False, "clusters": clusters, "certify": True}
    one, *others = (
        decide(compile_maclaurin(exact(changed(machine, s, t)), fingerprint="f", **options), parse(rows_of(rows, s, t)))
        for s, t in ((1.0, 0.0), *CHANGES)
    )
    for (value, radius), (_, shift) in zip(others, CHANGES):
        np.testing.assert_allclose(value, one[0], atol=2e-6 * np.abs(machine.coef).sum())
        assert shift or np.all(radius <= 1.1 * one[1] + 1e-12)


@pytest.mark.parametrize("d", [2, 8])
def test_clusters_stay_together(d):
    machine = machine_of(3, n=200, d=d)
    expected = clusters_of(exact(machine).vectors, 7, "m")
    for scale, shift in CHANGES:
        assert clusters_of(exact(changed(machine, scale, shift)).vectors, 7, "m") == expected


@pytest.mark.full
@pytest.mark.parametrize(
    "compiler, options, order",
    [
        (compile_geometry, {}, "points"),
        (compile_geometry, {"sequence": "sgma"}, "points"),
        (compile_triangle, {"lists": 6}, "pivots"),
    ],
)
def test_order_takes_the_same_order(compiler, options, order):
    for scale, shift, classes in MOVES:
        machine = machine_of(4, n=80, d=5, classes=classes)
        one, other = (
            getattr(compiler(exact(each), fingerprint="f", **options), order)
            for each in (machine, changed(machine, scale, shift))
        )
        assert len(one) > 5 and other == one, (scale, shift)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("scale, shift, classes", [*MOVES, (1e45, 0.0, 2), (1e-45, 0.0, 3)])
def test_border_finds_the_same_border(scale, shift, classes):
    machine = machine_of(5, n=120, d=2, gamma=1.0, classes=classes)
    machine.rho = [0.0] * len(machine.rho)
    for sampling in ("refined", "dense", "random"):
        one, other = (
            compile_border(exact(each), fingerprint="f", samples=20, sampling=sampling, tolerance=1e-9).model
            for each in (machine, changed(machine, scale, shift))
        )
        for mine, theirs in zip(one.samples, other.samples):
            assert mine.count == theirs.count > 10
            a, b = (np.asarray(samples.rows).reshape(samples.count, 2, 2) for samples in (mine, theirs))
            np.testing.assert_allclose((b[:, 0] - shift) / scale, a[:, 0], atol=1e-5)
            np.testing.assert_allclose(b[:, 1] * scale, a[:, 1], atol=1e-4 * np.abs(a[:, 1]).max())
            if scale in POWERS:
                np.testing.assert_array_equal(b[:, 0], scale * a[:, 0])
