"""Inequalities with a proof, as pure functions of numbers. No arrays, no files. The proofs of all that fastsvm calls
proven stand here.

The statements are numbered B1, B2, ..., and cited by their numbers where the code relies on them.

What a radius covers
--------------------
`fastsvm predict` computes, for a row z and a decision function, a number g; svm-predict computes a number h. The radius
is an upper bound of |g - h|, so that g > radius proves h > 0. With f the decision function in exact arithmetic (of the
numbers in the model file), m the centre of an expansion, x~ = x - m, z~ = z - m, a_i the coefficients and K the kernel,
it is the sum of:

B1. *Truncation*, RBF only. K(x, z) = sum_n <phi_n(x), phi_n(z)> with <phi_n(x), phi_n(z)> = e^{-gamma |x~|^2 - gamma
    |z~|^2} (2 gamma x~.z~)^n / n!; the features phi_n of different degrees are orthogonal. What degree n adds to f is
    <w_n, phi_n(z)>, w_n = sum_i a_i phi_n(x_i), so by Cauchy-Schwarz at most W_n |phi_n(z)|, with W_n = |w_n|
    (`degree_norm`) and |phi_n(z)|^2 = e^{-t} t^n / n!, t = 2 gamma |z~|^2. The degrees beyond N are orthogonal to each
    other too: together at most W_{>N} sqrt(sum_{n>N} e^{-t} t^n / n!) <= W_{>N} sqrt(min(1, t^{N+1} / (N+1)!)), since
    the sum is the probability that a Poisson variable of mean t exceeds N, and is at most t^{N+1}/(N+1)! (Taylor's
    remainder of e^t). t is known up to the rounding of |z~|^2 only; e^{-t} t^n / n! rises up to t = n and falls beyond,
    and is taken at its largest.
B2. *Coefficients.* The stored tensors T_k differ from those of f by rounding to the stored precision (measured, not
    bounded: the compiler has both) and by the rounding of their own sums (`coefficient_error`). In Frobenius norm E_k,
    they change the polynomial by at most sum_k E_k |z~|^k, and f by e^{-gamma |z~|^2} times that.
B3. *Evaluation of the polynomial.* In raw coordinates its coefficients are derivatives along m, sums of at most d + k
    products each, k times over; a row's value is k nested sums of at most d products. A sum of products computed in any
    order errs by (number of operations) u of the sum of absolute values, and that is at most sum_k |T_k| (|z| + |m|)^k,
    Frobenius norms, by Cauchy-Schwarz: no cancellation is assumed. The number of operations is at most 2 p (d + p + 6)
    + 20. Where z~ is formed row by row, |z~| stands for |z| + |m|.
B4. *The weight* e^{-gamma |z~|^2}: the error of the exponent, gamma (d + q + 8) u (|z| + |m|)^2 for q entries in the
    row, and 4 u for exp and the product, relative.
B5. *svm-predict's own rounding* (svm_predict_rounding in native/exact/rounding.h): of each kernel value, relative to
    the largest |K| can be, of the sum and of the subtraction of rho. RBF: its distance is a sum of q + s + 2 positive
    terms at most (s entries in a support vector), wrong by (q + s + 3) u of itself, which moves K = e^{-tau} by at most
    (q + s + 3) u max tau e^{-tau} = 0.37 (q + s + 3) u; the exponent's own product adds 0.37 u, exp 2 u. Exponential:
    tau = gamma |x - z| has half that relative error. Polynomial: |base| <= B = |gamma| |x| |z| + |coef0|, and (min(q,
    s) + 4) u of B is its error; the power multiplies it by degree and adds 2 u per product: relative to B^degree.
    Linear kernels are among them, with gamma 1 and coef0 0. Sigmoid: tanh has slope <= 1: B times the same, and 2 u.
    Normalized polynomial (gamma, coef0 >= 0): k(x, z) <= B^degree <= sqrt(k(x, x) k(z, z)) by Cauchy-Schwarz, so
    relative to 1: degree (max(q, s) + 8) u for k(x, z) and as much for the two halves of k(x, x) and k(z, z), 8 u for
    root, product and quotient. Each product and the sum of n terms: (n + 2) u sum |a_i| |K|; the subtraction of rho: u
    of the result, which is at most sum |a_i| |K| + |rho|.
B6. *The last sums*, over expansions and rho: u times the number of terms and their size.

B7. *Underflow.* Of a square: 2e-154 sqrt(count) in a length (`length`). Of anything else: the certificate is refused
    unless gamma, coef0, coefficients and vectors stay within 1e30, gamma and coef0 (and, for finite kernels,
    coefficients and vectors) also above 1e-30 (1e-60). For RBF only rows with gamma |z~|^2 < 745 have a weight, so
    |z~|^4 < 1e66 and what underflows adds less than 1e-250; every radius holds 1e-200 for it. For finite kernels E_k
    holds 1e-322 per support vector, which no row can make smaller than what it lost.

u = 2^-53. Second-order terms are covered by rounding the constants up; the arithmetic of the radius itself by a factor
1 + 1e-9. Terms B1 to B4 are computed per row in native/models/certificate.cpp, B5 and B6 in maclaurin.cpp beside it,
whose names are those used here; W and E are computed here, once, by the compiler.

Stopping early: geometry (native/models/geometry.cpp, native/models/point_span.cpp)
-----------------------------------------------------------------------------------
Everything here holds for every k, so that a row may stop after any number of points; where it is looked at is a matter
of time alone. A comparison without the terms for rounding tells where a look would be in vain: it can only put a stop
off. The sums over points are taken in any order.

phi: the kernel's feature map, w = sum a_i phi(x_i), so f(z) = <w, phi(z)> - rho. Points S_1..S_k, K their kernel
matrix, X the *computed* lower triangular matrix (whatever its error), e_j = sum_i X_ji phi(S_i), y = X k(S, z) so that
y_j = <e_j, phi(z)>, g the *computed* numbers, and w_perp = w - sum_j g_j e_j by definition. Then f(z) + rho = g.y +
<w_perp, phi(z)>, exactly, and only the last term is bounded:

B8. Let E = X K X' be the Gram matrix of the e_j, |E - I| <= skew < 1/2 in spectral norm, P the projection onto their
    span. <w_perp, phi(z)> = <w_perp, phi(z) - P phi(z)> + <P w_perp, phi(z)>, at most |w_perp| |phi(z) - P phi(z)| + |P
    w_perp| sqrt(K(z, z)).
B9. |phi(z) - P phi(z)|^2 = K(z, z) - y' E^-1 y <= K(z, z) - |y|^2 / (1 + skew) <= K(z, z) - |y|^2 + skew |y|^2.
B10. |P w_perp| is the largest <w_perp, v> over unit vectors v = sum b_j e_j of the span, for which |b|^2 <= 1 / (1 -
     skew): with h_j = <w_perp, e_j> it is at most |h| / sqrt(1 - skew) <= 1.5 |h| (`stray`). h = q - E g with q = X b,
     b_i = <w, phi(S_i)>, so |h| <= |q - g| + skew |g|.
B11. |w_perp|^2 = |w|^2 - 2 g.q + g'E g <= |w|^2 - |g|^2 + 2 |g| |q - g| + skew |g|^2 (`perp`).
B12. Let s_t = sqrt(K_tt), v_i = sum_t |X_it| s_t (`reach` = |v|) and v_1 the same with ones for s (`plain` = |v_1|).
     What is wrong by r_t in every K_tj or b_t is wrong by at most |X| r after a product with X. |q - g|: b is known
     within b_error each (the rounding radius of the exact evaluation, whose sums are in any order and whose kernel
     values with support vectors of its own may have either of the two for the row), and |b_t| <= |w| s_t, so that |q -
     g| <= plain b_error + (k + 8) u |w| reach.
B13. skew: L is computed row by row with L L' = K + D, X with X L = I + F (X by back substitution). For sums in any
     order |F_ij| <= (k + 8) u (|X| |L|)_ij and |D_ij| <= (k + 8) u s_i s_j + point_error (Higham, Accuracy and
     Stability, theorems 8.5 and 10.3). The rows of L have length s_t, so |F| <= (k + 8) u reach, and |X D X'| <= (k +
     8) u reach^2 + point_error plain^2, Frobenius. X K X' = (I + F) (I - L^-1 D L^-T) (I + F)' and L^-1 = (I + F)^-1 X,
     hence skew <= (1 + |F|)^2 (1 + |X D X'| / (1 - |F|)^2) - 1. A point in the span of the others (by its pivot) counts
     as absent.
B14. With few pairs, `perp` and `stray` are also measured, and the smaller ones count: with c = X'g, w_perp = w - sum_t
     c_t phi(S_t), so |w_perp|^2 = |w|^2 - 2 c.b + c'K c and h = X (b - K c). Computed c are off by (k + 8) u |X|'|g|, a
     vector of length (k + 8) u reach |g| at most; the sums err by (k + 8) u of the sums of sizes, where K_tj <= s_t
     s_j, and by b_error and point_error times |c|, summed. What near-dependence of the points costs is not in it.
B15. A row's y is computed from kernel values wrong by kernel_error each, and at most s_t sqrt(K(z, z)): |y - computed|
     <= plain kernel_error + (k + 8) u sqrt(K(z, z)) reach (`y_error`); it moves g.y by at most |g| y_error, and |y|^2
     by at most 2 y_error |y|.
B16. svm-predict's own rounding, and that of the subtraction of rho: Rounding::radius (native/exact/rounding.cpp), as
     for exact models.

Stopping early: triangle and blocks (native/models/triangle.cpp, pivot_list.cpp and blocks.cpp beside it)
---------------------------------------------------------------------------------------------------------
B17. For a kernel that falls with the distance, low <= |z - x_i| <= high gives k(high) <= K(x_i, z) <= k(low); what is
     left of a sum lies between P k(high) - N k(low) and P k(low) - N k(high), P and N the sums of its positive and
     negative coefficients.
B18. Triangle: the distances are d(z, m) -+ d(m, x_i) about a pivot m. What is left of a sum at a stop, wherever it is,
     are the vectors of m's list from there on; the pivots, whose distances from the row are known, are in no list, and
     their terms stand in the sum from the beginning, each pivot's once. The distance from a row comes from |z|^2 +
     |m|^2 - 2 z.m, wrong by Rounding::squared_distance_error; those between support vectors from sums of squared
     differences, wrong by (s + s' + 8) u of themselves.
B19. Blocks: low^2 and high^2 are sums, over the coordinates, of squared distances from the nearer and the farther face
     of the block's box, wrong by (d + q + 8) u of themselves; coordinates that no support vector has add their squares
     to both.
B20. P and N are rounded up, and taken times 1 - 1e-9 as lower bounds (n u < 1e-9); those of terms e^{-t}, t = gamma
     d(m, x_i), which are known to within (s + s' + 8) (2 + t) u of themselves, times what that leaves, where it is
     less. Distances are moved by more than the rounding of the exponent, exp and the products by 1e-13. What was added
     up already, and svm-predict's rounding: Rounding::radius (B5).
B21. A class that is proven to win all its pairs has one vote more than any other can get: the other pairs need no
     proof.

Exact models in single precision (native/exact/single_tiles.cpp, native/exact/label_sums.cpp, native/simd/tiles.cpp)
---------------------------------------------------------------------------------------------------------------------
RBF alone. v = 2^-24, and K is a kernel value in exact arithmetic. A value of single precision is wrong relative to
itself: every statement about a row bounds |value - K| by relative_error K + 2^-126.

B22. *Distances.* With c any center and s^2 = gamma log2(e), K = 2^-D, D = |s(x - c) - s(z - c)|^2. s rounds once, and
     moves D <= 126 by 2^-51 of itself, K by less than 1e-13. What is computed with is x' = s(x - c) rounded to single
     precision; how far that is from s(x - c) is computed for every vector and row, and 2.3e-16 of the length covers
     difference and product in double precision. Let `off` be the two together, at their largest, and size = |x'| +
     |z'|: D differs from |x' - z'|^2 by at most off (2 size + off) (`moved`). Entries of a row that no vector has,
     whose squares are `outside`, only add to |z'|^2. |x'|^2 and |z'|^2 are summed in double precision and rounded once,
     their sum is rounded once: 2 v (|x'|^2 + |z'|^2); twice the inner product is taken off with one rounding more, v D.
     Inner products are sums in pieces of columns: a product in column c passes through w_c roundings, its own, those of
     the sums behind it in its piece, and those of the pieces' sum, whether products and sums are contracted or not, so
     that the sum is wrong by at most sum_c w_c v |x'_c z'_c| / (1 - max w v) <= sqrt(sum w x'^2) sqrt(sum w z'^2) v /
     (1 - max w v), by Cauchy-Schwarz (`dot`). Columns stand by increasing variance, since w falls to the end of a
     piece. Underflow: 2^-150 for each of at most 4 d + 8 operations. delta is all of it; rounding of second order, and
     that of double precision, is covered by the factors of relative_error.
B23. *Powers.* The computed D, which may be negative by delta < 1/4, is k + r with k whole and |r| <= 1/2, exactly. 2^-r
     is computed by a polynomial with coefficients of single precision, which is within 0.27 v of it, by Horner's rule,
     whose roundings of products and sums are at most 2.01 v of the result: 2.3 v. The product with 2^-k is exact, since
     D is taken for 126 where it is larger: there both 2^-126 and K are between 0 and 2^-126 (1 + delta).
B24. Together |value - K| <= ((2^delta - 1) + 2.3 v 2^delta) K + 2^-126; a row with delta >= 1/4 has no such bound and
     climbs.
B25. *Sums of positive terms.* c_i >= 0 coefficients, of which single precision keeps c^_i (wrong by v of itself, unless
     all are exact); products and sums of four of them are of single precision, 4 v, the rest of double precision. So a
     computed sum of c_i K_i is wrong by at most `term` of itself, term = (1 + relative_error) (1 + v) (1 + 4 v) - 1, up
     to n 2^-124 times the largest coefficient for the 2^-126 of B24 and what underflows; and with the computed sum W
     for the exact one by at most term / (1 - term) W. A decision value is a difference of two such sums, or, of several
     classes, a sum of terms of either sign whose sizes are at most those of the sum of max_p |a_ip| K_i over the
     vectors of both classes.
B26. *Labels.* To it come the subtraction of rho and the sums of double precision, 4 u (W + |rho|), and svm-predict's
     own rounding (B5). Where a value is larger than all of that its side of zero is svm-predict's; of several classes
     B21 says how many pairs need that.

Kernel values from whole numbers (native/exact/grid.cpp, native/exact/grid_tiles.cpp, native/simd/grid.cpp)
-----------------------------------------------------------------------------------------------------------
RBF kernels, 1e-100 < gamma < 1e100, 1e-20 < gamma h^2 < 1e20. A point p, vector or row, stands at p^, p^_j = b_j + h
k_j, with whole numbers k_j, the same h in every feature, and b_j and least_j that the model's vectors and all rows
share; k_j - least_j, from 0 to 255, is what is stored. In features that no vector has, p^ = p. h and b are the computed
numbers, whatever they are. w = 2^-24. What is stated of a value v is |v - K| <= error K + 2^-126.

B30. |x^ - z^|^2 = h^2 D + s, D = |k_x - k_z|^2, s the sum of squares of the row's entries that no vector has. D is
     computed without error: all is done in whole numbers of 32 bits, and none leaves them. Of bits, D is how many
     differ, or |k_x| + |k_z| less twice how many both have, at most 2^16 each; a feature's two levels may change
     places, which changes no difference. Of numbers, in d <= 4096 features: sums of squares and inner products are at
     most 255^2 d < 2^29. Where vectors stand as k_x - 128, whose products with k_z of four features have no more than
     17 bits and a sign, D = |k_x|^2 + (|k_z|^2 - 256 sum k_z) - 2 k_z.(k_x - 128), of which every part is below 2^30 in
     size. Elsewhere numbers have 16 bits, and two products are added up in 32; or, below 128 (256 on NEON), 8 bits: two
     products (one on NEON) are added up in 16 bits, with a sign (without), and so are those of `run` words, while run 2
     max k_x max k_z <= 2^15 - 1 (run max k_x max k_z <= 2^16 - 1), before they are widened to 32. Bytes of counts take
     31 words of 32 bits: at most 248.
     In codes (native/exact/grid_codes.cpp): D is the sum over the codes, four features of two levels or two of four, of
     T(z, x), whole numbers up to 18; and so base(x) + sum of (T(z, x) - T(u, x)) with base(x) = sum of T(u, x), for any
     codes u. What is added is computed modulo 2^8, or modulo 2^16, which is D where D is below that. It is below 2^16
     always: at most 65,535 features of two levels, or 9 d <= 36,864. That it is below 2^8 follows from the largest T(z,
     x) of each code, summed; or from base and T(z, u), each at its largest: their sum (distances of bits are a metric),
     or the square of the sum of their roots. Modulo 2^16 bytes are added up while they stay below 256.
B31. Off the grid. e = |x - x^| + |z - z^|, each the square root of a sum of (|p_j - (b_j + h k_j)| + 2^-50 (|p_j| +
     |b_j|))^2: the computed difference errs by u (|h k| + |b + h k| + |p - (b + h k)|) <= 2^-50 (|p| + |b|), since p is
     at most h / 16 from there; squares that underflow change e sqrt(gamma) by less than 1e-90. e_x is the largest over
     the vectors, plus that of all zeros that stand for absent entries, by the triangle inequality; rows likewise. With
     r = |x - z|, r^ = |x^ - z^| and K, K^ their kernel values: |r - r^| <= e, so |ln K - ln K^| = gamma |r - r^| (r +
     r^) <= gamma e (2 min(r, r^) + e). Where gamma min(r, r^)^2 <= T = 88.03 that is at most eta = 2 e sqrt(gamma T) +
     gamma e^2, and |K^ - K| <= expm1(eta) K. Elsewhere K and K^ are below e^-T < 2^-126 (127 ln 2 = 88.0297: both are
     below 2^-127 (1 - 2^-12)), and v, which approximates K^, is between 0 and 2^-126 there (B32): |v - K| <= 2^-126. So
     if |v - K^| <= q K^ + 2^-126, and 0 <= v <= 2^-126 where K^ < 2^-127 (1 - 2^-12), then |v - K| <= (q + expm1(eta) +
     q expm1(eta)) K + 2^-126. expm1(eta) <= eta + eta^2 up to eta = 1; beyond, nothing is stated.
B32. From the table, s = 0: gamma h^2 D errs by 3 u of itself, at most 3 * 88 u where K^ >= 2^-126, exp by 2 u, its
     rounding to single precision by w: q = 1.001 w. What is computed below 2^-126 counts as 0, and so does all beyond
     the table's end where that is 0; K^ exceeds 2^-126 by less than q K^ there. A product of two numbers of the table,
     at D mod m and D - D mod m, m = 8 or 16 and D < 256, adds the error of the second one and the rounding of the
     product: q = 3.01 w. Where one of the two counts as 0, K^ <= 2^-126 (1 + w) too, and where the product is below
     2^-126 it counts as 0 or is a denormal number, off by 2^-150: K^ exceeds it by less than q K^ + 2^-126.
B33. With s > 0 the value is multiplied by a factor F: its exponent errs by (q' + 5) u of itself for q' such entries,
     and is below 90 where the factor is not 0; its rounding adds w, that of the product w: 2.01 w + 90 (q' + 10) u. A
     value below 2^-126 / F counts as 0: its product was below 2^-126 (1 + w), and K^ exceeds 2^-126 by less than what
     is added to q. Where values are summed up at once (B25) F multiplies their sum, in double precision: F takes part
     in every term, with no rounding of single precision but its own.
B34. From a polynomial, c = gamma h^2 / ln 2, c D <= 126 (1 + 1e-9) (from `nothing` on v = 0, where c D >= 126 whatever
     the rounding of `nothing`, so that K^ <= 2^-126). c errs by 4 u, as the sum of two numbers of single precision by
     2^-48 more; D is the sum of two such numbers exactly, their difference being at most w D and whole (and 0 where D <
     2^24; where `nothing` is at most 2^24 greater D do not matter). The product p of the leading two is rounded, what
     it lost is known exactly by a fused operation; what is added to that, and the sum, is of size 3 w 126 and errs by
     2^-38. p minus the nearest whole number k is exact. So r = c D - k errs by 2^-25 (its rounding, |r| <= 1/2 + 2^-15)
     and 2^-37, which moves 2^-r by 0.36 w. y = -r ln 2, |y| < 0.3467, errs by 2 w of itself: 0.70 w. Taylor's remainder
     y^8 / 8!, times e^|y|: 0.13 w. Horner's rule: with E_k the error of the polynomial that 1/k! begins, E_k <= |y|
     E_k+1 + w (its size, 1/k! where that is no number of single precision, and without fused operations |y| times the
     size of the one before): E_3 < 0.4 w, E_2 < 0.8 w, E_1 < 1.7 w, E_0 < (1.00 + e^y) w, and with e^y > 0.7071 that is
     2.42 w of it. Altogether 3.7 w: q = 4 w. 2^-k is exact, but for k = 126 and 2^-r < 1, where the bits of the product
     make a number between 0 and K^, which errs by less than 2^-126. Without fused operations c D is computed in double
     precision: less is lost.
"""

