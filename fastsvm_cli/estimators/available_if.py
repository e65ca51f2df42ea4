"""Methods that exist only if the model supports them."""

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any

CERTIFIED = 'those of compile(model, method="approx", certify=True) and method="reduce"'
BEYOND_VOTES = "labels follow decision values then, of whose signs alone something is proven"


class available:
    """Decorator of conditional methods, for hasattr. check: raises AttributeError if the object lacks the method."""

    def __init__(self, check: "Callable[..., None]"):
        self._check = check

    def __call__(self, method: "Callable") -> "_Available":
        """Return a descriptor of the method."""
        return _Available(method, self._check)


class _Available:
    def __init__(self, method: "Callable", check: "Callable[..., None]"):
        self._method, self._check = method, check
        update_wrapper(self, method)  # type: ignore[arg-type]  # an object that becomes a method when it is read

    def __get__(self, instance: object, owner: "type | None" = None):
        if instance is None:
            return self._method
        self._check(instance)
        return MethodType(self._method, instance)


def unavailable(instance: object) -> "set[str]":
    """Return the names of methods that this object's model does not have."""
    names = {name for each in type(instance).__mro__ for name, it in vars(each).items() if isinstance(it, _Available)}
    return {name for name in names if not hasattr(instance, name)}


def has_classes(fast: Any) -> None:
    """Raise AttributeError for a regression model."""
    if fast.model.header.regression:
        raise AttributeError("a regression model has no decision function: predict gives its values")


def has_probability(fast: Any) -> None:
    """Raise AttributeError for a model without probability estimates."""
    header = fast.probability_header
    if header.regression:
        raise AttributeError("a regression model has no probabilities: predict gives its values")
    if fast.calibrator is None and not header.has_probability:
        raise AttributeError("the model has no probability estimates: train it with probability=True (svm-train -b 1)")


def has_radii(fast: Any) -> None:
    """Raise AttributeError for a model without certificates."""
    if not fast.model.certified:
        raise AttributeError(f"the model has no certificates: {CERTIFIED} have them")


def has_proofs(fast: Any) -> None:
    """Raise AttributeError for a model whose labels cannot be proven."""
    if fast.beyond_votes:
        raise AttributeError(BEYOND_VOTES)
    if not fast.model.proves:
        has_radii(fast)


def is_one_class(fast: Any) -> None:
    """Raise AttributeError unless the model is a one-class model."""
    if fast.model.header.svm_type != "one_class":
        raise AttributeError("of one-class models alone")


def has_targets(fast: Any) -> None:
    """Raise AttributeError for a one-class model."""
    if fast.model.header.svm_type == "one_class":
        raise AttributeError("a one-class model has no score")
