"""Fingerprints of files."""

from collections.abc import Iterable

from fastsvm_cli import _native
from fastsvm_cli._native import fingerprint as fingerprint


def digest_of(document: object) -> str:
    """Return the fingerprint of a JSON document."""
    import json

    return fingerprint(json.dumps(document, sort_keys=True).encode())


def fingerprint_of(buffers: "Iterable[bytes | memoryview]") -> str:
    """Return the fingerprint of a text in several buffers."""
    digest = _native.Sha256()
    for buffer in buffers:
        digest.update(buffer)
    return digest.hexdigest()[:32]
