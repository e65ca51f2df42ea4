from fastsvm_cli.models.maclaurin import coefficient_count
from fastsvm_cli.text.header import Header

_NUMBER_BYTES = 11  # per coefficient in a file
_CERTIFY_OPERATIONS = 2e9  # per second


def file_bytes(header: Header, features: int, degree: int, expansions: int = 1) -> int:
    """Estimate bytes. expansions: per decision function."""
    return coefficient_count(features, degree) * header.pairs * expansions * _NUMBER_BYTES


def certify_seconds(header: Header, features: int) -> float:
    return header.total_sv**2 * features / 2 / _CERTIFY_OPERATIONS * max(1, header.nr_class - 1)
