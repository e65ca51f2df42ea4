"""How a compiled model knows the file it came from."""

from typing import Iterable

_SMALL = 1 << 22


def fingerprint(text: bytes) -> str:
    """SHA-256, the first 32 digits."""
    return fingerprint_of((text,), len(text))


def fingerprint_of(pieces: "Iterable[bytes | memoryview]", size: int) -> str:
    """The same of a text that comes in pieces. size: about how long it is."""
    digest = _sha256(size)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:32]


def _sha256(size: int):
    if size < _SMALL:
        # OpenSSL's is faster for large files, and takes ten milliseconds to load.
        for module in ("_sha2", "_sha256"):
            try:
                return getattr(__import__(module), "sha256")()
            except ImportError:
                continue
    from hashlib import sha256

    return sha256()
