"""Warn of rows that do not look like those of the model."""

from typing import TYPE_CHECKING

from fastsvm_cli import _native

if TYPE_CHECKING:
    from fastsvm_cli.models.base import Model
    from fastsvm_cli.prediction.pipeline import RunCounts

#: How to add and remove the option.
TYPED = "add --unlabelled", "leave --unlabelled out"


def quality_warnings(
    model: "Model",
    run_counts: "RunCounts",
    path: str,
    *,
    dense: bool,
    delimiter: str,
    unlabelled: bool,
    fields: int,
    unlabelled_advice: "tuple[str, str]" = TYPED,
) -> "list[str]":
    """Return warnings of rows unlike the training data.

    fields: values in a dense row without its label, or -1. unlabelled_advice: how to read rows without and with labels.
    """
    add, leave_out = unlabelled_advice
    out = []
    if dense and fields == unlabelled and model.columns > fields:
        out.append(f"no row of {path} contains the delimiter '{_shown(delimiter)}'.")
    elif dense and fields > model.columns:
        why = f"; if the first column is the label, {leave_out}" if unlabelled else ""
        out.append(f"the rows of {path} have {fields} features, and the model has {model.columns}{why}.")
    why = _native.row_warning(model.header, run_counts, dense)
    if why:
        out.append(f"{why}{f'; if the first column is no label, {add}' if dense and run_counts.rows else ''}.")
    if dense and fields > model.columns:
        return out
    if why := _native.feature_warning(model.header, model.first_index, model.max_index, model.vectors, run_counts):
        out.append(f"{why}.")
    return out


def _shown(delimiter: str) -> str:
    return "\\t" if delimiter == "\t" else delimiter
