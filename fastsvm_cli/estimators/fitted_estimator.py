"""Fitted estimators but for their answers: scikit-learn's protocol, files, pickles, copies, Dask's token.

Methods may exist only if the model supports them.
"""

import os
from collections.abc import Callable
from copy import copy, deepcopy
from functools import cache, update_wrapper
from types import MethodType
from typing import Any, TypeVar

import numpy as np

from fastsvm_cli._native import fingerprint as fingerprint_of
from fastsvm_cli.errors import FastsvmError, ModelFormatError
from fastsvm_cli.models import Model, parse_model
from fastsvm_cli.text.files import write_output
from fastsvm_cli.text.read_rows import read_bytes

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


def available(check: "Callable[..., None]") -> "Callable[[Callable], _Available]":
    """Decorate a conditional method, for hasattr. check: raises AttributeError if the object lacks the method."""
    return lambda method: _Available(method, check)


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
PersistentSelf = TypeVar("PersistentSelf", bound="Persistent")


class FittedEstimator:
    """Base of FastSVM. Every parameter is an attribute of the same name."""

    model: "Model"
    _parameters: "tuple[str, ...]"  # names of the constructor's arguments
    _path: "str | None"  # file that it was read from
    _reference: Any

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
        return copy(self)

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


#: Not pickled: the model (its text is), its source (for size), and derived attributes.
_NOT_PICKLED = ("model", "_reference", "_predictors", "_classes", "_own")
#: Arguments that determine the answers: words and flags; objects.
_SETTINGS = ("decision_function_shape", "break_ties", "zero_based", "sklearn")
_MADE_OF = ("classes", "feature_names_in", "transform", "calibrator")
#: Arguments that no model file holds.
_LOST = ("exact", "tolerance", *_MADE_OF, *_SETTINGS)


