"""Model files, and `fastsvm predict`, from Python."""

import json
import os
from collections.abc import Callable
from copy import copy
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli.errors import warn
from fastsvm_cli.estimators.predictor import FastSVM, of_file
from fastsvm_cli.models import Model, check_start, parse_model
from fastsvm_cli.prediction import answer_file, threads_here
from fastsvm_cli.text.files import Output, check_output


def load(
    path: "str | bytes | os.PathLike[str]",
    *,
    exact: "str | bytes | os.PathLike[str] | Model | FastSVM | None" = None,
    tolerance: "float | None" = None,
    n_threads: "int | None" = None,
    n_features_in: "int | None" = None,
    zero_based: "bool | None" = None,
    decision_function_shape: str = "ovr",
    break_ties: bool = False,
) -> FastSVM:
    """Read a model file of any kind, exact or compiled.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The model file, which may be compressed with gzip, bzip2, xz or, if Python can read it, zstd. "-" is standard
        input.
    exact : str, bytes, os.PathLike, Model or FastSVM, default=None
        The exact model that the model was compiled from, or its path. It answers the rows whose label is not proven.
    tolerance, n_threads, n_features_in, zero_based, decision_function_shape, break_ties
        As in `FastSVM`.

    Returns
    -------
    fast : FastSVM
        The model.

    Raises
    ------
    ModelFormatError
        If the file is not a model that fastsvm can use, or `exact` is another model than the compiled model's source.
    FileError
        If a file cannot be read.
    ValueError
        If arguments are invalid or conflict.

    Warns
    -----
    FastsvmWarning
        If the file has content that LIBSVM reads, but that its writer may not have meant.

    Examples
    --------
    >>> fast = fastsvm_cli.load("rings.model.approx", exact="rings.model")
    >>> fast.predict(X[:5])  # X: (6000, 8)
    array([-1, -1,  1, -1, -1])
    """
    return of_file(
        path,
        parse_model,
        exact=exact,
        tolerance=tolerance,
        n_threads=n_threads,
        n_features_in=n_features_in,
        zero_based=zero_based,
        decision_function_shape=decision_function_shape,
        break_ties=break_ties,
    )


def loads(text: "bytes | str", *, name: str = "model", **settings: Any) -> FastSVM:
    """Read the content of a model file.

    Parameters
    ----------
    text : bytes or str
        The content of a model file of any kind, not compressed.
    name : str, default="model"
        The name of the model in messages.
    **settings
        The keyword arguments of `load`.

    Returns
    -------
    fast : FastSVM
        The model. Errors and warnings are those of `load`.

    Examples
    --------
    >>> text = open("rings.model.approx").read()
    >>> loads(text).predict(X[:5])
    array([-1, -1,  1, -1, -1])
    """
    text = text.encode() if isinstance(text, str) else bytes(text)
    check_start(text, name)
    return FastSVM(parse_model(text, name), fingerprint=_native.fingerprint(text), **settings)


def as_fast(
    model: "str | bytes | os.PathLike[str] | Model | FastSVM",
    exact: "str | bytes | os.PathLike[str] | Model | FastSVM | None" = None,
    tolerance: "float | None" = None,
) -> FastSVM:
    """Return a new FastSVM for a path, a model or a FastSVM, whose `exact` and `tolerance` are replaced if given."""
    if isinstance(model, (str, bytes, os.PathLike)):
        return load(model, exact=exact, tolerance=tolerance)
    if isinstance(model, Model):
        return FastSVM(model, exact=exact, tolerance=tolerance)
    if not isinstance(model, FastSVM):
        raise TypeError(f"{type(model).__name__} found, expected the path of a model, a model, or an object of load")
    fast = copy(model)
    if exact is not None or tolerance is not None:
        given = {"exact": exact, "tolerance": tolerance}
        fast.set_params(**{name: value for name, value in given.items() if value is not None})
    return fast


