"""The parity table: every trait x kind x interface gives the same answers; LIBSVM's, where they are proven."""

import numpy as np
import pytest

from fastsvm_cli.models import load_model
from zoo.interfaces import NUMBERS, TEXTS, Question
from zoo.kinds import KINDS, compiled, suits
from zoo.traits import TRAITS, specimen

TABLE = [(trait, kind) for trait in TRAITS for kind in KINDS if suits(trait, kind)]
pytestmark = pytest.mark.usefixtures("serial_libsvm")


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    return tmp_path_factory.mktemp("zoo")


def question(trait, kind, folder, *, with_exact=False):
    exact = compiled(trait, "exact", folder) if with_exact else None
    return Question(specimen(trait), compiled(trait, kind, folder), exact, folder)


def numbers_of(text):
    """(labels, probabilities) in a text of predict."""
    lines = [line.split() for line in text.decode().splitlines() if not line.startswith("label")]
    return np.array([float(line[0]) for line in lines]), [line[1:] for line in lines]


def assert_alike(asked, probability):
    """Every interface's answers are those of the first; returns these."""
    found = asked.specimen
    first, text = next((name, ask(asked, probability)) for name, ask in TEXTS.items())
    for name, ask in TEXTS.items():
        assert ask(asked, probability) in (text, None), f"{name} differs from {first}"
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


@pytest.mark.parametrize("trait, kind", TABLE)
def test_every_interface_has_the_same_answers(zoo, trait, kind):
    asked = question(trait, kind, zoo)
    found, model = asked.specimen, load_model(str(asked.model))
    texts = {b: assert_alike(asked, b) for b in (False, True)[: 1 + model.header.has_probability]}
    if KINDS[kind].proves:
        if found.regression:
            np.testing.assert_allclose(numbers_of(texts[False])[0], found.values()[:, 0], rtol=1e-9, atol=1e-9)
        else:
            assert texts[False] == found.lines()


@pytest.mark.parametrize("trait, kind", [(trait, kind) for trait, kind in TABLE if KINDS[kind].certified])
def test_with_the_exact_model_labels_are_svm_predicts(zoo, trait, kind):
    asked = question(trait, kind, zoo, with_exact=True)
    text = assert_alike(asked, False)
    if asked.specimen.regression:
        np.testing.assert_allclose(numbers_of(text)[0], asked.specimen.values()[:, 0], rtol=0, atol=1e-3)
    else:
        assert text == asked.specimen.lines()
