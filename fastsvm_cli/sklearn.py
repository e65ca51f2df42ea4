"""scikit-learn estimators that train and compile a support vector machine, and patch() for scikit-learn's own.

Needs scikit-learn 1.3 or newer.
"""

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    OutlierMixin,
    RegressorMixin,
    clone,
)
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fastsvm_cli.estimators.compile import compile
from fastsvm_cli.estimators.patching import patch, patched, unpatch

__all__ = ["CompiledOneClassSVM", "CompiledSVC", "CompiledSVR", "patch", "patched", "unpatch"]


class _Compiled(MetaEstimatorMixin, BaseEstimator):
    """Base of the estimators.

    estimator: unfitted; None: scikit-learn's default. method, options (a dictionary): as of compile; "auto", and
    "border" for one class, get the training rows. Progress is shown only with the option on_progress.

    After fit: estimator_ (fitted), compiled_ (FastSVM), n_features_in_, feature_names_in_.
    """

    def __init__(self, estimator=None, *, method="exact", options=None):
        self.estimator = estimator
        self.method = method
        self.options = options

    def _fit(self, X, y, fit_params):
        estimator = clone(self._unfitted())
        try:
            self.estimator_ = estimator.fit(X, y, **fit_params)
        except ValueError as error:
            if not fit_params:
                raise
            # LIBSVM's message does not name the argument.
            raise ValueError(f"{error} (fit was given {', '.join(fit_params)})") from error
        options = {"on_progress": False, **(self.options or {})}
        if self.method == "auto":
            options["X"] = X
        elif self.method == "border" and self._default is OneClassSVM:
            options.setdefault("data", X)  # the border lies between rows
        self.compiled_ = compile(self.estimator_, self.method, **options)
        self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def predict(self, X):
        return self._asked(X).predict(X)

    def agreement(self, X):
        """Compare the answers with the trained estimator's."""
        return self._asked(X).agreement(X, self.estimator_)

    def _asked(self, X):
        check_is_fitted(self)
        _check_names(self, X)
        return self.compiled_

    def _unfitted(self):
        return self._default() if self.estimator is None else self.estimator

    def __sklearn_tags__(self):
        from sklearn.utils import get_tags

        tags, own = super().__sklearn_tags__(), get_tags(self._unfitted())
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.pairwise = own.input_tags.pairwise
        return tags

    def _more_tags(self):  # scikit-learn before 1.6
        why = "zero sample_weight is not equivalent to removing samples"
        return {"_xfail_checks": {"check_sample_weights_invariance": why}}


class CompiledSVC(ClassifierMixin, _Compiled):
    """Classifier that trains an SVC (or NuSVC, or a pipeline of scalers and one) and predicts with the compiled model.

    After fit, also: classes_.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> fast = CompiledSVC(SVC(C=10), method="approx", options={"degree": 3}).fit(X, y)
    >>> fast.score(X, y) > 0.9
    True
    """

    _default = SVC

    def fit(self, X, y, **fit_params):
        """Train a clone of the estimator, then compile it.

        X: (n, d), dense or sparse; fit_params: of its fit. Raise its errors, and ModelFormatError for a model that the
        method refuses.
        """
        self._fit(X, y, fit_params)
        self.classes_ = self.estimator_.classes_
        return self

    def decision_function(self, X):
        """Return (n) for two classes, positive for the second; else (n, columns), by decision_function_shape."""
        return self._asked(X).decision_function(X)

    @available_if(lambda self: _knows_probabilities(self))
    def predict_proba(self, X):
        """Return (n, classes), if the estimator has probabilities."""
        return self._asked(X).predict_proba(X)

    @available_if(lambda self: _knows_probabilities(self))
    def predict_log_proba(self, X):
        """Return the logarithms of predict_proba: (n_samples, n_classes)."""
        return np.log(self.predict_proba(X))


class CompiledSVR(RegressorMixin, _Compiled):
    """Like CompiledSVC, for SVR and NuSVR."""

    _default = SVR

    def fit(self, X, y, **fit_params):
        """Fit the SVR and compile it.

        Arguments and errors: as of CompiledSVC.fit.
        """
        return self._fit(X, y, fit_params)


class CompiledOneClassSVM(OutlierMixin, _Compiled):
    """Like CompiledSVC, for OneClassSVM. After fit, also: offset_."""

    _default = OneClassSVM

    def fit(self, X, y=None, **fit_params):
        """Fit the OneClassSVM and compile it.

        Arguments and errors: as of CompiledSVC.fit.
        """
        self._fit(X, y, fit_params)
        self.offset_ = self.compiled_.offset_
        return self

    def decision_function(self, X):
        """Return (n), positive for inliers."""
        return self._asked(X).decision_function(X)

    def score_samples(self, X):
        """Return (n): decision_function + offset_."""
        return self._asked(X).score_samples(X)


def _knows_probabilities(estimator) -> bool:
    if hasattr(estimator, "compiled_"):
        return hasattr(estimator.compiled_, "predict_proba")
    inner = estimator._unfitted()
    return hasattr(inner, "predict_proba")


def _check_names(estimator, X) -> None:
    try:
        from sklearn.utils.validation import _check_feature_names
    except ImportError:
        estimator._check_feature_names(X, reset=False)
    else:
        _check_feature_names(estimator, X, reset=False)
