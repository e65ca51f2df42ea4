"""Fingerprints of files."""

from collections.abc import Iterable

from fastsvm_cli import _native


def fingerprint(text: "bytes | memoryview") -> str:
    """Return the first 32 hexadecimal digits of the SHA-256."""
    return fingerprint_of((text,))


def digest_of(document: object) -> str:
    import json

    return fingerprint(json.dumps(document, sort_keys=True).encode())


def fingerprint_of(pieces: "Iterable[bytes | memoryview]") -> str:
    digest = _native.Sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:32]
