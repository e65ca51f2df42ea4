"""Warnings about less accurate or slower models."""

import sys
import warnings
from math import inf

from fastsvm_cli.comparisons.on_support_vectors import DOUBTFUL, agreement_with_exact, doubtful_gain, trial
from fastsvm_cli.errors import FastsvmWarning
from fastsvm_cli.methods import find
from fastsvm_cli.models.base import ExactModel, Model


def warn_of_labels(method: str, model: Model, source: ExactModel, wanted: float) -> None:
    """Warn if the share of changed support-vector labels exceeds DOUBTFUL and `wanted`."""
    if model.proves and not model.reduced:
        return
    seen = agreement_with_exact(model, source)
    if seen is None or seen.share <= max(DOUBTFUL, wanted):
        return
    share = f"{100 * seen.share:.3g} %"
    what = (
        f"the values of {seen.rows} support vectors by {share} of their spread"
        if seen.regression
        else f"{share} of the labels of {seen.rows} support vectors, which are harder than most rows"
    )
    _warn(f'method="{method}" changes {what}; try {find(method)[0].better}, or method="exact", which changes none')


def warn_of_time(method: str, model: Model, source: ExactModel) -> None:
    products = getattr(model, "products", inf)  # per row
    if not doubtful_gain(products, source):
        return
    tried = trial(model, source)
    if tried is not None and tried.speed_up < 1:
        _warn(
            f'method="{method}" takes {1 / tried.speed_up:.3g} times as long as method="exact", on {tried.rows} support'
            " vectors"
        )


def _warn(message: str) -> None:
    """Warn at the line that called fastsvm_cli."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fastsvm_cli."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, FastsvmWarning, stacklevel=level)
