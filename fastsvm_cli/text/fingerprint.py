"""How a compiled model knows the file it came from."""

import sys
from collections.abc import Iterable

# OpenSSL's is five times as fast as Python's own and takes two milliseconds to load; hashlib around both takes four
# more.
_OWN = [("_sha2" if sys.version_info >= (3, 12) else "_sha256", "sha256")]
_OPENSSL = [("_hashlib", "openssl_sha256")]
_SMALL = 1 << 20


def fingerprint(text: "bytes | memoryview") -> str:
    """The first 32 hexadecimal digits of the text's SHA-256."""
    return fingerprint_of((text,), len(text))


def digest_of(document: object) -> str:
    """A fingerprint of what JSON can hold: another one for another."""
    import json

    return fingerprint(json.dumps(document, sort_keys=True).encode())


def fingerprint_of(pieces: "Iterable[bytes | memoryview]", size: int) -> str:
    """The same of a text that comes in pieces. size: about how many bytes they have together."""
    digest = _sha256(size)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:32]


def _sha256(size: int):
    for module, name in _OWN if size < _SMALL else _OPENSSL:
        try:
            return getattr(__import__(module), name)()
        except (ImportError, AttributeError):
            continue
    from hashlib import sha256

    return sha256()
