"""Range files in models that take raw rows (FORMAT.md).

Rows are scaled where they are made; `decision_values`, radii and the model of --exact take scaled rows.
"""

from typing import Any

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.text.scaling import Scaling, parse_scaling, with_labels


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

    def __reduce__(self):
        return _embedded_again, (self.texts, self.path)

    def same_as(self, scaling: Scaling) -> bool:
        """Return whether the scaling has the same text."""
        return self.texts == tuple(map(_with_line_feeds, scaling.texts))

    def scaling(self) -> Scaling:
        """Return the scaling, to apply to rows."""
        return Scaling(f"the range in {self.path}", self.native, self.texts)

    def rows(self, chunk: "_native.Chunk") -> "_native.Chunk":
        """Scale raw rows that are not from text."""
        return self.native.rows(chunk)

    @property
    def shifted(self) -> int:
        """Number of features that scaling adds to a row without them."""
        return self.native.shifted

    def answer(self, decisions: "_native.Decisions") -> None:
        """Convert regression values to the unit of raw labels, in place."""
        if self.labels_back is not None:
            decisions.map_values(*self.labels_back)


def check(scaling: Scaling, model: Any, path: str) -> None:
    """Require a model (None: classes of rows) that can embed the scaling."""
    name = "its range" if path == scaling.path else scaling.path
    if (error := _native.embedding_error(scaling.native, None if model is None else model.file, name)) is not None:
        why, of_model = error
        raise ModelFormatError(path if of_model else scaling.path, why)


def _embedded_again(texts: "tuple[bytes, ...]", path: str) -> EmbeddedScaling:
    scaling = parse_scaling(texts[0], path)
    return EmbeddedScaling(with_labels(scaling, texts[1], path) if len(texts) > 1 else scaling, path)


def _with_line_feeds(text: bytes) -> bytes:
    text = text.replace(b"\r\n", b"\n")
    return text if text.endswith(b"\n") or not text else text + b"\n"
