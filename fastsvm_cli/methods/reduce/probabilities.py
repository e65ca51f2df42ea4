"""Refit the sigmoids of a reduced set."""

from collections.abc import Iterable

import numpy as np
from scipy.optimize import minimize

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError, spelled
from fastsvm_cli.models.base import ExactModel, Precision


@np.errstate(all="ignore")  # overflows are refused
def refit(model: ExactModel, chunks: "Iterable[_native.Chunk]") -> ExactModel:
    """Return the model with probability parameters fitted to labelled rows.

    Classification: Platt's sigmoid, per pair whose classes both occur (Lin, Lin and Weng, "A note on Platt's
    probabilistic outputs for support vector machines"). Regression: the scale of Laplace noise, as in svm-train.
    One-class: unchanged. Raises ModelFormatError on overflow.
    """
    header = model.header
    decisions = _native.Decisions(model.pairs)
    values, labels = [], []
    for chunk in chunks:
        model.decision_values(chunk, decisions, Precision.values())
        values.append(np.array(decisions.value))
        labels.append(np.array(chunk.leading)[:, 0])
    f, y = np.concatenate(values), np.concatenate(labels)
    if header.regression:
        error = np.abs(y - f[:, 0])
        spread = np.sqrt(2 * error.mean() ** 2)
        header = header.changed(probA=[float(error[error <= 5 * spread].mean())])
    elif header.classification:
        a, b, label = header.probA, header.probB, header.label
        for pair, i, j in header.class_pairs:
            mine = (y == label[i]) | (y == label[j])
            first = y[mine] == label[i]
            if first.any() and not first.all():
                a[pair], b[pair] = _sigmoid(f[mine, pair], first)
        header = header.changed(probA=a, probB=b)
    if not np.all(np.isfinite([*(header.probA or []), *(header.probB or [])])):
        raise ModelFormatError(
            model.path, f"a probability parameter fitted to the rows of {spelled('data')} overflows: scale the data"
        )
    return model.with_header(header)


def _sigmoid(f: np.ndarray, first: np.ndarray) -> "tuple[float, float]":
    """Fit P(first) = 1 / (1 + exp(A f + B))."""
    positive, negative = int(first.sum()), int((~first).sum())
    target = np.where(first, (positive + 1) / (positive + 2), 1 / (negative + 2))

    def objective(parameters: np.ndarray) -> "tuple[float, np.ndarray]":
        t = parameters[0] * f + parameters[1]
        slope = target - 1 / (1 + np.exp(np.clip(t, -700, 700)))
        return float(np.sum(np.logaddexp(0, t) - (1 - target) * t)), np.array([slope @ f, slope.sum()])

    done = minimize(
        objective, [0.0, np.log((negative + 1) / (positive + 1))], jac=True, method="BFGS", options={"gtol": 1e-6}
    )
    return float(done.x[0]), float(done.x[1])