from math import exp, factorial, inf, sqrt

#: u, the unit roundoff of double precision.
UNIT = 2.0**-53
# Covers the arithmetic of a bound itself.
_UP = 1 + 1e-9


def gamma_max(largest_vector_norm: float, largest_row_norm: float) -> float:
    """The largest gamma for which the degree-2 expansion of every kernel term is within 3.05 % of it.

    largest_vector_norm: max |x_i| over the support vectors; largest_row_norm: max |z| over the rows; both about the
    centre of the expansion. Claesen et al., eq. (3.11): |x_M|^2 |z|^2 < 1 / (16 gamma^2). By Cauchy-Schwarz |2 gamma
    x.z| < 1/2 then, and |e^t - 1 - t - t^2/2| < 0.0305 e^t for |t| < 1/2 (eqs. 3.9, 3.10, A.2). Infinite where all
    vectors or all rows are zero.
    """
    product = 4 * largest_vector_norm * largest_row_norm
    return 1 / product if product > 0 else inf


def squared_norm_limit(gamma: float, largest_squared_norm: float) -> float:
    """Rows with |z - m|^2 below this are inside the bound (3.11), for support vectors of at most this |x - m|^2."""
    product = 16 * gamma * gamma * largest_squared_norm
    return 1 / product if product > 0 else inf


