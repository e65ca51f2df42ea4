"""Writer of ONNX graphs: decision values.

Distances are |x - m|^2 + |z - m|^2 - 2 (x - m).(z - m) about the vectors' mean m: a matrix product with little
cancellation or, for a gamma with too much, differences.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fastsvm_cli import __version__
from fastsvm_cli._native import class_pairs
from fastsvm_cli.errors import MissingPackageError, ModelFormatError
from fastsvm_cli.export.description import Description, KernelSums, Polynomials, Samples, monomials
from fastsvm_cli.export.onnx_graph import Answers, Graph
from fastsvm_cli.export.rounding import AT_ONCE, Radius, check_range, longest_row, radius_of, rounded_up, unit

if TYPE_CHECKING:
    from fastsvm_cli.export import check

#: Supported by runtimes since 2021.
OPSET, IR_VERSION = 15, 8
#: Limit of a protobuf file.
_MOST_BYTES = (1 << 31) - (1 << 20)


def model_of(description: Description, single: bool) -> Any:
    """Return a description as a ModelProto."""
    try:
        from onnx import helper, numpy_helper
    except ImportError:
        raise MissingPackageError("onnx", "it is not installed: pip install 'fastsvm[onnx]'") from None
    kind = np.float32 if single else np.float64
    graph = Graph(helper, kind, description.path)
    if single:
        check_range(description)
    writer = _Writer(description, graph, helper, radius_of(description, single, differences=False))
    outputs = writer.outputs()
    if sum(table.nbytes for table in graph.tables.values()) > _MOST_BYTES:
        raise ModelFormatError(description.path, "tables of 2 GB found, more than a graph of ONNX holds")
    real = 1 if single else 11
    types = {"real": real, "int": 7, "string": 8, "bool": 9}
    shapes = [(name, types[type_], shape) for name, type_, shape in outputs]
    proto = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "fastsvm",
            [helper.make_tensor_value_info("X", real, ["rows", description.inputs])],
            [helper.make_tensor_value_info(name, type_, ["rows", *shape]) for name, type_, shape in shapes],
            [numpy_helper.from_array(table, name) for name, table in graph.tables.items()],
        ),
        producer_name="fastsvm",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        doc_string=f"a {description.kind} model, {description.header.svm_type}",
    )
    marks = {"kind": description.kind, "svm_type": description.header.svm_type, "precision": kind.__name__}
    if description.fingerprint:
        marks["fingerprint"] = description.fingerprint
    if (length := longest_row(description, single)) is not None:
        marks["longest_row"] = f"{length:g}"
    if not description.header.regression:
        marks["label_of_nan"] = writer.label_of_nan
    helper.set_model_props(proto, {f"fastsvm.{key}": value for key, value in marks.items()})
    return proto


class _Writer(Answers):
    def __init__(self, description: Description, graph: Graph, helper: Any, radius: "Radius | None"):
        self.description, self.graph, self.helper, self.radius = description, graph, helper, radius
        self._bounds = ""  # (n, pairs): error bounds of the sums

    def outputs(self) -> "list[tuple[str, str, list[int]]]":
        # (name, type, shape without rows) per output
        g, description, header = self.graph, self.description, self.description.header
        z, rest = self._row()
        body = description.body
        if isinstance(body, KernelSums):
            values = self._kernel_sums(body, z, rest)
        elif isinstance(body, Polynomials):
            values = self._polynomials(body, z, rest)
        else:
            values = self._samples(body, z)
        if not isinstance(body, Samples) and any(header.rho):
            values = g("Sub", values, [header.rho])
        if description.labels_back is not None:
            start, scale, to = description.labels_back
            values = g("Add", g("Mul", g("Sub", values, start), scale), to)
        proofs = [] if self.radius is None else self._proofs(self.radius, values)
        if header.regression:
            g("Identity", values, output="variable")
            return [("variable", "real", [1]), *proofs]
        g("Identity", values, output="values")
        out = self._labels(values)
        if header.has_probability:
            out.append(self._probabilities(values))
        else:
            out.append(self._scores(values))
        return [*out, ("values", "real", [header.pairs]), *proofs]

    # ---- from rows to values

    def _row(self) -> "tuple[str, str | None]":
        # (n, d) used columns and (n, 1) squares of the others
        g, description = self.graph, self.description
        x = "X"
        if description.scaling is not None:
            slopes, offsets = description.scaling
            x = g("Add", g("Mul", x, slopes[None, :]), offsets[None, :])
        rest = None
        if len(description.rest):
            others = g("Gather", x, description.rest, axis=1)
            rest = g.dot_rows(others, others)
        if len(description.used) == description.inputs:
            return x, rest
        return g("Gather", x, description.used, axis=1), rest

    def _about(self, z: str, center: np.ndarray) -> str:
        # In two steps: a center has more digits than the precision.
        g = self.graph
        high = center.astype(g.kind).astype(np.float64)
        if high.any():
            z = g("Sub", z, high)
        low = center - high
        return g("Sub", z, low) if low.any() else z

    def _kernel_sums(self, body: KernelSums, z: str, rest: "str | None") -> str:
        g, kernel, (n, d) = self.graph, body.kernel, body.vectors.shape
        order = _alternating(body.coefficients)
        if kernel.of_distances and self.radius is None and _product_loses(body, g.kind is np.float32):
            moved = g("Sub", g("Unsqueeze", z, [1]), body.vectors[order][None, :, :])
            distances = g.sum(g("Mul", moved, moved), 2)
            distances = distances if rest is None else g("Add", distances, rest)
            values = g("Exp", g("Mul", distances, -kernel.gamma))
        elif kernel.of_distances:
            center = body.vectors.mean(axis=0) if n else np.zeros(d)
            z, vectors = self._about(z, center[None, :]), body.vectors[order] - center
            vectors = vectors.astype(g.kind).astype(np.float64)
            squares = g.dot_rows(z, z) if rest is None else g("Add", g.dot_rows(z, z), rest)
            # Beyond the range, a distance is infinite, not the difference of two infinities.
            z = g("Where", g("Less", squares, float(np.finfo(g.kind).max)), z, 0.0)
            both = g("Add", squares, (vectors**2).sum(axis=1)[None, :])
            distances = g("Max", g("Sub", both, g("MatMul", z, 2 * vectors.T)), 0.0)
            values = g("Exp", g("Mul", distances, -kernel.gamma))
            if self.radius is not None:
                norms = g("Transpose", squares, perm=[1, 0])
                self._bounds = g("Transpose", self._bound(self.radius, norms, None, None), perm=[1, 0])
        else:
            values = g("Mul", g("MatMul", z, body.vectors[order].T), kernel.gamma)
            values = g("Add", values, kernel.coef0)
            values = g("Tanh", values) if kernel.type == "sigmoid" else self._power(values, kernel.degree)
        sums = self._class_sums(values, body.coefficients[order], body.counts)
        if len(sums) == 1:
            return sums[0]
        side_by_side, width = g("Concat", *sums, axis=1), body.coefficients.shape[1]
        first = [i * width + j - 1 for _, i, j in class_pairs(len(sums))]
        second = [j * width + i for _, i, j in class_pairs(len(sums))]
        own = [g("Gather", side_by_side, columns, axis=1) for columns in (first, second)]
        return g("Add", *own)

    def _class_sums(self, values: str, coefficients: np.ndarray, counts: "list[int]") -> "list[str]":
        # (n, classes - 1) per class; blocks of AT_ONCE limit single precision's error.
        g = self.graph
        if coefficients.shape[1] == 1:
            counts = [len(coefficients)]
        groups = [[min(AT_ONCE, count - first) for first in range(0, count, AT_ONCE)] or [0] for count in counts]
        sizes = [size for of_class in groups for size in of_class]
        names = [values]
        if len(sizes) > 1:
            names = [f"piece_{at}" for at in range(len(sizes))]
            g("Split", values, sizes, outputs=names, axis=1)
        ends = np.cumsum(sizes)
        products = iter([g("MatMul", name, coefficients[e - s : e]) for name, e, s in zip(names, ends, sizes)])
        sums = [[next(products) for _ in of_class] for of_class in groups]
        return [g("Sum", *each) if len(each) > 1 else each[0] for each in sums]

    def _power(self, base: str, degree: int) -> str:
        g = self.graph
        out = g("Add", g("Mul", base, 0.0), 1.0) if degree < 1 else None
        while degree > 0:
            if degree % 2:
                out = base if out is None else g("Mul", out, base)
            base, degree = g("Mul", base, base) if degree > 1 else base, degree // 2
        assert out is not None
        return out

    def _polynomials(self, body: Polynomials, z: str, rest: "str | None") -> str:
        # First axes are centers or expansions.
        g, d, expansions = self.graph, len(self.description.used), body.expansions
        about = self._about(g("Unsqueeze", z, [0]), body.centers[:, None, :])
        own = [each.center for each in expansions]
        shared = self._shared = len(body.centers) == 1
        moved = about if shared else g("Gather", about, own, axis=0)
        sums = [g("Unsqueeze", self._plane(expansions, moved, shared), [2])]  # (expansions, n, 1) each
        whole = [e for e, each in enumerate(expansions) if not each.rank]
        if body.degree > 1 and whole:
            part = moved if shared or len(whole) == len(own) else g("Gather", moved, whole, axis=0)
            sums.append(
                self._assigned(self._higher([expansions[e] for e in whole], body.degree, part, d), whole, len(own))
            )
        ranked = [e for e, each in enumerate(expansions) if each.rank]
        if ranked:
            part = moved if shared or len(ranked) == len(own) else g("Gather", moved, ranked, axis=0)
            most = max(expansions[e].rank for e in ranked)
            directions, weights = np.zeros((len(ranked), d, most)), np.zeros((len(ranked), 1, most))
            for at, e in enumerate(ranked):
                rank = expansions[e].rank
                directions[at, :, :rank], weights[at, 0, :rank] = expansions[e].directions.T, expansions[e].weights
            along = self._times(part, directions)
            squares = g.sum(g("Mul", g("Mul", along, along), weights), 2, keep=True)
            sums.append(self._assigned(squares, ranked, len(own)))
        total = sums[0]
        for each in sums[1:]:
            total = g("Add", total, each)
        total, bounds = g.sum(total, 2), ""  # (expansions, n)
        if body.gamma is not None:
            norms = g.sum(g("Mul", about, about), 2)
            if rest is not None:
                norms = g("Add", norms, g("Transpose", rest, perm=[1, 0]))
            weights_ = g("Exp", g("Mul", norms, -body.gamma))
            weights_ = weights_ if shared else g("Gather", weights_, own, axis=0)
            # Far rows have weight 0, and their polynomial may be infinite.
            total = g("Where", g("LessOrEqual", weights_, 0.0), 0.0, g("Mul", weights_, total))
            if self.radius is not None:
                bounds = self._bound(self.radius, norms, weights_, total)
        elif self.radius is not None:
            bounds = self._bound(self.radius, g.sum(g("Mul", about, about), 2), None, total)
        pairs = np.zeros((self.description.header.pairs, len(own)))
        pairs[[each.pair for each in expansions], range(len(own))] = 1
        if not np.array_equal(pairs, np.eye(len(own))):
            total = g("MatMul", pairs, total)
            bounds = g("MatMul", pairs, bounds) if bounds else bounds
        self._bounds = g("Transpose", bounds, perm=[1, 0]) if bounds else ""
        return g("Transpose", total, perm=[1, 0])

    def _bound(self, radius: Radius, norms: str, weights: "str | None", terms: "str | None") -> str:
        # Bounds (expansions, n); norms: (centers, n)
        g, single = self.graph, self.graph.kind is np.float32
        up = lambda numbers: rounded_up(numbers, single)  # noqa: E731
        drift, shift = (up(radius.centers[:, column])[:, None] for column in (0, 1))
        high = g("Mul", g("Add", norms, drift), up(1 + radius.theta))
        reach = g("Add", g("Mul", g("Sqrt", high), up(1 + 8 * radius.v)), shift)
        moved = g("Add", g("Mul", norms, up(radius.x1)), up(radius.x0))
        if len(radius.centers) > 1:
            reach, moved = (g("Gather", each, radius.about, axis=0) for each in (reach, moved))
        rows, k = up(radius.rows), radius.power
        total: str = g("Mul", reach, rows[:, k, None])
        power: str = g("Mul", reach, rows[:, k + 4, None])
        for at in range(k - 1, -1, -1):
            total = g("Add", total, rows[:, at, None])
            total, power = (g("Mul", total, reach) if at else total), g("Mul", power, reach)
        if k == 0:
            total = g("Add", g("Mul", reach, 0.0), rows[:, 0, None])
        total = g("Mul", total, g("Add", weights, up(radius.tiny)) if weights else up(1 + radius.tiny))
        total = g("Add", g("Add", total, rows[:, k + 1, None]), g("Mul", reach, rows[:, k + 2, None]))
        total = g("Add", total, g("Mul", g("Min", power, 1.0), rows[:, k + 3, None]))
        if terms:
            total = g("Add", total, g("Mul", g("Abs", terms), moved))
        return g("Where", g("Less", moved, radius.limit), total, g.infinity())

    def _plane(self, expansions: "list[Any]", moved: str, shared: bool) -> str:
        # (expansions, n)
        g = self.graph
        constants = np.array([each.levels[0][0] for each in expansions])[:, None]
        if len(expansions[0].levels) < 2:
            return g("Add", g("Mul", g.sum(moved, 2), 0.0), constants)
        weights = np.array([each.levels[1] for each in expansions])
        if shared:
            flat = g("MatMul", g("Squeeze", moved, [0]), weights.T)
            return g("Add", g("Transpose", flat, perm=[1, 0]), constants)
        return g("Add", g.sum(g("Mul", moved, weights[:, None, :]), 2), constants)

    def _times(self, rows: str, matrices: np.ndarray) -> str:
        # (expansions or 1, n, d) by (expansions, d, q)
        g, (count, d, q) = self.graph, matrices.shape
        if not self._shared:
            return g("MatMul", rows, matrices)
        # OpenVINO refuses a three-dimensional product with a shared factor.
        flat = g("MatMul", g("Squeeze", rows, [0]), matrices.transpose(1, 0, 2).reshape(d, count * q))
        if count == 1:
            return g("Unsqueeze", flat, [0])
        return g("Transpose", g("Reshape", flat, [-1, count, q]), perm=[1, 0, 2])

    def _assigned(self, sums: str, at: "list[int]", count: int) -> str:
        # (count, n, 1): sums of the expansions `at`, 0 for missing ones
        if len(at) == count:
            return sums
        slots = np.zeros((count, len(at)))
        slots[at, range(len(at))] = 1
        flat = self.graph("MatMul", slots, self.graph.sum(sums, 2))
        return self.graph("Unsqueeze", flat, [2])

    def _higher(self, expansions: "list[Any]", degree: int, moved: str, d: int) -> str:
        # z.(M z + T (zz)) + (zz).(Q (zz)), zz the products of two entries of z: (expansions, n, 1)
        g, twos = self.graph, monomials(2, d)
        square = np.zeros((len(expansions), d, d))
        for at, each in enumerate(expansions):
            square[at, twos[:, 0], twos[:, 1]] = each.levels[2]
        inner = self._times(moved, square.transpose(0, 2, 1))
        if degree == 2:
            return g.sum(g("Mul", inner, moved), 2, keep=True)
        slot = np.zeros((d, d), dtype=np.int64)
        slot[twos[:, 0], twos[:, 1]] = np.arange(len(twos))
        products = g("Mul", *(g("Gather", moved, twos[:, side], axis=2) for side in (0, 1)))
        threes, cubes = monomials(3, d), np.zeros((len(expansions), len(twos), d))
        for at, each in enumerate(expansions):
            cubes[at, slot[threes[:, 1], threes[:, 2]], threes[:, 0]] = each.levels[3]
        total = g.sum(g("Mul", g("Add", inner, self._times(products, cubes)), moved), 2, keep=True)
        if degree == 3:
            return total
        fours, quads = monomials(4, d), np.zeros((len(expansions), len(twos), len(twos)))
        for at, each in enumerate(expansions):
            quads[at, slot[fours[:, 2], fours[:, 3]], slot[fours[:, 0], fours[:, 1]]] = each.levels[4]
        quartic = g.sum(g("Mul", self._times(products, quads), products), 2, keep=True)
        return g("Add", total, quartic)

    def _samples(self, body: Samples, z: str) -> str:
        g, sides = self.graph, []
        for level, points, normals in body.pairs:
            if not len(points):
                zero = g("Mul", g.sum(z, 1, keep=True), 0.0)
                sides.append(g("Add", zero, level))
                continue
            center = points.mean(axis=0)
            about, near = self._about(z, center[None, :]), points - center
            score = g("Sub", (near**2).sum(axis=1)[None, :] / 2, g("MatMul", about, near.T))
            nearest = g("ArgMin", score, axis=1, keepdims=1)
            planes = g("Add", g("MatMul", about, normals.T), (level - (normals * near).sum(axis=1))[None, :])
            sides.append(g("GatherElements", planes, nearest, axis=1))
        return g("Concat", *sides, axis=1) if len(sides) > 1 else sides[0]


def _product_loses(body: KernelSums, single: bool) -> bool:
    # |x|^2 + |z|^2 - 2 x.z may overflow, or lose a tenth of the exponent.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = 8 * float((body.vectors**2).sum(axis=1).max(initial=0))
        return not abs(body.kernel.gamma) * (body.vectors.shape[1] + 8) * unit(single) * squares < 0.1


def _alternating(coefficients: np.ndarray) -> np.ndarray:
    # Alternating signs keep partial sums small.
    n, columns = coefficients.shape
    if columns > 1:
        return np.arange(n)
    slot = np.zeros(n)
    for side in (coefficients[:, 0] > 0, coefficients[:, 0] <= 0):
        slot[side] = (np.arange(side.sum()) + 0.5) / max(side.sum(), 1)
    return np.argsort(slot, kind="stable")


def answers(text: bytes, description: Description, single: bool) -> "check.Answers":
    """Return a function that answers rows in onnxruntime."""
    from fastsvm_cli.export.check import graph_answers

    try:
        from onnxruntime import InferenceSession
    except ImportError:
        raise MissingPackageError("onnxruntime", "it is not installed, and --test runs the graph in it") from None
    session = InferenceSession(text, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return graph_answers(description, lambda rows: dict(zip(names, session.run(None, {"X": rows}))), single)
