"""The parity table: every trait x kind x interface gives the same answers; LIBSVM's, where they are proven."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.models import load_model
from support.arrays import in_sorted_order
from support.in_process import Libsvm
from support.paths import PROGRAM
from support.processes import outcome
from support.profiles import calm
from zoo.interfaces import (
    IN_TURN,
    INSTRUCTION_SETS,
    NUMBERS,
    TEXTS,
    Question,
    c_answers,
    loaded,
    predict_file,
    scikit_learns_labels,
)
from zoo.kinds import KINDS, compiled, suits
from zoo.traits import ROUNDING_DECIDES, TRAITS, specimen

TABLE = [(trait, kind) for trait in TRAITS for kind in KINDS if suits(trait, kind)]
#: Cells whose labels are LIBSVM's, with the exact model beside a certified one.
PROVEN = [(trait, kind) for trait, kind in TABLE if KINDS[kind].proves or KINDS[kind].certified]
#: Interfaces that may sum a row's terms in another order.
OTHER_SUMS = ("row_by_row", "c_sparse", "c_dense", "libsvm_names")
pytestmark = [
    pytest.mark.filterwarnings("ignore::fastsvm_cli.FastsvmWarning"),
]


def question(trait, kind, folder, *, with_exact=False, seed=0):
    exact = compiled(trait, "exact", folder, seed) if with_exact else None
    return Question(specimen(trait, seed), compiled(trait, kind, folder, seed), exact, folder, KINDS[kind].proves)


def numbers_of(text):
    """(labels, probabilities) in a text of predict."""
    lines = [line.split() for line in text.decode().splitlines() if not line.startswith("label")]
    return np.array([float(line[0]) for line in lines]), np.array([line[1:] for line in lines], float)


def size_of(found):
    """Rounding of decision values that are summed in another order."""
    return 1e-12 * (1 + np.abs(found.machine.coef).sum())


def assert_near(text, expected, asked, name):
    """Labels are equal. Other numbers may differ in their last digits."""
    (labels, numbers), (their_labels, their_numbers) = numbers_of(text), numbers_of(expected)
    if asked.proven or asked.specimen.name not in ROUNDING_DECIDES:
        within = size_of(asked.specimen) if asked.specimen.regression else 0
        np.testing.assert_allclose(labels, their_labels, rtol=0, atol=within, err_msg=name)
    assert numbers.shape == their_numbers.shape, name
    np.testing.assert_allclose(numbers, their_numbers, rtol=1e-5, atol=1e-12, err_msg=name)


def texts(trait, kind, probability, both):
    """The interfaces that this cell asks for text, with or without -b 1; one of them in turn takes long. both: with and
    without, each of half the instruction sets."""
    turn = TABLE.index((trait, kind))
    left_out = [name for at, name in enumerate(INSTRUCTION_SETS, turn) if both and at % 2 == probability]
    ask, with_b = IN_TURN[turn % len(IN_TURN)]
    asked = {name: each for name, each in TEXTS.items() if name not in left_out}
    return {**asked, ask.__name__: ask} if with_b == probability else asked


def assert_alike(asked, probability, texts):
    """Every interface's answers are those of predict_file, or of scikit-learn under patch(); returns the first."""
    found, text = asked.specimen, predict_file(asked, probability)
    for name, ask in texts.items():
        answer = ask(asked, probability)
        if name in INSTRUCTION_SETS and answer is not None:
            assert_near(answer, text, asked, name)
        else:
            assert answer in (text, None), name
    labels = numbers_of(text)[0]
    if not probability:
        for name, ask in NUMBERS.items():
            answer = ask(asked)
            if answer is None:
                continue
            if name == "patched":
                np.testing.assert_array_equal(answer[0], scikit_learns_labels(asked), err_msg=name)
            elif found.regression and name in OTHER_SUMS:
                within = 1e-3 if asked.exact else size_of(found)  # the C library's tolerance is 0
                np.testing.assert_allclose(answer[0], labels, rtol=1e-12, atol=within, err_msg=name)
            else:
                assert np.array_equal(answer[0], labels), name
    return text


