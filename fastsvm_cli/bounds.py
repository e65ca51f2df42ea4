"""Inequalities with a proof, as pure functions of numbers. No arrays, no files."""

from math import inf


def gamma_max(largest_vector_norm: float, largest_row_norm: float) -> float:
    """The largest gamma for which the degree-2 expansion of every kernel term is within 3.05 % of it.

    largest_vector_norm: max |x_i| over the support vectors; largest_row_norm: max |z| over the rows; both about the centre of
    the expansion. Claesen et al., eq. (3.11): |x_M|^2 |z|^2 < 1 / (16 gamma^2). By Cauchy-Schwarz |2 gamma x.z| < 1/2 then, and
    |e^t - 1 - t - t^2/2| < 0.0305 e^t for |t| < 1/2 (eqs. 3.9, 3.10, A.2). Infinite where all vectors or all rows are zero.
    """
    product = 4 * largest_vector_norm * largest_row_norm
    return 1 / product if product > 0 else inf


def squared_norm_limit(gamma: float, largest_squared_norm: float) -> float:
    """Rows with |z - m|^2 below this are inside the bound (3.11), for support vectors of at most this |x - m|^2."""
    product = 16 * gamma * gamma * largest_squared_norm
    return 1 / product if product > 0 else inf
