"""The parity table: every trait x kind x interface gives the same answers; LIBSVM's, where they are proven."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.models import load_model
from support.profiles import calm
from zoo.interfaces import INSTRUCTION_SETS, NUMBERS, TEXTS, Question
from zoo.kinds import KINDS, compiled, suits
from zoo.traits import ROUNDING_DECIDES, TRAITS, specimen

TABLE = [(trait, kind) for trait in TRAITS for kind in KINDS if suits(trait, kind)]
#: Cells whose labels are LIBSVM's, with the exact model beside a certified one.
PROVEN = [(trait, kind) for trait, kind in TABLE if KINDS[kind].proves or KINDS[kind].certified]
pytestmark = pytest.mark.usefixtures("serial_libsvm")


def question(trait, kind, folder, *, with_exact=False, seed=0):
    exact = compiled(trait, "exact", folder, seed) if with_exact else None
    return Question(specimen(trait, seed), compiled(trait, kind, folder, seed), exact, folder, KINDS[kind].proves)


def numbers_of(text):
    """(labels, probabilities) in a text of predict."""
    lines = [line.split() for line in text.decode().splitlines() if not line.startswith("label")]
    return np.array([float(line[0]) for line in lines]), [line[1:] for line in lines]


def assert_near(text, expected, asked, name):
    """Labels are equal. Other numbers may differ in their last digits."""
    (labels, numbers), (their_labels, their_numbers) = numbers_of(text), numbers_of(expected)
    if asked.proven or asked.specimen.name not in ROUNDING_DECIDES:
        within = 1e-9 if asked.specimen.regression else 0
        np.testing.assert_allclose(labels, their_labels, rtol=within, atol=0, err_msg=name)
    for found, theirs in zip(numbers, their_numbers, strict=True):
        np.testing.assert_allclose([*map(float, found)], [*map(float, theirs)], rtol=1e-5, atol=1e-12, err_msg=name)


def assert_alike(asked, probability, texts=TEXTS):
    """Every interface's answers are those of the first; returns these."""
    found = asked.specimen
    first, text = next((name, ask(asked, probability)) for name, ask in texts.items())
    for name, ask in texts.items():
        answer = ask(asked, probability)
        if name in INSTRUCTION_SETS and answer is not None:
            assert_near(answer, text, asked, name)
        else:
            assert answer in (text, None), f"{name} differs from {first}"
    labels = numbers_of(text)[0]
    if not probability:
        for name, ask in NUMBERS.items():
            answer = ask(asked)
            if answer is None:
                continue
            if found.regression:
                within = 2e-3 if asked.exact else 1e-9  # the C library's tolerance is 0
                np.testing.assert_allclose(answer[0], labels, rtol=1e-9, atol=within, err_msg=name)
            else:
                assert np.array_equal(answer[0], labels), name
    return text


def assert_libsvms(asked, text):
    found = asked.specimen
    if found.regression:
        within = {"rtol": 0, "atol": 1e-3} if asked.exact else {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(numbers_of(text)[0], found.values()[:, 0], **within)
    else:
        assert text == found.lines()


@pytest.mark.full(few=60)
@pytest.mark.parametrize("trait, kind", TABLE)
def test_every_interface_has_the_same_answers(zoo, trait, kind):
    asked = question(trait, kind, zoo)
    text = assert_alike(asked, False)
    if load_model(str(asked.model)).header.has_probability:
        assert_alike(asked, True)
    if KINDS[kind].proves:
        assert_libsvms(asked, text)


@pytest.mark.full(few=20)
@pytest.mark.parametrize("trait, kind", [(trait, kind) for trait, kind in TABLE if KINDS[kind].certified])
def test_with_the_exact_model_labels_are_svm_predicts(zoo, trait, kind):
    asked = question(trait, kind, zoo, with_exact=True)
    assert_libsvms(asked, assert_alike(asked, False))


@calm(60)
@given(cell=st.sampled_from(PROVEN), seed=st.integers(1, 10**6))
def test_other_numbers_with_these_traits_have_svm_predicts_labels(zoo, cell, seed):
    asked = question(*cell, zoo, with_exact=KINDS[cell[1]].certified, seed=seed)
    assert_libsvms(asked, assert_alike(asked, False, {"predict_file": TEXTS["predict_file"]}))
