"""The checksum of a file of ours: written here, and checked here, for every kind, so that a changed digit is noticed
and not believed.

Compiled models: the line `checksum <32 digits>` directly before `end`, of every byte before that line. LIBSVM's files
with a line of ours behind them (reduced sets, and what scaling is folded into): the last word of that line, of every
byte before that word. The digits are those of a fingerprint, line ends counted as LF, so that a copy with CRLF is still
good. Version 1 of either had no checksum, and is read without one."""

from collections.abc import Sequence

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.text.fingerprint import fingerprint
from fastsvm_cli.text.header import line_words

#: Of compiled models and of the line of reduced sets: what is written. Older ones are read, too.
VERSION = 2
#: The version of compiled models that carry a range; it adds nothing else.
CARRYING = 3
#: The words before the texts that are carried, in their order: of the range file, and of e1071's y scale file.
_CARRIED = (b"range", b"y_range")
#: Texts that are carried, each with the number of its first line.
Ranges = list[tuple[bytes, int]]
#: The first word of a reduced set's last line.
REDUCED = "fastsvm_reduced"
#: Likewise of a LIBSVM model that scaling is folded into.
FOLDED = "fastsvm_folded"

_CHANGED = "the checksum does not fit the content: the file was changed after fastsvm wrote it; compile the model again"


def seal_compiled(kind: str, parts: "list[bytes]", carried: "Sequence[bytes]" = ()) -> bytes:
    """The file of a compiled model: its first line, `parts`, and what ends every one. carried: the texts of the range
    that it carries, whole lines."""
    ranges = [b"%s %d\n%s" % (word, text.count(b"\n"), text) for word, text in zip(_CARRIED, carried)]
    text = b"".join([f"fastsvm_model {kind} {CARRYING if carried else VERSION}\n".encode(), *parts, *ranges])
    return text + f"checksum {fingerprint(text)}\nend\n".encode()


def open_compiled(text: bytes, path: str, version: int) -> "tuple[bytes, Ranges]":
    """The file of a compiled model as its kind reads it, whatever the version: line ends are LF, the last line is
    `end`, the checksum was good and is removed. Also returns the texts that it carries. Raises
    ModelFormatError."""
    text = _with_line_feeds(text)
    if not text.endswith(b"\nend\n"):
        raise ModelFormatError(path, "the last line is not 'end': the file is cut off, or has been added to")
    if version > 1:
        content = text.rfind(b"\n", 0, -len(b"\nend\n")) + 1
        if text[content:] != f"checksum {fingerprint(memoryview(text)[:content])}\nend\n".encode():
            raise ModelFormatError(path, _CHANGED)
        text = b"".join([memoryview(text)[:content], b"end\n"])
    for byte in (b"\r", b"\v", b"\f"):  # which the kinds' parsers would take for blanks
        at = text.find(byte)
        if at >= 0:
            line_words(text[text.rfind(b"\n", 0, at) + 1 : text.find(b"\n", at)], path, text.count(b"\n", 0, at) + 1)
    return _without_ranges(text, path) if version == CARRYING else (text, [])


def _without_ranges(text: bytes, path: str) -> "tuple[bytes, Ranges]":
    at = text.rfind(b"\n%s " % _CARRIED[0]) + 1
    if not at:
        raise ModelFormatError(
            path, f"a model of version {CARRYING} without a range found, expected one behind its body"
        )
    number, rest = text.count(b"\n", 0, at) + 1, text[at : -len(b"end\n")].split(b"\n")[:-1]
    ranges: Ranges = []
    for word in _CARRIED:
        if not rest and ranges:
            break
        words = rest[0].split()
        count = int(words[1]) if len(words) == 2 and words[1].isdigit() and len(words[1]) < 10 else -1
        if words[:1] != [word] or not 0 <= count < len(rest):
            found = rest[0][:40].decode("ascii", "replace")
            raise ModelFormatError(path, f"'{found}' found, expected '{word.decode()}' and its lines", number)
        ranges.append((b"".join(line + b"\n" for line in rest[1 : count + 1]), number + 1))
        number, rest = number + count + 1, rest[count + 1 :]
    if rest:
        raise ModelFormatError(path, "text found behind the lines of the range", number)
    return text[:at] + b"end\n", ranges


def seal_own_line(text: bytes) -> bytes:
    """The file of a LIBSVM model with a line of ours. text: the LIBSVM model, and that line up to the last word."""
    return text + b" " + fingerprint(text + b" ").encode() + b"\n"


def own_line(text: bytes) -> "str | None":
    """The first word of the line of ours with which the file of a LIBSVM model ends, REDUCED or FOLDED; or None."""
    start = _last_line(text)
    return next((word for word in (REDUCED, FOLDED) if text.startswith(word.encode() + b" ", start)), None)


def check_own_line(text: bytes, path: str) -> None:
    """Raise ModelFormatError if the file of a LIBSVM model with a line of ours is not what was written."""
    start = _last_line(text)
    if text[start : start + 80].split()[1:2] != [b"2"]:
        return
    counted = _with_line_feeds(text)
    word = counted.rfind(b" ") + 1
    if counted[word:] != fingerprint(memoryview(counted)[:word]).encode() + b"\n":
        raise ModelFormatError(
            path,
            f"{_CHANGED}, or delete this line to use the file as a LIBSVM model and no more",
            text.count(b"\n", 0, start) + 1,
        )


def _last_line(text: bytes) -> int:
    return text.rfind(b"\n", 0, -1) + 1


def _with_line_feeds(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n") if b"\r" in text else text
