"""Scores, in svm-predict's numbers and words."""

from math import isfinite

from fastsvm_cli import __version__, _native
from fastsvm_cli._native import Header
from fastsvm_cli.models.base import Model
from fastsvm_cli.prediction.pipeline import Predictor, RunCounts


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
    predictor: Predictor,
    run_counts: RunCounts,
    *,
    open_rows: bool = False,
    stopped: bool = False,
    bad_rows: "int | None" = None,
    audit_upper: "float | None" = None,
) -> "dict[str, object]":
    """Return a run's results by their JSON keys.

    stopped: every row stopped early. bad_rows: if permitted. audit_upper: bound of the share of rows with another label
    than the exact model's, if audited.
    """
    model, header, proven = predictor.model, predictor.printed_header, predictor.exact is not None
    out: dict[str, object] = {"rows": run_counts.rows}
    if bad_rows is not None:
        out["bad_rows"] = bad_rows
    if run_counts.score is not None:
        out.update(summary_values(header, run_counts.score))
    if model.bounded:
        out["rows_outside_bound"] = run_counts.outside
    if proven:
        out.update(rows_proven=run_counts.rows - run_counts.evaluated, rows_evaluated=run_counts.evaluated)
    elif open_rows:
        out["rows_proven"] = run_counts.rows - run_counts.undecided
    elif model.proves and not header.regression:
        out["rows_proven"] = run_counts.rows
    if open_rows:
        out["rows_open"] = run_counts.evaluated if proven else run_counts.undecided
    if model.proves or proven:
        out["rows_by_reference_sum"] = run_counts.reference_rows
    if (model.proves and not model.ordered) or proven:
        out.update(
            rows_by_grid=run_counts.grid_rows,
            rows_in_single_precision=run_counts.single_rows,
            rows_in_double_precision=run_counts.double_rows,
        )
    if model.ordered:
        out.update(
            kernel_evaluations=run_counts.kernel_evaluations,
            kernel_evaluations_of_exact=run_counts.rows * header.total_sv,
        )
        out["kernel_evaluations_per_row"] = run_counts.kernel_evaluations / run_counts.rows if run_counts.rows else None
    if stopped:
        out["rows_decided"] = run_counts.rows - run_counts.undecided
    if audit_upper is not None:
        out.update(audited=run_counts.audited, audit_differing=run_counts.audit_differing, audit_upper=audit_upper)
    return out


def run_document(
    model: Model, fingerprint: str, values: "dict[str, object]", seconds: float, rows: int
) -> "dict[str, object]":
    """Return the document of `predict --json`. values: of run_values. seconds, rows: since a resume."""
    out: dict[str, object] = {"fastsvm": __version__, "model_kind": model.kind, "model_fingerprint": fingerprint}
    if model.fingerprint is not None:
        out["exact_fingerprint"] = model.fingerprint
    return {**out, **values, "seconds": seconds, "rows_per_second": rows / seconds if seconds else None}
