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
    products each, k times over; a row's value is k nested sums of at most d products (of a compressed M: B36). A sum of
    products computed in any order errs by (number of operations) u of the sum of absolute values, and that is at most
    sum_k |T_k| (|z| + |m|)^k, Frobenius norms, by Cauchy-Schwarz: no cancellation is assumed. The number of operations
    is at most 2 p (d + p + 6) + 20. Where z~ is formed row by row, |z~| stands for |z| + |m|.
B4. *The weight* e^{-gamma |z~|^2}: an error `slack` of |z~|^2 moves it by gamma slack of itself; where that is not
    below 1e-2, nothing is proven. *In raw coordinates* |z~|^2 is |z|^2 + |m|^2 - 2 z.m, and with q entries in the row
    its sums err by (q + 2) u |z|^2, (d + 2) u |m|^2 and 2 (q + 2) u |z||m|: slack = (d + q + 8) u (|z| + |m|)^2.
    *Centered*, where z~ is formed row by row, a computed difference errs by u of itself and its square by 3 u; squares
    are not negative, so that the sum of d of them, and of those of the q entries that no vector has, errs by (d + q +
    8) u of itself, however far m is: slack = (d + q + 8) u |z~|^2. Either way 4e-308 (d + q) is added for squares that
    underflow (differences do not). The product with gamma errs by gamma |z~|^2 u, exp by 8 u and the product with the
    polynomial by 4 u, relative.
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
whose names are those used here; W and E are computed here, once, by the compiler. B35 has the expansions that a row
skips, B36 a compressed M.

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

Stopping early: triangle (native/models/triangle.cpp, and pivot_list.cpp beside it)
-----------------------------------------------------------------------------------
B17. For a kernel that falls with the distance, low <= |z - x_i| <= high gives k(high) <= K(x_i, z) <= k(low); what is
     left of a sum lies between P k(high) - N k(low) and P k(low) - N k(high), P and N the sums of its positive and
     negative coefficients.
