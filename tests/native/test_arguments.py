"""Arguments that the core refuses (the table refusals.txt), or takes."""

import re

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli._native import BorderFile, Certificate, Expansion, Header, Samples
from fastsvm_cli.models import Model
from support.expanding import expanded
from support.paths import TESTS

#: The most nearest samples that a border model weighs (FORMAT.md).
MAX_LOCAL = 64


def about_0(*of, degree=1):
    """Expansions of one decision function of two features about the origin."""
    return expanded([(np.zeros(2), 1.0)], [*of], 0.5, degree, rho=[0.25])


def expansions(*certificates):
    return about_0(*(Expansion(0, 0, np.ones(3), each) for each in certificates))


def certificate(truncation=3, error=2):
    return Certificate([0.1] * truncation, [0.0] * error, 1.0, 1.0)


def border(samples, local=1, features=(1, 2)):
    header = Header("one_class", "rbf", gamma=1.0, nr_class=2, total_sv=0, rho=[0.0])
    return BorderFile(header, fingerprint="f", features=list(features), samples=samples, local=local)


def decide(model, with_radius=False):
    out = _native.Decisions(1, with_radius)
    model.decision_values(_native.Chunk.from_dense(np.zeros(2), np.array([[1.0, 2.0], [0.0, 3.0]])), out)
    return np.array(out.radius) if with_radius else np.array(out.value)


TABLE = re.findall(r"^(.*) => (\w+): (.*)", (TESTS / "native" / "refusals.txt").read_text(), re.M)


@pytest.mark.parametrize("expression, error, words", TABLE)
def test_what_the_core_refuses(expression, error, words):
    chunk = _native.Chunk.from_dense(np.ones(3), np.ones((3, 2)))
    names = {**globals(), "chunk": chunk}
    with pytest.raises({"ValueError": ValueError, "IndexError": IndexError}[error], match=words):
        eval(expression, names)


def test_an_expansion_without_a_certificate_has_the_same_values():
    certified = expansions(certificate(), certificate())
    assert np.all(decide(certified, with_radius=True) < np.inf)
    np.testing.assert_array_equal(decide(expansions(certificate(), None)), decide(certified))


def test_as_many_nearest_border_samples_as_the_format_lets_a_file_have():
    pair = Samples(0.5, MAX_LOCAL + 2, np.arange(4.0 * (MAX_LOCAL + 2)))
    assert np.all(np.isfinite(decide(Model(border([pair], local=MAX_LOCAL)))))
