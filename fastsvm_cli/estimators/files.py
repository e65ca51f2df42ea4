"""`fastsvm predict` from Python."""

import os
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsvm_cli.estimators.predictor import FastSVM
    from fastsvm_cli.models.base import Model
    from fastsvm_cli.prediction.pipeline import RunCounts


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
    """Predict a data file's rows into another file, as `fastsvm predict`, in constant memory.

    path: LIBSVM data, or delimited if `dense`; may be compressed. model: a model file, or a FastSVM without scaling or
    calibration. out: replaced only once complete. n_threads: None or 0: all available CPUs. on_progress: called on the
    calling thread with (rows written, bytes read, file size or None); its exceptions end the run. Others: as of the
    command; exact and tolerance as of FastSVM.

    Return what --json prints (commands/README.md). Warn if the rows look unlike the training data. Raise
    DataFormatError, ModelFormatError (also for an object with a transform, a calibrator or break_ties, or with
    scikit-learn's probabilities of two classes), FileError, ValueError for conflicting options, and AttributeError
    without probabilities.

    >>> counts = fastsvm_cli.predict_file("rings.test", "rings.model.approx", "labels", exact="rings.model")
    >>> counts["rows"] == counts["rows_proven"] + counts["rows_evaluated"] == 6000, sum(1 for line in open("labels"))
    (True, 6000)
    """
    import warnings

    from fastsvm_cli.console.quality_warnings import quality_warnings
    from fastsvm_cli.errors import FastsvmWarning
    from fastsvm_cli.estimators.predictor import as_fast
    from fastsvm_cli.methods.parallel import threads_here
    from fastsvm_cli.prediction.pipeline import predict
    from fastsvm_cli.prediction.scores import run_document, run_values
    from fastsvm_cli.text.line_blocks import BadRows, LineBlocks
    from fastsvm_cli.text.output import Output, check_output

    start = monotonic()
    path, out = os.fsdecode(path), os.fsdecode(out)
    probability, values = _flag("probability", probability), _flag("values", values)
    unlabelled, dense = _flag("unlabelled", unlabelled), _flag("dense", dense)
    read = [os.fsdecode(each) for each in (model, exact) if isinstance(each, (str, bytes, os.PathLike))]
    check_output(out, [path, *read])
    fast = as_fast(model, exact, tolerance)
    fast.require_none(("transform", "calibrator", "break_ties"), "rows of a file do not pass through:")
    if probability:
        fast.require_none(("sklearn",), "is not LIBSVM's formula of two classes:")
        fast.predict_proba  # noqa: B018  # raises AttributeError where the model has no probabilities
    if on_bad_row not in ("stop", "skip", "nan"):
        raise ValueError(f"on_bad_row={on_bad_row!r} found, expected 'stop', 'skip' or 'nan'")
    if dense and fast.model.serials:
        raise ValueError("dense does not go with a precomputed kernel, whose rows hold serial numbers")

    fallback, header = fast.fallback(), fast.probability_header if probability else fast.model.header
    bad_rows = None
    if on_bad_row != "stop":
        bad_rows = BadRows(
            path, on_bad_row == "nan", lambda message: warnings.warn(message, FastsvmWarning, stacklevel=4)
        )
    total = os.path.getsize(path) if os.path.isfile(path) else None
    bytes_read, scaling = 0, fast.model.row_scaling()

    def note_bytes(count: int) -> None:
        nonlocal bytes_read
        bytes_read = count

    def note(run_counts: "RunCounts") -> None:
        if on_progress is not None:
            on_progress(run_counts.rows, bytes_read, total)

    with threads_here(n_threads or 0):
        with (
            Output(out) as output,
            LineBlocks(
                path,
                labelled=not unlabelled,
                dense=dense,
                delimiter=delimiter,
                first_index=fast.first_index,
                on_read=note_bytes,
                bad_rows=bad_rows,
                scaling=scaling,
            ) as blocks,
        ):
            run_counts = predict(
                fast.model,
                blocks,
                output.write,
                path=path,
                probability=probability,
                values=values,
                labelled=not unlabelled,
                exact=fallback,
                tolerance=fast.early_tolerance if not (values or probability) else None,
                bad_rows=bad_rows,
                on_chunk=note,
            )
    for line in scaling.warnings() if scaling is not None else ():
        warnings.warn(line.removeprefix("Warning: "), FastsvmWarning, stacklevel=2)
    for warning in quality_warnings(
        fast.model,
        run_counts,
        path,
        dense=dense,
        delimiter=delimiter,
        unlabelled=unlabelled,
        fields=blocks.position.fields,
        unlabelled_advice=("pass unlabelled=True", "leave unlabelled=True out"),
    ):
        warnings.warn(warning, FastsvmWarning, stacklevel=2)
    count = None if bad_rows is None else bad_rows.count
    found = run_values(fast.model, header, run_counts, proven=fallback is not None, bad_rows=count)
    return run_document(fast.model, fast.own_fingerprint, found, monotonic() - start, run_counts.rows)


def _flag(name: str, value: object) -> bool:
    if value not in (False, True):
        raise ValueError(f"{name}={value!r} found, expected True or False")
    return bool(value)
