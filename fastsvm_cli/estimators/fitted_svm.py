"""Readers of fitted estimators, and of all other forms of exact models; their LIBSVM files; scalers."""

import os
import sys
from collections.abc import Callable, Container
from os import PathLike, fsdecode
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.fitted_estimator import not_fitted
from fastsvm_cli.estimators.sklearn_numbers import KERNELS, SVM_TYPES, Calibration, read_calibrator
from fastsvm_cli.methods.folded_scaling import fold_exact
from fastsvm_cli.models import ExactModel, parse_libsvm, parse_model
from fastsvm_cli.text.files import write_output
from fastsvm_cli.text.scaling import Affine

EXPECTED = "a fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM"
_LARGEST_LABEL = 2**31 - 1


class Fitted(NamedTuple):
    """Contents of a fitted estimator: the arguments of FastSVM, and two more.

    name: of its class, for messages. prepare: steps of scikit-learn that stay in front of `transform`. The model's
    labels are integers, in the order of `classes`: scikit-learn's classes_ or LIBSVM's labels; [-1, 1] for one-class
    models; None for regressors.
    """

    model: ExactModel
    name: str
    prepare: "Callable[[Any], Any] | None" = None
    n_features_in: "int | None" = None
    classes: "np.ndarray | None" = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    feature_names_in: "np.ndarray | None" = None
    transform: "FittedScaling | None" = None
    calibrator: "Calibration | None" = None
    fingerprint: "str | None" = None
    sklearn: "str | None" = None


def class_of(thing: object, names: "Container[str]", package: str = "sklearn") -> "str | None":
    """Return the name of a thing's class if it is one of these of a package, which need not be loaded, or None."""
    known = (each.__name__ for each in type(thing).__mro__ if each.__module__.split(".")[0] == package)
    return next((name for name in known if name in names), None)


def read_svm(estimator: Any) -> Fitted:
    """Read a fitted support vector machine, whose decision values are scikit-learn's up to rounding.

    For two classes, _dual_coef_ and _intercept_ are LIBSVM's; the public ones have the opposite sign.
    """
    name = class_of(estimator, SVM_TYPES)
    if name is None:
        raise ModelFormatError(type(estimator).__name__, f"no support vector machine found, expected {EXPECTED}")
    _require_kernel(estimator, name)
    if not hasattr(estimator, "support_vectors_"):
        raise not_fitted(name, f"it is not fitted yet, expected {EXPECTED}: call fit first")
    svm_type, kernel = SVM_TYPES[name], KERNELS[estimator.kernel]
    classification = svm_type in ("c_svc", "nu_svc")
    if classification and len(estimator._n_support) != len(estimator.classes_):
        found = f"{len(estimator._n_support)} classes found in the fitted model, expected its {len(estimator.classes_)}"
        raise ModelFormatError(name, f"{found}: fit it without the rows of a class whose sample weights are all 0")
    rho = (-np.ravel(_dense(estimator._intercept_))).tolist()
    coefficients = np.ascontiguousarray(_dense(estimator._dual_coef_).T, dtype=np.float64)
    total = estimator.support_vectors_.shape[0]
    if not total:
        coefficients = coefficients.reshape(0, len(estimator.classes_) - 1 if classification else 1)
    classes = estimator.classes_ if classification else np.array([-1, 1]) if svm_type == "one_class" else None
    probability = classification and len(estimator._probA)
    header = _native.Header(
        svm_type,
        kernel,
        nr_class=len(classes) if classification and classes is not None else 2,
        total_sv=total,
        rho=[each + 0.0 for each in rho],  # no -0
        gamma=float(estimator._gamma),
        coef0=float(estimator.coef0),
        degree=int(estimator.degree) if kernel == "polynomial" else 0,
        label=_labels(classes) if classification and classes is not None else None,
        nr_sv=[int(count) for count in estimator._n_support] if classification else None,
        probA=np.ravel(estimator._probA).tolist() if probability else None,
        probB=np.ravel(estimator._probB).tolist() if probability else None,
    )
    model = ExactModel(_native.LibsvmFile(header, _vectors(estimator.support_vectors_, coefficients, name)), name)
    return Fitted(
        model,
        name=name,
        n_features_in=int(estimator.n_features_in_),
        classes=classes,
        decision_function_shape=getattr(estimator, "decision_function_shape", "ovr"),
        break_ties=bool(getattr(estimator, "break_ties", False)),
        feature_names_in=getattr(estimator, "feature_names_in_", None),
        sklearn="sparse" if scipy.sparse.issparse(estimator.support_vectors_) else "dense",
    )


def _require_kernel(estimator: Any, name: str) -> None:
    kernel = estimator.kernel
    if callable(kernel):
        found = "a kernel that is a Python function"
    elif kernel in KERNELS:
        return
    else:
        found = "a precomputed kernel" if kernel == "precomputed" else f"kernel {kernel!r}"
    raise ModelFormatError(name, f"{found} found, expected one of {', '.join(KERNELS)}")


