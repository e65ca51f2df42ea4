"""Class probabilities as in scikit-learn's CalibratedClassifierCV."""

from typing import Any

import numpy as np

from fastsvm_cli.errors import ModelFormatError

#: Largest change of a probability that is rounding, and largest distance of two that may be equal but for rounding.
_STEP, _TIE = 1e-9, 1e-6


def nearly_equal(values: np.ndarray) -> np.ndarray:
    """Return (n) bool: whether the largest two of (n, columns), or one of (n) and 0, may be equal but for rounding."""
    if values.ndim == 1:
        return ~(abs(values) > _TIE)
    if values.shape[1] < 2:
        return np.zeros(len(values), dtype=bool)
    last = np.partition(values, -2, axis=1)
    return ~(last[:, -1] - last[:, -2] > _TIE)


class Sigmoid:
    """Platt's calibrator: the probability 1 / (1 + exp(a f + b)) of a decision value f."""

    def __init__(self, a: float, b: float):
        self.a, self.b = a, b

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities, (n)."""
        from scipy.special import expit

        return expit(-(self.a * values + self.b))


class Isotonic:
    """Calibrator by linear interpolation between increasing thresholds; outside, constant if "clip", else NaN."""

    def __init__(self, x: np.ndarray, y: np.ndarray, outside: str):
        self.x, self.y, self.outside = np.array(x, np.float64), np.array(y, np.float64), outside

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities, (n)."""
        if self.outside == "clip" or len(self.x) == 1:
            return np.interp(values, self.x, self.y)
        return np.interp(values, self.x, self.y, left=np.nan, right=np.nan)


class Temperature:
    """Calibrator by the softmax of beta f, where f are the decision values; of beta (-f, f) for two classes."""

    def __init__(self, beta: float):
        self.beta = beta

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the probabilities, (n, classes)."""
        logits = np.stack([-values, values], axis=1) if values.ndim == 1 else values
        scaled = self.beta * logits
        scaled = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return scaled / scaled.sum(axis=1, keepdims=True)


class Calibration:
    """Map from decision values to probabilities: one calibrator per column of values, or one Temperature."""

    def __init__(self, calibrators: "list[Any]", classes: int):
        self.calibrators, self.classes = calibrators, classes

    def probabilities(self, values: np.ndarray) -> np.ndarray:
        """Return (n, classes) probabilities of (n) or (n, columns) values."""
        first = self.calibrators[0]
        if isinstance(first, Temperature):
            out = first(values)
        else:
            out = np.zeros((len(values), self.classes))
            if values.ndim == 1:
                out[:, 1] = first(values)
                out[:, 0] = 1 - out[:, 1]
            else:
                for at, (column, calibrator) in enumerate(zip(values.T[: self.classes], self.calibrators)):
                    out[:, at] = calibrator(column)
                total = out.sum(axis=1, keepdims=True)
                # If all are 0, the classes are equally likely.
                out = np.divide(out, total, out=np.full_like(out, 1 / self.classes), where=total != 0)
        out[(1.0 < out) & (out <= 1.0 + 1e-5)] = 1.0
        return out

    def near(self, values: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Return whether values, (n) or (n, columns), have other probabilities or labels within tiny radii: (n)."""
        out = nearly_equal(self.probabilities(values))
        if isinstance(self.calibrators[0], Temperature):
            return out
        columns = [(values, radii)] if values.ndim == 1 else list(zip(values.T, np.broadcast_to(radii, values.shape).T))
        steps = np.zeros(len(values))
        sizes = np.zeros(len(values)) if len(columns) > 1 else np.ones(len(values))
        for (column, radius), calibrator in zip(columns[: self.classes], self.calibrators):
            steps = np.maximum(steps, abs(calibrator(column + radius) - calibrator(column - radius)))
            if len(columns) > 1:
                sizes += calibrator(column)
        # A plateau's probabilities are the same wherever the value is.
        return (out & (steps > 0)) | ~(steps <= _STEP * sizes)


def read_calibrators(calibrators: "list[Any]", classes: int, name: str) -> Calibration:
    """Return the calibration of scikit-learn's fitted calibrators, all of known kinds."""
    return Calibration([_read(each, name) for each in calibrators], classes)


def _read(calibrator: Any, name: str) -> Any:
    kind = type(calibrator).__name__
    if kind == "_SigmoidCalibration":
        return Sigmoid(float(calibrator.a_), float(calibrator.b_))
    if kind == "IsotonicRegression":
        return Isotonic(calibrator.X_thresholds_, calibrator.y_thresholds_, calibrator.out_of_bounds)
    if kind == "_TemperatureScaling":
        return Temperature(float(np.ravel(calibrator.beta_)[0]))
    raise ModelFormatError(name, f"a calibrator of kind {kind} found, expected sigmoid, isotonic or temperature")
