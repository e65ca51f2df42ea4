"""Traits of which rounding alone decides: ties of votes, of odds and of density marks, lost and overflowing terms."""

import numpy as np

from support.in_process import mirrored
from support.oracles import UNIT, Machine, random_rows
from zoo.specimens import Specimen
from zoo.traits import TRAITS, cancelling, trait, usual

#: Traits for kinds that prove LIBSVM's answers: others have no part in them.
FOR_PROOFS: "set[str]" = set()
#: Traits of models that are answered, but not compiled.
OVERFLOWING: "set[str]" = set()


def for_proofs(make):
    FOR_PROOFS.add(make.__name__)
    return trait(make)


def overflowing(make):
    OVERFLOWING.add(make.__name__)
    return trait(make)


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
    for _ in range(12):
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
def one_more_iteration(rng):
    """Rows beside a jump of the probabilities, where the stopping test of the coupling flips."""
    made, rows = usual(rng, classes=3, vectors=30, indices=[1, 2, 3], density=1.0, gamma=0.5), []
    theirs = made.libsvm()
    while not rows:
        start, step = rng.standard_normal((2, 3))

        def at(position, start=start, step=step):
            return dict(enumerate((start + position * step).tolist(), 1))

        low, high = -1.0, 1.0
        below, above = theirs.probabilities([at(low), at(high)])[1]
        while (middle := (low + high) / 2) not in (low, high):
            (between,) = theirs.probabilities([at(middle)])[1]
            if np.abs(below - between).max() > np.abs(between - above).max():
                high, above = middle, between
            else:
                low, below = middle, between
        if np.abs(below - above).max() > 1e-5:
            rows = [at(low + k * np.spacing(low)) for k in range(-20, 20)]
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
