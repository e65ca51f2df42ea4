"""Traits: what is unusual about a model or its rows, by name. A trait makes a Specimen from a random generator.

To add one, write a function here: every kind and every interface is then tested with it."""

from collections.abc import Callable

import numpy as np

from support.in_process import mirrored
from support.oracles import UNIT, Machine, random_machine, random_rows
from zoo.specimens import Specimen

TRAITS: "dict[str, Callable[[np.random.Generator], Specimen]]" = {}
#: Labels of models without a proof may differ between instruction sets.
ROUNDING_DECIDES = {"ties_at_rho", "linear_ties", "one_ulp_beside", "cancelling"}
#: More of them, for kinds that prove LIBSVM's answers: others have no part in it.
FOR_PROOFS: "set[str]" = set()
#: Traits of models that are answered, but not compiled.
OVERFLOWING: "set[str]" = set()
PARAMETERS = {
    "linear": {},
    "polynomial": {"gamma": 0.3, "coef0": 0.5, "degree": 3},
    "rbf": {"gamma": 0.3},
    "sigmoid": {"gamma": 0.1, "coef0": -0.2},
}


def trait(make):
    TRAITS[make.__name__] = make
    return make


def for_proofs(make):
    FOR_PROOFS.add(make.__name__)
    return trait(make)


def overflowing(make):
    OVERFLOWING.add(make.__name__)
    return trait(make)


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


def ties(rng, kernel="rbf", svm_type="c_svc"):
    machine, rows = mirrored(rng, kernel, svm_type=svm_type)
    return Specimen(machine, rows[:60])


