"""The checksum of fastsvm's own files, as the README describes it; nothing here comes from the package."""

import re
from hashlib import sha256


def fingerprint(text: bytes) -> str:
    return sha256(text).hexdigest()[:32]


def digits(text: bytes) -> bytes:
    return fingerprint(text.replace(b"\r\n", b"\n")).encode()


def with_checksum(text: bytes) -> bytes:
    """A compiled model with a new or renewed checksum."""
    content = re.sub(rb"(checksum .*\n)?end\n$", b"", text)
    return content + b"checksum " + digits(content) + b"\nend\n"


def embedding(text: bytes, *ranges: bytes) -> bytes:
    """A compiled model of version 2 as version 3, embedding these texts."""
    content = re.sub(rb"checksum .*\nend\n$", b"", re.sub(rb"^(fastsvm_model \w+) 2\n", rb"\1 3\n", text))
    for word, each in zip((b"range", b"y_range"), ranges):
        content += b"%s %d\n%s" % (word, each.count(b"\n"), each)
    return with_checksum(content + b"end\n")


def line_with_checksum(text: bytes) -> bytes:
    """Renew the checksum, the last word of fastsvm's line of a LIBSVM model."""
    before, word, line = text.rpartition(b"fastsvm_reduced ")
    if not word:
        before, word, line = text.rpartition(b"fastsvm_folded ")
    content = before + word + b" ".join([b"2", *line.split()[1:-1]]) + b" "
    return content + digits(content) + b"\n"


#: Message for a file whose content does not fit its checksum.
CHANGED = "the checksum does not fit the content: the file was changed after fastsvm wrote it; compile the model again"