def degree_norm(computed: float, degree: int, moment: float, n: int, d: int, exponent: float) -> float:
    """An upper bound of W_degree, from its computed square.

    computed: sum_ij a~_i a~_j (2 gamma x~_i.x~_j)^k / k! in floating point, a~_i = a_i e^{-gamma |x~_i|^2}. moment:
    sum_i |a~_i| s_i^k with s_i = sqrt(2 gamma) r_i, r_i a length of which r_i r_j bounds what an inner product is made
    of. n support vectors of d features; exponent: the largest gamma r_i^2, at least the largest gamma |x~|^2.

    Where the inner products are those of the rounded differences x~, r_i = |x~_i|. Where vectors are sparse they are
    y_i.y_j - h_i - h_j, with y the vectors less the part of the centre whose columns are full, c its other part (so
    that x~ = y - c, and y is rounded as x~ is) and h = y.c - |c|^2 / 2: the sums are in either order of at most d
    products, of sizes that add up to |y_i||y_j| + |y_i||c| + |y_j||c| + |c|^2 = r_i r_j with r = |y| + |c| >= |x~|, and
    no partial sum is larger.

    Every term is wrong by at most kappa u times its own size with r_i r_j for the inner product: the inner product by
    (d + 8) u of that, its power k times as much, since neither the true one nor the computed one is larger; each a~ by
    the error of its exponent, gamma (d + 4) u |x~|^2, and 4 u; the products by k + 8; the sums over i and j by n / 16 +
    300 additions and 2 n more to spare. Those sizes add up to moment^2 / k!.

    That is counted term by term, and so is every sum: pairs may be computed in parts on different machines, each with
    its own instructions and exp, as long as the parts are added up one by one (compilers/maclaurin/pair_sums.py).
    """
    kappa = degree * (d + 8) + 2 * (exponent * (d + 4) + 4) + degree + 2 * n + 304
    size = moment * moment / factorial(degree)
    return sqrt(max(computed, 0.0) + 1.1 * kappa * UNIT * size * _UP) * _UP


