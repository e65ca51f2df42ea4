"""Helpers for tests of Maclaurin models."""

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import Model, parse_model
from support import oracles
from support.checksums import fingerprint
from support.evaluation import parse
from support.oracles import random_machine, random_rows

SINGLE = 2.0**-24  # unit roundoff of single precision


def compiled(machine, **options):
    return compile_maclaurin(parse_model(machine.text(), "a.model"), fingerprint="0" * 32, **options)


def expanded(centers, expansions, gamma=1.0, degree=2, *, rho=(0.0,), single=False, kernel="rbf"):
    """A model of any centers [(point, largest norm)] and expansions [Expansion]. Features count from 1."""
    header = _native.Header("one_class", kernel, gamma=gamma, degree=degree, nr_class=2, total_sv=0, rho=list(rho))
    centers = [_native.Center(np.array(point, float), norm) for point, norm in centers]
    features = list(range(1, len(centers[0].point) + 1)) if centers else []
    return Model(
        _native.MaclaurinFile(
            header,
            degree=degree,
            features=features,
            single=single,
            fingerprint="f",
            centers=centers,
            expansions=expansions,
        )
    )


def decide(model, rows):
    """(values, number of rows outside the bound); values: (rows, pairs)"""
    out = _native.Decisions(model.pairs)
    model.decision_values(parse(rows), out)
    return np.array(out.value), out.outside


def points(model):
    """The centre of every decision function, as a row."""
    centers = [dict(zip(model.features, center.point)) for center in model.centers]
    assert [e.pair for e in model.expansions] == list(range(model.pairs))
    return [centers[e.center] for e in model.expansions]


def assert_expands(model, machine, rows, *, relative=1e-11):
    """Every decision value is the oracle's expansion about the model's centres, up to rounding (to single precision if
    stored in it). Returns the sizes without rho: (pairs, rows)."""
    values, _ = decide(model, rows)
    assert values.shape == (len(rows), len(machine.rho))
    sizes = []
    for pair, point in enumerate(points(model)):
        exact, size = oracles.expansion_values(machine, pair, rows, point, model.degree)
        allowed = relative * (size + abs(machine.rho[pair])) + (1.01 * SINGLE * size + 1e-40 if model.single else 0)
        assert np.all(np.abs(values[:, pair] - exact) <= allowed), (values[:, pair], exact, allowed)
        sizes.append(size)
    return np.array(sizes, float)


def gaussian(rng, svm_type="c_svc", *, n=40, d=8, density=1.0, scale=1.0, offset=0.0, **parameters):
    """A random RBF machine and rows, some of them support vectors, some with unknown features."""
    indices = sorted(rng.choice(np.arange(0, 3 * d + 3), d, replace=False).tolist())
    vectors = random_rows(rng, n, indices, density=density, scale=scale, offset=offset)
    if "gamma" not in parameters:
        parameters["gamma"] = float(0.3 / (d * density * scale**2))
    machine = random_machine(rng, svm_type, "rbf", vectors, **parameters)
    rows = random_rows(rng, 40, indices, density=density, scale=scale, offset=offset)
    rows += [{**row, 3 * d + 9: scale, 2147483647: scale / 2} for row in rows[:5]] + [dict(x) for x in vectors[:5]]
    return machine, rows


def certified(machine, **options):
    """Exact model, and Maclaurin model with radii."""
    exact = parse_model(machine.text(), "a.model")
    return exact, compile_maclaurin(exact, fingerprint=fingerprint(machine.text()), certify=True, **options)
