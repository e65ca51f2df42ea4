"""Scores, in svm-predict's numbers and words."""

from math import isfinite

from fastsvm_cli import __version__, _native
from fastsvm_cli._native import Header
from fastsvm_cli.models.base import Model
from fastsvm_cli.prediction.pipeline import Tally


def summary_lines(header: Header, score: "_native.Score") -> "list[str]":
    """Return svm-predict 3.37's final lines."""
    return _native.score_lines(header, score)


def summary_values(header: Header, score: "_native.Score") -> dict:
    """Return the scores; an undefined one is None."""
    names = ("mean_squared_error", "squared_correlation") if header.regression else ("accuracy",)
    values = dict(zip(names, _native.scores(header, score)))
    if not header.regression:
        values["correct"] = score.correct
    return {key: value if isfinite(value) else None for key, value in values.items()}


def run_values(
    model: Model,
    header: Header,
    tally: Tally,
    *,
    proven: bool = False,
    open_rows: bool = False,
    stopped: bool = False,
    bad_rows: "int | None" = None,
    audit_upper: "float | None" = None,
) -> "dict[str, object]":
    """Return a run's results by their JSON keys.

    header: of the model whose answers were written. proven: an exact model was the fallback. open_rows: open rows were
    written. stopped: every row stopped early. bad_rows: their number, if permitted. audit_upper: bound of the share of
    rows with another label than the exact model's, if audited.
    """
    out: dict[str, object] = {"rows": tally.rows}
    if bad_rows is not None:
        out["bad_rows"] = bad_rows
    if tally.score is not None:
        out.update(summary_values(header, tally.score))
    if model.bounded:
        out["rows_outside_bound"] = tally.outside
    if proven:
        out.update(rows_proven=tally.rows - tally.evaluated, rows_evaluated=tally.evaluated)
    elif open_rows:
        out["rows_proven"] = tally.rows - tally.undecided
    elif model.proves and not header.regression:
        out["rows_proven"] = tally.rows
    if open_rows:
        out["rows_open"] = tally.evaluated if proven else tally.undecided
    if model.proves or proven:
        out["rows_by_reference_sum"] = tally.reference_rows
    if (model.proves and not model.ordered) or proven:
        out.update(
            rows_by_grid=tally.grid_rows,
            rows_in_single_precision=tally.single_rows,
            rows_in_double_precision=tally.double_rows,
        )
    if model.ordered:
        out.update(
            kernel_evaluations=tally.kernel_evaluations, kernel_evaluations_of_exact=tally.rows * header.total_sv
        )
        out["kernel_evaluations_per_row"] = tally.kernel_evaluations / tally.rows if tally.rows else None
    if stopped:
        out["rows_decided"] = tally.rows - tally.undecided
    if audit_upper is not None:
        out.update(audited=tally.audited, audit_differing=tally.audit_differing, audit_upper=audit_upper)
    return out


def run_document(
    model: Model, fingerprint: str, values: "dict[str, object]", seconds: float, rows: int
) -> "dict[str, object]":
    """Return the document of `predict --json`. values: from run_values. seconds, rows: since a resume."""
    out: dict[str, object] = {"fastsvm": __version__, "model_kind": model.kind, "model_fingerprint": fingerprint}
    if model.fingerprint is not None:
        out["exact_fingerprint"] = model.fingerprint
    return {**out, **values, "seconds": seconds, "rows_per_second": rows / seconds if seconds else None}
