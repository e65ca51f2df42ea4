"""Scalers in front of the model, bit for bit as scikit-learn's, or folded into a LIBSVM model."""

import re

import numpy as np
import pytest
import scipy.sparse
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.scaling import read_scaler
from support.fitting import KERNELS, fit, rows

SCALERS = {
    "standard": StandardScaler(),
    "standard, mean only": StandardScaler(with_std=False),
    "standard, scale only": StandardScaler(with_mean=False),
    "standard, nothing": StandardScaler(with_mean=False, with_std=False),
    "min-max": MinMaxScaler(),
    "min-max, clipped": MinMaxScaler((-1, 2), clip=True),
    "max-abs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "robust, scale only": RobustScaler(with_centering=False),
    "robust, center only": RobustScaler(with_scaling=False),
}
SPARSE = ("standard, scale only", "standard, nothing", "max-abs", "robust, scale only")
#: FoldedScaling into a LIBSVM model, by kernel.
FOLDED = {
    "linear": set(SCALERS) - {"min-max, clipped"},
    "poly": {*SPARSE},
    "sigmoid": {*SPARSE},
    "rbf": {"standard, mean only", "standard, nothing", "robust, center only"},
}


def _data():
    X, y = rows()
    return X * [1, 2, 0.1, 30, 5] + [0, 1, 2, -3, 50], y


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("scaler", SCALERS)
def test_rows_are_scaled_to_the_same_bits(scaler, dtype):
    X, _ = _data()
    X = X.astype(dtype)
    known = SCALERS[scaler].fit(X)
    found = read_scaler(known).apply(X)
    expected = known.transform(X)
    assert found.dtype == expected.dtype and (found == expected).all()
    assert found is not X and (X == _data()[0].astype(dtype)).all()
    if scaler in SPARSE:
        sparse = scipy.sparse.csr_matrix(X)
        found, expected = read_scaler(known).apply(sparse), known.transform(sparse)
        assert scipy.sparse.issparse(found) and found.nnz == sparse.nnz
        assert found.dtype == expected.dtype and (found != expected).nnz == 0


@pytest.mark.full(few=24)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scaler", SCALERS)
def test_a_pipeline_is_compiled(scaler, kernel, tmp_path):
    X, y = _data()
    pipeline = fit(make_pipeline(SCALERS[scaler], "passthrough", SVC(kernel=kernel)), X, y)
    fast = fastsvm_cli.compile(pipeline, "exact")
    inner = np.abs(pipeline[-1].dual_coef_).sum()
    np.testing.assert_allclose(fast.decision_function(X), pipeline.decision_function(X), rtol=0, atol=1e-9 * inner)
    assert (fast.predict(X) == pipeline.predict(X)).all()
    if scaler in FOLDED[kernel]:  # the file alone answers unscaled rows
        fastsvm_cli.to_libsvm(pipeline, tmp_path / "model")
        assert (fastsvm_cli.load(tmp_path / "model", n_features_in=5).predict(X) == pipeline.predict(X)).all()
    else:
        with pytest.raises(ModelFormatError, match="cannot be made part of a model"):
            fastsvm_cli.to_libsvm(pipeline, tmp_path / "model")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scaler", SPARSE)
def test_sparse_rows_stay_sparse(scaler, kernel):
    X, y = _data()
    X = scipy.sparse.csr_matrix(np.where(np.arange(5) == 4, 0, X))
    pipeline = fit(make_pipeline(SCALERS[scaler], SVC(kernel=kernel)), X, y)
    fast = fastsvm_cli.compile(pipeline, "exact")
    assert (fast.predict(X) == pipeline.predict(X)).all()
    assert (fast.predict(X.toarray()) == pipeline.predict(X)).all()
    vectors = fast.model.vectors
    assert len(vectors.indices) == pipeline[-1].support_vectors_.nnz


def test_sparse_rows_are_not_moved():
    X, y = _data()
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    with pytest.raises(ValueError, match="Cannot center sparse matrices"):
        fastsvm_cli.compile(pipeline).predict(scipy.sparse.csr_matrix(X))


def test_several_scalers_one_behind_the_other():
    X, y = _data()
    pipeline = make_pipeline(MaxAbsScaler(), StandardScaler(), MinMaxScaler(), SVR()).fit(X, y)
    fast = fastsvm_cli.compile(pipeline, "exact")
    np.testing.assert_allclose(fast.predict(X), pipeline.predict(X), rtol=1e-12)
    inside = make_pipeline(StandardScaler(), make_pipeline(MinMaxScaler(), SVR(kernel="linear"))).fit(X, y)
    fast = fastsvm_cli.compile(inside, "exact")
    np.testing.assert_allclose(fast.predict(X), inside.predict(X), rtol=1e-10)


def test_a_shift_that_takes_digits_is_not_folded(tmp_path):
    X, y = rows()
    far = X + 1e9
    pipeline = make_pipeline(StandardScaler(with_std=False), SVC()).fit(far, y)
    fast = fastsvm_cli.compile(pipeline, "exact")
    assert (fast.predict(far) == pipeline.predict(far)).all()
    with pytest.raises(ModelFormatError, match="cannot be made part of a model"):
        fastsvm_cli.to_libsvm(pipeline, tmp_path / "model")


def test_float32_rows_are_scaled_in_float32():
    X, y = _data()
    pipeline = make_pipeline(StandardScaler(), SVC(gamma=0.5)).fit(X, y)
    fast = fastsvm_cli.compile(pipeline, "exact")
    low = X.astype(np.float32)
    np.testing.assert_allclose(fast.decision_function(low), pipeline.decision_function(low), rtol=0, atol=1e-12)


def test_other_steps_are_refused():
    X, y = _data()
    pipe = make_pipeline(StandardScaler(), Normalizer(), SVC()).fit(X, y)
    with pytest.raises(ModelFormatError, match="Normalizer: not a scaler") as refused:
        fastsvm_cli.compile(pipe)
    # The way out works as it is typed.
    typed = re.search(r"as (Pipeline\(.*\)), or call", str(refused.value))[1]
    fast = eval(typed, {"Pipeline": Pipeline, "pipe": pipe, "compile": fastsvm_cli.compile})
    assert (fast.predict(X) == pipe.predict(X)).all() and fast.score(X, y) == pipe.score(X, y)
    with pytest.raises(ModelFormatError, match="StandardScaler: it is not fitted yet"):
        fastsvm_cli.compile(make_pipeline(StandardScaler(), SVC().fit(X, y)))