def _dense(numbers: Any) -> np.ndarray:
    return numbers.toarray() if scipy.sparse.issparse(numbers) else np.asarray(numbers)


def _labels(classes: np.ndarray) -> "list[int]":
    if classes.dtype.kind in "iuf" and np.all(classes == np.trunc(classes)):
        if np.all((-_LARGEST_LABEL <= classes) & (classes <= _LARGEST_LABEL)):
            return [int(each) for each in classes]
    return list(range(len(classes)))


def _vectors(vectors: Any, coefficients: np.ndarray, name: str) -> _native.Chunk:
    try:
        if not scipy.sparse.issparse(vectors):
            return _native.Chunk.from_dense(coefficients, np.ascontiguousarray(vectors, dtype=np.float64))
        rows = scipy.sparse.csr_matrix(vectors, dtype=np.float64)
        rows.sum_duplicates()  # also sorts them
        indices = rows.indices.astype(np.int64) + 1
        return _native.Chunk.from_csr(coefficients, rows.indptr.astype(np.int64), indices, rows.data)
    except ValueError as error:
        raise ModelFormatError(name, f"{error}, in its support vectors or coefficients") from None


def read_estimator(estimator: Any) -> Fitted:
    """Read an ExactModel, or anything that compile takes."""
    if isinstance(estimator, (str, bytes, PathLike)):
        return _read_file(fsdecode(estimator))
    if isinstance(estimator, ExactModel):
        return _of_model(estimator, estimator.path)
    return read_object(estimator)


def unwrapped(estimator: Any) -> Any:
    """Return what a search found, and what is frozen; anything else as it is."""
    for kind, name in (("FrozenEstimator", "estimator"), ("BaseSearchCV", "best_estimator_")):
        if is_a(estimator, kind) and hasattr(estimator, name):
            return unwrapped(getattr(estimator, name))
    return estimator


def read_object(estimator: Any) -> Fitted:
    """Read anything but a path: "passthrough" in another estimator is not a file name."""
    estimator = unwrapped(estimator)
    if class_of(estimator, SVM_TYPES) is not None:
        return read_svm(estimator)
    if is_a(estimator, "svm_model", "libsvm"):
        return _read_libsvm(estimator)
    if is_a(estimator, "Pipeline"):
        return _read_pipeline(estimator)
    if is_a(estimator, "CalibratedClassifierCV"):
        return _read_calibrated_cv(estimator)
    if is_a(estimator, "_CalibratedClassifier"):
        return _read_calibrated(estimator)
    if is_a(estimator, "BaseSearchCV"):
        raise not_fitted(type(estimator).__name__, "a search without a best estimator found: fit it, with refit=True")
    if is_a(estimator, "_Compiled", "fastsvm_cli") and not hasattr(estimator, "compiled_"):
        raise not_fitted(type(estimator).__name__, "it is not fitted yet: call fit first")
    if is_a(estimator, "FittedEstimator", "fastsvm_cli") or hasattr(estimator, "compiled_"):
        where = ": its attribute compiled_ is the result, after a search best_estimator_.compiled_"
        raise ModelFormatError(
            type(estimator).__name__, f"it is compiled already{where * hasattr(estimator, 'compiled_')}"
        )
    if isinstance(estimator, type):
        raise ModelFormatError(estimator.__name__, f"a class found, expected {EXPECTED}")
    raise ModelFormatError(
        type(estimator).__name__,
        f"fastsvm cannot compile this, expected {EXPECTED}, a fitted pipeline, search or meta-estimator of some, a"
        " model of libsvm-official, or the path of a LIBSVM model",
    )


def is_a(thing: object, name: str, package: str = "sklearn") -> bool:
    """Return whether a thing is of this class of a package."""
    return class_of(thing, (name,), package) is not None


def _steps(pipeline: Any) -> "list[Any]":
    return [None if step == "passthrough" else step for _, step in pipeline.steps]


def own_steps(pipeline: Any) -> int:
    """Return the number of a pipeline's first steps that no model can have in front of it."""
    steps = enumerate(_steps(pipeline)[:-1], 1)
    return max((at for at, step in steps if step is not None and class_of(step, SCALERS) is None), default=0)


def _read_pipeline(pipeline: Any) -> Fitted:
    steps = _steps(pipeline)
    found, own = read_object(steps[-1]), own_steps(pipeline)
    if own:
        why = f"not a scaler that a model can have in front of it ({', '.join(SCALERS)}): give the later steps alone"
        raise ModelFormatError(type(steps[own - 1]).__name__, why)
    transform = found.transform
    for scaler in filter(None, reversed(steps[:-1])):
        transform = read_scaler(scaler) + transform
    return _named(found, next(step for step in steps if step is not None))._replace(transform=transform)


