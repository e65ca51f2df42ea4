"""Lazy predictions of Dask's arrays, dataframes, bags of LIBSVM lines and delayed matrices.

>>> import dask.array
>>> rows = dask.array.from_array(X, chunks=(1000, 8))  # X: (6000, 8)
>>> labels = fastsvm_cli.dask.predict(rows, "rings.model.approx", exact="rings.model")
>>> labels.dtype, labels.numblocks, labels[:5].compute()
(dtype('int64'), (6,), array([-1, -1,  1, -1, -1]))

Needs Dask: `pip install 'fastsvm[dask]'`.
"""

from fastsvm_cli.errors import MissingPackageError

try:
    import dask as _dask  # noqa: F401
except ImportError:
    raise MissingPackageError("dask", "it is not installed: pip install 'fastsvm[dask]'") from None

from fastsvm_cli.estimators.collections import decision_function, predict, predict_proba

__all__ = ["decision_function", "predict", "predict_proba"]
