"""An ONNX graph under construction."""

from typing import Any

import numpy as np

from fastsvm_cli.export.numbers import written


class Graph:
    """Nodes and tables of an ONNX graph under construction. kind: NumPy's type of real numbers."""

    def __init__(self, helper: Any, kind: "type[np.floating]", path: str):
        self._helper, self.kind, self._path = helper, kind, path
        self.nodes: list[Any] = []
        self.tables: dict[str, np.ndarray] = {}
        self._count = 0

    def __call__(self, operator: str, *inputs: "str | np.ndarray | float", output: "str | None" = None, **more: Any):
        """Add a node; return its output. inputs: names, arrays, or numbers."""
        if operator in ("Add", "Sub", "Mul") and self.kind is np.float64 and not isinstance(inputs[1], str):
            operator, inputs = self._stored_apart(operator, inputs[0], np.asarray(inputs[1], dtype=np.float64))
        names = [each if isinstance(each, str) else self.table(each) for each in inputs]
        outputs = more.pop("outputs", None) or [output or self._name(operator)]
        self.nodes.append(self._helper.make_node(operator, names, outputs, **more))
        return outputs[0] if len(outputs) == 1 else outputs

    def _stored_apart(self, operator: str, x: "str | np.ndarray | float", number: np.ndarray) -> Any:
        """Return (operator, inputs) that no runtime takes for a sum with 0, or a product with 1.

        onnxruntime drops these, and rounds the number to single precision first.
        """
        with np.errstate(over="ignore", under="ignore"):
            rounded = number.astype(np.float32)
        if number.size == 1 and rounded != number:
            if operator != "Mul" and rounded == 0:
                return "Sum", (x, number if operator == "Add" else -number)
            if operator == "Mul" and rounded == 1:
                return operator, (self(operator, x, 2 * number), np.array(0.5))
        return operator, (x, number)

    def table(self, numbers: Any) -> str:
        """Return the name of a table, shared by small equal ones; reals are rounded to `kind`.

        Raises ModelFormatError for those beyond it.
        """
        array = np.asarray(numbers)
        if array.dtype.kind == "f":
            array = written(array, self.kind is np.float32, self._path)
        elif array.dtype.kind in "iu":
            array = array.astype(np.int64)
        return self._stored(array)

    def infinity(self) -> str:
        """Return the name of the constant infinity."""
        return self._stored(np.array(np.inf, dtype=self.kind))

    def _stored(self, array: np.ndarray) -> str:
        for name, known in self.tables.items():
            if known.dtype == array.dtype and known.shape == array.shape and array.size < 64 and (known == array).all():
                return name
        name = self._name("table")
        self.tables[name] = array
        return name

    def _name(self, word: str) -> str:
        self._count += 1
        return f"{word.lower()}_{self._count}"

    def sum(self, x: str, axis: int, keep: bool = False) -> str:
        """Add a sum over an axis, and return its name."""
        return self("ReduceSum", x, np.array([axis]), keepdims=int(keep))

    def of_bool(self, x: str, whole: bool = False) -> str:
        """Add a conversion of booleans to numbers, and return its name."""
        return self("Cast", x, to=7 if whole else {np.float32: 1, np.float64: 11}[self.kind])

    def dot_rows(self, x: str, y: str) -> str:
        """Add the inner products of corresponding rows, (rows, 1), and return their name."""
        return self.sum(self("Mul", x, y), 1, keep=True)