class Persistent(FittedEstimator):
    """Base of FastSVM: its file, pickle, copies and words."""

    fingerprint: "str | None"
    exact: Any
    transform: Any
    calibrator: Any
    classes: Any
    classes_: np.ndarray
    break_ties: bool
    n_features_in_: int
    first_index: int

    def _set_up(self) -> None:
        raise NotImplementedError

    @property
    def own_fingerprint(self) -> str:
        """Fingerprint of the model's file, which models compiled from it contain."""
        return self.fingerprint or fingerprint_of(self.model.to_text())

    def save(self, path: "str | bytes | os.PathLike[str]") -> None:
        """Write the model file.

        If the file that the model was read from is unchanged, its text is copied. The labels of the new file that
        depend on rounding are svm-predict's.

        Parameters
        ----------
        path : str, bytes or os.PathLike
            The file to write.

        Raises
        ------
        FileError
            If the file cannot be written, or has rows of data or the model that this one was compiled from.
        ModelFormatError
            If no model file can hold an argument of the object that changes answers. `joblib.dump` stores the object.
        """
        from fastsvm_cli.console.files import check_model_output

        check_model_output(os.fsdecode(path), self.model.fingerprint)
        self.require_none(_LOST, "no model file holds: use joblib.dump, or")
        write_output(os.fsdecode(path), self._text_of_file() or self.model.to_text())

    def export(
        self,
        path: "str | bytes | os.PathLike[str]",
        *,
        precision: str = "single",
        prefix: "str | None" = None,
        progmem: bool = False,
        radius: bool = True,
    ) -> str:
        """Write the model, with its scaling and class names, as ONNX or C99, and return a line about the result's size.

        Parameters
        ----------
        path : str, bytes or os.PathLike
            The file to write. Its name ends in .onnx or .c; a header file that ends in .h is written beside a .c file.
        precision : {"single", "double"}, default="single"
            Precision of rows, tables and sums.
        prefix : str, default=None
            The first part of every name in C. None means the name of the file.
        progmem : bool, default=False
            Whether the tables in C are in the flash memory of an AVR.
        radius : bool, default=True
            Whether to include the radii of a certified model. They are omitted if `transform` is set, since they refer
            to scaled rows.

        Raises
        ------
        FileError
            If a file cannot be written, or has rows of data, the model, or the model that it was compiled from.
        MissingPackageError
            If the package onnx is missing.
        ValueError
            If `path`, `precision` or `prefix` is invalid.
        ModelFormatError
            If the target cannot express the model.
        """
        from fastsvm_cli.console.files import check_model_output
        from fastsvm_cli.export import TARGETS, Options, export, is_prefix
        from fastsvm_cli.export.description import describe

        name = os.fsdecode(path)
        target = os.path.splitext(name)[1].removeprefix(".")
        if target not in TARGETS or precision not in ("single", "double"):
            expected = "a path that ends in .onnx or .c, and precision 'single' or 'double'"
            raise ValueError(f"path {name!r} and precision {precision!r} found, expected {expected}")
        self.require_none(
            ("exact", "calibrator", "break_ties", "zero_based", "sklearn"), "no target computes: use joblib.dump, or"
        )
        if prefix is not None and not is_prefix(prefix):
            raise ValueError(f"prefix {prefix!r} found, expected a name of C: letters, digits and _")
        # Radii of a model with scalers refer to scaled rows.
        radius = radius and self.transform is None
        description = describe(self.model, type(self).__name__, self.own_fingerprint, self.n_features_in_, radius)
        if self.transform is not None:
            affine = self.transform.affine(description.inputs)
            if affine is None:
                raise ModelFormatError(type(self).__name__, "a scaler that clips found, which no target computes")
            description.scale(*affine)
        description.classes = self.classes
        options = Options(single=precision == "single", prefix=prefix, progmem=progmem)
        try:
            made = export(description, target, name, options)
        except ModelFormatError as error:  # the same arguments have other names in the command
            why = error.why.replace("--precision double", 'precision="double"').replace("--no-radius", "radius=False")
            raise ModelFormatError(error.path, why) from None
        texts = {name.removesuffix(f".{target}") + ending: text for ending, text in made.texts.items()}
        for path in texts:
            check_model_output(path, self.own_fingerprint, self.model.fingerprint)
        for path, text in texts.items():
            write_output(path, text)
        return made.sizes

    def require_none(self, names: "tuple[str, ...]", why: str) -> None:
        """Raise ModelFormatError if one of the arguments changes answers."""
        header = self.model.header
        several = header.classification and header.nr_class > 2
        idle = {
            "classes": not header.classification or bool(np.array_equal(self.classes, header.label or [])),
            "break_ties": not several,
            "decision_function_shape": not several,
            "zero_based": self.first_index == self.model.first_index,
            "sklearn": self.calibrator is not None or several or not (header.classification and header.has_probability),
        }
        default = {"break_ties": False, "decision_function_shape": "ovr"}
        changed = (name for name in names if not _same(getattr(self, name), default.get(name)))
        found = {name: default.get(name) for name in changed if not idle.get(name, False)}
        if found:
            drop = ", ".join(f"{name}={value!r}" for name, value in found.items())
            raise ModelFormatError(
                type(self).__name__, f"{', '.join(found)} found, which {why} drop it with set_params({drop})"
            )

    def _text_of_file(self) -> "bytes | None":
        if self._path in (None, "-") or self.fingerprint is None:
            return None
        try:
            text = read_bytes(self._path)
        except FastsvmError:
            return None
        return text if fingerprint_of(text) == self.fingerprint else None

    def __getstate__(self) -> "dict[str, Any]":
        state = {key: value for key, value in self.__dict__.items() if key not in _NOT_PICKLED}
        return {**state, "text": self.model.to_text()}

    def __setstate__(self, state: "dict[str, Any]") -> None:
        state = dict(state)
        self.model = parse_model(state.pop("text"), state["_path"] or "model", warn=False)
        self.__dict__.update(state)
        self._set_up()

    def __dask_tokenize__(self) -> "tuple[Any, ...]":
        """Return a token equal in every process for the same answers."""
        from pickle import dumps

        settings = [getattr(self, name) for name in ("tolerance", "n_threads", "n_features_in", *_SETTINGS)]
        made_of = [
            None if each is None else fingerprint_of(dumps(each)) for each in (getattr(self, name) for name in _MADE_OF)
        ]
        exact = None if self.exact is None else self.exact.__dask_tokenize__()
        return (type(self).__name__, self.own_fingerprint, *settings, *made_of, exact)

    def __copy__(self: PersistentSelf) -> PersistentSelf:
        out = object.__new__(type(self))
        out.__dict__.update(self.__dict__)
        out._set_up()
        return out

    def __deepcopy__(self: PersistentSelf, memo: dict) -> PersistentSelf:
        out = copy(self)
        out.__dict__.update({k: deepcopy(v, memo) for k, v in self.__dict__.items() if k not in _NOT_PICKLED})
        return out

    def __dir__(self) -> "list[str]":
        return sorted(name for name in set(super().__dir__()) - unavailable(self) if name[0] != "_")

    def __repr__(self) -> str:
        model, header = self.model, self.model.header
        words = [model.kind, header.svm_type]
        if header.classification and len(self.classes_) != 2:
            words.append(f"{len(self.classes_)} classes")
        words += [f"{key}={value!r}" for key, value in (self.get_params()["options"] or {}).items()]
        words.append(f"n_features_in_={self.n_features_in_}")
        flags = {
            "certified": model.certified,
            "exact": self.exact,
            "scaled": self.transform,
            "calibrated": self.calibrator,
        }
        return f"{type(self).__name__}({', '.join(words + [word for word, is_so in flags.items() if is_so])})"


def _same(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, (str, bool)) and one == other)
