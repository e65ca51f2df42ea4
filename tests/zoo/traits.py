"""Traits: unusual models and rows, by name. A trait makes a Specimen from a random generator.

To add one, write a function here, or in rounding.py: every kind and every interface is then tested with it."""

import random
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from support.in_process import mirrored
from support.oracles import Machine, random_machine, random_rows
from support.reading import dressed
from zoo.specimens import Specimen

TRAITS: "dict[str, Callable[[np.random.Generator], Specimen]]" = {}
#: Labels of models without a proof may differ between instruction sets.
ROUNDING_DECIDES = {"ties_at_rho", "linear_ties", "one_ulp_beside", "cancelling"}
PARAMETERS = {
    "linear": {},
    "polynomial": {"gamma": 0.3, "coef0": 0.5, "degree": 3},
    "rbf": {"gamma": 0.3},
    "sigmoid": {"gamma": 0.1, "coef0": -0.2},
}


def trait(make):
    TRAITS[make.__name__] = make
    return make


@lru_cache(maxsize=256)
def specimen(name: str, seed: int = 0) -> Specimen:
    """The specimen with this trait. The same seed gives the same numbers."""
    return TRAITS[name](np.random.default_rng([seed, *name.encode()])).with_(name=name)


def usual(
    rng, svm_type="c_svc", kernel="rbf", *, classes=2, vectors=24, indices=range(1, 6), rows=30, scale=1.0, offset=0.0,
    density=0.8, **parameters,
) -> Specimen:  # fmt: skip
    """Nothing unusual: vectors and rows of five features, probabilities."""
    indices = list(indices)
    x = random_rows(rng, vectors, indices, density=density, scale=scale, offset=offset)
    if x:
        x[0] = {indices[0]: offset + scale, indices[-1]: offset - scale} | x[0]
    parameters = {**PARAMETERS[kernel], **parameters}
    machine = random_machine(rng, svm_type, kernel, x, nr_class=classes, probability=True, **parameters)
    return Specimen(machine, random_rows(rng, rows, indices, density=density, scale=scale, offset=offset))


# ---- types and kernels


for _type in ("nu_svc", "one_class", "epsilon_svr", "nu_svr"):
    TRAITS[_type] = lambda rng, svm_type=_type: usual(rng, svm_type)
for _kernel in ("linear", "polynomial", "sigmoid"):
    TRAITS[_kernel] = lambda rng, kernel=_kernel: usual(rng, kernel=kernel, classes=3)


@trait
def two_classes(rng):
    return usual(rng)


@trait
def four_classes(rng):
    return usual(rng, classes=4, vectors=40)


@trait
def precomputed(rng):
    """Rows of kernel values, with serials."""
    x, z = rng.standard_normal((12, 3)), rng.standard_normal((20, 3))
    machine = random_machine(rng, "c_svc", "precomputed", [{0: float(i)} for i in range(1, 13)], nr_class=3)
    return Specimen(machine, [dict(enumerate([0.0, *row])) for row in np.exp(-(z @ x.T)).tolist()])


# ---- labels that rounding decides


@trait
def ties_at_rho(rng):
    """Decision values are 0 but for rounding."""
    return Specimen(*mirrored(rng, "rbf"))


@trait
def linear_ties(rng):
    return Specimen(*mirrored(rng, "linear"))


@trait
def one_ulp_beside(rng):
    """rho is LIBSVM's own sum for a row, or a neighbour of it."""
    made = usual(rng, classes=3, rows=12)
    sums = made.values() + made.machine.rho
    for pair in range(len(made.machine.rho)):
        made.machine.rho[pair] = float(np.nextafter(sums[pair, pair], (-np.inf, sums[pair, pair], np.inf)[pair]))
    return made


@trait
def cancelling(rng, kernel="rbf", size=1e10):
    """Near-duplicates with huge opposite coefficients."""
    x = random_rows(rng, 20, [1, 2, 3, 4])
    twins = [{i: v * (1 + 1e-12 * rng.standard_normal()) for i, v in row.items()} for row in x]
    coef = size * rng.uniform(1, 2, 20)
    coef = np.concatenate([coef, -coef])[:, None]
    return Specimen(
        Machine("c_svc", kernel, x + twins, coef, [0.0], 0.5, 0.1, 3, label=[1, -1], nr_sv=[20, 20]),
        random_rows(rng, 40, [1, 2, 3, 4]),
    )


# ---- vectors


@trait
def duplicates(rng):
    """Each vector twice, in opposite classes; rows are vectors."""
    made = usual(rng, vectors=12)
    x, a = made.machine.vectors, np.abs(made.machine.coef)
    machine = Machine("c_svc", "rbf", x + x, np.concatenate([a, -a]), [0.01], 0.3, label=[3, 8], nr_sv=[len(x), len(x)])
    return Specimen(machine, [*x, *made.rows])


@trait
def no_vectors(rng):
    return usual(rng, vectors=0)


@trait
def one_vector(rng):
    return usual(rng, vectors=1)


@trait
def empty_vectors(rng):
    """No vector has an entry."""
    made = usual(rng, vectors=6)
    made.machine.vectors[:] = [{}] * 6
    return made


@trait
def equal_vectors(rng):
    made = usual(rng, vectors=8)
    made.machine.vectors[:] = [made.machine.vectors[0]] * 8
    return made


# ---- classes