def mirrored_classes(rng, kernel, classes):
    """Every class has vectors and their mirror images, rows are palindromes: all votes are matters of rounding."""
    x, a = rng.standard_normal((classes, 6, 4)), rng.uniform(0.1, 3, (classes, 6, classes - 1))
    x, coef = np.concatenate([x, x[:, :, ::-1]], axis=1).reshape(-1, 4), np.concatenate([a, -a], axis=1)
    parameters = {"gamma": 0.3, "coef0": 0.2, "degree": 3}
    vectors, rho = [dict(enumerate(row, 1)) for row in x.tolist()], [0.0] * (classes * (classes - 1) // 2)
    machine = Machine("c_svc", kernel, vectors, coef.reshape(-1, classes - 1), rho, **parameters)
    machine.label, machine.nr_sv = list(range(classes)), [12] * classes
    left = rng.standard_normal((40, 2))
    return Specimen(machine, [dict(enumerate(row, 1)) for row in np.hstack([left, left[:, ::-1]]).tolist()])


for _kernel, _size in (("linear", 1e6), ("polynomial", 1e14), ("sigmoid", 1e10)):
    FOR_PROOFS |= {f"ties_of_{_kernel}", f"ties_of_classes_{_kernel}", f"cancelling_{_kernel}"}
    TRAITS[f"ties_of_{_kernel}"] = lambda rng, kernel=_kernel: ties(rng, kernel, "one_class")
    TRAITS[f"ties_of_classes_{_kernel}"] = lambda rng, kernel=_kernel: mirrored_classes(rng, kernel, 6)
    TRAITS[f"cancelling_{_kernel}"] = lambda rng, kernel=_kernel, size=_size: cancelling(rng, kernel, size)


@for_proofs
def ties_of_many_classes(rng):
    return mirrored_classes(rng, "rbf", 20)


@for_proofs
def beside_ties(rng):
    """As at ties, but rho decides: no row needs LIBSVM's own sum."""
    made = ties(rng)
    made.machine.rho[:] = [0.01]
    return made


def two_classes_of(vectors, coef, rho, sizes, rows, kernel="rbf", **parameters):
    machine = Machine("c_svc", kernel, vectors, np.array(coef)[:, None], [rho], label=[1, -1], nr_sv=sizes)
    for name, value in parameters.items():
        setattr(machine, name, value)
    return Specimen(machine, rows)


@for_proofs
def tiny_terms_of_a_folded_model(rng):
    """A folded linear model adds a term per feature of the row. LIBSVM sums each vector first, which keeps the tiny
    terms."""
    many, per_vector, step = 10000, 100, 1e-3
    small = [
        dict.fromkeys(range(first, first + per_vector), 0.8 * UNIT / step) for first in range(2, many + 2, per_vector)
    ]
    coef, sizes = [1.5, *[1.0] * len(small), -1.5], [len(small) + 1, 1]
    row = {1: 1.0, **dict.fromkeys(range(2, many + 2), step), many + 2: 1.0}
    return two_classes_of([{1: 1.0}, *small, {many + 2: 1.0}], coef, 4000 * UNIT, sizes, [row], "linear")


@for_proofs
def large_rho(rng):
    """Even odds at f = -1 + 200 u, exactly f = -1 + 400 u: LIBSVM subtracts rho from the whole sum."""
    x = dict.fromkeys(range(1, 1001), 0.4 * UNIT)
    odds = {"probA": [-(2.0**20)], "probB": [2.0**20 * (200 * UNIT - 1)]}
    return two_classes_of([x, {}], [1.0, -1.0], 1.0, [1, 1], [dict.fromkeys(x, 1.0)], "linear", **odds)


@for_proofs
def swallowed_terms(rng):
    """1 + 0.8 u + 0.8 u + ... stays 1; the small terms count if added up first."""
    coef, parameters = [1.0, *[0.8 * UNIT] * 200, -1e-30], {"gamma": 1.0, "degree": 1}
    row = {1: 1.0}
    return two_classes_of([row] * 202, coef, 1 + 80 * UNIT, [201, 1], [row], "polynomial", **parameters)


@for_proofs
def swallowed_squares(rng):
    """|x|^2 = 1 + 0.8 u + ... stays 1; |x - z|^2 with z_1 = x_1 has the small terms only."""
    x = {1: 1.0, **dict.fromkeys(range(2, 1002), (0.8 * UNIT) ** 0.5)}
    return two_classes_of([x], [1.0], 1 - 400 * UNIT, [1, 0], [{1: 1.0}], gamma=1.0)


@overflowing
def huge_kernel_values(rng):
    """Sums overflow; LIBSVM's min and max turn NaN into 1e-7, by their order of comparison."""
    made = usual(rng, kernel="polynomial", classes=3, indices=[1, 2], scale=1e120, vectors=12, gamma=1.0, coef0=1.0)
    return made.with_(rows=[*made.rows, *random_rows(rng, 20, [1, 2], scale=1e-120)])


@overflowing
def huge_kernel_values_of_two_classes(rng):
    return usual(rng, kernel="polynomial", indices=[1, 2], scale=1e120, vectors=12, gamma=1.0, coef0=1.0)


@overflowing
def overflow_of_a_regression(rng):
    """A folded model adds linear terms in another order, which may not overflow."""
    machine = Machine("epsilon_svr", "linear", [{1: 1e10, 2: -1e10}, {1: 1.0}], np.array([[1e300], [1.0]]), [0.5])
    return Specimen(machine, [{1: 1.0, 2: 1.0}, {1: 1.0}, {2: -2.0}])


@for_proofs
def steep_sigmoid_kernel(rng):
    """Its slope multiplies the rounding of inner products by 1e10. Rows are nearly at right angles to vectors."""
    made = usual(rng, "epsilon_svr", "sigmoid", indices=[1, 2, 3], gamma=1e10)
    twins = [{i: v * (1 + 1e-13) for i, v in row.items()} for row in made.machine.vectors[:10]]
    rows = [{1: -row[2], 2: row[1]} for row in made.machine.vectors if {1, 2} <= row.keys()]
    return made.with_(rows=rows + twins)


# ---- probabilities that rounding decides


def even_odds(rng, a, b):
    """f is exactly -B / A but for rounding."""
    made = ties(rng)
    made.machine.probA, made.machine.probB, made.machine.rho[:] = [a], [b], [b / a if a else 0.0]
    return made


for _a, _b in ((-2.0, 0.5), (1.5, -3.0), (0.0, 0.0), (0.0, 0.3)):
    FOR_PROOFS |= {f"even_odds_{_a}_{_b}"}
    TRAITS[f"even_odds_{_a}_{_b}"] = lambda rng, a=_a, b=_b: even_odds(rng, a, b)


@for_proofs
def lost_odds(rng):
    """Exactly t = 2^-54, where e^-t begins to differ from 1; 1 / (1 + e^t) is 1/2 even for the smallest t > 0."""
    made = ties(rng)
    made.machine.coef *= 1e6
    made.machine.probA, made.machine.probB, made.machine.rho[:] = [UNIT / 2], [0.0], [-1.0]
    return made


def steep_odds(rng, kernel, slope):
    """The sigmoid is steep among the rows."""
    made = usual(rng, kernel=kernel, vectors=60, rows=50, indices=[1, 2, 3], gamma=0.5, coef0=0.1)
    made.machine.probA, made.machine.probB = [slope], [-slope * float(made.values()[7, 0])]
    rows = [{i: v + k * 1e-3 / slope for i, v in made.rows[7].items()} for k in range(-25, 25)]
    return made.with_(rows=made.rows + rows)


for _kernel, _slope in (("linear", -1e12), ("polynomial", 1e6), ("rbf", -1e9), ("sigmoid", -1e3)):
    FOR_PROOFS |= {f"steep_odds_{_kernel}"}
    TRAITS[f"steep_odds_{_kernel}"] = lambda rng, kernel=_kernel, slope=_slope: steep_odds(rng, kernel, slope)


@for_proofs
def coupled_ties(rng):
    """Rows at and beside changes of the most probable of three classes, found by bisection. Offset: distances lose
    digits."""
    offset, indices = 1e4, [1, 2, 3]
    made = usual(rng, classes=3, vectors=30, indices=indices, rows=60, offset=offset, gamma=0.5)
    # Offsets and slopes put the boundaries among the rows.
    sums, machine = made.values() + made.machine.rho, made.machine
    machine.rho[:] = np.median(sums, axis=0).tolist()
    machine.probA, machine.probB = (-2 / sums.std(axis=0)).tolist(), [0.1, 0.0, -0.1]
    theirs, rows = made.libsvm(), []
    for _ in range(25):
        start, end = offset + rng.standard_normal((2, 3))

        def at(share, start=start, step=end - start):
            return dict(zip(indices, (start + share * step).tolist()))

        low, high, (first, last) = 0.0, 1.0, theirs.probabilities([at(0.0), at(1.0)])[0]
        if first == last:
            continue
        while (middle := (low + high) / 2) not in (low, high):
            low, high = (middle, high) if theirs.probabilities([at(middle)])[0] == [first] else (low, middle)
        rows += map(at, (low, high, np.nextafter(low, 0), np.nextafter(high, 1)))
    return made.with_(rows=rows)


@for_proofs
def density_ties(rng):
    """Exactly f = 0.25, a mark, but for rounding."""
    made = ties(rng, svm_type="one_class")
    made.machine.rho[:], made.machine.marks = [-0.25], [-1.0, -0.5, -0.25, 0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 2.0]
    return made


@for_proofs
def density_marks(rng):
    """Values are marks, some of which are equal, or beside them."""
    marks = [-0.5, -0.25, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.5]
    machine = Machine("one_class", "linear", [{1: 1.0}], np.array([[1.0]]), [0.0], marks=marks)
    around = [float(np.nextafter(mark, end)) for mark in marks for end in (-9, 9)]
    return Specimen(machine, [{1: value} for value in (*marks, *around, -0.75, 2.0)])


def open_odds(rng, size):
    """Equal vectors with opposite coefficients of this size leave rounding errors; a row far away, where only the
    coefficient 100 counts."""
    vectors, far = random_rows(rng, 40, [1, 2, 3]), {1: 30.0}
    coef = rng.standard_normal(40)
    coef[[0, 21]], vectors[0], vectors[21] = [size, -size], vectors[20], vectors[20]
    odds = {"gamma": 0.3, "probA": [-1.3], "probB": [0.1]}
    return two_classes_of(
        [*vectors, far], [*coef, 100.0], 0.0, [20, 21], [far, *random_rows(rng, 59, [1, 2, 3])], **odds
    )


@for_proofs
def most_odds_are_open(rng):
    return open_odds(rng, 1e9)


@for_proofs
def no_odds_are_open(rng):
    return open_odds(rng, 1.0)


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
    return usual(rng, classes=300, vectors=310, rows=3)


@trait
def tiny_classes(rng):
    """Classes of no, one and two vectors."""
    made = usual(rng, classes=4, vectors=24)
    made.machine.nr_sv[:] = [0, 1, 2, 21]
    return made


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
    return made.with_(rows=random_rows(rng, 30, [1, 2, 3, 4, 5, 9, 2000000000], density=0.6))


@trait
def wide(rng):
    """More features than a first-level cache holds."""
    return usual(rng, indices=range(1, 421), vectors=70, classes=3, density=1.0, gamma=0.002)


@trait
def wide_and_sparse(rng):
    return usual(rng, indices=range(1, 3000), vectors=40, density=0.02)


# ---- numbers


@trait
def denormals(rng):
    return usual(rng, scale=1e-310)


@trait
def huge_norms(rng):
    """Squares overflow."""
    made = usual(rng, rows=12)
    return made.with_(rows=[*made.rows, *random_rows(rng, 12, [1, 2, 3], scale=1e160)])


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
