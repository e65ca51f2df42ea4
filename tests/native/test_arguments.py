"""Arguments that the core refuses. Readers of models refuse them first, with a line number."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models.border import MAX_LOCAL, BorderModel, Samples
from fastsvm_cli.models.maclaurin import MAX_DEGREE, Certificate
from fastsvm_cli._native import Header


def expansions(*certificates, degree=1):
    """Expansions of one decision function of two features about the origin."""
    model = _native.Maclaurin([1, 2], True, 0.5, degree, [0.25])
    model.add_center(np.zeros(2), 1.0)
    for certificate in certificates:
        model.add_expansion(0, 0, np.ones(3), False, certificate)
    return model


def certificate(truncation=3, error=2):
    return Certificate([0.1] * truncation, [0.0] * error, 1.0, 1.0)


def decide(model, *, with_radius):
    out = _native.Decisions(1, with_radius)
    model.decision_values(_native.Chunk.from_dense(np.zeros(2), np.array([[1.0, 2.0], [0.0, 3.0]])), out)
    return np.array(out.radius) if with_radius else np.array(out.value)


def test_an_expansion_without_a_certificate_leaves_a_model_without_radii():
    assert np.all(decide(expansions(certificate(), certificate()), with_radius=True) < np.inf)
    model = expansions(certificate(), None)
    with pytest.raises(ValueError, match="radii asked of a model without certificates"):
        decide(model, with_radius=True)
    np.testing.assert_array_equal(
        decide(model, with_radius=False), decide(expansions(certificate(), certificate()), with_radius=False)
    )


@pytest.mark.parametrize("second", [certificate(truncation=4), certificate(truncation=2), certificate(error=3)])
def test_certificates_of_one_model_have_one_size(second):
    model = expansions(certificate())
    with pytest.raises(ValueError, match="wrong size of a certificate"):
        model.add_expansion(0, 0, np.ones(3), False, second)


@pytest.mark.parametrize("degree", [-1, MAX_DEGREE + 1])
def test_a_degree_without_an_expansion_is_refused(degree):
    with pytest.raises(ValueError, match="a degree that no expansion has"):
        _native.Maclaurin([1], True, 0.5, degree, [0.0])


def test_a_precomputed_kernel_is_not_evaluated_on_vectors():
    chunk = _native.Chunk.from_dense(np.ones(3), np.ones((3, 2)))
    model = _native.SvmModel(_native.KERNELS.index("precomputed"), 0.0, 0.0, 0, False, [3], [0.0], chunk)
    with pytest.raises(ValueError, match="rows of a precomputed kernel are kernel values"):
        model.kernel_row(chunk, 0, chunk)


def test_as_many_nearest_border_samples_as_the_format_lets_a_file_have():
    samples = np.arange(4.0 * (MAX_LOCAL + 2))
    header = Header("one_class", "rbf", gamma=1.0, nr_class=2, total_sv=0, rho=[0.0])
    pair = Samples(0.5, MAX_LOCAL + 2, samples)
    model = BorderModel(header, fingerprint="f", features=[1, 2], samples=[pair], local=MAX_LOCAL)
    assert np.all(np.isfinite(decide(model, with_radius=False)))
    for local in (0, MAX_LOCAL + 1):
        with pytest.raises(ValueError, match="cannot be weighed"):
            _native.Border([1, 2], local)
