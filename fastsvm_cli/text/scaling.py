"""The file of `--scale`, which `svm-scale -s` or write.svm of R's e1071 writes, for rows while they are read."""

from collections.abc import Callable, Sequence

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError, display
from fastsvm_cli.text.fingerprint import fingerprint


class Affine:
    """What scaling does to features but for rounding: a value x of the feature features[j] becomes slopes[j] x +
    offsets[j], and all other features are left out.

    features: (d) increasing LIBSVM indices. slopes, offsets: (d); no slope is 0."""

    def __init__(self, features: "Sequence[int]", slopes: "Sequence[float]", offsets: "Sequence[float]"):
        self.features, self.slopes, self.offsets = features, slopes, offsets


class Scaling:
    """How rows are scaled, for Blocks and read_chunks, and what became of those that were.

    path: the file. native: what it says. texts: its content, and that of the labels' file if there is one. entries:
    counts of the rows' entries.
    """

    def __init__(self, path: str, native: "_native.Scaling", texts: "tuple[bytes, ...]"):
        self.path, self.native, self.texts = path, native, texts
        self.entries = _native.ScaledEntries()

    @property
    def digest(self) -> str:
        """The fingerprints of its texts, joined."""
        return "".join(map(fingerprint, self.texts))

    def again(self) -> "Scaling":
        """The same for another reading, with counts of its own."""
        return Scaling(self.path, self.native, self.texts)

    def unrounded(self) -> "Scaling":
        """The same in double precision, without svm-scale's six digits."""
        return Scaling(self.path, self.native.unrounded(), self.texts)

    def affine(self) -> "Affine":
        """What it does to features, but for rounding."""
        lines = self.native.lines()
        return Affine([index for index, _, _ in lines], [slope for _, slope, _ in lines], [t for _, _, t in lines])

    def warnings(self) -> "list[str]":
        """What svm-scale warns of, once all rows have been read."""
        return _native.scaling_warnings(self.native, self.entries, display(self.path))


def parse_scaling(text: bytes, path: str) -> Scaling:
    """text: what svm-scale -s wrote, or the `scale.file` of write.svm; path: the file, for messages. Raises
    DataFormatError for what is neither."""
    return Scaling(path, _parsed(_native.read_scaling, text, path), (text,))


def with_labels(scaling: Scaling, text: bytes, path: str) -> Scaling:
    """The same, and labels scaled as the `yscale.file` of write.svm says, whose text this is. Raises DataFormatError,
    also where the other file is not of write.svm: svm-scale's holds y itself."""
    if scaling.native.kind != "standard":
        raise DataFormatError(scaling.path, 1, "a range file of svm-scale found, expected the scale file of write.svm")
    return Scaling(scaling.path, _parsed(scaling.native.with_labels, text, path), (*scaling.texts, text))


def _parsed(parse: "Callable[[bytes], _native.Scaling]", text: bytes, path: str) -> "_native.Scaling":
    try:
        return parse(text if text.endswith(b"\n") or not text else text + b"\n")
    except ValueError as error:
        why, line = error.args
        raise DataFormatError(path, line, why) from None
