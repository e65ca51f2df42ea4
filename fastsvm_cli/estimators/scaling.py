"""scikit-learn's scalers, and their folding into a model."""

import sys
from typing import Any

import numpy as np
import scipy.sparse

from fastsvm_cli.estimators.sklearn_protocol import not_fitted
from fastsvm_cli.methods.folded_scaling import fold_exact
from fastsvm_cli.models.base import ExactModel
from fastsvm_cli.text.scaling import Affine

SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
#: Largest shift folded into a model, in units of the scale: it loses 4 of 16 digits.
_FAR = 1e4


class FittedScaling:
    """Chain of scalers, in scikit-learn's order and number types, for bit-identical results.

    steps: ("subtract" | "divide" | "multiply" | "add", numbers (d), rounded) or ("clip", (low, high), False). rounded:
    numbers are first rounded to the type of dense rows, as by StandardScaler since scikit-learn 1.8.
    """

    def __init__(self, steps: "list[tuple[str, Any, bool]]"):
        self.steps = steps

    def apply(self, rows: Any) -> Any:
        """Scale rows, floats (n, d) or CSR, which must stay sparse."""
        if scipy.sparse.issparse(rows):
            return self._of_sparse(rows)
        out = np.array(rows, dtype=rows.dtype if rows.dtype.kind == "f" else np.float64)
        for name, numbers, rounded in self.steps:
            if name == "clip":
                np.clip(out, *numbers, out=out)
            else:
                numbers = numbers.astype(out.dtype) if rounded else numbers
                _OPERATIONS[name](out, numbers, out=out, casting="same_kind")
        return out

    def _of_sparse(self, rows: Any) -> Any:
        out = scipy.sparse.csr_matrix(rows, copy=True)
        if out.dtype.kind != "f":
            out = out.astype(np.float64)
        for name, numbers, _ in self.steps:
            if name == "clip" and numbers[0] <= 0 <= numbers[1]:
                np.clip(out.data, *numbers, out=out.data)
            elif name == "divide":
                out.data *= (1 / numbers).take(out.indices)
            elif name == "multiply":
                out.data *= numbers.take(out.indices)
            else:
                raise ValueError("Cannot center sparse matrices: the scaler in front of the model moves the origin.")
        return out

    def __add__(self, other: "FittedScaling | None") -> "FittedScaling":
        return self if other is None else FittedScaling(self.steps + other.steps)

    def affine(self, d: int) -> "tuple[np.ndarray, np.ndarray] | None":
        """Return (s, t), both (d): x becomes s x + t. None if a step clips."""
        scale, shift = np.ones(d), np.zeros(d)
        for name, numbers, _ in self.steps:
            if name == "clip":
                return None
            operation = _OPERATIONS[name]
            shift = operation(shift, numbers)
            if name in ("divide", "multiply"):
                scale = operation(scale, numbers)
        return scale, shift


_OPERATIONS = {"subtract": np.subtract, "divide": np.divide, "multiply": np.multiply, "add": np.add}


def scaler_class(step: object) -> "str | None":
    """Return the name of a step's class of scalers in scikit-learn, or None."""
    for each in type(step).__mro__:
        if each.__module__.split(".")[0] == "sklearn" and each.__name__ in SCALERS:
            return each.__name__
    return None


def read_scaler(scaler: Any) -> FittedScaling:
    """Read a fitted scaler of SCALERS."""
    name = scaler_class(scaler)
    assert name is not None
    if not hasattr(scaler, "n_features_in_"):
        raise not_fitted(name, "it is not fitted yet, expected a fitted scaler: call fit first")
    steps: list[tuple[str, Any]] = []
    if name == "StandardScaler":
        steps += [("subtract", scaler.mean_)] * bool(scaler.with_mean)
        steps += [("divide", scaler.scale_)] * bool(scaler.with_std)
    elif name == "MinMaxScaler":
        steps += [("multiply", scaler.scale_), ("add", scaler.min_)]
        steps += [("clip", tuple(map(float, scaler.feature_range)))] * bool(scaler.clip)
    elif name == "MaxAbsScaler":
        steps += [("divide", scaler.scale_)]
        steps += [("clip", (-1.0, 1.0))] * bool(getattr(scaler, "clip", False))
    else:
        steps += [("subtract", scaler.center_)] * bool(scaler.with_centering)
        steps += [("divide", scaler.scale_)] * bool(scaler.with_scaling)
    version = getattr(sys.modules.get("sklearn"), "__version__", "1.8")
    rounded = name == "StandardScaler" and tuple(map(int, version.split(".")[:2])) >= (1, 8)
    return FittedScaling([(step, numbers if step == "clip" else np.array(numbers), rounded) for step, numbers in steps])


def absorbed(model: ExactModel, scaling: FittedScaling, d: "int | None") -> "ExactModel | None":
    """Return a model for unscaled rows with the same decision values, up to rounding, or None."""
    affine = None if d is None else scaling.affine(d)
    if affine is None or d is None:
        return None
    s, t = affine
    if not np.max(abs(t), initial=0.0) <= _FAR:
        return None
    return fold_exact(model, Affine(range(1, d + 1), s.tolist(), t.tolist()))