def assert_libsvms(asked, text, theirs, probability=False):
    found = asked.specimen
    if found.regression:
        within = {"rtol": 0, "atol": 1e-3} if asked.exact else {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(numbers_of(text)[0], theirs.values(found.rows)[:, 0], **within)
    else:
        assert [line.split() for line in text.decode().splitlines()] == theirs.lines(found.rows, probability)


def assert_same_values(asked, model, kind, probabilities=None):
    """Decision values: predict_file's and the program's are equal, others near; so are the radii and probabilities of
    the package and of C."""
    found = asked.specimen
    printed = predict_file(asked, False, values=True)
    assert printed.decode() == outcome([PROGRAM, "-q", "--values", asked.rows, asked.model, "-"], check=True).stdout
    rows = [line.split()[1:] for line in printed.splitlines()]
    both = np.array(rows, float).reshape(len(rows), -1)  # values and radii
    values, radii = both[:, : model.pairs], both[:, model.pairs :]
    size = size_of(found)
    others = {"C, sparse": NUMBERS["c_sparse"](asked), "C, dense": NUMBERS["c_dense"](asked)}
    for name, answer in others.items():
        if answer is not None:
            np.testing.assert_allclose(answer[1], values, rtol=1e-12, atol=size, err_msg=name)
    if model.certified:
        np.testing.assert_allclose(c_answers(asked, "radii")[:, model.pairs :], radii, 0.02)
    if probabilities is not None and not found.regression:
        theirs = c_answers(asked, "probabilities", model.header.nr_class)[:, 1:]
        np.testing.assert_allclose(theirs, probabilities, 1e-5, 1e-12)
    if kind == "exact" and model.pairs:
        np.testing.assert_allclose(values, found.values(), rtol=1e-9, atol=100 * size)
    if not found.fits_array or not model.pairs:
        return
    fast, label = loaded(asked), found.machine.label if found.machine.classification else None
    for convert in (np.asarray, scipy.sparse.csr_matrix):
        rows = convert(found.dense())
        if not found.regression:
            expected = in_sorted_order(values, label)
            np.testing.assert_allclose(fast.decision_function(rows).reshape(expected.shape), expected, 1e-12, size)
        if model.certified:
            expected = in_sorted_order(radii, label, signed=False)
            np.testing.assert_allclose(fast.radius(rows).reshape(expected.shape), expected, 0.02)  # three digits
        if probabilities is not None and hasattr(fast, "predict_proba"):
            order = np.argsort(found.machine.label) if found.machine.classification else [0, 1]
            np.testing.assert_allclose(fast.predict_proba(rows), probabilities[:, order], 1e-5, 1e-12)


@pytest.mark.full(few=30)
@pytest.mark.parametrize("trait, kind", TABLE)
def test_every_interface_has_the_same_answers(zoo, trait, kind):
    """LIBSVM reads reduced sets, too."""
    asked = question(trait, kind, zoo)
    model, likely = load_model(str(asked.model)), None
    theirs = Libsvm(asked.model) if kind == "reduced" else asked.specimen.libsvm() if KINDS[kind].proves else None
    for probability in (False, True)[: 1 + model.header.has_probability]:
        text = assert_alike(asked, probability, texts(trait, kind, probability, model.header.has_probability))
        if theirs:
            assert_libsvms(asked, text, theirs, probability)
        if probability:
            likely = numbers_of(text)[1]
    assert_same_values(asked, model, kind, likely)


@pytest.mark.full(few=8)
@pytest.mark.parametrize("trait, kind", [(trait, kind) for trait, kind in TABLE if KINDS[kind].certified])
def test_with_the_exact_model_labels_are_svm_predicts(zoo, trait, kind):
    """Radii decide some rows, the exact model the rest."""
    asked = question(trait, kind, zoo, with_exact=True)
    both = load_model(str(asked.model)).header.has_probability
    for probability in (False, True)[: 1 + both]:
        text = assert_alike(asked, probability, texts(trait, kind, probability, both))
        assert_libsvms(asked, text, asked.specimen.libsvm(), probability)


@calm(60)
@given(cell=st.sampled_from(PROVEN), seed=st.integers(1, 10**6))
def test_other_numbers_with_these_traits_have_svm_predicts_labels(zoo, cell, seed):
    asked = question(*cell, zoo, with_exact=KINDS[cell[1]].certified, seed=seed)
    assert_libsvms(asked, assert_alike(asked, False, {}), asked.specimen.libsvm())
