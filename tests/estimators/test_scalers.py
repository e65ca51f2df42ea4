"""Scalers in front of the model, bit for bit as scikit-learn's, or folded into a LIBSVM model."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.fitted_svm import read_scaler
from support.fitting import KERNELS, SCALERS, SCALES, fit, stretched

#: Folded into a LIBSVM model, by kernel.
FOLDED = {
    "linear": set(SCALERS) - {"min-max, clipped"},
    "poly": {*SCALES},
    "sigmoid": {*SCALES},
    "rbf": {"standard, mean only", "standard, nothing", "robust, center only"},
}


@pytest.mark.parametrize("scaler", SCALERS)
def test_rows_are_scaled_to_the_same_bits(scaler):
    for dtype in (np.float64, np.float32, np.int64):
        X = stretched()[0].astype(dtype)
        known = SCALERS[scaler].fit(X)
        found, expected = read_scaler(known).apply(X), known.transform(X)
        assert found.dtype == expected.dtype and (found == expected).all()
        assert found is not X and (X == stretched()[0].astype(dtype)).all()
        if scaler in SCALES:
            sparse = scipy.sparse.csr_matrix(X)
            found, expected = read_scaler(known).apply(sparse), known.transform(sparse)
            assert scipy.sparse.issparse(found) and found.nnz == sparse.nnz
            assert found.dtype == expected.dtype and (found != expected).nnz == 0


@pytest.mark.parametrize("scaler", SCALERS)
def test_a_file_of_libsvm_takes_unscaled_rows_or_is_not_written(scaler, tmp_path):
    X, y = stretched()
    for kernel in KERNELS:
        pipeline = fit(make_pipeline(SCALERS[scaler], SVC(kernel=kernel)), X, y)
        if scaler in FOLDED[kernel]:
            fastsvm_cli.to_libsvm(pipeline, tmp_path / "model")
            assert (fastsvm_cli.load(tmp_path / "model", n_features_in=5).predict(X) == pipeline.predict(X)).all()
        else:
            with pytest.raises(ModelFormatError, match="cannot be made part of a model"):
                fastsvm_cli.to_libsvm(pipeline, tmp_path / "model")
