"""Checksums of fastsvm's own files (native/engine/checksum.h)."""

from collections.abc import Sequence

from fastsvm_cli import _native
from fastsvm_cli.text.fingerprint import fingerprint

#: Written format of compiled models and reduced sets.
VERSION: int = _native.FORMAT_VERSION
#: Format of compiled models that carry a range.
CARRYING: int = _native.CARRYING_VERSION
#: Words before the carried texts: range file, e1071's y scale file.
_CARRIED = (b"range", b"y_range")
#: Carried texts with their first lines' numbers.
Ranges = list[tuple[bytes, int]]
#: First word of a reduced set's last line.
REDUCED: str = _native.REDUCED_WORD
#: First word of a folded model's last line.
FOLDED: str = _native.FOLDED_WORD


def seal_compiled(kind: str, parts: "list[bytes]", carried: "Sequence[bytes]" = ()) -> bytes:
    """Return a compiled model's file. parts: content between the first line and the carried range."""
    ranges = [b"%s %d\n%s" % (word, text.count(b"\n"), text) for word, text in zip(_CARRIED, carried)]
    text = b"".join([f"fastsvm_model {kind} {CARRYING if carried else VERSION}\n".encode(), *parts, *ranges])
    return text + f"checksum {fingerprint(text)}\nend\n".encode()


def seal_own_line(text: bytes) -> bytes:
    """Return the file of a LIBSVM model that ends in fastsvm's line. text: all but the checksum."""
    return text + b" " + fingerprint(text + b" ").encode() + b"\n"
