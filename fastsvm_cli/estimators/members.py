"""Pipelines and meta-estimators of scikit-learn, whose support vector machines are compiled."""

from collections.abc import Callable
from copy import copy
from types import MethodType
from typing import Any

import numpy as np

from fastsvm_cli.benchmarks.quality import Agreement
from fastsvm_cli.estimators.fitted_estimator import FittedEstimator
from fastsvm_cli.estimators.fitted_svm import Fitted, is_a, own_steps, read_object, unwrapped
from fastsvm_cli.estimators.sklearn_numbers import nearly_equal


class CompiledEstimator(FittedEstimator):
    """A fitted estimator of scikit-learn, whose support vector machines are compiled, as `compile` makes it.

    It has the estimator's attributes and methods, which scikit-learn's code answers with the compiled members. If these
    change no labels, no label changes: `estimator` answers the rows where decision values or probabilities of two
    classes may be equal but for rounding (`OutputCodeClassifier`, and trees at the end of a stack, do not show such
    rows). `fit` does nothing, and a clone is fitted, as of a FrozenEstimator. `fast` is a shallow copy of `estimator`,
    with compiled members.
    """

    _parameters = ("estimator", "fast")
    _path = _reference = model = None  # type: ignore[assignment]  # of FastSVM alone

    def __init__(self, estimator: Any, fast: Any):
        self.estimator, self.fast = estimator, fast

    def predict(self, X: Any) -> np.ndarray:
        """Return `estimator.predict(X)`; for regression, up to rounding."""
        out = self.fast.predict(X)
        near = self._near(X) if out.ndim == 1 and hasattr(self.fast, "classes_") else []
        if len(near):
            from sklearn.utils import _safe_indexing

            out[near] = self.estimator.predict(_safe_indexing(X, near))
        return out

    def _near(self, X: Any) -> "np.ndarray | list[int]":
        # Members' labels do not depend on rounding, but what their values decide may.
        fast, names = self.fast, ["decision_function", "predict_proba"]
        if is_a(fast, "Pipeline"):  # the label is the last step's
            return []
        if hasattr(fast, "estimators_features_"):  # bagging means probabilities, if all have some, or counts labels
            names = ["predict_proba"] * hasattr(fast.estimators_[0], "predict_proba")
        for name in names:
            if hasattr(fast, name):
                return np.flatnonzero(nearly_equal(getattr(fast, name)(X)))
        return []

    def agreement(self, X: Any, estimator: Any = None) -> Agreement:
        """Compare the answers with those of `estimator`, by default the one that was compiled: `FastSVM.agreement`."""
        from sklearn.base import is_regressor

        reference = self.estimator if estimator is None else estimator
        return Agreement(self.predict(X), reference.predict(X), is_regressor(self.estimator), None)

    def __getattr__(self, name: str) -> Any:
        if name in self._parameters or name.startswith("__"):  # while it is unpickled
            raise AttributeError(name)
        found = getattr(self.fast, name)
        return MethodType(getattr(type(self.fast), name), self) if name == "score" else found

    def __getitem__(self, at: Any) -> Any:
        return self.fast[at]

    def __copy__(self) -> "CompiledEstimator":
        return CompiledEstimator(self.estimator, self.fast)

    _estimator_type = property(lambda self: self.estimator._estimator_type)  # scikit-learn before 1.6

    def __sklearn_tags__(self):
        return self.estimator.__sklearn_tags__()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fast!r})"


def compile_members(
    estimator: Any, compiled: "Callable[[Fitted], Any]", prepare: "Callable[[Any], Any] | None" = None
) -> Any:
    """Return a fitted estimator with its support vector machines replaced by what `compiled` makes of them.

    Members are the last step of a pipeline, and what the fitted attributes are or list. None if none can be read.
    """
    estimator = unwrapped(estimator)
    try:
        found = read_object(estimator)
    except ValueError:  # not a support vector machine, or none that can be compiled
        pass
    else:
        return compiled(found._replace(prepare=prepare))
    if not (hasattr(estimator, "predict") or hasattr(estimator, "predict_proba")) or hasattr(estimator, "compiled_"):
        return None
    changed: dict[str, Any] = {}
    if is_a(estimator, "Pipeline"):
        *_, (name, last) = steps = estimator.steps
        own, scalers = len(steps) - 1, own_steps(estimator)
        if 0 < scalers < own:  # which a compiled member has in front of it
            own, last = scalers, estimator[scalers:]
        front = estimator[:own]
        fast = compile_members(last, compiled, lambda X: front.transform(X if prepare is None else prepare(X)))
        if fast is not None and (scalers or isinstance(fast, CompiledEstimator)):  # else a scaler is not fitted
            changed["steps"] = [*steps[:own], (name, fast)]
    else:
        inner = is_a(estimator, "_CalibratedClassifier")
        if inner and estimator.method == "isotonic":  # its steps tell values apart that differ in the last digit
            return None
        for name, value in vars(estimator).items():
            if (name.endswith("_") and not name.startswith("_")) or (inner and name == "estimator"):
                members = value if isinstance(value, (list, tuple)) else [value]
                made = [compile_members(each, compiled, _refuse) for each in members]
                if any(each is not None for each in made):
                    made = [own if fast is None else fast for own, fast in zip(members, made)]
                    changed[name] = made if members is value else made[0]
    if not changed:
        return None
    out = copy(estimator)
    vars(out).update(changed)
    return CompiledEstimator(estimator, out) if hasattr(estimator, "predict") else out


def _refuse(_: Any) -> Any:
    raise ValueError("rows found in X= or data=, which members of a meta-estimator do not take: compile each of them")
