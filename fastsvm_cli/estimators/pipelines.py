"""Readers of all forms of exact models."""

from os import PathLike, fsdecode
from typing import Any

import numpy as np

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.calibration import read_calibrators
from fastsvm_cli.estimators.fitted_svm import EXPECTED, Fitted, read_svm, svm_class
from fastsvm_cli.estimators.scaling import SCALERS, read_scaler, scaler_class
from fastsvm_cli.models.base import ExactModel


def read_estimator(estimator: Any) -> Fitted:
    """Read an ExactModel, or anything that compile takes; raise ModelFormatError and FileError."""
    if isinstance(estimator, (str, bytes, PathLike)):
        return _read_file(fsdecode(estimator))
    if isinstance(estimator, ExactModel):
        return _of_model(estimator, estimator.path)
    return _read_object(estimator)


def _read_object(estimator: Any) -> Fitted:
    """Read anything but a path: "passthrough" in another estimator is not a file name."""
    if svm_class(estimator) is not None:
        return read_svm(estimator)
    if _is(estimator, "svm_model", "libsvm"):
        return _read_libsvm(estimator)
    if _is(estimator, "Pipeline"):
        return _read_pipeline(estimator)
    if _is(estimator, "CalibratedClassifierCV"):
        return _read_calibrated(estimator)
    if _is(estimator, "FrozenEstimator"):
        return _read_object(estimator.estimator)
    if _is(estimator, "BaseSearchCV"):
        if not hasattr(estimator, "best_estimator_"):
            why = "a search without a best estimator found: fit it, with refit=True"
            raise ModelFormatError(type(estimator).__name__, why)
        return _read_object(estimator.best_estimator_)
    if _is(estimator, "FastSVM", "fastsvm_cli") or hasattr(estimator, "compiled_"):
        where = ": its attribute compiled_ is the result, after a search best_estimator_.compiled_"
        raise ModelFormatError(
            type(estimator).__name__, f"it is compiled already{where * hasattr(estimator, 'compiled_')}"
        )
    if isinstance(estimator, type):
        raise ModelFormatError(estimator.__name__, f"a class found, expected {EXPECTED}")
    raise ModelFormatError(
        type(estimator).__name__,
        f"fastsvm cannot compile this, expected {EXPECTED}, a Pipeline of scalers and one, a"
        " CalibratedClassifierCV or a fitted search around one, a model of libsvm-official, or the path of a LIBSVM"
        " model",
    )


def _is(thing: object, name: str, package: str = "sklearn") -> bool:
    return any(each.__name__ == name and each.__module__.split(".")[0] == package for each in type(thing).__mro__)


def _read_pipeline(pipeline: Any) -> Fitted:
    *scalers, (name, last) = pipeline.steps
    found = _read_object(last)
    scaling = None
    for _, step in scalers:
        if step is not None and step != "passthrough":
            if scaler_class(step) is None:
                why = f"not a scaler that compile can put in front of a model ({', '.join(SCALERS)})"
                as_a_step = f"Pipeline(pipe.steps[:-1] + [({name!r}, compile(pipe[-1]))])"
                ways = f"compile the last step alone, as {as_a_step}, or call fastsvm_cli.sklearn.patch()"
                raise ModelFormatError(type(step).__name__, f"{why}: {ways}")
            own = read_scaler(step)
            scaling = own if scaling is None else scaling + own
    if scaling is not None:
        found.scaling = scaling + found.scaling
    first = next((step for _, step in pipeline.steps if step is not None and step != "passthrough"), last)
    found.feature_names = getattr(first, "feature_names_in_", found.feature_names)
    return found


def _read_calibrated(estimator: Any) -> Fitted:
    name = "CalibratedClassifierCV"
    if not hasattr(estimator, "calibrated_classifiers_"):
        raise ModelFormatError(name, "it is not fitted yet, expected a fitted one: call fit first")
    each = estimator.calibrated_classifiers_
    if len(each) != 1:
        raise ModelFormatError(name, f"{len(each)} classifiers found, expected 1: fit it with ensemble=False")
    found = _read_object(each[0].estimator)
    if found.classes is None or not found.model.header.classification:
        raise ModelFormatError(name, f"a {found.name} found in it, expected a classifier")
    own, known = found.classes.tolist(), estimator.classes_.tolist()
    if own == list(range(len(known))):  # some calibrators get class positions
        found.classes = estimator.classes_
    elif own != known:
        raise ModelFormatError(name, "its classifier knows other classes than itself: it was fitted to other labels")
    found.calibration = read_calibrators(each[0].calibrators, len(found.classes), name)
    found.feature_names = getattr(estimator, "feature_names_in_", found.feature_names)
    return found


def _of_model(model: ExactModel, name: str, fingerprint: "str | None" = None) -> Fitted:
    header = model.header
    classes = np.array([-1, 1]) if header.svm_type == "one_class" else None
    if header.label is not None:
        classes = np.array(header.label)
    return Fitted(model, name=name, n_features=None, classes=classes, fingerprint=fingerprint)


def _read_file(path: str) -> Fitted:
    from fastsvm_cli.methods.compilation import read_source

    source = read_source(path)
    return _of_model(source.model, path, source.fingerprint)


def _read_libsvm(model: Any) -> Fitted:
    """Read a model of libsvm-official through a file, which has the whole model, with 17 digits."""
    import tempfile
    from pathlib import Path

    from libsvm.svmutil import svm_save_model

    from fastsvm_cli.models import parse_libsvm
    from fastsvm_cli.text.read_rows import read_bytes

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "libsvm.model")
        svm_save_model(path, model)
        found = parse_libsvm(read_bytes(path), "svm_model")
    return _of_model(found, "svm_model")
