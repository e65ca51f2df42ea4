"""The checksum of a file of ours, so that a changed digit is noticed and not believed: written here, for every kind,
and checked by the core (native/engine/checksum.h, which describes it)."""

from collections.abc import Sequence

from fastsvm_cli import _native
from fastsvm_cli.text.fingerprint import fingerprint

#: Of compiled models and of the line of reduced sets: what is written. Older ones are read, too.
VERSION: int = _native.FORMAT_VERSION
#: The version of compiled models that carry a range; it adds nothing else.
CARRYING: int = _native.CARRYING_VERSION
#: The words before the texts that are carried, in their order: of the range file, and of e1071's y scale file.
_CARRIED = (b"range", b"y_range")
#: Texts that are carried, each with the number of its first line.
Ranges = list[tuple[bytes, int]]
#: The first word of a reduced set's last line.
REDUCED: str = _native.REDUCED_WORD
#: Likewise of a LIBSVM model that scaling is folded into.
FOLDED: str = _native.FOLDED_WORD


def seal_compiled(kind: str, parts: "list[bytes]", carried: "Sequence[bytes]" = ()) -> bytes:
    """The file of a compiled model: its first line, `parts`, and what ends every one. carried: the texts of the range
    that it carries, whole lines."""
    ranges = [b"%s %d\n%s" % (word, text.count(b"\n"), text) for word, text in zip(_CARRIED, carried)]
    text = b"".join([f"fastsvm_model {kind} {CARRYING if carried else VERSION}\n".encode(), *parts, *ranges])
    return text + f"checksum {fingerprint(text)}\nend\n".encode()


def seal_own_line(text: bytes) -> bytes:
    """The file of a LIBSVM model with a line of ours. text: the LIBSVM model, and that line up to the last word."""
    return text + b" " + fingerprint(text + b" ").encode() + b"\n"
