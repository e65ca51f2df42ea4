"""Proven inequalities as functions of numbers, without arrays or files.

PROOFS.md has the proofs, as statements B1, B2, ..., and u = 2^-53 is the unit roundoff of double precision.
"""

from math import factorial, inf, sqrt

#: u, the unit roundoff of double precision.
UNIT = 2.0**-53
#: Loss of a product by underflow: the smallest positive double.
LOST_PRODUCT = 2.0**-1074
# Covers the arithmetic of a bound itself.
_UP = 1 + 1e-9


def gamma_max(largest_vector_norm: float, largest_row_norm: float) -> float:
    """Return the largest gamma for which the degree-2 expansion of every kernel term is within 3.05 % of it.

    largest_vector_norm: max |x_i| over the support vectors; largest_row_norm: max |z| over the rows; both about the
    centre of the expansion. Claesen et al., eq. (3.11): |x_M|^2 |z|^2 < 1 / (16 gamma^2). Then by Cauchy-Schwarz |2
    gamma x.z| < 1/2, and |e^t - 1 - t - t^2/2| < 0.0305 e^t for |t| < 1/2 (eqs. 3.9, 3.10, A.2). Infinite if all
    vectors or all rows are zero.
    """
    product = 4 * largest_vector_norm * largest_row_norm
    return 1 / product if product > 0 else inf


def squared_norm_limit(gamma: float, largest_squared_norm: float) -> float:
    """Return the |z - m|^2 below which rows z are inside the bound (3.11), where m is the expansion's centre.

    largest_squared_norm: the largest |x - m|^2 of the support vectors.
    """
    product = 16 * gamma * gamma * largest_squared_norm
    return 1 / product if product > 0 else inf


def degree_norm(computed: float, degree: int, moment: float, n: int, d: int, exponent: float) -> float:
    """Return an upper bound of W_degree, the norm of the part of w in one degree (B1), from its computed square (B43).

    computed: sum_ij a~_i a~_j (2 gamma x~_i.x~_j)^k / k! in floating point, with k = degree, a~_i = a_i e^{-gamma
    |x~_i|^2} and x~_i the n support vectors of d features, minus the centre. moment: sum_i |a~_i| s_i^k, where s_i =
    sqrt(2 gamma) r_i and r_i r_j bounds the sizes in an inner product. exponent: the largest gamma r_i^2.
    """
    kappa = degree * (d + 8) + 2 * (exponent * (d + 4) + 4) + degree + 2 * n + 304
    size = moment * moment / factorial(degree)
    return sqrt(max(computed, 0.0) + 1.1 * kappa * UNIT * size * _UP) * _UP


def tail_norm(
    computed: float, above: int, moments: "list[float]", weight: float, n: int, d: int, exponent: float
) -> float:
    """Return an upper bound of W_{>above}, the norm of the parts of w beyond degree `above` (B1, B44).

    computed: its square, as computed. moments: sum_i |a~_i| s_i^k for k = above + 1, above + 2, ...; weight: sum_i
    |a_i|. Other arguments: `degree_norm`.
    """
    size = weight * weight
    s = 2 * exponent
    last = above + len(moments)
    degrees: float = 2 * last
    if s < 12 and s < last / 2:
        total = sum(m * m / factorial(k) for k, m in enumerate(moments, above + 1))
        # Beyond the given moments, each degree is less than half the one before.
        total += 2 * moments[-1] * moments[-1] / factorial(last)
        size = min(size, total)
    else:
        degrees = last + 4 * s  # e^{|s|} has its weight on degrees around |s|
    kappa = degrees * (d + 8) + 2 * (exponent * (d + 4) + 4) + 2 * n + 400
    return sqrt(max(computed, 0.0) + 1.1 * kappa * UNIT * size * _UP) * _UP


def coefficient_error(degree: int, factor: float, moment: float, n: int, d: int, exponent: float) -> float:
    """Return an upper bound of the error of the computed tensor T_k = factor sum_i a~_i x~_i^k (B45).

    It is the distance from the true one in Frobenius norm. degree: k. moment: sum_i |a~_i| |x~_i|^k over the n support
    vectors of d features. exponent: the largest gamma |x~|^2 (0 for finite kernels).
    """
    operations = n + 3 * degree + exponent * (d + 4) + 24
    return abs(factor) * moment * operations * UNIT * 1.1 + 1e-322 * (n + 10)


def residual_error(size: float, residual: float, d: int, rank: int) -> float:
    """Return an upper bound of the error of the computed M - sum_r lambda_r q_r q_r', (d, d) (B36).

    It is the distance from the true one in Frobenius norm. size: sum_r |lambda_r| |q_r|^2 over the `rank` terms.
    residual: the Frobenius norm of the computed difference.
    """
    return 1.01 * UNIT * ((rank + 4) * size + 2 * residual) + 4 * LOST_PRODUCT * d * (rank + 2)


def proven_by_cholesky(bound: float, d: int) -> float:
    """Return an upper bound of |R|_2 for a symmetric R, (d, d), with entries of at most 1 (B36).

    The factorisations of `bound` I - R and `bound` I + R must have found only positive pivots.
    """
    return (bound + 2.1 * (d + 4) * (d + 1) * UNIT * (bound + 1)) * _UP


def length(squares: float, n: int) -> float:
    """Return an upper bound of the Euclidean length of n numbers.

    squares: the computed sum of their squares, some of which may have underflowed.
    """
    return sqrt(squares) * _UP + 2e-154 * sqrt(n)
