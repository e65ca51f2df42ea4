"""How a compiled model knows the file it came from."""

_SMALL = 1 << 22


def fingerprint(text: bytes) -> str:
    """SHA-256, the first 32 digits."""
    if len(text) < _SMALL:
        # OpenSSL's is faster for large files, and takes ten milliseconds to load.
        for module in ("_sha2", "_sha256"):
            try:
                return getattr(__import__(module), "sha256")(text).hexdigest()[:32]
            except ImportError:
                continue
    from hashlib import sha256

    return sha256(text).hexdigest()[:32]
