"""Arguments that the core refuses. Readers of models refuse them first, with a line number."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli._native import MAX_DEGREE, MAX_LOCAL, BorderFile, Certificate, Expansion, Header, Samples
from fastsvm_cli.models.base import Model
from support.expanding import expanded


def expansions(*certificates, degree=1):
    """Expansions of one decision function of two features about the origin."""
    of = [Expansion(0, 0, np.ones(3), each) for each in certificates]
    return expanded([(np.zeros(2), 1.0)], of, 0.5, degree, rho=[0.25])


def certificate(truncation=3, error=2):
    return Certificate([0.1] * truncation, [0.0] * error, 1.0, 1.0)


def decide(model, *, with_radius):
    out = _native.Decisions(1, with_radius)
    model.decision_values(_native.Chunk.from_dense(np.zeros(2), np.array([[1.0, 2.0], [0.0, 3.0]])), out)
    return np.array(out.radius) if with_radius else np.array(out.value)


def test_an_expansion_without_a_certificate_leaves_a_model_without_radii():
    assert np.all(decide(expansions(certificate(), certificate()), with_radius=True) < np.inf)
    model = expansions(certificate(), None)
    with pytest.raises(ValueError, match="radii requested from a model without certificates"):
        decide(model, with_radius=True)
    np.testing.assert_array_equal(
        decide(model, with_radius=False), decide(expansions(certificate(), certificate()), with_radius=False)
    )


@pytest.mark.parametrize("second", [certificate(truncation=4), certificate(truncation=2), certificate(error=3)])
def test_certificates_of_one_model_have_one_size(second):
    with pytest.raises(ValueError, match="wrong size of a certificate"):
        decide(expansions(certificate(), second), with_radius=True)


@pytest.mark.parametrize("pair, center, error", [(1, 0, IndexError), (-1, 0, IndexError), (0, 1, IndexError)])
def test_an_expansion_is_of_a_known_pair_and_center(pair, center, error):
    model = expanded([(np.zeros(2), 1.0)], [Expansion(pair, center, np.ones(3))], 0.5, 1)
    with pytest.raises(error, match="unknown pair or center"):
        decide(model, with_radius=False)


@pytest.mark.parametrize("size, rank", [(2, 0), (4, 0), (3, 1), (3, -1)])
def test_an_expansion_has_its_number_of_coefficients(size, rank):
    with pytest.raises(ValueError, match="wrong number of coefficients"):
        expanded([(np.zeros(2), 1.0)], [Expansion(0, 0, np.ones(size), None, rank)], 0.5, 1)


@pytest.mark.parametrize("degree", [-1, MAX_DEGREE + 1])
def test_a_degree_without_an_expansion_is_refused(degree):
    with pytest.raises(ValueError, match="a degree that no expansion has"):
        expanded([(np.zeros(1), 1.0)], [], 0.5, degree)


def test_a_precomputed_kernel_is_not_evaluated_on_vectors():
    chunk = _native.Chunk.from_dense(np.ones(3), np.ones((3, 2)))
    model = _native.SvmModel(_native.Kernel("precomputed"), False, [3], [0.0], chunk)
    with pytest.raises(ValueError, match="rows of a precomputed kernel are kernel values"):
        model.kernel_row(chunk, 0, chunk)


def test_as_many_nearest_border_samples_as_the_format_lets_a_file_have():
    samples = np.arange(4.0 * (MAX_LOCAL + 2))
    header = Header("one_class", "rbf", gamma=1.0, nr_class=2, total_sv=0, rho=[0.0])
    pair = Samples(0.5, MAX_LOCAL + 2, samples)
    of = dict(fingerprint="f", features=[1, 2], samples=[pair])
    assert np.all(np.isfinite(decide(Model(BorderFile(header, **of, local=MAX_LOCAL)), with_radius=False)))
    for local in (0, MAX_LOCAL + 1):
        with pytest.raises(ValueError, match="cannot be weighed"):
            BorderFile(header, **of, local=local).model()


def test_a_border_has_samples_for_each_pair():
    header = Header("one_class", "rbf", gamma=1.0, nr_class=2, total_sv=0, rho=[0.0])
    for samples in ([], [Samples(0.5, 0, np.zeros(0))] * 2):
        with pytest.raises(ValueError, match="wrong number of pairs"):
            BorderFile(header, fingerprint="f", features=[1], samples=samples)
    with pytest.raises(ValueError, match="wrong number of values"):
        BorderFile(header, fingerprint="f", features=[1], samples=[Samples(0.5, 1, np.zeros(1))])


@pytest.mark.parametrize("types", [("c_svc", "exponential"), ("svc", "rbf")])
def test_a_header_is_of_libsvms_types(types):
    with pytest.raises(ValueError, match="no such svm_type or kernel_type"):
        Header(*types, nr_class=2, total_sv=0, rho=[0.0])
