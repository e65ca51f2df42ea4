"""No hostile model breaks a radius: every value is within its radius of the exact value, in extended precision, and of
LIBSVM's. Families of models x kinds whose answers have radii."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.approx import certificates
from fastsvm_cli.models import parse_model
from support import evaluation
from support.evaluation import parse
from support.expanding import certified
from support.hostile import as_rows, hostile_machine, hostile_options, hostile_rows, sparse_vectors, uncovered
from support.in_process import mirrored
from support.oracles import OWN_KERNELS, random_machine, random_rows
from support.ordering import NEVER, UNKNOWN, after, order, random_case, random_options, stopped, truths, with_points
from support.profiles import tries
from support.reducing import INITS, OPTIMIZERS, reduce
from zoo.traits import TRAITS, specimen

pytestmark = [
    pytest.mark.usefixtures("best_instruction_set"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of the oracles
]

# ---- families: (random generator, kernel) -> (machine, rows)


def hostile(rng, kernel):
    machine, x = hostile_machine(rng, kernel)
    return machine, hostile_rows(rng, x)


def canceling(rng, kernel):
    """Decision values are 0 but for rounding."""
    svm_type = str(rng.choice(["c_svc", "one_class", "epsilon_svr"]))
    machine, rows = mirrored(rng, kernel, int(rng.integers(2, 20)), svm_type=svm_type, lean=float(rng.integers(2)))
    return machine, rows[:20]


def sparse(rng, kernel):
    d = int(rng.integers(1, 12))
    x = sparse_vectors(rng, int(rng.integers(2, 40)), d)
    gamma = 10 ** rng.uniform(-3, 0.5) / max(((x - x.mean(axis=0)) ** 2).sum(axis=1).max(), 1e-3)
    vectors = as_rows(x)
    machine = random_machine(rng, "epsilon_svr", kernel, vectors, gamma=float(gamma))
    return machine, [*vectors[:5], {}, {j: 1.5 * v for j, v in vectors[-1].items()}, {1: 1e3}, {d + 3: 1.0}]


def clusters(rng, kernel):
    """Clusters far apart, of coefficients that cancel; rows near the distance where K is negligible."""
    gamma, d = 10 ** rng.uniform(-3, 3), int(rng.integers(1, 4))
    spread = gamma**-0.5
    middles = spread * 10 ** rng.uniform(0.5, 1.5) * rng.standard_normal((3, d)) + 10 ** rng.uniform(-3, 5) * spread
    x = middles[rng.integers(3, size=30)] + spread * rng.uniform(0, 1) * rng.standard_normal((30, d))
    machine = random_machine(
        rng, "epsilon_svr", kernel, [dict(enumerate(row, 1)) for row in x.tolist()], gamma=float(gamma)
    )
    machine.coef[1::2] = -machine.coef[::2] * (1 + 1e-13)
    machine.rho = [0.0]
    away = rng.standard_normal((20, d))
    away *= (rng.uniform(5, 6.5, 20) * spread / np.linalg.norm(away, axis=1))[:, None]
    return machine, [dict(enumerate(row, 1)) for row in (x[rng.integers(30, size=20)] + away).tolist()]


# ---- kinds: (random generator, machine, chunk of rows) -> (values, radii), as often as they differ


#: Options that finite expansions ignore, but for the precision.
FINITE = [{}, {"single": True}, {"rank": 1}, {"rank": 3, "single": True}, {"tolerance": 0.1}, {"clusters": 3}]


def expansion(rng, machine, chunk):
    options = hostile_options(rng)
    if machine.kernel != "rbf":
        options = FINITE[rng.integers(len(FINITE))]
    try:
        _, model = certified(machine, **options)
    except ModelFormatError as error:
        assert "scale the data" in str(error) or machine.degree > 4
        raise
    again = parse_model(model.to_text(), "m")
    for one, other in zip(evaluation.decide(model, chunk), evaluation.decide(again, chunk)):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(evaluation.values(again, chunk), evaluation.decide(again, chunk)[0])
    yield evaluation.decide(again, chunk)


def reduced(rng, machine, chunk):
    several = len(machine.pairs) > 1
    options = {
        "init": "greedy" if several else str(rng.choice(INITS)),
        "optimizer": str(rng.choice(OPTIMIZERS)),
        "finishing": bool(rng.random() < 0.5),
        "seed": int(rng.integers(99)),
    }
    model = reduce(machine, int(rng.integers(1, max(len(machine.vectors), 1) + 1)), **options).model
    yield evaluation.decide(parse_model(model.to_text(), "m"), chunk)


def stops(machine, model, chunk):
    """Where rows stop: once the label is decided, or within a tolerance."""
    for share in (0.0, 1e-6, 0.03, 0.5):
        for task in (None, NEVER) if model.pairs == 1 else (None,):
            yield stopped(model, chunk, float(np.abs(machine.coef).sum()) * share, task)[:2]


def geometry(rng, machine, chunk):
    """Also after any number of points, and as `predict --steps`."""
    model = order(machine, "geometry", **random_options(rng, machine, "geometry"))
    yield from stops(machine, model, chunk)
    count = len(model.points)
    for points in sorted({1, 2, 32, 33, count, *rng.integers(1, count + 2, 4).tolist()} & set(range(1, count + 1))):
        yield after(model, chunk, points)
        yield evaluation.decide(evaluation.stopped_after(model, points), chunk)


def any_points(rng, machine, chunk):
    """Dependent or repeated points, and vectors that are not support vectors: a file may name any."""
    count, more = len(machine.vectors), random_rows(rng, 3, [1, 2, 3, UNKNOWN])
    points = rng.integers(0, count + 3, int(rng.integers(1, 90))).tolist()
    slack = float(rng.choice([0, 1e-9, 1e-3])) * float(np.abs(machine.coef).max(initial=1e-300))
    if machine.kernel == "polynomial" and machine.coef0 < 0:
        with pytest.raises(ValueError, match="not an inner product"):
            with_points(machine, points, more, rng, slack)
        return
    model = with_points(machine, points, more, rng, slack)
    for k in sorted({1, len(points), *rng.integers(1, len(points) + 1, 4).tolist()} if machine.pairs else ()):
        yield after(model, chunk, k)


def triangle(rng, machine, chunk):
    yield from stops(machine, order(machine, "triangle", **random_options(rng, machine, "triangle")), chunk)


#: Kind -> (its answers, kernels).
KINDS = {
    "expansion": (expansion, ["rbf"]),
    "finite expansion": (expansion, ["linear", "polynomial"]),
    "reduced": (reduced, ["rbf"]),
    "geometry": (geometry, ["rbf", "linear", "polynomial", *OWN_KERNELS]),
    "any points": (any_points, ["rbf", "linear", "polynomial", *OWN_KERNELS]),
    "triangle": (triangle, ["rbf", "exponential"]),
}
#: (kind, family, number of models, least share of finite radii)
ATTACKS = [
    ("expansion", hostile, 600, 0.5),
    ("expansion", canceling, 80, 0.9),
    ("expansion", sparse, 150, 0.5),
    ("expansion", clusters, 100, 0.5),
    ("expansion", random_case, 40, 0.5),
    ("finite expansion", hostile, 300, 0.5),
    ("finite expansion", canceling, 60, 0.9),
    ("finite expansion", random_case, 80, 0.5),
    ("reduced", hostile, 50, 0.5),
    ("reduced", canceling, 20, 0.9),
    ("reduced", random_case, 20, 0.5),
    ("geometry", hostile, 60, 0.5),
    ("geometry", random_case, 150, 0.5),
    ("geometry", canceling, 40, 0.9),
    ("any points", hostile, 60, 0.5),
    ("any points", random_case, 100, 0.5),
    ("triangle", hostile, 60, 0.5),
    ("triangle", canceling, 40, 0.9),
    ("triangle", random_case, 100, 0.5),
]


def attack(kind, rng, machine, rows):
    """The share of radii that are finite; None if the model is refused."""
    if machine.kernel in OWN_KERNELS:
        rows = [row for row in rows if max(map(abs, row.values()), default=0) < 1e50]
    found = []
    try:
        for value, radius in KINDS[kind][0](rng, machine, parse(rows)):
            if not found:
                expected = truths(machine, rows)
            assert not (radius < 0).any()
            with np.errstate(all="ignore"):
                error = np.max([np.abs(value - truth) for truth in expected], axis=0)
            bad = uncovered(error, radius)
            assert not bad.any(), (machine.text().decode()[:400], np.argwhere(bad), error[bad], radius[bad])
            found.append(np.isfinite(radius).mean() if radius.size else 1)
    except ModelFormatError as error:
        assert str(error).isprintable()
        return None
    return np.mean(found) if found else 1


@pytest.mark.full(few=3)
@pytest.mark.parametrize(
    "kind, family, count, finite", [pytest.param(*each, id=f"{each[0]}, {each[1].__name__}") for each in ATTACKS]
)
def test_no_hostile_model_has_a_value_beyond_its_radius(monkeypatch, kind, family, count, finite):
    if family is sparse:
        monkeypatch.setattr(certificates, "ENTRY_COST", 0)  # degree norms of sparse vectors, without a dense copy
    builds, kernels, shares = _native.instruction_sets(), KINDS[kind][1], []
    if family is not random_case:
        kernels = [kernel for kernel in kernels if kernel not in OWN_KERNELS]
    for trial in range(tries(count)):
        rng = np.random.default_rng([trial, *family.__name__.encode()])
        assert _native.select_instruction_set(builds[trial % len(builds)])
        machine, rows = family(rng, kernels[trial // len(builds) % len(kernels)])
        shares.append(attack(kind, rng, machine, rows))
    taken = [share for share in shares if share is not None]
    assert len(taken) > len(shares) / 2 and np.mean(taken) > finite  # otherwise little was tested


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_no_trait_has_a_value_beyond_its_radius(kind):
    taken = 0
    for seed, trait in enumerate(TRAITS):
        found = specimen(trait, seed)
        if found.machine.kernel not in KINDS[kind][1] or len(found.machine.pairs) > 100:
            continue
        if "expansion" in kind and len(found.machine.features) > 50:  # for degree 4
            continue
        taken += attack(kind, np.random.default_rng(seed), found.machine, found.rows) is not None
    assert taken > (2 if kind == "finite expansion" else 20)
