"""reduce --scale: a LIBSVM model of raw rows with the original model's decision values for scaled rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.folded_scaling import ScalingToFold, folded_exact, folded_model
from fastsvm_cli.models import parse_model
from fastsvm_cli.text.scaling import check_embedding, parse_scaling
from support import oracles
from support.evaluation import parse, values
from support.oracles import random_machine, random_rows
from support.processes import outcome
from support.profiles import calm
from support.scaling import unrounded

LIMITS = [(-1, 1), (0, 1), (0.1, 3.7)]
NONE = "f" * 32


def folding_of(ranges):
    return ScalingToFold(parse_scaling(ranges.encode(), "range"))


class Case:
    """Raw rows, a range file's text, and a machine of scaled rows."""

    def __init__(self, seed, kernel, svm_type="c_svc", *, equal=False, standard=False, limits=(-1, 1), **options):
        rng = self.rng = np.random.default_rng(seed)
        density = float(rng.choice([0.4, 1.0]))
        indices = list(range(1, 8)) if standard else sorted(rng.choice(np.arange(1, 20), 7, replace=False).tolist())
        stretch = {i: 1.0 if equal else float(rng.choice([0.01, 1.0, 250.0])) for i in indices}
        shift = {i: 0.0 if density < 1 else float(rng.choice([0.0, -3.0, 40.0])) * stretch[i] for i in indices}

        def raw(n):
            rows = random_rows(rng, n, indices, density=density)
            return [{i: float(v * stretch[i] + shift[i]) for i, v in row.items()} for row in rows]

        vectors, self.rows = raw(25), raw(25)
        # A feature that scaling makes 0 in every vector, though not in a row without it.
        middle = indices[0]
        lower, upper = limits
        if standard:
            self.ranges = "".join(f"{shift[i]!r} {stretch[i]!r}\n" for i in indices)
            centers = {middle: shift[middle]}
        else:
            length = 2.0 if equal else None
            ends = {
                i: (shift[i] - stretch[i], shift[i] + stretch[i] * (length or rng.uniform(1, 3)) - bool(equal))
                for i in indices
            }
            self.ranges = f"x\n{lower} {upper}\n"
            # A feature that no vector has, a constant one; no line for the last feature of the vectors.
            self.ranges += "".join(f"{i} {low!r} {high!r}\n" for i, (low, high) in ends.items() if i != indices[-1])
            self.ranges += "40 5 5\n" + ("" if equal else f"41 {-lower!r} {-lower + 4!r}\n" if lower else "41 0 8\n")
            low, high = ends[middle]
            centers = {middle: low + (high - low) * -lower / (upper - lower)} if lower < 0 else {}
        for row in vectors:
            row.update(centers)
        # Features missing from the file, constant, or in no vector; an empty row.
        if not standard:
            self.rows += [{**self.rows[0], 40: 7.0, 41: 2.0, 50: 3.0, 2147483647: 1.0}, {30: 4.0}]
        self.rows += [{}]
        self.vectors = vectors
        self.scaled = [{i: float(v) for i, v in row.items()} for row in unrounded(self.ranges, self.rows)]
        own = [{i: round(float(v), 6) for i, v in row.items()} for row in unrounded(self.ranges, vectors)]
        own = [{i: v for i, v in row.items() if v and i != 41} for row in own]
        self.machine = random_machine(rng, svm_type, kernel, own, **options)
        self.model = parse_model(self.machine.text(), "model")
        self.folding = folding_of(self.ranges)


def assert_folds(case, folded):
    """Raw rows have the values of scaled rows; other features than the folding knows do not count."""
    truth, size = oracles.decision_values(case.machine, case.scaled), oracles.magnitudes(case.machine, case.scaled)
    assert np.all(np.abs(values(folded, parse(known(case))) - truth) <= 1e-9 * (size + 1))


def known(case, rows=None):
    return [{i: v for i, v in row.items() if i in case.folding.affine.features} for row in rows or case.rows]


@calm(40)
@given(st.integers(0, 10**6), st.sampled_from(LIMITS), st.booleans())
def test_a_linear_kernel_folds_exactly(seed, limits, standard):
    case = Case(seed, "linear", limits=limits, standard=standard)
    assert_folds(case, folded_exact(case.model, case.folding, ""))


@calm(40)
@given(st.integers(0, 10**6), st.sampled_from(LIMITS), st.sampled_from(["c_svc", "one_class", "epsilon_svr"]))
def test_ranges_of_one_length_fold_into_a_libsvm_model(seed, limits, svm_type):
    case = Case(seed, "rbf", svm_type, equal=True, limits=limits, gamma=0.2)
    check_embedding(parse_scaling(case.ranges.encode(), "range"), case.model, "model")
    folded = folded_model(folded_exact(case.model, case.folding, ""), NONE, case.folding)
    folded = parse_model(folded.to_text(), "m")
    assert not folded.folded.inherited and folded.proves and not folded.certified
    assert_folds(case, folded)


Y = "y\n-1 1\n-7.5 12.5\n"


