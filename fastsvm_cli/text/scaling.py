"""Scaling by the file of `--scale`, from `svm-scale -s` or write.svm of R's e1071.

A model that takes raw rows embeds the file (FORMAT.md). Its rows are scaled where they are made; `decision_values`,
radii and the model of --exact take scaled rows.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError, ModelFormatError, display


class Affine:
    """x of features[j] becomes slopes[j] x + offsets[j]; others are dropped. No slope is 0."""

    def __init__(self, features: "Sequence[int]", slopes: "Sequence[float]", offsets: "Sequence[float]"):
        self.features, self.slopes, self.offsets = features, slopes, offsets


class Scaling:
    """Scaling of one reading of rows, by the texts of a range file, and a labels' file."""

    def __init__(self, path: str, native: "_native.Scaling", texts: "tuple[bytes, ...]"):
        self.path, self.native, self.texts = path, native, texts
        self.entries = _native.ScaledEntries()

    @property
    def digest(self) -> str:
        """Checksum of the range files' texts."""
        return "".join(map(_native.fingerprint, self.texts))

    def again(self) -> "Scaling":
        """Return the scaling with counts of 0."""
        return Scaling(self.path, self.native, self.texts)

    def unrounded(self) -> "Scaling":
        """Return it without rounding to six digits."""
        return Scaling(self.path, self.native.unrounded(), self.texts)

    def affine(self) -> "Affine":
        """Return slope and offset per feature."""
        lines = self.native.lines()
        return Affine([index for index, _, _ in lines], [slope for _, slope, _ in lines], [t for _, _, t in lines])

    def warnings(self) -> "list[str]":
        """Return svm-scale's warnings, after all rows were read."""
        return _native.scaling_warnings(self.native, self.entries, display(self.path))


def parse_scaling(text: bytes, path: str) -> Scaling:
    """Read a file of svm-scale -s or write.svm."""
    return Scaling(path, _parsed(_native.read_scaling, text, path), (text,))


def with_labels(scaling: Scaling, text: bytes, path: str) -> Scaling:
    """Add write.svm's `yscale.file`; svm-scale's, which holds y itself, is refused."""
    if scaling.native.kind != "standard":
        raise DataFormatError(scaling.path, 1, "a range file of svm-scale found, expected the scale file of write.svm")
    return Scaling(scaling.path, _parsed(scaling.native.with_labels, text, path), (*scaling.texts, text))


def _parsed(parse: "Callable[[bytes], _native.Scaling]", text: bytes, path: str) -> "_native.Scaling":
    try:
        return parse(text if text.endswith(b"\n") or not text else text + b"\n")
    except ValueError as error:
        why, line = error.args
        raise DataFormatError(path, line, why) from None


class EmbeddedScaling:
    """A range file embedded in a model.

    texts: of the range file, and of e1071's y scale file if any. native: without labels. labels_back: (from, scale,
    to): y becomes to + (y - from) * scale; None: unchanged.
    """

    def __init__(self, scaling: Scaling, path: str):
        self.path = path
        self.whole, self.native = scaling.native, scaling.native.features_alone()
        self.texts = tuple(map(_with_line_feeds, scaling.texts))
        line = scaling.native.label_line()
        self.labels_back = None if line is None else scaling.native.labels_back()

    def same_as(self, scaling: Scaling) -> bool:
        """Return whether the scaling has the same text."""
        return self.texts == tuple(map(_with_line_feeds, scaling.texts))

    def scaling(self) -> Scaling:
        """Return the scaling, to apply to rows."""
        return Scaling(f"the range in {self.path}", self.native, self.texts)

    def rows(self, chunk: "_native.Chunk") -> "_native.Chunk":
        """Scale raw rows that are not from text."""
        return self.native.rows(chunk)

    def answer(self, decisions: "_native.Decisions") -> None:
        """Convert regression values to the unit of raw labels, in place."""
        if self.labels_back is not None:
            decisions.map_values(*self.labels_back)


def check_embedding(scaling: Scaling, model: Any, path: str) -> None:
    """Require a model (None: classes of rows) that can embed the scaling."""
    name = "its range" if path == scaling.path else scaling.path
    if (error := _native.embedding_error(scaling.native, None if model is None else model.file, name)) is not None:
        why, of_model = error
        raise ModelFormatError(path if of_model else scaling.path, why)


def _with_line_feeds(text: bytes) -> bytes:
    text = text.replace(b"\r\n", b"\n")
    return text if text.endswith(b"\n") or not text else text + b"\n"
