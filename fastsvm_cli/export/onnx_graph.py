"""An ONNX graph under construction, and outputs from decision values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fastsvm_cli.export.description import Description
from fastsvm_cli.export.rounding import Radius, rounded_up, written


class Graph:
    """Nodes and tables of a graph. kind: NumPy's type of reals."""

    def __init__(self, helper: Any, kind: "type[np.floating]", path: str):
        self._helper, self.kind, self._path = helper, kind, path
        self.nodes: list[Any] = []
        self.tables: dict[str, np.ndarray] = {}
        self._count = 0

    def __call__(self, operator: str, *inputs: Any, output: "str | None" = None, **more: Any):
        """Add a node; return its output. inputs: names, arrays, numbers, or lists."""
        if operator in ("Add", "Sub", "Mul") and self.kind is np.float64 and not isinstance(inputs[1], str):
            operator, inputs = self._stored_apart(operator, inputs[0], np.asarray(inputs[1], dtype=np.float64))
        names = [each if isinstance(each, str) else self.table(each) for each in inputs]
        outputs = more.pop("outputs", None) or [output or self._name(operator)]
        self.nodes.append(self._helper.make_node(operator, names, outputs, **more))
        return outputs[0] if len(outputs) == 1 else outputs

    def _stored_apart(self, operator: str, x: Any, number: np.ndarray) -> Any:
        # onnxruntime drops a sum with 0 or a product with 1, which would round the number to single precision.
        with np.errstate(over="ignore", under="ignore"):
            rounded = number.astype(np.float32)
        if number.size == 1 and rounded != number:
            if operator != "Mul" and rounded == 0:
                return "Sum", (x, number if operator == "Add" else -number)
            if operator == "Mul" and rounded == 1:
                return operator, (self(operator, x, 2 * number), 0.5)
        return operator, (x, number)

    def table(self, numbers: Any) -> str:
        """Return a table's name, one for small equal ones; reals are rounded to `kind`, or raise ModelFormatError."""
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
        """Add a sum over an axis; return its name."""
        return self("ReduceSum", x, [axis], keepdims=int(keep))

    def of_bool(self, x: str, whole: bool = False) -> str:
        """Convert booleans to numbers; return the name."""
        return self("Cast", x, to=7 if whole else {np.float32: 1, np.float64: 11}[self.kind])

    def dot_rows(self, x: str, y: str) -> str:
        """Add inner products of corresponding rows, (rows, 1); return the name."""
        return self.sum(self("Mul", x, y), 1, keep=True)


