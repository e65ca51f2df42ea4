"""The contract of a model."""

from collections.abc import Callable
from typing import TypeAlias

from fastsvm_cli import _native
from fastsvm_cli.text.header import Header

#: What the caller needs of decision values: see Model.decision_values.
Until: TypeAlias = "float | list[tuple[float, float]] | None"


class Model:
    """A kernel machine, exact or compiled: it answers a chunk of rows with decision values.

    To add a kind of model, write a class with

    header: Header      the LIBSVM keys: svm_type, labels, rho, probability parameters
    fingerprint: str    of the exact model's file; only where it is compiled
    proves: bool        whether its decision values decide svm-predict's label, always
    certified: bool     whether it fills Decisions.radius where asked to (with_radius)
    bounded: bool       whether it counts rows outside a bound (Decisions.outside)
    ordered: bool       whether it counts the kernel evaluations of every row (Decisions.evaluations), because it stops
                        early
    reduced: bool       whether its probability parameters may be other than the exact model's
    labels_alone: bool  whether it can tell each row's class without all decision values, and fills Decisions made
                        with labels_alone: a winner in place of values
    stop_after(steps)   only where it can: answer from so many points alone, proving less (certified then, with radii)
    parse(text, path)   class method: the model in a file's content, a compiled model's as checksum.open_compiled
                        gives it; raises ModelFormatError
    plain()             the model by itself, a reduced set's without what it came from
    to_text() -> bytes  the file's content, a compiled model's from checksum.seal_compiled; models.parse_model makes
                        the same model of it

    decision_values(chunk, out, until=None) Fill `out` (native Decisions; value: (rows, pairs) float64, pairs in
        LIBSVM's order 0/1, 0/2, ..., 1/2, ...; rho is subtracted already; radius likewise, |value - svm-predict's| is
        at most that) for the rows of `chunk`. A native model passes both to the core; a numpy model calls
        out.resize(chunk.rows) and fills numpy.asarray(out.value). Features beyond those the model knows add nothing to
        an inner product, but their squares count in chunk.squared_norms. A row's values may depend on that row alone,
        never on its neighbours.
        until: what the caller needs of a model that proves. None: labels, so only the side of zero (of a regression
        model: values, to rounding). A
        number: values within it of svm-predict's. A list: the values themselves, to rounding, and the side of each
        (value, margin) in it as well, which only models with one pair are asked for. Raises RowError.

    reference_values(chunk, out)
        Only where the model proves: decision values in LIBSVM's own order of operations, bit for bit; slower. Raises
        RowError.

    and one line in models.MODEL_TYPES. Everything after decision values (votes, labels, probabilities, lines, scores)
    is written once, elsewhere, and needs nothing more.
    """

    header: Header
    fingerprint: str
    proves = False
    certified = False
    bounded = False
    ordered = False
    reduced = False
    stop_after: "Callable[[int], None] | None" = None

    @property
    def pairs(self) -> int:
        return self.header.pairs

    @property
    def labels_alone(self) -> bool:
        return False

    @classmethod
    def parse(cls, text: bytes, path: str) -> "Model":
        raise NotImplementedError

    def plain(self) -> "Model":
        return self

    def to_text(self) -> bytes:
        raise NotImplementedError

    def decision_values(self, chunk: _native.Chunk, out: _native.Decisions, until: Until = None) -> None:
        raise NotImplementedError

    def reference_values(self, chunk: _native.Chunk, out: _native.Decisions) -> None:
        raise NotImplementedError