def _named(found: Fitted, outer: Any) -> Fitted:
    return found._replace(feature_names_in=getattr(outer, "feature_names_in_", found.feature_names_in))


def _read_calibrated_cv(estimator: Any) -> Fitted:
    name = "CalibratedClassifierCV"
    if not hasattr(estimator, "calibrated_classifiers_"):
        raise not_fitted(name, "it is not fitted yet, expected a fitted one: call fit first")
    each = estimator.calibrated_classifiers_
    if len(each) != 1:
        raise ModelFormatError(name, f"{len(each)} classifiers found, expected 1: fit it with ensemble=False")
    return _named(_read_calibrated(each[0]), estimator)


def _read_calibrated(calibrated: Any) -> Fitted:
    name, found = "CalibratedClassifierCV", read_object(calibrated.estimator)
    if found.classes is None or not found.model.header.classification:
        raise ModelFormatError(name, f"a {found.name} found in it, expected a classifier")
    own, known = found.classes.tolist(), calibrated.classes.tolist()
    if own == list(range(len(known))):  # some calibrators get class positions
        found = found._replace(classes=calibrated.classes)
    elif own != known:
        raise ModelFormatError(name, "its classifier knows other classes than itself: it was fitted to other labels")
    calibrators = [read_calibrator(each, name) for each in calibrated.calibrators]
    return found._replace(calibrator=Calibration(calibrators, len(known)))


def _of_model(model: ExactModel, name: str, fingerprint: "str | None" = None) -> Fitted:
    header = model.header
    classes = [-1, 1] if header.svm_type == "one_class" else header.label
    return Fitted(model, name, classes=None if classes is None else np.array(classes), fingerprint=fingerprint)


def _read_file(path: str) -> Fitted:
    from fastsvm_cli.methods.method import read_source

    source = read_source(path)
    return _of_model(source.model, path, source.fingerprint)


def _read_libsvm(model: Any) -> Fitted:
    # The file has the whole model, with 17 digits.
    import tempfile

    from libsvm.svmutil import svm_save_model

    from fastsvm_cli.text.read_rows import read_bytes

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "libsvm.model")
        svm_save_model(path, model)
        found = parse_libsvm(read_bytes(path), "svm_model")
    return _of_model(found, "svm_model")


def to_libsvm(estimator: Any, path: "str | bytes | os.PathLike[str] | None" = None) -> "dict[int, Any]":
    """Write a fitted estimator as a LIBSVM model file.

    With the file, labels that depend on rounding are svm-predict's. Probabilities of two classes follow LIBSVM's
    formula and differ from scikit-learn's by up to 0.005.

    Parameters
    ----------
    estimator : estimator
        A fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM, or a Pipeline of one and scalers that can be folded into it.
    path : str, bytes or os.PathLike, default=None
        The file to write. None means that no file is written.

    Returns
    -------
    classes : dict
        The class of each label in the file; empty for regression. Labels are the classes if these are whole numbers,
        else positions in `classes_`. Column j of the estimator's rows is feature j + 1.

    Raises
    ------
    ModelFormatError
        If LIBSVM's format cannot hold the estimator.
    FileError
        If the file cannot be written, or has rows of data or the model itself.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svc = SVC(gamma=0.5).fit([[0, 0], [1, 1], [0, 1], [1, 0]], ["even", "even", "odd", "odd"])
    >>> to_libsvm(svc, "/dev/null")
    {0: 'even', 1: 'odd'}
    """
    found = read_estimator(estimator)
    if found.calibrator is not None:
        why = "calibrators found, which no LIBSVM model has: give its estimator (fastsvm_cli.compile keeps them)"
        raise ModelFormatError(found.name, why)
    model = found.model
    if found.break_ties and model.header.nr_class > 2:
        why = "break_ties=True found, which LIBSVM does not know: say set_params(break_ties=False)"
        raise ModelFormatError(found.name, why)
    if found.transform is not None:
        folded = absorbed(model, found.transform, found.n_features_in)
        if folded is None:
            why = (
                f"its scalers cannot be made part of a model of a {model.header.kernel_type} kernel: give its last step"
                " and scale the data (fastsvm_cli.compile keeps them in front)"
            )
            raise ModelFormatError(found.name, why)
        model = folded
    if path is not None:
        from fastsvm_cli.console.files import check_model_output

        check_model_output(os.fsdecode(path), found.fingerprint)
        write_output(os.fsdecode(path), readable_text(model))
    label = model.header.label
    if found.classes is None:
        return {}
    return dict(zip([-1, 1] if label is None else label, found.classes.tolist()))


def readable_text(model: ExactModel) -> bytes:
    """Return the content of a model's file, which the parser must take."""
    text = model.to_text()
    parse_model(text, model.path, warn=False)
    return text


