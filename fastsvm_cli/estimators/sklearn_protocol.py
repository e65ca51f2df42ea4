"""scikit-learn's estimator protocol, and methods that exist only if the model supports them."""

from collections.abc import Callable
from functools import cache, update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar

from fastsvm_cli.errors import ModelFormatError

if TYPE_CHECKING:
    from fastsvm_cli.models.base import Model


CERTIFIED = 'those of compile(model, method="approx", certify=True) and method="reduce"'
BEYOND_VOTES = "labels follow decision values then, of whose signs alone something is proven"


def not_fitted(name: str, why: str) -> ModelFormatError:
    """Return the error of an unfitted estimator, which is also scikit-learn's NotFittedError."""
    return _not_fitted_error()(name, why)


@cache
def _not_fitted_error() -> "type[ModelFormatError]":
    from sklearn import exceptions

    class NotFittedError(ModelFormatError, exceptions.NotFittedError):
        def __reduce__(self) -> "tuple[Any, ...]":
            return not_fitted, self._given[:2]

    return NotFittedError


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
    """Require a model other than a regression model."""
    if fast.model.header.regression:
        raise AttributeError("a regression model has no decision function: predict gives its values")


def has_probability(fast: Any) -> None:
    """Require probability estimates."""
    header = fast.probability_header
    if header.regression:
        raise AttributeError("a regression model has no probabilities: predict gives its values")
    if fast.calibrator is None and not header.has_probability:
        raise AttributeError(
            "the model has no probability estimates: train it with probability=True (svm-train -b 1), or calibrate it"
            " with CalibratedClassifierCV"
        )


def has_radii(fast: Any) -> None:
    """Require certificates."""
    if not fast.model.certified:
        raise AttributeError(f"the model has no certificates: {CERTIFIED} have them")


def has_proofs(fast: Any) -> None:
    """Require labels that can be proven."""
    if fast.beyond_votes:
        raise AttributeError(BEYOND_VOTES)
    if not fast.model.proves:
        has_radii(fast)


def is_one_class(fast: Any) -> None:
    """Require a one-class model."""
    if fast.model.header.svm_type != "one_class":
        raise AttributeError("of one-class models alone")


def has_targets(fast: Any) -> None:
    """Require a model other than a one-class model."""
    if fast.model.header.svm_type == "one_class":
        raise AttributeError("a one-class model has no score")


Self = TypeVar("Self", bound="FittedEstimator")


class FittedEstimator:
    """Base of FastSVM. Every parameter is an attribute of the same name."""

    model: "Model"
    _parameters: "tuple[str, ...]"  # names of the constructor's arguments
    _path: "str | None"
    _reference: Any

    def __copy__(self: Self) -> Self:
        raise NotImplementedError

    def fit(self: Self, X, y=None, **_: Any) -> Self:
        """Do nothing, since the model is fitted, and return the object."""
        return self

    def get_params(self, deep: bool = True) -> "dict[str, Any]":
        """Return the constructor's arguments, by name. `deep` is for scikit-learn, and ignored."""
        return {name: getattr(self, name) for name in self._parameters}

    def set_params(self: Self, **parameters: Any) -> Self:
        """Change arguments of the constructor, and return the object.

        Raises the constructor's errors, and ValueError for an unknown name.
        """
        known = list(self._parameters)
        for name in parameters:
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {known!r}.")
        path, reference = self._path, self._reference
        model = {"fingerprint": None} if parameters.get("model", self.model) is not self.model else {}
        self.__init__(**{**self.get_params(), **model, **parameters})  # type: ignore[misc]
        self._path, self._reference = (None if model else path), reference
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self: Self) -> Self:
        return self.__copy__()

    @property
    def _estimator_type(self) -> str:
        header = self.model.header
        return "classifier" if header.classification else "regressor" if header.regression else "outlier_detector"

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        kind, serials = self._estimator_type, self.model.serials
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(sparse=True, pairwise=serials),
            requires_fit=False,
        )

    def _repr_html_(self) -> str:
        import sys

        if "sklearn" in sys.modules:
            from sklearn.utils import estimator_html_repr

            return estimator_html_repr(self)
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"
