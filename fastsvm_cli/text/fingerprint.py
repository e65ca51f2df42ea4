"""How a compiled model knows the file it came from."""

from collections.abc import Iterable

from fastsvm_cli import _native


def fingerprint(text: "bytes | memoryview") -> str:
    """The first 32 hexadecimal digits of the text's SHA-256."""
    return fingerprint_of((text,))


def digest_of(document: object) -> str:
    """A fingerprint of what JSON can hold: another one for another."""
    import json

    return fingerprint(json.dumps(document, sort_keys=True).encode())


def fingerprint_of(pieces: "Iterable[bytes | memoryview]") -> str:
    """The same of a text that comes in pieces."""
    digest = _native.Sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:32]
