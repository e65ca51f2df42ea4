"""Sizes of expansions, and times of certificates."""

from math import comb

from fastsvm_cli._native import Header

_NUMBER_BYTES = 11  # per coefficient in a file
_CERTIFY_OPERATIONS = 2e9  # per second


def packed_size(k: int, d: int) -> int:
    """Count the entries j1 <= ... <= jk of a symmetric tensor."""
    return comb(d + k - 1, k) if k else 1


def coefficient_count(d: int, degree: int) -> int:
    """Return the coefficients of a polynomial of d variables."""
    return sum(packed_size(k, d) for k in range(degree + 1))


def compressed_count(d: int, rank: int) -> int:
    """Return the coefficients of degree 2 with a matrix of this rank."""
    return 1 + d + rank * (1 + d)


def file_bytes(header: Header, features: int, degree: int, expansions: int = 1) -> int:
    """Estimate the bytes of a compiled model's file. expansions: per decision function."""
    return coefficient_count(features, degree) * header.pairs * expansions * _NUMBER_BYTES


def certify_seconds(header: Header, features: int) -> float:
    """Estimate the seconds of a certificate."""
    return header.total_sv**2 * features / 2 / _CERTIFY_OPERATIONS * max(1, header.nr_class - 1)
