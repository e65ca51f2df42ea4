"""`fastsvm predict` from Python."""

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsvm_cli.estimators.predictor import FastSVM
    from fastsvm_cli.models.base import Model


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
    on_progress: "Callable[[int, int, int | None], object] | None" = None,
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
    on_progress : callable, default=None
        Called on the calling thread with the number of rows written, the number of bytes read, and the size of the file
        or None. An exception that it raises ends the run.

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
    from fastsvm_cli import _native
    from fastsvm_cli._native import may_delimit
    from fastsvm_cli.errors import warn
    from fastsvm_cli.estimators.predictor import as_fast
    from fastsvm_cli.methods.parallel import threads_here
    from fastsvm_cli.prediction import answer_file
    from fastsvm_cli.text.output import Output, check_output

    path, out = os.fsdecode(path), os.fsdecode(out)
    probability, values = _flag("probability", probability), _flag("values", values)
    unlabelled, dense = _flag("unlabelled", unlabelled), _flag("dense", dense)
    read = [os.fsdecode(each) for each in (model, exact) if isinstance(each, (str, bytes, os.PathLike))]
    check_output(out, [path, *read])
    _native.refuse_model_output(os.fsencode(out))
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

    if dense and not may_delimit(delimiter):
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
    prediction = _native.Prediction.of_models(
        request, fast.model.file, fast.own_fingerprint, fast.first_index, fast.fallback(), warn
    )
    prediction.prepare()
    total = os.path.getsize(path) if os.path.isfile(path) else None
    bytes_read = 0

    def note_bytes(count: int) -> None:
        nonlocal bytes_read
        bytes_read = count

    def note() -> None:
        if on_progress is not None:
            on_progress(prediction.run_counts.rows, bytes_read, total)

    with threads_here(n_threads or 0), Output(out) as output:
        answer_file(prediction, path, output.write, on_read=note_bytes, on_chunk=note)
    prediction.end()
    return json.loads(prediction.document())


def _flag(name: str, value: object) -> bool:
    if value not in (False, True):
        raise ValueError(f"{name}={value!r} found, expected True or False")
    return bool(value)
