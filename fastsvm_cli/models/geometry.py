"""Geometry models: intervals from a few kernel values (DeCoste, "Anytime Interval-Valued Outputs for Kernel Machines:
Fast Support Vector Machine Classification via Distance Geometry"). Format: FORMAT.md; proof: bounds.py."""

from array import array

from fastsvm_cli import _native
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.exact import ExactModel
from fastsvm_cli.models.ordered import OrderedModel, read_ordered


class GeometryModel(OrderedModel):
    """A LIBSVM model with points S_1..S_k, whose kernel values with a row bound its decision values.

    all_vectors: the support vectors, then the folded ones, whose coefficients are 0. points: (k) rows of all_vectors,
    in order of evaluation. b (flat), squared_norm, b_error: native/models/geometry.h."""

    kind = "geometry"

    def __init__(
        self,
        exact: ExactModel,
        fingerprint: str,
        *,
        sequence: str,
        all_vectors: _native.Chunk,
        points: "list[int]",
        b,
        squared_norm: "list[float]",
        b_error: "list[float]",
    ):
        super().__init__(exact, fingerprint)
        self.sequence, self.all_vectors, self.points = sequence, all_vectors, points
        self.b, self.squared_norm, self.b_error = b, squared_norm, b_error
        self._points: _native.Geometry | None = None

    @property
    def evaluator(self) -> _native.Geometry:
        if self._points is None:
            self._points = _native.Geometry(
                self.exact.svm_model, self.all_vectors.select(self.points), self.b, self.squared_norm, self.b_error
            )
        return self._points

    def make_native(self) -> "_native.Model":
        return _native.GeometryModel(self.exact.native, self.evaluator)

    def stopped_after(self, steps: int) -> "StoppedGeometry":
        return StoppedGeometry(self, steps)

    @property
    def ordered_by(self) -> str:
        folded = sum(point >= self.header.total_sv for point in self.points)
        return f"{len(self.points)} points in {self.sequence} order{f', {folded} of them folded' * (folded > 0)}"

    @classmethod
    def parse(cls, text: bytes, path: str) -> "GeometryModel":
        return cls(**read_ordered(_native.read_geometry(text, path), path))

    def to_text(self) -> bytes:
        total, pairs = self.header.total_sv, self.pairs
        folded = list(range(total, self.all_vectors.rows))
        lines = f"sequence {self.sequence}\nnr_folded {len(folded)}\nnr_points {len(self.points)}\n"
        text = [_native.format_rows(self.all_vectors.select(folded)), b"points\n"]
        if self.points:
            text.append((" ".join(map(str, self.points)) + "\n").encode())
        text += [_native.format_numbers(array("d", numbers)) for numbers in (self.squared_norm, self.b_error) if pairs]
        text += [
            _native.format_numbers(array("d", self.b[at : at + pairs]))
            for at in range(0, len(self.points) * pairs, pairs or 1)
        ]
        return self.file_of(lines, *text)


class StoppedGeometry(Model):
    """A geometry model that uses only its first `steps` points; it has no file. Value and radius are the interval's
    middle and half width."""

    kind = "geometry"
    certified = True
    ordered = True

    def __init__(self, whole: GeometryModel, steps: int):
        self.whole, self.steps = whole, steps
        self.header, self.fingerprint, self.vectors = whole.header, whole.fingerprint, whole.vectors
        self.folded, self.carried = whole.folded, whole.carried

    def make_native(self) -> "_native.Model":
        return _native.StoppedGeometry(self.header, self.whole.evaluator, self.steps)