def predict_file(
    path: "str | bytes | os.PathLike[str]",
    model: "str | bytes | os.PathLike[str] | Model | FastSVM",
    out: "str | bytes | os.PathLike[str]",
    *,
    probability: bool = False,
    values: bool = False,
    exact: "str | bytes | os.PathLike[str] | Model | FastSVM | None" = None,
    tolerance: "float | None" = None,
    unlabelled: bool = False,
    dense: bool = False,
    delimiter: str = ",",
    on_bad_row: str = "stop",
    n_threads: "int | None" = None,
    on_progress: "Callable[[int, int, int | None], object] | bool | None" = None,
) -> "dict[str, Any]":
    """Predict the rows of a data file, and write the answers to another file.

    The function does what the command `fastsvm predict` does, in constant memory.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The data file, in LIBSVM's format or, with `dense`, of delimited values. It may be compressed.
    model : str, bytes, os.PathLike, Model or FastSVM
        The model or its file. A FastSVM must not have scaling in front of it, or a calibrator.
    out : str, bytes or os.PathLike
        The file to write. It is replaced only once the result is complete.
    probability : bool, default=False
        Whether to write probabilities too, as `-b 1` of the command.
    values : bool, default=False
        Whether to append decision values and, for a certified model, their radii.
    exact : str, bytes, os.PathLike, Model or FastSVM, default=None
        The exact model that answers the rows whose label is not proven, as in `FastSVM`.
    tolerance : float, default=None
        For regression: the largest error of a value, as in `FastSVM`.
    unlabelled : bool, default=False
        Whether the rows do not begin with a label.
    dense : bool, default=False
        Whether the rows are delimited values.
    delimiter : str, default=","
        The delimiter of dense rows.
    on_bad_row : {"stop", "skip", "nan"}, default="stop"
        The action on a malformed line, or on a row that the model cannot evaluate: stop with an error, omit the row, or
        write a line of nan.
    n_threads : int, default=None
        Number of threads. None and 0 mean all available CPUs.
    on_progress : callable, False or None, default=None
        Called on the calling thread with the number of rows written, the number of bytes read, and the size of the file
        or None. An exception that it raises ends the run. None and False report nothing.

    Returns
    -------
    counts : dict
        The numbers that `fastsvm predict --json` prints, as commands/INTERFACE.md describes them.

    Raises
    ------
    DataFormatError
        If a line is malformed, or a row cannot be evaluated, and `on_bad_row` is "stop".
    ModelFormatError
        If the model is unusable, if it has a transform, a calibrator or `break_ties`, or if `probability` is set and
        the model's probabilities of two classes are scikit-learn's.
    FileError
        If a file cannot be read or written.
    ValueError
        If arguments are invalid or conflict.
    TypeError
        If `model` is not a model or a path.
    AttributeError
        If `probability` is set and the model has no probabilities.

    Warns
    -----
    FastsvmWarning
        If the rows look unlike the training data, if svm-scale would warn of the range file in the model, and for the
        first bad rows, unless `on_bad_row` is "stop".

    Examples
    --------
    >>> counts = fastsvm_cli.predict_file("rings.test", "rings.model.approx", "labels", exact="rings.model")
    >>> counts["rows"] == counts["rows_proven"] + counts["rows_evaluated"] == 6000, sum(1 for line in open("labels"))
    (True, 6000)
    """
    path, out = os.fsdecode(path), os.fsdecode(out)
    probability, values = _flag("probability", probability), _flag("values", values)
    unlabelled, dense = _flag("unlabelled", unlabelled), _flag("dense", dense)
    if not (callable(on_progress) or on_progress in (None, False)):
        raise ValueError(f"on_progress={on_progress!r} found, expected a function, False or None")
    read = [os.fsdecode(each) for each in (model, exact) if isinstance(each, (str, bytes, os.PathLike))]
    check_output(out, [path, *read])
    _native.refuse_model_output(out)
    fast = as_fast(model, exact, tolerance)
    fast.require_none(("transform", "calibrator", "break_ties"), "rows of a file do not pass through:")
    if probability:
        fast.require_none(("sklearn",), "is not LIBSVM's formula of two classes:")
        if not fast.probability_header.has_probability:
            fast.predict_proba  # noqa: B018  # raises AttributeError
    if on_bad_row not in ("stop", "skip", "nan"):
        raise ValueError(f"on_bad_row={on_bad_row!r} found, expected 'stop', 'skip' or 'nan'")
    if dense and fast.model.serials:
        raise ValueError("dense does not go with a precomputed kernel, whose rows hold serial numbers")

    if dense and not _native.may_delimit(delimiter):
        raise ValueError(f"delimiter={delimiter!r} found, expected one character that cannot be part of a number")
    request = _native.Request(
        test_file=path,
        model_file=fast.model.path,
        probability=probability,
        values=values,
        tolerance=fast.early_tolerance if not (values or probability) else None,
        unlabelled=unlabelled,
        dense=dense,
        delimiter=delimiter,
        on_bad_row=on_bad_row,
    )
    prediction = _native.Prediction(
        request, fast.model.file, fast.own_fingerprint, fast.first_index, fast.fallback(), warn
    )
    prediction.prepare()
    total = os.path.getsize(path) if os.path.isfile(path) else None
    bytes_read = 0

    def note_bytes(count: int) -> None:
        nonlocal bytes_read
        bytes_read = count

    def note() -> None:
        if callable(on_progress):
            on_progress(prediction.run_counts.rows, bytes_read, total)

    with threads_here(n_threads or 0), Output(out) as output:
        answer_file(prediction, path, output.write, on_read=note_bytes, on_chunk=note)
    prediction.end()
    return json.loads(prediction.document())


def _flag(name: str, value: object) -> bool:
    if value not in (False, True):
        raise ValueError(f"{name}={value!r} found, expected True or False")
    return bool(value)
