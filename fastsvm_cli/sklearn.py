"""scikit-learn estimators that train and compile a support vector machine, and patch() for scikit-learn's own.

Needs scikit-learn 1.3 or newer.
"""

from typing import Any

import numpy as np
from sklearn import svm
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    OutlierMixin,
    RegressorMixin,
    clone,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from fastsvm_cli.estimators.compile import compile
from fastsvm_cli.estimators.patching import patch, patched, unpatch

__all__ = ["CompiledOneClassSVM", "CompiledSVC", "CompiledSVR", "patch", "patched", "unpatch"]


class _Compiled(MetaEstimatorMixin, BaseEstimator):
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
        elif self.method == "border" and self._default is svm.OneClassSVM:
            options.setdefault("data", X)  # the border lies between rows
        self.compiled_ = compile(self.estimator_, self.method, **options)
        self.compiled_._who = type(self).__name__
        for name in ("n_features_in_", "feature_names_in_"):  # of text, there are none
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def predict(self, X):
        """Predict the classes or values of rows `X`, (n_samples,), by the compiled model, as `FastSVM.predict`.

        Before `fit`, all methods raise NotFittedError.
        """
        return self._fitted().predict(X)

    def agreement(self, X):
        """Compare the answers to rows `X` with those of the trained estimator, as `FastSVM.agreement`."""
        return self._fitted().agreement(X, self.estimator_)

    def _fitted(self):
        check_is_fitted(self)
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
    """Classifier that trains an SVC and predicts with the compiled model.

    Parameters
    ----------
    estimator : estimator, default=None
        The unfitted SVC or NuSVC, or a pipeline or meta-estimator of it. None means SVC().
    method : str, default="exact"
        The method of `compile`. "auto" measures on the training rows.
    options : dict, default=None
        The options of `compile`. Progress is shown only with the option `on_progress`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    compiled_ : FastSVM
        The compiled model.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features of the training rows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The column names. Only if the training rows had some.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> fast = CompiledSVC(SVC(C=10), method="approx", options={"degree": 3}).fit(X, y)
    >>> fast.score(X, y) > 0.9
    True
    """

    _default = svm.SVC

    def fit(self, X, y, **fit_params):
        """Train a clone of the estimator, then compile it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The classes.
        **fit_params
            The parameters of the estimator's `fit`, such as `sample_weight`.

        Returns
        -------
        self : CompiledSVC
            The fitted object.

        Raises
        ------
        ValueError
            If the estimator's `fit` raises it, with a message that names the `fit_params` if any, or `options` are
            invalid. Other errors of that `fit` are raised unchanged.
        TypeError
            If `options` has an unknown option.
        ModelFormatError
            If the method refuses the model.
        """
        self._fit(X, y, fit_params)
        self.classes_ = self.estimator_.classes_
        return self

    def decision_function(self, X):
        """Compute the decision values of rows `X` by the compiled model, as `FastSVM.decision_function`."""
        return self._fitted().decision_function(X)

    @available_if(lambda self: _knows_probabilities(self))
    def predict_proba(self, X):
        """Compute the probabilities of rows `X`, (n_samples, n_classes), with columns as `classes_`.

        The method exists only if the estimator has probabilities.
        """
        return self._fitted().predict_proba(X)

    @available_if(lambda self: _knows_probabilities(self))
    def predict_log_proba(self, X):
        """Compute the logarithms of `predict_proba`, (n_samples, n_classes). It exists where `predict_proba` does."""
        return np.log(self.predict_proba(X))


class CompiledSVR(RegressorMixin, _Compiled):
    """Regressor that trains an SVR and predicts with the compiled model.

    Its parameters and attributes are those of `CompiledSVC`, but for `classes_`. The default estimator is SVR().
    """

    _default = svm.SVR

    def fit(self, X, y, **fit_params):
        """Train a clone of the estimator on values `y`, (n_samples,), then compile it, as `CompiledSVC.fit`."""
        return self._fit(X, y, fit_params)


class CompiledOneClassSVM(OutlierMixin, _Compiled):
    """Outlier detector that trains a OneClassSVM and predicts with the compiled model.

    Its parameters and attributes are those of `CompiledSVC`, with `offset_`, that of the decision values from
    `score_samples`, instead of `classes_`. The default estimator is OneClassSVM(). The method "border" takes the
    training rows as its option `data`, unless `options` has another.
    """

    _default = svm.OneClassSVM

    def fit(self, X, y=None, **fit_params):
        """Train a clone of the estimator, then compile it, as `CompiledSVC.fit`. OneClassSVM ignores `y`."""
        self._fit(X, y, fit_params)
        fast: Any = self.compiled_
        self.offset_ = (fast if hasattr(fast, "offset_") else fast[-1]).offset_
        return self

    def decision_function(self, X):
        """Compute the decision values of rows `X`, (n_samples,), positive for inliers."""
        return self._fitted().decision_function(X)

    def score_samples(self, X):
        """Compute `decision_function` plus `offset_`, (n_samples,)."""
        return self._fitted().score_samples(X)


def _knows_probabilities(estimator) -> bool:
    inner = estimator.compiled_ if hasattr(estimator, "compiled_") else estimator._unfitted()
    return hasattr(inner, "predict_proba")


def __getattr__(name: str):
    if name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"):
        fast = f"Compiled{name.replace('Nu', '')}"
        raise ImportError(f"{name} is sklearn.svm's; {fast}({name}()) of this module trains one and compiles it")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