def require_readable(model: ExactModel) -> None:
    """Require a header that the parser takes; the vectors were checked when they were made."""
    nr_sv = model.header.nr_sv
    header = model.header.changed(total_sv=0, nr_sv=None if nr_sv is None else [0] * len(nr_sv))
    parse_model(header.lines().encode() + b"SV\n", model.path)


SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
#: Largest shift folded into a model, in units of the scale: it loses 4 of 16 digits.
_FAR = 1e4


class FittedScaling:
    """Chain of scalers, in scikit-learn's order and number types, for bit-identical results.

    steps: ("subtract" | "divide" | "multiply" | "add", numbers (d), rounded) or ("clip", (low, high), False). rounded:
    numbers are first rounded to the type of dense rows, as by StandardScaler since scikit-learn 1.8.
    """

    def __init__(self, steps: "list[tuple[str, Any, bool]]"):
        self.steps = steps

    def apply(self, rows: Any) -> Any:
        """Scale rows, floats (n, d) or CSR, which must stay sparse."""
        if scipy.sparse.issparse(rows):
            return self._of_sparse(rows)
        out = np.array(rows, dtype=rows.dtype if rows.dtype.kind == "f" else np.float64)
        for name, numbers, rounded in self.steps:
            if name == "clip":
                np.clip(out, *numbers, out=out)
            else:
                numbers = numbers.astype(out.dtype) if rounded else numbers
                _OPERATIONS[name](out, numbers, out=out, casting="same_kind")
        return out

    def _of_sparse(self, rows: Any) -> Any:
        out = scipy.sparse.csr_matrix(rows, copy=True)
        if out.dtype.kind != "f":
            out = out.astype(np.float64)
        for name, numbers, _ in self.steps:
            if name == "clip" and numbers[0] <= 0 <= numbers[1]:
                np.clip(out.data, *numbers, out=out.data)
            elif name == "divide":
                out.data *= (1 / numbers).take(out.indices)
            elif name == "multiply":
                out.data *= numbers.take(out.indices)
            else:
                raise ValueError("Cannot center sparse matrices: the scaler in front of the model moves the origin.")
        return out

    def __add__(self, other: "FittedScaling | None") -> "FittedScaling":
        return self if other is None else FittedScaling(self.steps + other.steps)

    def affine(self, d: int) -> "tuple[np.ndarray, np.ndarray] | None":
        """Return (s, t), both (d): x becomes s x + t. None if a step clips."""
        scale, shift = np.ones(d), np.zeros(d)
        for name, numbers, _ in self.steps:
            if name == "clip":
                return None
            operation = _OPERATIONS[name]
            shift = operation(shift, numbers)
            if name in ("divide", "multiply"):
                scale = operation(scale, numbers)
        return scale, shift


_OPERATIONS = {"subtract": np.subtract, "divide": np.divide, "multiply": np.multiply, "add": np.add}


def read_scaler(scaler: Any) -> FittedScaling:
    """Read a fitted scaler of SCALERS."""
    name = class_of(scaler, SCALERS)
    assert name is not None
    if not hasattr(scaler, "n_features_in_"):
        raise not_fitted(name, "it is not fitted yet, expected a fitted scaler: call fit first")
    steps: list[tuple[str, Any]] = []
    if name == "StandardScaler":
        steps += [("subtract", scaler.mean_)] * bool(scaler.with_mean)
        steps += [("divide", scaler.scale_)] * bool(scaler.with_std)
    elif name == "MinMaxScaler":
        steps += [("multiply", scaler.scale_), ("add", scaler.min_)]
        steps += [("clip", tuple(map(float, scaler.feature_range)))] * bool(scaler.clip)
    elif name == "MaxAbsScaler":
        steps += [("divide", scaler.scale_)]
        steps += [("clip", (-1.0, 1.0))] * bool(getattr(scaler, "clip", False))
    else:
        steps += [("subtract", scaler.center_)] * bool(scaler.with_centering)
        steps += [("divide", scaler.scale_)] * bool(scaler.with_scaling)
    version = getattr(sys.modules.get("sklearn"), "__version__", "1.8")
    rounded = name == "StandardScaler" and tuple(map(int, version.split(".")[:2])) >= (1, 8)
    return FittedScaling([(step, numbers if step == "clip" else np.array(numbers), rounded) for step, numbers in steps])


def absorbed(model: ExactModel, scaling: FittedScaling, d: "int | None") -> "ExactModel | None":
    """Return a model for unscaled rows with the same decision values, up to rounding, or None."""
    affine = None if d is None else scaling.affine(d)
    if affine is None or d is None:
        return None
    s, t = affine
    if not np.max(abs(t), initial=0.0) <= _FAR:
        return None
    return fold_exact(model, Affine(range(1, d + 1), s.tolist(), t.tolist()))