def test_labels_that_were_scaled_are_scaled_back():
    case = Case(3, "rbf", "epsilon_svr", equal=True, probability=True, gamma=0.1)
    scaling = parse_scaling((Y + case.ranges).encode(), "range")
    check_embedding(scaling, case.model, "model")
    folded, plain = folded_exact(case.model, ScalingToFold(scaling), ""), case.model
    found = values(folded, parse(known(case)))
    expected = values(plain, parse(known(case, case.scaled)))
    assert found == pytest.approx((expected + 1) / 2 * 20 - 7.5, rel=1e-9, abs=1e-8)
    assert folded.header.probA == pytest.approx([case.machine.probA[0] * 10])


def model_of(*values):
    """Two vectors, each with one of these values of features 1, 2, ..."""
    vectors = [{at: value} for at, value in enumerate(values, 1)]
    return parse_model(random_machine(np.random.default_rng(5), "c_svc", "rbf", vectors, gamma=0.1).text(), "model")


CLASSES, SCALED = Case(5, "rbf", gamma=0.1), Case(5, "rbf", "epsilon_svr", gamma=0.1)
POLYNOMIAL = Case(5, "polynomial", gamma=0.1, coef0=1.0, degree=2)
LARGE = Case(6, "rbf", "epsilon_svr", equal=True, gamma=0.1)
LARGE.machine.coef *= 1e20
LARGE.model = parse_model(LARGE.machine.text(), "model")
ENDS = "range: the range of y has equal ends, or ends too far"
OVERFLOWS = "model: a number of the model overflows once range is part of it: "
REFUSED = [
    (CLASSES.model, Y + CLASSES.ranges, "range: the range file scales y, but this is a classification model"),
    (CLASSES.model, "x\n-1 1\n1 0 1\n", "model: support vectors with feature .* found, which range does not hold"),
    (SCALED.model, f"y\n0 1\n2 2\n{SCALED.ranges}", ENDS),
    (SCALED.model, f"y\n0 1\n-1e308 1e308\n{SCALED.ranges}", ENDS),
    (model_of(0.5), "x\n-1 1\n0 1 4\n1 0 4\n", "range: index 0 found, which svm-scale does not move where a row lacks"),
    (model_of(0.5), "x\n0 1\n1 1e12 1000000000010\n", "range: feature 1 lies too far from 0 for its spread"),
    (model_of(0.5), "x\n0 1\n1 -1e308 1e308\n", "feature 1 has a range that double precision cannot divide by"),
    (CLASSES.model, CLASSES.ranges, r"range scales feature .* by .* and feature .* by .*: do that"),
    (model_of(30.0, 1.0), "x\n-1 1\n1 -1e-200 1e-200\n2 -1e-200 1e-200\n", OVERFLOWS),
    (model_of(30.0, 1.0), "x\n-1 1\n1 0 1.7e308\n2 0 1.7e308\n", OVERFLOWS),
    (model_of(30.0, 1.0), "x\n-1 1\n1 -2 2\n2 -1.999999996 2\n", r"feature 1 by 0\.5 and feature 2 by 0\.50000000"),
    (model_of(0.5, 1.0), "x\n-1 1\n1 -5e14 5e14\n2 -1e15 1e15\n", "scales feature 2 by 1e-15 and feature 1 by 2e-15"),
    (POLYNOMIAL.model, POLYNOMIAL.ranges, "moves the origin, which a LIBSVM model with a polynomial kernel"),
    (
        parse_model(LARGE.machine.text(), "model"),
        "y\n-1 1\n-1e300 1e300\n" + LARGE.ranges,
        "range: a coefficient overflows",
    ),
]


@pytest.mark.parametrize("model, ranges, why", REFUSED)
def test_what_cannot_be_folded_is_refused(model, ranges, why):
    scaling = parse_scaling(ranges.encode(), "range")
    with pytest.raises(ModelFormatError, match=why):
        check_embedding(scaling, model, "model")
        folded_exact(model, ScalingToFold(scaling), "do that")


def test_lengths_are_compared_relative_to_their_size():
    folded = folded_exact(model_of(0.5, 1.0), folding_of("x\n-1 1\n1 0 1e-7\n2 3e-7 4e-7\n"), "")
    assert folded.header.gamma > 1e12


@pytest.mark.full
def test_svm_predict_reads_what_reduce_folds(svm_predict, fastsvm, tmp_path):
    """svm-predict writes what fastsvm predict writes; lossless, also what the model of scaled rows gives."""
    case = Case(2, "rbf", equal=True, gamma=0.1)
    for name, text in (("range", case.ranges.encode()), ("model", case.machine.text())):
        (tmp_path / name).write_bytes(text)
    (tmp_path / "raw").write_bytes(oracles.data_text(known(case), [1, -1] * 13 + [1] * (len(case.rows) - 26)))
    for options in (["--lossless"], ["--vectors", "20", "--data", "raw"], ["--target", "0.02", "--data", "raw"]):
        printed = fastsvm("reduce", *options, "--scale", "range", "model", "folded").out
        assert "range is folded in: the model takes raw rows\n" in printed
        ours = fastsvm("predict", "-q", "raw", "folded").out
        outcome([svm_predict, "raw", "folded", "theirs"], cwd=tmp_path, check=True)
        assert ours == (tmp_path / "theirs").read_text()
        if options == ["--lossless"]:
            assert ours == fastsvm("predict", "-q", "--scale", "range", "raw", "model").out
