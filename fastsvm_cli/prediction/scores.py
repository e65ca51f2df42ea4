"""Scores, in svm-predict's numbers and words."""

from math import isfinite

from fastsvm_cli import _native
from fastsvm_cli._native import Header


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
