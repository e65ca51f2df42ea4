"""The checksum of a file of ours: written here, and checked here, for every kind, so that a changed digit is noticed
and not believed.

Compiled models: the line `checksum <32 digits>` directly before `end`, of every byte before that line. LIBSVM's files
with a line of ours behind them (reduced sets, and what scaling is folded into): the last word of that line, of every
byte before that word. The digits are those of a fingerprint, line ends counted as LF, so that a copy with CRLF is still
good. Version 1 of either had no checksum, and is read without one."""

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.text.fingerprint import fingerprint
from fastsvm_cli.text.header import line_words

#: Of compiled models and of the line of reduced sets: what is written. Older ones are read, too.
VERSION = 2
#: The first word of a reduced set's last line.
REDUCED = "fastsvm_reduced"
#: Likewise of a LIBSVM model that scaling is folded into.
FOLDED = "fastsvm_folded"

_CHANGED = "the checksum does not fit the content: the file was changed after fastsvm wrote it; compile the model again"


def seal_compiled(kind: str, parts: "list[bytes]") -> bytes:
    """The file of a compiled model: its first line, `parts`, and what ends every one."""
    text = b"".join([f"fastsvm_model {kind} {VERSION}\n".encode(), *parts])
    return text + f"checksum {fingerprint(text)}\nend\n".encode()


def open_compiled(text: bytes, path: str, version: int) -> bytes:
    """The file of a compiled model as its kind reads it, whatever the version: line ends are LF, the last line is
    `end`, the checksum was good and is gone. Raises ModelFormatError."""
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
    return text


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
