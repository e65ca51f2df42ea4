"""Scaling by the file of `--scale`, from `svm-scale -s` or write.svm of R's e1071."""

from collections.abc import Callable, Sequence

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError, display
from fastsvm_cli.text.fingerprint import fingerprint


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
        return "".join(map(fingerprint, self.texts))

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