def tail_norm(
    computed: float, above: int, moments: "list[float]", weight: float, n: int, d: int, exponent: float
) -> float:
    """An upper bound of W_{>above}, from its computed square.

    moments: sum_i |a~_i| s_i^k for k = above + 1, above + 2, ...; weight: sum_i |a_i|. The rest as in `degree_norm`.

    Where every |2 gamma x~_i.x~_j| <= 12 the terms are a series, wrong by kappa u of its size with r_i r_j for inner
    products. Beyond, they are a difference of e^s and a sum of its first terms, wrong by kappa u e^{|s|}, since s is
    wrong by at most (d + 8) u 2 exponent. Either way at most kappa u (sum |a_i|)^2, since e^{2 gamma |x~||y~|} <=
    e^{gamma (|x~|^2 + |y~|^2)}; and the series' size is known term by term as far as the moments go, and geometric
    beyond.
    """
    size = weight * weight
    s = 2 * exponent
    last = above + len(moments)
    degrees: float = 2 * last
    if s < 12 and s < last / 2:
        total = sum(m * m / factorial(k) for k, m in enumerate(moments, above + 1))
        # Beyond the moments given: each further degree is less than half the one before.
        total += 2 * moments[-1] * moments[-1] / factorial(last)
        size = min(size, total)
    else:
        degrees = last + 4 * s  # e^{|s|} has its weight on degrees around |s|
    kappa = degrees * (d + 8) + 2 * (exponent * (d + 4) + 4) + 2 * n + 400
    return sqrt(max(computed, 0.0) + 1.1 * kappa * UNIT * size * _UP) * _UP