@trait
def many_classes(rng):
    """More classes than one candidate is tried for."""
    return usual(rng, classes=60, vectors=150, rows=12)


@trait
def hundreds_of_classes(rng):
    return usual(rng, classes=200, vectors=210, rows=3)


@trait
def tiny_classes(rng):
    """Classes of no, one and two vectors."""
    made = usual(rng, classes=4, vectors=24)
    made.machine.nr_sv[:] = [0, 1, 2, 21]
    return made.with_(rows=[*made.rows, {1: 1e20}, {1: 1e150}])


@trait
def one_label(rng):
    """A single class: there is no decision value."""
    made = usual(rng, vectors=0)
    made.machine.label, made.machine.nr_sv, made.machine.rho = [4], [0], []
    made.machine.coef, made.machine.probA, made.machine.probB = np.empty((0, 0)), None, None
    return made


@trait
def long_labels(rng):
    """Labels that `%g` rounds."""
    made = usual(rng, classes=3)
    made.machine.label[:] = [12345678, -1000000, 0]
    return made


# ---- features


@trait
def feature_0(rng):
    return usual(rng, indices=range(5), classes=3)


@trait
def gaps(rng):
    """Features far apart, the last one the largest that LIBSVM reads."""
    return usual(rng, indices=[2, 3, 70, 5000, 2147483647])


@trait
def unknown_features(rng):
    made = usual(rng, indices=[2, 3, 5])
    rows = random_rows(rng, 30, [1, 2, 3, 4, 5, 9, 2000000000], density=0.6)
    return made.with_(rows=[*rows, {9: 1e200}, {2: 1.0, 9: 1e300}])


@trait
def wide(rng):
    """More features than a first-level cache holds."""
    return usual(rng, indices=range(1, 421), vectors=70, classes=3, density=1.0, gamma=0.002)


@trait
def wide_and_sparse(rng):
    return usual(rng, indices=range(1, 1500), vectors=40, density=0.03)


# ---- numbers


@trait
def denormals(rng):
    return usual(rng, scale=1e-310)


@trait
def huge_norms(rng):
    """Squares overflow."""
    made = usual(rng, rows=12)
    rows = [{1: 1e20}, {1: 1e154}, {1: 1e200, 3: -1e200}, {1: 5e-324}, {2: 1e-200, 3: 1e200}]
    return made.with_(rows=[*made.rows, *rows, *random_rows(rng, 12, [1, 2, 3], scale=1e160)])


@trait
def far_from_the_origin(rng):
    return usual(rng, offset=1e6)


@trait
def steep(rng):
    """Kernel values are 0 but at the vectors."""
    made = usual(rng, gamma=1e6)
    return made.with_(rows=[*made.machine.vectors[:10], *made.rows])


@trait
def flat(rng):
    """Kernel values are nearly 1."""
    return usual(rng, gamma=1e-9)


@trait
def whole_numbers(rng):
    """Features with few levels."""
    made = usual(rng, vectors=60, rows=40, indices=range(1, 17), classes=3, gamma=0.02)
    for row in (*made.machine.vectors, *made.rows):
        row.update({j: float(round(4 * v)) for j, v in row.items()})
    return made


@trait
def binary(rng):
    made = usual(rng, vectors=60, rows=40, indices=range(1, 40), density=0.3)
    for row in (*made.machine.vectors, *made.rows):
        row.update(dict.fromkeys(row, 1.0))
    return made


@trait
def zeros(rng):
    """Written zeros, also negative ones, and rows without an entry."""
    made = usual(rng)
    for at, row in enumerate(made.rows):
        row.update({1 + at % 5: (0.0, -0.0)[at % 2]})
    return made.with_(rows=[{}, *made.rows, {}])


# ---- text


@trait
def blanks(rng):
    """Tabs and blanks before, between and after the entries."""
    made = usual(rng)
    return made.with_(rows_text=made.data.replace(b" ", b" \t ").replace(b"\n", b"  \t\n"))


@trait
def blanks_after_colons(rng):
    """As in a data set of LIBSVM's page: `3: .5`."""
    made = usual(rng)
    return made.with_(rows_text=made.data.replace(b":", b":  ").replace(b" 0.", b" ."))


@trait
def crlf(rng):
    made = usual(rng)
    return made.with_(rows_text=made.data.replace(b"\n", b"\r\n"), model_text=made.model.replace(b"\n", b"\r\n"))


@trait
def no_last_line_end(rng):
    made = usual(rng)
    return made.with_(rows_text=made.data[:-1])


@trait
def text_after_the_vectors(rng):
    """LIBSVM reads as many vectors as the header says."""
    made = usual(rng)
    return made.with_(model_text=made.model + b"trained on Monday\n")


@trait
def other_spellings(rng):
    """Numbers with exponents, signs and leading zeros."""
    made = usual(rng)
    lines = [
        f"+0{at} " + " ".join(f"00{j}:{v:+.17e}" for j, v in sorted(row.items())) for at, row in enumerate(made.rows)
    ]
    return made.with_(rows_text=("\n".join(lines) + "\n").encode())


@trait
def comments_and_queries(rng):
    """As SVMlight's writers: lines that are comments, and `qid:N` after a label."""
    made = usual(rng, classes=3)
    lines = made.data.decode().splitlines(keepends=True)
    return made.with_(rows_text=dressed(lines, random.Random(1))[0].encode())


from zoo import rounding  # noqa: E402, F401  # adds its traits