class Answers:
    """Outputs from decision values. Methods return (name, type, shape without rows)."""

    description: Description
    graph: Graph
    helper: Any
    _bounds: str

    def _proofs(self, radius: Radius, values: str) -> "list[tuple[str, str, list[int]]]":
        # radius and, except for regression, proven: whether radii leave one label
        g, header, single = self.graph, self.description.header, self.graph.kind is np.float32
        radii = g("Mul", self._bounds, rounded_up(radius.up, single))
        back = self.description.labels_back
        if back is not None:
            size = g("Add", g("Abs", values), rounded_up(abs(back[2]), single))
            radii = g("Mul", radii, rounded_up(back[1] * (1 + 16 * radius.v), single))
            radii = g("Add", radii, g("Mul", size, rounded_up(8 * radius.v, single)))
        finite = g("Less", radii, float(np.finfo(g.kind).max))  # false for NaN
        radii = g("Where", g("And", finite, self._as_stated(values)), radii, g.infinity(), output="radius")
        out = [("radius", "real", [header.pairs])]
        if header.regression:
            return out
        first = g("Greater", values, radii)
        second = g("GreaterOrEqual", g("Neg", values), radii)
        if header.pairs == 1 and header.nr_class == 2:
            g("Squeeze", g("Or", first, second), [1], output="proven")
            return [*out, ("proven", "bool", [])]
        first, second = g.of_bool(first), g.of_bool(second)
        one, other, every = self._of_pairs(1), self._of_pairs(2), 1.0
        low = g("Add", g("MatMul", first, one), g("MatMul", second, other))
        high = g("Add", g("MatMul", g("Sub", every, second), one), g("MatMul", g("Sub", every, first), other))
        # Ties go to the first class: classes after the winner get half a vote less.
        slots = np.arange(header.nr_class)
        winner = g("ArgMax", low, axis=1, keepdims=1)
        after_winner = g.of_bool(g("Greater", g.table(slots[None, :]), winner))
        most = g("Sub", high, g("Mul", after_winner, 0.5))
        itself = g("Equal", g.table(slots[None, :]), winner)
        beaten = g("Less", most, g("ReduceMax", low, axes=[1], keepdims=1))
        every_one = g.of_bool(g("Or", beaten, itself), whole=True)
        lowest = g("ReduceMin", every_one, axes=[1], keepdims=0)
        g("Cast", lowest, to=9, output="proven")
        return [*out, ("proven", "bool", [])]

    def _as_stated(self, values: str) -> str:
        # Whether the runtime has the precision that radii assume, (n, 1): OpenVINO may use half precision, and single
        # for double. No lower precision holds the test number; clamped from values, it is not folded as a constant.
        g = self.graph
        number = 1 + (2.0**-20 if g.kind is np.float32 else 2.0**-40)
        probe = g("Min", g("Max", g("Gather", values, [0], axis=1), number), number)
        return g("Greater", g("MatMul", probe, [[1.0]]), 1.0)

    @property
    def _names(self) -> np.ndarray:
        classes = self.description.classes
        names = np.asarray(self.description.header.label if classes is None else classes)
        whole = names.dtype.kind == "f" and (names == np.rint(names)).all()
        return names.astype(np.int64) if whole else names

    @property
    def label_of_nan(self) -> str:
        """The label of a row whose values are NaN: every pair's second class wins."""
        return "-1" if self.description.header.svm_type == "one_class" else str(self._names[-1])

    def _labels(self, values: str) -> "list[tuple[str, str, list[int]]]":
        g, header = self.graph, self.description.header
        positive = g("Greater", values, 0.0)
        if header.svm_type == "one_class":
            g("Where", positive, 1, -1, output="label")
            return [("label", "int", [1])]
        first = g.of_bool(positive)
        votes = g("Add", g("MatMul", first, self._of_pairs(1)), g("MatMul", g("Sub", 1.0, first), self._of_pairs(2)))
        names = self._names
        text = names.dtype.kind not in "iub"
        labels = np.array([str(each) for each in names], dtype=object) if text else names.astype(np.int64)
        g("Gather", labels, g("ArgMax", votes, axis=1, keepdims=0), output="label")  # ties: the first class
        return [("label", "string" if text else "int", [])]

    def _of_pairs(self, side: int) -> np.ndarray:
        # (pairs, classes): 1 for the pair's first (1) or second (2) class
        header = self.description.header
        out = np.zeros((header.pairs, header.nr_class))
        for each in header.class_pairs:
            out[each[0], each[side]] = 1
        return out

    @property
    def _order(self) -> np.ndarray:
        return np.argsort(self._names, kind="stable")

    def _scores(self, values: str) -> "tuple[str, str, list[int]]":
        # scikit-learn's decision function: -s and s, or votes plus less than half a vote
        g, header = self.graph, self.description.header
        if not header.classification:
            g("Identity", values, output="scores")
            return "scores", "real", [1]
        order, k = self._order, header.nr_class
        if k == 2:
            sign = -1.0 if order[0] == 0 else 1.0
            g("Mul", values, [[-sign, sign]], output="scores")
            return "scores", "real", [2]
        one, other = self._of_pairs(1)[:, order], self._of_pairs(2)[:, order]
        # A value of 0 is a vote for the class that is first in scikit-learn's order.
        rank = np.argsort(order, kind="stable")
        signs = np.array([1.0 if rank[i] < rank[j] else -1.0 for _, i, j in header.class_pairs])
        own = g("Mul", values, signs[None, :])
        lower, upper = np.where(signs[:, None] > 0, one, other), np.where(signs[:, None] > 0, other, one)
        negative = g.of_bool(g("Less", own, 0.0))
        votes = g("Add", g("MatMul", g("Sub", 1.0, negative), lower), g("MatMul", negative, upper))
        sums = g("MatMul", own, lower - upper)
        share = g("Div", sums, g("Mul", g("Add", g("Abs", sums), 1.0), 3.0))
        g("Add", votes, share, output="scores")
        return "scores", "real", [k]

    def _probabilities(self, values: str) -> "tuple[str, str, list[int]]":
        g, header = self.graph, self.description.header
        if not header.classification:
            marks = np.array(header.prob_density_marks)
            below = g.of_bool(g("Less", values, marks[None, :]))  # (n, 10), of increasing marks
            count = g("Sub", 10.0, g.sum(below, 1, keep=True))
            inside = g("Where", g("Less", count, 0.5), 0.001, g("Div", count, 10.0))
            last = marks[-1]
            at_end = g("Mul", g("Sub", values, last), 0.0)  # 0 or NaN
            beyond = g("Where", g("Greater", values, last), 0.999, at_end)
            inside = g("Where", g("Less", values, last), inside, beyond)
            g("Concat", inside, g("Sub", 1.0, inside), axis=1, output="probabilities")
            return "probabilities", "real", [2]
        t = g("Add", g("Mul", values, [header.probA]), [header.probB])
        power = g("Exp", g("Neg", g("Abs", t)))
        one = g("Add", power, 1.0)
        r = g("Div", g("Where", g("Less", t, 0.0), 1.0, power), one)
        r = g("Min", g("Max", r, 1e-7), 1 - 1e-7)
        p = g("Concat", r, g("Sub", 1.0, r), axis=1) if header.nr_class == 2 else self._coupled(r)
        g("Gather", p, self._order, axis=1, output="probabilities")
        return "probabilities", "real", [header.nr_class]

    def _coupled(self, r: str) -> str:
        # Wu, Lin and Weng (2004), method 2, as in LIBSVM; converged rows stay unchanged.
        g, header = self.graph, self.description.header
        k, pairs = header.nr_class, header.pairs
        other = g("Sub", 1.0, r)
        # (n, k * k): Q, row by row.
        on_diagonal_first, on_diagonal_second, beside = (np.zeros((pairs, k * k)) for _ in range(3))
        for pair, i, j in header.class_pairs:
            on_diagonal_second[pair, j * k + j] = on_diagonal_first[pair, i * k + i] = 1
            beside[pair, [i * k + j, j * k + i]] = -1
        flat = g("MatMul", g("Mul", r, r), on_diagonal_second)
        flat = g("Add", flat, g("MatMul", g("Mul", other, other), on_diagonal_first))
        flat = g("Add", flat, g("MatMul", g("Mul", other, r), beside))
        q = g("Reshape", flat, [-1, k, k])
        rows = [g("Squeeze", g("Slice", q, *([at] for at in (t, t + 1, 1))), [1]) for t in range(k)]
        start = g("Add", g("Mul", g("Slice", flat, [0], [k], [1]), 0.0), 1.0 / k)
        body = self._round(k, q, rows)
        more = g("Identity", True)
        return g("Loop", max(100, k), more, start, body=body)

    def _round(self, k: int, q: str, rows: "list[str]") -> Any:
        g, helper = self.graph, self.helper
        outside, g.nodes = g.nodes, []
        column: Callable[[str, int], str] = lambda x, t: g("Gather", x, [t], axis=1)  # noqa: E731
        p = before = "p_before"
        product = g.sum(g("Mul", q, g("Unsqueeze", p, [1])), 2)
        form = g.dot_rows(p, product)
        apart = g("ReduceMax", g("Abs", g("Sub", product, form)), axes=[1], keepdims=1)
        going = g("Not", g("Less", apart, 0.005 / k))
        for t in range(k):
            own, here = column(rows[t], t), column(product, t)
            move = g("Div", g("Sub", form, here), own)
            every = g("Add", move, 1.0)
            twice = g("Add", g("Mul", move, own), g("Mul", here, 2.0))
            form = g("Div", g("Div", g("Add", form, g("Mul", move, twice)), every), every)
            product = g("Div", g("Add", product, g("Mul", move, rows[t])), every)
            p = g("Div", g("Add", p, g("Mul", move, np.eye(k)[t][None, :])), every)
        g("Where", going, p, before, output="p_after")
        any_row = g("ReduceMax", g.of_bool(going, whole=True), keepdims=0)
        g("Cast", any_row, to=9, output="go_on")
        real = 1 if g.kind is np.float32 else 11
        value = helper.make_tensor_value_info
        body = helper.make_graph(
            g.nodes,
            "round",
            [value("round", 7, []), value("was_on", 9, []), value("p_before", real, ["rows", k])],
            [value("go_on", 9, []), value("p_after", real, ["rows", k])],
        )
        g.nodes = outside
        return body