def coefficient_error(degree: int, factor: float, moment: float, n: int, d: int, exponent: float) -> float:
    """How far the computed tensor T_k = factor sum_i a~_i x~_i^k can be from the true one, in Frobenius norm.

    moment: sum_i |a~_i| |x~_i|^k over the n support vectors. exponent: the largest gamma |x~|^2 (0 for finite kernels).
    A sum of n products of k + 1 factors, each x~ a rounded difference, a~ as in `degree_norm`, entry by entry; the
    norms of the terms' absolute values add up to moment.
    """
    operations = n + 3 * degree + exponent * (d + 4) + 24
    return abs(factor) * moment * operations * UNIT * 1.1 + 1e-322 * (n + 10)


def length(squares: float, n: int) -> float:
    """An upper bound of the Euclidean length of n numbers from the computed sum of their squares, some of which may
    have underflowed."""
    return sqrt(squares) * _UP + 2e-154 * sqrt(n)


def poisson_tail_terms(t: float, first: int, last: int) -> "list[float]":
    """sqrt(e^{-t} t^n / n!) for n = first..last, then sqrt(min(1, t^{last+1} / (last+1)!)): what W_n and W_{>N} are
    multiplied by."""
    terms = [sqrt(exp(-t) * t**n / factorial(n)) for n in range(first, last + 1)]
    return terms + [sqrt(min(1.0, t ** (last + 1) / factorial(last + 1)))]