B18. Triangle: the distances are d(z, m) -+ d(m, x_i) about a pivot m. What is left of a sum at a stop, wherever it is,
     are the vectors of m's list from there on; the pivots, whose distances from the row are known, are in no list, and
     their terms stand in the sum from the beginning, each pivot's once. The distance from a row comes from |z|^2 +
     |m|^2 - 2 z.m, wrong by Rounding::squared_distance_error; those between support vectors from sums of squared
     differences, wrong by (s + s' + 8) u of themselves.
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
     climbs. 2^delta - 1 = e^t - 1 <= t + t^2/2 + t^3/6 + 1.05 t^4/24, t = ln 2 delta < 0.18.
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

Lengths in feature space (methods/feature_space.py, methods/reduce)
----------------------------------------------------------------------------
The kernel is positive semidefinite. LOST = 2^-1074: a product loses at most half of it by underflow, a sum nothing. At
most 4e6 vectors.

B27. *|w|^2, rounded up*: w = sum a_i phi(x_i) over n vectors, |w|^2 = sum a_i b_i, b_i = <w, phi(x_i)>. What is
     computed for b_i is within r_i of it: a decision value with rho = 0, x_i the row, and the radius of its rounding,
     which is at least what our arithmetic alone can lose (native/exact/rounding.cpp; with K(x_i, x_j) computed once for
     both, as well). So |w|^2 <= sum a_i b_i + sum |a_i| r_i with computed b_i. The first sum errs by n u sum |a_i b_i|,
     in any order, and the sums of sizes by (n + 2) u of themselves: (n + 8) u sum |a_i b_i| and the factor 1 + 1e-9
     hold that and the last two additions. Underflow: 3 n LOST, for two sums of n products and for those of the slack.
     It is squared what a length loses: without it, w would have the length 0 where coefficients are below 1e-162, and f
     not.
B28. *The distance of a reduced set* Psi' = sum beta_l phi(z_l) of L vectors from Psi = sum a_i phi(x_i), of an RBF
     kernel, where |phi(z)| = 1: |f - f'| = |<Psi - Psi', phi(z)> - (rho - rho')| <= |Psi - Psi'| + |rho - rho'| for
     every row z, by Cauchy-Schwarz. |Psi - Psi'|^2 = |Psi|^2 - 2 sum beta_l b_l + sum beta_l c_l with b_l = <Psi,
     phi(z_l)> and c_l = <Psi', phi(z_l)>, known within e_l and e'_l as in B27, and |Psi|^2 at most what B27 has; beta
     and z are the numbers of the file. It is at most S + sum |beta_l| (2 e_l + e'_l), S as computed but for rounding:
     the sums of L products err by L u sum |beta_l| (2 |b_l| + |c_l|); the difference of the first two numbers is at
     most |S| + sum |beta_l c_l|, so that the two additions err by u of 2 |S| + sum |beta_l c_l|. (L + 12) u (sum
     |beta_l| (2 |b_l| + |c_l|) + |S|) is more, by what sums of sizes lose. Underflow: 8 L LOST, for five sums of L
     products. A root errs by u; 1e-12 covers it, and rho - rho' and its sum. Where S < 0 it counts as 0.
B29. *Merged duplicates* (`lossless`): equal vectors have one phi, so that f' differs from f by the rounding of the sums
     of their coefficients alone, at most the sum of these errors, since |K| <= 1. Adding k numbers one by one errs by
     (k - 1) u (1 + k u) of the sum of their sizes; together at most (n - 1) u (1 + n u) sum |a_i|, n vectors in all.
     The radius is n u times that sum as computed, which is wrong by n u of itself: more, by (u - 3 n^2 u^2) of the sum.
     Doubles below 2^-1021 are added without error, so that where anything is lost u sum |a_i| >= 2^-1074, which is more
     than the product of the radius loses. rho is the same. Coefficients that are left out add up to exactly 0.

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

Expansions that are skipped, or compressed (native/models/center.cpp, methods/approx/compression.py)
---------------------------------------------------------------------------------------------------------
B35. *Far centers.* r >= |x_i - m| for all vectors with an expansion about m: the largest computed |x_i - m|^2, whose d
     differences, squares and sums err by (d + 2) u, as `length` takes roots. A row's |z~|^2 is at least norm - slack,
     both those of B4. Where that is more than (r + sqrt(27.7 / gamma))^2, |z - x_i| >= |z~| - r >= sqrt(27.7 / gamma)
     by the triangle inequality, so that K(x_i, z) <= e^-27.7 < 1e-12: what the expansion is to approximate, sum a_i
     K(x_i, z), lies within 1e-12 sum |a_i| of the 0 that is added for it, which takes the place of B1 to B4 (B5 and B6
     remain). Rounding: that of the square is 4 u (r + sqrt(27.7 / gamma)); 1e-9 r covers the first, and 27.7 - ln 1e12
     = 0.069, one part in 800 of the root, the second. Where slack is not finite, or gamma is 0, no row is far. A row is
     far for all expansions about m or for none from there on, however its norm is computed.
B36. *A compressed M*, sum_r lambda_r q_r q_r', R = M - that. |z~'R z~| <= |R|_2 |z~|^2: E_2 holds |R|_2 (spectral norm)
     instead of the rounding to the stored precision, which is in R, since lambda and q are the numbers of the file. *R
     as computed*: entries are sums of `rank` products of three numbers, (rank + 2) u of the sum of sizes, and one
     difference: in Frobenius norm (rank + 2) u sum_r |lambda_r| |q_r|^2 + u |R|_F, twice that since one triangle counts
     for both (`residual_error`). *|R|_2*: whatever t is, if the factorisation of A, which is t I - R as computed, finds
     d positive pivots, then A + F = L L' with |F_ij| <= g |l_i||l_j|, l_i the rows of L, g = 2 (d + 4) u / (1 - 2 (d +
     4) u), for sums in any order, also where a division is a product with an inverse (Higham, theorems 10.3 and 10.5).
     |l_i|^2 <= A_ii / (1 - g), so that |F| <= g / (1 - g) sum A_ii, and t I - R >= -(g / (1 - g) sum A_ii + u max
     A_ii). With the entries of R scaled to 1 at most, by a power of two, A_ii <= (t + 1) (1 + u): 2.1 (d + 4) (d + 1) u
     (t + 1) is more, and than what underflows (2^-1000). t I + R likewise; so |R|_2 <= t plus that
     (`proven_by_cholesky`). t is a computed eigenvalue, of which nothing need be known; where a pivot is missing, |R|_F
     is taken. *Evaluation*, in the place of B3's k = 2: q_r.(z - m) is -q_r.m, of d products, to which at most d
     products are added, (2 d + 1) u |q_r| (|z| + |m|); its square, two products and sums of rank + 1 terms: (4 d + rank
     + 5) u |lambda_r| |q_r|^2 (|z| + |m|)^2; v.z and the constant pass through d + rank + 3: at most the 4 (d + 8) + 20
     + rank of the code, with sum_r |lambda_r| |q_r|^2 for |T_2|.

The value of a pair, by the row's own terms (native/exact/rounding.cpp)
------------------------------------------------------------------------
B37. RBF kernels, gamma < 1e100, A = sum |a_i| < 1e90, n < 1e9 support vectors in the pair, both classes with
     coefficients of one sign. W = sum |a_i| K_i, K_i = e^-t_i. A kernel value is wrong relative to itself:
     svm-predict's by (q + s + 5) u t_i, from the distance and its product with gamma, and 4 u for exp and the product
     with a_i; ours by e^delta - 1 <= 1.02 delta for the distance, t_i u for the product with gamma, and 10 u
     (`Rounding::row`). -x ln x is concave: by Jensen's inequality sum |a_i| K_i t_i <= A phi(W / A), phi(x) = -x ln x
     up to 1/e and 1/e from there on (`exponents`); 2.71 times B5's 0.4 (q + s + 5) u is more than (q + s + 5) u.
     *Sums.* One in serial order is wrong by u times the sizes of its partial sums. The terms of a class have one sign,
     so that between the ends of a run of them partial sums are between the sums at the ends: `partials` has the larger
     of the two for every term, and n times what the ends themselves can be wrong by. Ours adds up 16 sums side by side
     in runs of at least 32 vectors (but for two of each class, where a tile of vectors cuts it), and the runs: each
     term passes through fewer than 0.1 n + 34 additions. *W*: the sizes of the runs' sums, as computed, add up to at
     least W less 0.0105 of it, since 1.02 delta < 0.01; 1.02 times them, and 1e-190 for values that underflow, is more.
     What underflows elsewhere is below A 1e-100 + 1e-200. The subtraction of rho is B5's.

All pairs of many classes in single precision (native/exact/all_pairs.cpp, native/simd/pair_votes.cpp)
------------------------------------------------------------------------------------------------------
B38. RBF kernels, classes of at most T vectors, coefficients and rho divided by a power of two (`scale`), so that the
     largest coefficient is below 2^61; |rho| < 2^100. v = 2^-24. a^, K^ and rho^ are the numbers of single precision:
     a^ and rho^ are wrong by v of themselves, K^ by e K + 2^-126 (B24, B30 to B34), e < 1/4. Let W = sum |a^| K^ over
     the vectors of classes i and j. With K <= (K^ + 2^-126) / (1 - e) and |a| <= |a^| / (1 - v), sum |a K - a^ K^| <=
     (e + v) / ((1 - e) (1 - v)) W, up to 2T 2^61 2^-126 / (1 - e), which 2T 2^-63 covers with all that underflows. The
     sum begins with -rho^ and adds 2T products. Whether they are contracted or not, products lose v of W together, and
     each addition v of what is added up so far, at most |rho^| + W: with g = 1.0001 (2T + 1) v, g < 1e-4, the rounding
     of second order included, g (|rho^| + W). So with f the exact value and f^ the computed one

       |f^ - f| <= W ((e + v) / ((1 - e) (1 - v)) + g) + |rho^| (g + 1.001 v) + 2T 2^-63.

     |rho^| <= 1.001 (|f^| + W), since f^ is within g (|rho^| + W) of a sum of sizes at most W less rho^. Hence

       |f^ - f| <= W ((e + v) / ((1 - e) (1 - v)) + 2.01 (g + v)) + 1.01 (g + v) |f^| + 2T 2^-63:

     no rho, however large, needs a term of its own. W is at most (1 + g) times the sum of the two classes' sizes as
     they are computed, size_c = sum max_p |a^_p| K^. To it comes svm-predict's own rounding, that of any pair (B5). The
     term with |f^| goes to the other side: the radius of a pair is the sum of the radii of its classes, each a multiple
     of size_c and half of what is absolute, over 1 - 1.01 (g + v). 1 + 1e-6 covers the roundings of the radii and of
     the comparison, fewer than 8 v. A class that wins all its pairs is the label (B21); otherwise each class has the
     votes that are proven, and those of its open pairs at most. Of a pair that is open svm-predict's own value is
     computed: one beyond twice svm-predict's rounding (B5) has the sign of the exact value, and of a sum in any other
     order. A row with a smaller one climbs.

Coupled probabilities (native/answers/coupling.cpp)
----------------------------------------------------
B39. k >= 3 classes. svm-predict makes r_ij of the pairs' decision values, r_ji = 1 - r_ij, the matrix Q with Q_tt =
     sum_j r_jt^2 and Q_tj = -r_jt r_tj, and from p = (1/k, ..., 1/k) on repeats: g = Q p, l = p'g; stop where max_t
     |g_t - l| < 0.005 / k; else for t = 1, ..., k in turn d = (l - g_t) / Q_tt, p_t += d, l and g are brought up to
     date, and p, g (and l, twice) are divided by m = 1 + d. We run the same operations in the same order from our own
     decision values. The names above are what we compute; svm-predict's numbers have a hat. All bounds are computed
     along with the iteration. Nothing is proven where a pair's probability is not known to 1e-6 of itself, one of those
     below or sum p to 1e-5 of itself, or some p_t is not positive: so every positive number of theirs below, a product
     of few of these, is ours to within one in a thousand, which the factors 1.01 and 1.02 cover with all that is of
     second order.

     *Pairs.* t = A f + B moves by at most |A| radius + 2 u (|A f| + |t|) (`moved`), and e^-|t| by that and 4 u, for exp
     errs by 2 u. For t < 0, 1 / (1 + e) is monotonous in e as it is computed, the clamps and 1 - r too: both ends of e
     give r its range. For t >= 0, e / (1 + e) moves by a share 1 / (1 + e) of what e does, and 4 u for two roundings in
     each run. a_ij is how far r^_ij can be from r_ij. Beyond |t| = 16.2 both are clamped to the same number. A radius
     of 0 says that the values are the same.

     *The error is measured up to a factor.* p^_j = c p_j (1 + e_j), with one c for all j, and |e_j| <= eps_j
     (`relative`): a division of all p by a number changes c, and e_j by 2 u for its roundings. So a step changes e_t
     alone. With sum p = 1 the new p_t is

       y = p_t + (p'Qp - (Qp)_t) / Q_tt = (h(p) + sum_{j != t} |Q_tj| p_j) / Q_tt,  h(p) = p'Qp / sum p:

     a quotient of sums of positive terms, homogeneous of degree 1 in p, so that c passes through it. |y^ / (c y) - 1|
     is at most (dh + sum_{j != t} (|Q_tj| eps_j + E_tj) p_j + 2 N) / (Q_tt y) + E_tt / Q_tt, E_tj = |Q^_tj - Q_tj|, N
     the noise of one run, dh = |h(p (1 + e); Q^) - h(p; Q)|. This does not grow from step to step: near the end (Qp)_j
     is about h for all j, so that dh / h is a mean of eps_j, and the whole a mean of eps and of E / Q.

     *dh.* p'Qp = sum_{i<j} (r_ji p_i - r_ij p_j)^2, so that other r move it by 2 sqrt(p'Qp) sqrt(U) + U at most, by
     Cauchy-Schwarz, U = sum_{i<j} (a_ji p_i + a_ij p_j)^2 <= sum_i p_i^2 2 sum_j a_ji^2 (`chords`). Q's own rounding is
     (k - 1) u of Q_tt and u of the others, in both runs: 2 u k T, T = sum |Q_ij| p_i p_j = 2 sum Q_jj p_j^2 - p'Qp
     (`size`). Then e moves h by sum |2 (Qp)_j - h| p_j eps_j (`linear`) and, of second order, max eps (4.5 max a / r +
     1.1 max eps) T.

     *Noise.* D_j is the distance of g_j from (Qp)_j for the current p, D_l that of l from p'Qp. At the beginning of a
     pass k + 1 roundings of S_j = sum |Q_jl| p_l = 2 Q_jj p_j - (Qp)_j, and sum p D and k u sum p |g| for l. In a step
     the product d Q_jt, the sum, the quotient, and the roundings of p itself, of which g knows nothing: D_j' = D_j / m
     + u (2 |g_j'| + S_j' + |Q_jt| (y + |d|) / m). l' = (l + d (d Q_tt + 2 g_t)) / m^2: D_l' = (D_l + 2 |d| D_t + u (3
     d^2 Q_tt + 4 |d| S_t + 2 y |g_t + d Q_tt|)) / m^2 + u (3 |l'| + 2 sum |g'| p'). |d| of theirs is at most |d| + 1e-4
     (y + p_t) (`move`). sum p differs from 1 by at most tau (`stretch`): u at first, tau' = tau / m + 3.2 u. Together N
     = D_l + D_t + tau |l| + u Q_tt (2 |d| + y).

     *The stopping test* compares the same numbers but for D_t + D_l in each run, what e and E do to g_t and l, and c:
     |c - 1| <= sum p eps + 2 tau (`scale`), since both p add up to 1 but for tau. Where these leave it open the row is
     open. Otherwise both runs take the same steps, and end with p^_j within scale + eps_j of p_j. The row is settled
     where all numbers in these ranges print alike, and the largest is larger than the others for certain.

Exported models (export/radius.py; the formula itself in export/onnx.py and export/c_text.py)
--------------------------------------------------------------------------------------------
v = 2^-24 or 2^-53, the target's. Its sums, differences, products and quotients round to nearest, in any order,
contracted or not, and lose at most its smallest normal number by underflow; its exp errs by 16 v of itself. A row is
the D numbers that it is given in this precision. A computed number has a hat. A graph of ONNX tests by a number that
less precision rounds to 1 that it is computed so, and has infinite radii where it is not. All numbers of the formula
are rounded up, and `up` covers its own arithmetic: (expansions + K + 64) 8 v.

B40. *Norms and weights.* m stands in two parts, m^ and what v loses of it, which is known to v^2 |m|: z_j - m^_j -
     low_j errs by 2.01 v |z~_j| + 2.01 v^2 |m_j|, a vector of length 2.01 v |z~| + 2.01 v^2 |m|. Its square moves
     |z~|^2 by at most 6.1 v |z~|^2 + 3.1 v^3 |m|^2 (4.02 v^2 |z~||m| <= 2.01 (v |z~|^2 + v^3 |m|^2)), and D squares and
     their sum err by (D + 1) v of themselves. So |z~|^2 <= (norm^ + drift) (1 + theta), drift = 6 v^3 |m|^2 and D times
     what a square loses by underflow, theta = (1.2 D + 24) v < 1e-2; and norm^ differs from |z~|^2 by less than theta
     norm^ + 1.1 drift. R, the root of that and 2.2 v |m|, is at least |z~|, and the computed z~ errs by at most 2.01 v
     R. The exponent gamma norm errs by gamma times the difference of norms and 2.01 v gamma norm^ (gamma's own rounding
     and the product's): where 1.03 times that and 16.1 v are at most x = x1 norm^ + x0 < 1e-2, weight^ is within x of
     the exponential, relative to either of the two. Below the smallest normal number it may be 0: then it is off by
     that.
B41. *An expansion*, term^ = weight^ P^. N_k: the Frobenius norm of degree k. P^ - P: every product passes through
     `path_length` roundings at most, of sums in any order of at most d, with products of two features d (d + 1) / 2,
     terms; z~ errs by 2.01 v R in each of k factors; and the numbers of the file by what their rounding to this
     precision moves them, in Frobenius norm (measured, as in B2). So |P^ - P| <= sum_k e_k R^k by Cauchy-Schwarz, with
     what underflows, once per coefficient and at most R^k times, in e_k. The file's own error E_k (B2) stands beside
     e_k; of B1 degree n is at most W_n weight (2 gamma)^(n/2) R^n / sqrt(n!), since |phi_n(z)|^2 = e^-t t^n / n! and t
     = 2 gamma |z~|^2 <= 2 gamma R^2: one polynomial in R, times weight <= 1.02 weight^ + 2^-124 (2^-1020). 2^-100
     (2^-960) times it covers the last: e_k >= 20 v N_k, so that it covers 2^-124 (2^-1020) of |P| as well. Beyond N:
     W_{>N} min(1, (2 gamma)^((N+1)/2) R^(N+1) / sqrt((N+1)!)). weight^'s error is x |term^| times 1.01. Sums over
     expansions, the product and rho: (expansions + 8) v |term^| and 4.2 v |rho|. svm-predict's rounding: B5, of rows
     with at most D entries (of finite kernels (gamma x |z| + coef0)^degree, multiplied out, |z| <= R). A row with
     features beyond D has no radius.
B42. *Kernel sums* of a reduced set, RBF: K <= 1, A = sum |a_i|, X the longest vector. Distances by differences err by
     (D + 4) v of themselves, which moves K by 0.37 times that; vectors round by v X, which moves |x - z| by as much and
     K by 0.8578 sqrt(gamma) v X, the largest slope; exp, the exponent's product and gamma: 16 v and 0.8 v. About a
     center, |x~|^2 + |z~|^2 - 2 x~.z~ errs by (D + 12) v (X + R)^2, where gamma times that is below 1e-2 K moves by
     1.03 of it; z~ by 2.01 v R, K by 0.8578 sqrt(gamma) times that. Sums of n, in pieces: (`sum_length` + 4) v A;
     compensated (Kahan), 2 v A and of second order n v^2 A: 12 v A with the products. B28 is the distance from the
     exact model, B5 svm-predict's rounding there.
     *Scaled rows.* f is Lipschitz: |f(z) - f(z')| <= 0.8578 sqrt(gamma) A |z - z'|. svm-scale writes six digits, 5e-6
     of a number; ours errs by 3.1 v (|slope x| + |offset|) <= 3.1 v (|z| + 2 |offset|). |z| <= R + |m|. A regression's
     value in the unit of raw labels: the radius times the scale, and 8 v (|value| + |to|).

Where each is used, and what tries to break it
----------------------------------------------
The paths are those of the package. A statement has one proof and may have several uses; here is the one it was made
for.

B1   native/models/certificate.cpp           test_the_share_of_a_degree_is_bounded_on_both_sides
B2   native/models/certificate.cpp           test_radii_of_finite_kernels_cover_what_single_precision_loses
B3   native/models/certificate.cpp           test_no_finite_expansion_has_a_value_beyond_its_radius
B4   native/models/certificate.cpp           test_radii_cover_the_rounding_of_the_distance_from_a_centre
                                             test_radii_cover_the_rounding_of_differences_from_a_far_centre
B5   native/exact/rounding.cpp               test_radii_of_reduced_sets_cover_the_subtraction_of_a_large_rho
                                             test_near_duplicates_with_huge_opposite_coefficients_give_libsvms_label
B6   native/models/maclaurin.cpp             test_no_hostile_model_has_a_value_beyond_its_radius
B7   native/models/maclaurin.cpp             test_finite_expansions_whose_numbers_underflow_are_refused_or_covered
B8   native/models/geometry.cpp              test_every_interval_contains_the_exact_value_and_libsvms
B9   native/models/geometry.cpp              test_every_interval_contains_the_exact_value_and_libsvms
B10  native/models/point_span.cpp            test_intervals_of_points_in_any_order_contain_the_exact_value
B11  native/models/point_span.cpp            test_intervals_of_points_in_any_order_contain_the_exact_value
B12  native/models/point_span.cpp            test_the_radius_covers_twins_whose_huge_coefficients_cancel
B13  native/models/point_span.cpp            test_points_and_rows_that_are_one_settle_nothing_wrongly
B14  native/models/point_span.cpp            test_points_and_rows_that_are_one_settle_nothing_wrongly
B15  native/models/geometry.cpp              test_a_search_for_a_value_beyond_its_interval_finds_none
B16  native/models/geometry.cpp              test_where_symmetry_makes_f_zero_the_labels_are_still_svm_predicts
B17  native/models/pivot_list.h              test_every_bound_by_distance_contains_the_exact_value_and_libsvms
B18  native/models/pivot_list.h              test_every_bound_by_distance_contains_the_exact_value_and_libsvms
B20  native/models/pivot_list.cpp            test_every_bound_by_distance_contains_the_exact_value_and_libsvms
B21  native/exact/all_pairs.cpp              test_labels_of_a_tournament_are_libsvms
B22  native/exact/single_tiles.cpp           test_kernel_values_are_as_close_as_is_proven
B23  native/simd/exponential.h               test_powers_of_two_have_the_error_of_their_polynomial
B24  native/exact/single_tiles.cpp           test_kernel_values_are_as_close_as_is_proven
B25  native/exact/label_sums.cpp             test_labels_are_svm_predicts_on_hostile_models
B26  native/exact/label_sums.h               test_labels_are_svm_predicts_on_hostile_models
B27  methods/feature_space.py              test_squared_norms_are_not_below_those_of_models_made_to_lose_digits
B28  methods/reduce/reduced_model.py  test_no_hostile_model_is_farther_from_its_reduced_set_than_the_radius
                                             test_coefficients_whose_squares_underflow_are_no_nearer_than_the_radius
B29  methods/reduce/reduction.py        test_sums_of_coefficients_that_cancel_are_within_the_radius_of_lossless
B30  native/exact/grid_tiles.cpp             test_the_largest_distance_of_the_most_features_is_counted_to_the_last
B31  native/exact/grid_tiles.cpp             test_no_row_of_any_kind_breaks_its_error
B32  native/exact/grid_tiles.cpp             test_values_are_within_their_error
B33  native/exact/grid_tiles.cpp             test_entries_that_no_vector_has_count_in_the_distance
B34  native/simd/grid_registers.h            test_the_polynomial_is_right_from_one_to_nothing
B35  native/models/center.cpp                test_a_row_is_far_only_where_every_kernel_value_is_below_the_share_of_it
B36  methods/approx/compression.py      test_what_compression_loses_is_bounded_whatever_eigenvalues_are_computed
B37  native/exact/rounding.cpp               test_values_of_cancelling_coefficients_are_within_their_radius
B38  native/exact/all_pairs.cpp              test_pairs_whose_values_are_next_to_nothing_vote_as_svm_predicts
B39  native/answers/coupling.cpp             test_whatever_the_values_are_within_their_radii_settled_rows_print_alike
                                             test_coupled_probabilities_of_hostile_models_are_svm_predicts
B40  export/radius.py                        test_radii_of_far_centers_cover_the_rounding_of_differences
B41  export/radius.py                        test_no_exported_expansion_has_a_value_beyond_its_radius
                                             test_no_exported_finite_expansion_has_a_value_beyond_its_radius
                                             test_no_hostile_model_that_is_exported_has_a_value_beyond_its_radius
B42  export/radius.py                        test_no_exported_reduced_set_has_a_value_beyond_its_radius
                                             test_radii_cover_the_digits_that_svm_scale_loses
"""

from math import exp, factorial, inf, sqrt

#: u, the unit roundoff of double precision.
UNIT = 2.0**-53
#: What a product can lose by underflow: the smallest positive double.
LOST_PRODUCT = 2.0**-1074
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
    its own instructions and exp, as long as the parts are added up one by one (methods/approx/pair_sums.py).
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


def residual_error(size: float, residual: float, d: int, rank: int) -> float:
    """How far the computed M - sum_r lambda_r q_r q_r', (d, d), can be from the true one, in Frobenius norm (B36).
    size: sum_r |lambda_r| |q_r|^2; residual: the Frobenius norm of what was computed."""
    return 1.01 * UNIT * ((rank + 4) * size + 2 * residual) + 4 * LOST_PRODUCT * d * (rank + 2)


def proven_by_cholesky(bound: float, d: int) -> float:
    """An upper bound of |R|_2 for a symmetric R, (d, d), with entries of at most 1, where the factorisations of `bound`
    I - R and `bound` I + R found none but positive pivots (B36)."""
    return (bound + 2.1 * (d + 4) * (d + 1) * UNIT * (bound + 1)) * _UP


def length(squares: float, n: int) -> float:
    """An upper bound of the Euclidean length of n numbers from the computed sum of their squares, some of which may
    have underflowed."""
    return sqrt(squares) * _UP + 2e-154 * sqrt(n)


def poisson_tail_terms(t: float, first: int, last: int) -> "list[float]":
    """sqrt(e^{-t} t^n / n!) for n = first..last, then sqrt(min(1, t^{last+1} / (last+1)!)): what W_n and W_{>N} are
    multiplied by."""
    terms = [sqrt(exp(-t) * t**n / factorial(n)) for n in range(first, last + 1)]
    return terms + [sqrt(min(1.0, t ** (last + 1) / factorial(last + 1)))]
