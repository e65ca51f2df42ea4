"""Proven inequalities as pure functions of numbers (no arrays or files), and proofs of all that fastsvm calls proven:
statements B1, B2, ..., which code cites by number.

Errors that a radius covers
---------------------------
For a row z and a decision function, `fastsvm predict` computes a number g, svm-predict a number h. The radius is an
upper bound of |g - h|, so g > radius proves h > 0. f is the decision function of the model file's numbers in exact
arithmetic, d the number of features, m an expansion's centre, x~ = x - m, z~ = z - m, a_i the coefficients, K the
kernel, and u = 2^-53. The radius is the sum of:

B1. *Truncation*, RBF only. K(x, z) = sum_n <phi_n(x), phi_n(z)>, <phi_n(x), phi_n(z)> = e^{-gamma |x~|^2 - gamma
    |z~|^2} (2 gamma x~.z~)^n / n!. Degree n adds <w_n, phi_n(z)> to f, w_n = sum_i a_i phi_n(x_i): by Cauchy-Schwarz at
    most W_n |phi_n(z)|, W_n = |w_n| (`degree_norm`), |phi_n(z)|^2 = e^{-t} t^n / n!, t = 2 gamma |z~|^2. Features of
    different degrees are orthogonal, so the degrees beyond N add at most W_{>N} sqrt(sum_{n>N} e^{-t} t^n / n!) <=
    W_{>N} sqrt(min(1, t^{N+1} / (N+1)!)), W_{>N}^2 = sum_{n>N} W_n^2 (`tail_norm`): the sum is the probability that a
    Poisson variable of mean t exceeds N, and at most t^{N+1} / (N+1)! (Taylor's remainder of e^t). t is known only up
    to the rounding of |z~|^2; e^{-t} t^n / n! increases up to t = n, then decreases, and the code takes its maximum.
B2. *Coefficients.* The stored tensors T_k differ from those of f by rounding to the stored precision (measured: the
    compiler has both) and by the rounding of their own sums (`coefficient_error`). If E_k bounds the difference in
    Frobenius norm, the polynomial changes by at most sum_k E_k |z~|^k, and f by e^{-gamma |z~|^2} times that.
B3. *Evaluation of the polynomial*, of degree p. In raw coordinates its coefficients are derivatives along m, sums of at
    most d + k products each, k times over. A row's value is k nested sums of at most d products (for a compressed M:
    B36). A sum of products, in any order, errs by (number of operations) u of the sum of absolute values (no
    cancellation is assumed), by Cauchy-Schwarz at most sum_k |T_k| (|z| + |m|)^k, in Frobenius norms. The operations
    are at most 2 p (d + p + 6) + 20. If z~ is formed row by row, |z~| replaces |z| + |m|.
B4. *The weight* e^{-gamma |z~|^2}. An error `slack` of |z~|^2 changes it by gamma slack of itself; nothing is proven
    unless that is below 1e-2. *In raw coordinates* |z~|^2 = |z|^2 + |m|^2 - 2 z.m. With q entries in the row, its sums
    err by (q + 2) u |z|^2, (d + 2) u |m|^2 and 2 (q + 2) u |z||m|: slack = (d + q + 8) u (|z| + |m|)^2. *Centered*, z~
    is formed row by row: a difference errs by u of itself, its square by 3 u. Squares are nonnegative, so the sum of d
    of them, and of those of the q entries that no vector has, errs by (d + q + 8) u of itself, however far m is: slack
    = (d + q + 8) u |z~|^2. Both add 4e-308 (d + q) for squares that underflow (differences do not). Further relative
    errors: gamma |z~|^2 u for the product with gamma, 8 u for exp, 4 u for the product with the polynomial.
B5. *svm-predict's own rounding* (svm_predict_rounding in native/exact/rounding.h): of each kernel value, relative to
    the maximum of |K|; of the sum; of the subtraction of rho. RBF: with s entries in a support vector, the distance, a
    sum of at most q + s + 2 positive terms, errs by (q + s + 3) u of itself, which changes K = e^{-tau} by at most (q +
    s + 3) u max tau e^{-tau} = 0.37 (q + s + 3) u. The exponent's product adds 0.37 u, exp 2 u. Exponential: tau =
    gamma |x - z| has half that relative error. Polynomial: the base, |base| <= B = |gamma| |x| |z| + |coef0|, errs by
    (min(q, s) + 4) u of B. The power multiplies that by degree and adds 2 u per product, relative to B^degree. Linear:
    the same with gamma 1, coef0 0, degree 1. Sigmoid: tanh has slope <= 1, so the base's error counts, and 2 u.
    Normalized polynomial (gamma, coef0 >= 0), k the polynomial kernel: k(x, z) <= B^degree <= sqrt(k(x, x) k(z, z)) by
    Cauchy-Schwarz, so relative to 1: degree (max(q, s) + 8) u for k(x, z), as much for the two halves of k(x, x) and
    k(z, z), and 8 u for root, product and quotient. The n products and their sum add (n + 2) u sum |a_i| |K|,
    subtracting rho u of the result, at most sum |a_i| |K| + |rho|.
B6. *The last sums*, over expansions and rho: u times the number of terms and their size.

B7. *Underflow.* Squares lose at most 2e-154 sqrt(count) in a length (`length`). Against other underflow, a certificate
    is refused unless gamma, coef0, rho, coefficients and vectors are within 1e30, and their nonzero values not below
    1e-30 (gamma, coef0; for finite kernels also vectors) or 1e-60 (coefficients of finite kernels: linear, polynomial).
    For RBF only rows with gamma |z~|^2 < 745 have a weight, so |z~|^4 < 1e66, and underflow adds less than 1e-250;
    every radius includes 1e-200 for it. For finite kernels E_k includes 1e-322 per support vector, at least the loss,
    whatever the row.

Constants are rounded up for second-order terms; a factor 1 + 1e-9 covers the radius's own arithmetic.
native/models/certificate.cpp computes B1 to B4 per row, maclaurin.cpp beside it B5 and B6, with the same names; the
compiler computes W and E once, with the functions below. Expansions that a row skips: B35; a compressed M: B36.

Stopping early: geometry (native/models/geometry.cpp, native/models/point_span.cpp)
-----------------------------------------------------------------------------------
Everything here holds for every k: a row may stop after any number of points. A check skipped by a comparison without
rounding terms only delays the stop. Sums over points are in any order.

Let phi be the kernel's feature map, w = sum a_i phi(x_i), so f(z) = <w, phi(z)> - rho. Let S_1..S_k be the points, K
their kernel matrix, k(S, z) their kernel values with z, X the *computed* lower triangular matrix (whatever its error),
e_j = sum_i X_ji phi(S_i), y = X k(S, z), so y_j = <e_j, phi(z)>, g the *computed* coordinates of w, w_perp = w - sum_j
g_j e_j, and eps = (k + 8) u. Then f(z) + rho = g.y + <w_perp, phi(z)> exactly, and only the last term needs a bound:

B8. Let E = X K X' be the Gram matrix of the e_j, |E - I| <= skew < 1/2 in spectral norm, P the projection onto their
    span. <w_perp, phi(z)> = <w_perp, phi(z) - P phi(z)> + <P w_perp, phi(z)>, at most |w_perp| |phi(z) - P phi(z)| + |P
    w_perp| sqrt(K(z, z)).
B9. |phi(z) - P phi(z)|^2 = K(z, z) - y' E^-1 y <= K(z, z) - |y|^2 / (1 + skew) <= K(z, z) - |y|^2 + skew |y|^2.
B10. |P w_perp| is the largest <w_perp, v> over unit vectors v = sum b_j e_j of the span, for which |b|^2 <= 1 / (1 -
     skew). With h_j = <w_perp, e_j> it is at most |h| / sqrt(1 - skew) <= 1.5 |h| (`stray`). h = q - E g with q = X b,
     b_i = <w, phi(S_i)>, so |h| <= |q - g| + skew |g|.
B11. |w_perp|^2 = |w|^2 - 2 g.q + g'E g <= |w|^2 - |g|^2 + 2 |g| |q - g| + skew |g|^2 (`perp`).
B12. Let s_t = sqrt(K_tt), v_i = sum_t |X_it| s_t (`reach` = |v|), and v_1 the same with ones for s (`plain` = |v_1|).
     An error r_t of every K_tj or b_t becomes at most |X| r in a product with X. |q - g|: each b is known within
     b_error (the rounding radius of the exact evaluation, for sums in any order and either of two support vectors as
     the row), and |b_t| <= |w| s_t, so |q - g| <= plain b_error + eps |w| reach.
B13. skew: L is computed row by row with L L' = K + D, X with X L = I + F (X by back substitution). For sums in any
     order |F_ij| <= eps (|X| |L|)_ij and |D_ij| <= eps s_i s_j + point_error, the error of two points' kernel value
     (Higham, Accuracy and Stability, theorems 8.5 and 10.3). The rows of L have length s_t, so in Frobenius norm |F| <=
     eps reach and |X D X'| <= eps reach^2 + point_error plain^2. X K X' = (I + F) (I - L^-1 D L^-T) (I + F)' and L^-1 =
     (I + F)^-1 X, hence skew <= (1 + |F|)^2 (1 + |X D X'| / (1 - |F|)^2) - 1. Points in the span of others (by their
     pivot) count as absent.
B14. With few pairs, `perp` and `stray` are also measured; the smaller values count. With c = X'g, w_perp = w - sum_t
     c_t phi(S_t), so |w_perp|^2 = |w|^2 - 2 c.b + c'K c and h = X (b - K c). Computed c err by eps |X|'|g|, of length
     at most eps reach |g| in feature space. The sums err by eps times the sums of sizes, where K_tj <= s_t s_j, and by
     b_error and point_error times |c|, summed. skew, the cost of nearly dependent points, enters only by skew < 1/2
     (B10).
B15. A row's y is computed from kernel values of at most s_t sqrt(K(z, z)), each wrong by kernel_error: |y - computed|
     <= plain kernel_error + eps sqrt(K(z, z)) reach (`y_error`). This changes g.y by at most |g| y_error, and |y|^2 by
     at most 2 y_error |y|.
B16. svm-predict's own rounding, and that of the subtraction of rho: Rounding::radius (native/exact/rounding.cpp), as
     for exact models.

Stopping early: triangle (native/models/triangle.cpp, and pivot_list.cpp beside it)
-----------------------------------------------------------------------------------
B17. For a kernel k that decreases with distance, low <= |z - x_i| <= high gives k(high) <= K(x_i, z) <= k(low). The
     rest of a sum lies between P k(high) - N k(low) and P k(low) - N k(high), P and N the sums of sizes of its positive
     and negative coefficients.
B18. Triangle inequality: low and high are d(z, m) -+ d(m, x_i), about a pivot m. The rest of a sum, at any stop, is
     over the remaining vectors of m's list. Pivots, whose distances from the row are known, are in no list: the sum
     begins with their terms, each once. Distances from a row come from |z|^2 + |m|^2 - 2 z.m, wrong by
     Rounding::squared_distance_error; those between support vectors, of s and s' entries, from sums of squared
     differences, wrong by (s + s' + 8) u of themselves. For the exponential kernel, K(x_i, z) is also between
     e^{-+gamma d(z, m)} e^{-t}, t = gamma d(m, x_i).
B20. Rounding up multiplies P and N, sums of n terms, by at most 1 + 2.02 (n + 5) u; as lower bounds they are multiplied
     by 1 - max(1e-9, 2.02 (n + 10) u) (`certain`). The terms e^{-t} of B18 are known within (s + s' + 8) (2 + t) u + 8
     u of themselves and rounded up by as much. Let `moved` be the largest of these. The factor of their sums is
     `certain` - 2.1 moved, or `certain` = 1 - 1e-9 if moved < 2e-10 and n < 2e6: both losses are below 8.9e-10 then.
     Distances are moved by more than their rounding and that of the exponent; a factor 1 +- 1e-13 covers exp and the
     products. The rounding of the terms already added up, and svm-predict's: Rounding::radius (B5).
B21. A class proven to win all its pairs has one vote more than any other can get; the other pairs need no proof.

Exact models in single precision (native/exact/single_tiles.cpp, native/exact/label_sums.cpp, native/simd/tiles.cpp)
---------------------------------------------------------------------------------------------------------------------
RBF only. Single precision is called float, double precision double. v = 2^-24, and K is a kernel value in exact
arithmetic. Statements about a row bound |value - K| by relative_error K + 2^-126, value being a float.

B22. *Distances.* With any center c and s^2 = gamma log2(e), K = 2^-D, D = |s(x - c) - s(z - c)|^2. s is rounded once,
     which changes D <= 126 by 2^-51 of itself, K by less than 1e-13. x' and z' are s(x - c) and s(z - c) rounded to
     float; how far they are from these is computed for every vector and row. With size = |x'| + |z'|, `off` is the
     row's distance, plus the largest of the vectors', plus 2.3e-16 size for difference and product in double. D differs
     from |x' - z'|^2 by at most off (2 size + off) (`moved`). Entries of a row that no vector has, whose squares are
     `outside`, only add to |z'|^2. |x'|^2 and |z'|^2 are summed in double and rounded once, then their sum: 2 v (|x'|^2
     + |z'|^2). Subtracting twice the inner product adds one rounding, v D. Inner products are sums in pieces of
     columns. A product in column j passes through w_j roundings: its own, those of later sums in its piece, and those
     of the sum of pieces, contracted or not. So the sum errs by at most sum_j w_j v |x'_j z'_j| / (1 - max w v) <=
     sqrt(sum w x'^2) sqrt(sum w z'^2) v / (1 - max w v), by Cauchy-Schwarz (`dot`). Columns of larger variance come
     later, since w decreases towards the end of a piece. Underflow: 2^-150 for each of at most 4 d + 8 operations.
     delta is the sum of all these; the factors of relative_error cover second-order terms and rounding in double.
B23. *Powers.* The computed D, which may be negative by delta < 1/4, is exactly k + r with k whole and |r| <= 1/2. 2^-r
     comes by Horner's rule from a polynomial with float coefficients, within 0.27 v of it. Rounding of products and
     sums is at most 2.01 v of the result: 2.3 v. The product with 2^-k is exact, since D is replaced by 126 if larger:
     then both 2^-126 and K are between 0 and 2^-126 (1 + delta).
B24. Together |value - K| <= ((2^delta - 1) + 2.3 v 2^delta) K + 2^-126. A row with delta >= 1/4 has no such bound and
     climbs to the next evaluation (native/exact/exact.h). 2^delta - 1 = e^t - 1 <= t + t^2/2 + t^3/6 + 1.05 t^4/24, t =
     ln 2 delta < 0.18.
B25. *Sums of positive terms.* Coefficients c_i >= 0 are stored as floats c^_i (wrong by v of themselves, unless all are
     exact). Products and sums of four of them are in float, 4 v, the rest in double. So a computed sum of n terms c_i
     K_i is wrong by at most `term` of itself, term = (1 + relative_error) (1 + v) (1 + 4 v) - 1 + (n + 40) 1.2e-16, the
     last for double, and by n 2^-124 times the largest coefficient for the 2^-126 of B24 and for underflow. Relative to
     the computed sum W: at most term / (1 - term) W. A decision value is a difference of two such sums or, with several
     classes, a sum of terms of either sign whose sizes are at most those of the sum of max_p |a_ip| K_i over the
     vectors of both classes.
B26. *Labels.* The last sums in double, with rho, add 4 u (W + |rho|), with several classes 4 u (2 W + |rho|);
     svm-predict's own rounding is B5's. A value larger than all of that has svm-predict's sign; with several classes,
     B21 says which pairs need it.

Lengths in feature space (methods/feature_space.py, methods/reduce)
----------------------------------------------------------------------------
The kernel is positive semidefinite. LOST = 2^-1074: a product loses at most half of it by underflow, a sum nothing. At
most 4e6 vectors.

B27. *|w|^2, rounded up.* w = sum a_i phi(x_i) over n vectors, |w|^2 = sum a_i b_i, b_i = <w, phi(x_i)>. The computed
     b_i, a decision value with rho = 0 and row x_i, is within r_i, its rounding radius, at least what our arithmetic
     alone can lose (native/exact/rounding.cpp; also if K(x_i, x_j) is computed once for both). So |w|^2 <= sum a_i b_i
     + sum |a_i| r_i with computed b_i. The first sum errs by n u sum |a_i b_i|, in any order, the sums of sizes by (n +
     2) u of themselves. (n + 8) u sum |a_i b_i| and the factor 1 + 1e-9 cover that and the last two additions.
     Underflow: 3 n LOST, for two sums of n products and those of the slack. A length loses the root of that: without
     it, coefficients below 1e-162 would give w length 0, but not f = 0.
B28. *The distance of a reduced set* Psi' = sum beta_l phi(z_l) of L vectors from Psi = sum a_i phi(x_i), for an RBF
     kernel, where |phi(z)| = 1: |f - f'| = |<Psi - Psi', phi(z)> - (rho - rho')| <= |Psi - Psi'| + |rho - rho'| for
     every row z, by Cauchy-Schwarz. |Psi - Psi'|^2 = |Psi|^2 - 2 sum beta_l b_l + sum beta_l c_l with b_l = <Psi,
     phi(z_l)> and c_l = <Psi', phi(z_l)>, known within e_l and e'_l as in B27, |Psi|^2 at most B27's, beta and z the
     file's numbers. So it is at most S + sum |beta_l| (2 e_l + e'_l), S from computed numbers, up to its rounding: the
     sums of L products err by L u C, C = sum |beta_l| (2 |b_l| + |c_l|); the difference of the first two numbers is at
     most |S| + sum |beta_l c_l|, so the two additions err by u of 2 |S| + sum |beta_l c_l|. (L + 12) u (C + |S|) is
     larger, by enough to cover what sums of sizes lose. Underflow: 8 L LOST, for five sums of L products. 1e-12 covers
     the root's error u, and rho - rho' and its sum. S < 0 counts as 0.
B29. *Merged duplicates* (`lossless`): equal vectors have one phi and |K| <= 1, so |f' - f| is at most the sum of the
     rounding errors of their coefficients' sums. Adding k numbers one by one errs by (k - 1) u (1 + k u) of the sum of
     their sizes; together at most (n - 1) u (1 + n u) sum |a_i|, for n vectors in all. The radius is n u times the
     computed sum, which errs by n u of itself: larger by (u - 3 n^2 u^2) of the sum. Doubles below 2^-1021 are added
     without error, so if anything is lost, u sum |a_i| >= 2^-1074, more than the product of the radius loses. rho is
     the same. Dropped coefficients add up to exactly 0.

Kernel values from whole numbers (native/exact/grid.cpp, native/exact/grid_tiles.cpp, native/simd/grid.cpp)
-----------------------------------------------------------------------------------------------------------
RBF kernels, 1e-100 < gamma < 1e100, 1e-20 < gamma h^2 < 1e20. A point p, vector or row, is represented by p^, p^_j =
b_j + h k_j, with whole k_j, the same h in every feature, and b_j and least_j shared by the model's vectors and all
rows; k_j - least_j, from 0 to 255, is stored. In features that no vector has, p^ = p. h and b are the computed numbers,
whatever they are. w = 2^-24. Statements about a value v have the form |v - K| <= error K + 2^-126.

B30. |x^ - z^|^2 = h^2 D + s, D = |k_x - k_z|^2, s the sum of squares of the row's entries that no vector has. Below,
     k_x and k_z are the stored numbers: least_j cancels. D is computed exactly, in 32 bits without overflow. *Bits*: D
     is the number of different bits, or |k_x| + |k_z| minus twice that of common bits, at most 2^16 each; exchanging a
     feature's levels changes no difference. *Numbers*, in d <= 4096 features: sums of squares and inner products are at
     most 255^2 d < 2^29. If vectors are stored as k_x - 128, whose products with k_z of four features have at most 17
     bits and a sign, D = |k_x|^2 + (|k_z|^2 - 256 sum k_z) - 2 k_z.(k_x - 128), every part below 2^30 in size.
     Otherwise numbers have 16 bits, and two products are added up in 32; or, below 128 (256 on NEON), 8 bits: two
     products (one on NEON) are added up in 16 bits, with a sign (without), and so are those of `run` words, while run 2
     max k_x max k_z <= 2^15 - 1 (run max k_x max k_z <= 2^16 - 1), before they are widened to 32. Bytes of counts take
     31 words of 32 bits: at most 248.
     *Codes* (native/exact/grid_codes.cpp): D is the sum over the codes, four features of two levels or two of four, of
     T(z, x), whole numbers up to 18. So D is base(x) + sum of (T(z, x) - T(u, x)) with base(x) = sum of T(u, x), for
     any codes u. The sum is computed modulo 2^8 or 2^16, which gives D if D is below that. D is always below 2^16: at
     most 65,535 features of two levels, or 9 d <= 36,864. D is below 2^8 if a bound of it is: the sum of each code's
     largest T(z, x); or, with B the largest base and t the sum of T(z, u), B + t for bits (whose distances are a
     metric), else (sqrt(B) + sqrt(t))^2. Modulo 2^16, bytes are added up while they stay below 256.
B31. *Off the grid.* e = |x - x^| + |z - z^|, each the square root of a sum of (|p_j - (b_j + h k_j)| + 2^-50 (|p_j| +
     |b_j|))^2: the computed difference errs by u (|h k| + |b + h k| + |p - (b + h k)|) <= 2^-50 (|p| + |b|), since p is
     within h / 16 of b + h k. Squares that underflow change e sqrt(gamma) by less than 1e-90. e_x is the largest of the
     vectors', plus that of all absent entries' zeros, by the triangle inequality; rows likewise. With r = |x - z|, r^ =
     |x^ - z^| and K, K^ their kernel values: |r - r^| <= e, so |ln K - ln K^| = gamma |r - r^| (r + r^) <= gamma e (2
     min(r, r^) + e). If gamma min(r, r^)^2 <= T = 88.03, that is at most eta = 2 e sqrt(gamma T) + gamma e^2, and |K^ -
     K| <= expm1(eta) K. Otherwise K and K^ are below e^-T < 2^-126 (127 ln 2 = 88.0297: below 2^-127 (1 - 2^-12)), and
     v, which approximates K^, is between 0 and 2^-126 (B32): |v - K| <= 2^-126. So if |v - K^| <= q K^ + 2^-126, and 0
     <= v <= 2^-126 where K^ < 2^-127 (1 - 2^-12), then |v - K| <= (q + expm1(eta) + q expm1(eta)) K + 2^-126.
     expm1(eta) <= eta + eta^2 up to eta = 1; beyond, nothing is stated.
B32. *From the table*, s = 0: gamma h^2 D errs by 3 u of itself, at most 3 * 88 u where K^ >= 2^-126, exp by 2 u, its
     rounding to float by w: q = 1.001 w. Computed values below 2^-126 count as 0, as does everything beyond the table's
     end if its last value is 0; there K^ exceeds 2^-126 by less than q K^. A product of two numbers of the table, at D
     mod m and D - D mod m, m = 8 or 16 and D < 256, adds the error of the second number and the rounding of the
     product: q = 3.01 w. If one of the two counts as 0, K^ <= 2^-126 (1 + w) too. A product below 2^-126 counts as 0 or
     is a denormal number, off by 2^-150: K^ exceeds it by less than q K^ + 2^-126.
B33. *With s > 0* the value is multiplied by a factor F = e^{-gamma s}. With q' entries that no vector has, its exponent
     errs by (q' + 5) u of itself, and is below 90 where F is not 0. Its rounding adds w, that of the product w: 2.01 w
     + 90 (q' + 10) u. A value below 2^-126 / F counts as 0: its product was below 2^-126 (1 + w), and K^ exceeds 2^-126
     by less than what is added to q. If values are summed up at once (B25), F multiplies their sum, in double: F
     applies to every term, with no rounding to float but its own.
B34. *From a polynomial*, c = gamma h^2 / ln 2, c D <= 126 (1 + 1e-9) (from `nothing` on v = 0; there c D >= 126
     whatever the rounding of `nothing`, so K^ <= 2^-126). c errs by 4 u, and as the sum of two floats by 2^-48 more. D
     is exactly the sum of two such numbers, the second whole and at most w D (0 where D < 2^24; if `nothing` is at most
     2^24, greater D do not matter). The product p of the leading two is rounded, and a fused operation gives its error
     exactly; what is added to that, and the sum, is of size 3 w 126 and errs by 2^-38. p minus the nearest whole number
     k is exact. So r = c D - k errs by 2^-25 (its rounding, |r| <= 1/2 + 2^-15) and 2^-37, changing 2^-r by 0.36 w. y =
     -r ln 2, |y| < 0.3467, errs by 2 w of itself: 0.70 w. Taylor's remainder y^8 / 8!, times e^|y|: 0.13 w. Horner's
     rule: with E_k the error of the polynomial that begins with 1/k!, E_k <= |y| E_k+1 + w (its size, 1/k! if that is
     not a float, and without fused operations |y| times the size of the previous one): E_3 < 0.4 w, E_2 < 0.8 w, E_1 <
     1.7 w, E_0 < (1.00 + e^y) w, and with e^y > 0.7071 that is 2.42 w of it. Altogether 3.7 w: q = 4 w. 2^-k is exact,
     except for k = 126 and 2^-r < 1, where the product's bits make a number between 0 and K^, which errs by less than
     2^-126. Without fused operations c D is computed in double, which loses less.

Expansions that are skipped, or compressed (native/models/center.cpp, methods/approx/compression.py)
---------------------------------------------------------------------------------------------------------
B35. *Far centers.* Let r >= |x_i - m| for all vectors with an expansion about m: the `length` from the largest computed
     |x_i - m|^2, whose d differences, squares and sums err by (d + 2) u. A row's |z~|^2 is at least norm - slack, both
     those of B4. With c = sqrt(27.7 / gamma), if that is more than (r + c)^2, then |z - x_i| >= |z~| - r >= c by the
     triangle inequality, so K(x_i, z) <= e^-27.7 < 1e-12. The expansion then adds 0, within 1e-12 sum |a_i| of sum a_i
     K(x_i, z); this replaces B1 to B4 (B5 and B6 remain). 1e-9 r covers the rounding of r; 27.7 - ln 1e12 = 0.069, one
     part in 800 of the root, that of the square, 4 u (r + c). No row is far if slack is not finite or gamma is 0. A far
     row stays far for later expansions about m, however its norm is computed.
B36. *A compressed M*, sum_r lambda_r q_r q_r', R = M - that. |z~'R z~| <= |R|_2 |z~|^2: E_2 includes |R|_2 (spectral
     norm) instead of rounding to the stored precision, which is part of R, since lambda and q are the file's numbers.
     *R as computed*: entries are sums of `rank` products of three numbers, (rank + 2) u of the sum of sizes, and one
     difference: in Frobenius norm (rank + 2) u sum_r |lambda_r| |q_r|^2 + u |R|_F, the latter twice since one triangle
     counts for both (`residual_error`). *|R|_2*: for any t, if the factorisation of A, the computed t I - R, finds d
     positive pivots, then A + F = L L' with |F_ij| <= g |l_i||l_j|, l_i the rows of L, g = 2 (d + 4) u / (1 - 2 (d + 4)
     u), for sums in any order, also if a division is a product with an inverse (Higham, theorems 10.3 and 10.5).
     |l_i|^2 <= A_ii / (1 - g), so |F| <= G = g / (1 - g) sum A_ii, and t I - R >= -(G + u max A_ii). With the entries
     of R scaled to at most 1 by a power of two, A_ii <= (t + 1) (1 + u): 2.1 (d + 4) (d + 1) u (t + 1) is more, also
     than what underflows (2^-1000). t I + R likewise; so |R|_2 <= t plus that (`proven_by_cholesky`). t is a computed
     eigenvalue, of any accuracy; without d positive pivots, |R|_F is used. *Evaluation*, in place of B3's k = 2: q_r.(z
     - m) is -q_r.m, of d products, to which at most d products are added, (2 d + 1) u |q_r| (|z| + |m|); its square,
     two products and sums of rank + 1 terms: (4 d + rank + 5) u |lambda_r| |q_r|^2 (|z| + |m|)^2; v.z and the constant
     pass through d + rank + 3: at most the 4 (d + 8) + 20 + rank of the code, with sum_r |lambda_r| |q_r|^2 for |T_2|.

The value of a pair, by the row's own terms (native/exact/rounding.cpp)
------------------------------------------------------------------------
B37. RBF kernels, gamma < 1e100, A = sum |a_i| < 1e90, n < 1e9 support vectors in the pair, each class with coefficients
     of one sign, kernel values known within 1e-2. W = sum |a_i| K_i, K_i = e^-t_i. Relative errors of a kernel value:
     svm-predict's is kappa t_i, kappa = (q + s + 5) u, from the distance and its product with gamma, and 4 u for exp
     and the product with a_i; ours e^delta - 1 <= 1.02 delta for the distance, t_i u for the product with gamma, and 10
     u (`Rounding::row`). -x ln x is concave, so by Jensen's inequality sum |a_i| K_i t_i <= A phi(W / A), phi(x) = -x
     ln x up to 1/e and 1/e from there on (`exponents`); 2.71 times B5's 0.4 kappa is more than kappa. *Sums.* A serial
     sum is wrong by u times the sizes of its partial sums. A class's terms have one sign, so within a run of them
     partial sums are between those at the ends: `partials` has the larger of the two for every term, and n times the
     possible error of the ends. Ours adds up 16 sums side by side in runs of at least 32 vectors (except for two of
     each class, cut by a tile of vectors), then the runs: each term passes through fewer than 0.1 n + 34 additions.
     *W*: the sizes of the runs' computed sums add up to at least W less 0.0105 of it, since 1.02 delta < 0.01; 1.02
     times them, and 1e-190 for values that underflow, is more. Other underflow is below A 1e-100 + 1e-200. The
     subtraction of rho is B5's.

All pairs of many classes in single precision (native/exact/all_pairs.cpp, native/simd/pair_votes.cpp)
------------------------------------------------------------------------------------------------------
B38. RBF kernels, classes of at most T vectors, coefficients and rho divided by a power of two (`scale`), so that the
     largest coefficient is below 2^61; |rho| < 2^100. v = 2^-24. The floats a^ and rho^ are wrong by v of themselves,
     the float K^ by e K + 2^-126 (B24, B30 to B34), e < 1/4. Let W = sum |a^| K^ over the vectors of classes i and j.
     With K <= (K^ + 2^-126) / (1 - e) and |a| <= |a^| / (1 - v), sum |a K - a^ K^| <= s W, s = (e + v) / ((1 - e) (1 -
     v)), up to 2T 2^61 2^-126 / (1 - e), which 2T 2^-63 covers together with all that underflows. The sum begins with
     -rho^ and adds 2T products. Contracted or not, products lose v of W together, and each addition v of the sum so
     far, at most |rho^| + W: with g = 1.0001 (2T + 1) v, g < 1e-4, second order included, g (|rho^| + W). So with f the
     exact value and f^ the computed one

       |f^ - f| <= W (s + g) + |rho^| (g + 1.001 v) + 2T 2^-63.

     |rho^| <= 1.001 (|f^| + W), since f^ is within g (|rho^| + W) of a sum of sizes at most W less rho^. Hence

       |f^ - f| <= W (s + 2.01 (g + v)) + 1.01 (g + v) |f^| + 2T 2^-63:

     no rho, however large, needs a term of its own. W is at most (1 + g) times the sum of the two classes' computed
     sizes, size_c = sum max_p |a^_p| K^. svm-predict's own rounding, that of any pair (B5), is added. The term with
     |f^| moves to the other side: the radius of a pair is the sum of the radii of its classes, each a multiple of
     size_c and half of what is absolute, over 1 - 1.01 (g + v). 1 + 1e-6 covers the roundings of the radii and of the
     comparison, fewer than 8 v. A class that wins all its pairs is the label (B21); otherwise each class has its proven
     votes, and at most those of its open pairs in addition. For open pairs svm-predict's own value is computed: beyond
     twice svm-predict's rounding (B5), it has the sign of the exact value, and of a sum in any order. Rows with a
     smaller one climb.

Coupled probabilities (native/answers/coupling.cpp)
----------------------------------------------------
B39. k >= 3 classes. svm-predict makes r_ij from the pairs' decision values, r_ji = 1 - r_ij, and the matrix Q with Q_tt
     = sum_j r_jt^2 and Q_tj = -r_jt r_tj. From p = (1/k, ..., 1/k) it repeats: g = Q p, l = p'g; stop if max_t |g_t -
     l| < 0.005 / k; else for t = 1, ..., k in turn d = (l - g_t) / Q_tt, p_t += d, l and g are updated, and p, g (and
     l, twice) are divided by m = 1 + d. We run the same operations in the same order from our own decision values.
     Names with a hat are svm-predict's numbers, the others ours. Bounds are computed along with the iteration. Nothing
     is proven unless pairs' probabilities are known to 1e-6 of themselves, p and sum p to 1e-5 of themselves, and all
     p_t are positive. So every positive number of svm-predict's below, a product of few of these, is within one in a
     thousand of ours; the factors 1.01 and 1.02 cover this and second-order terms.

     *Pairs.* t = A f + B changes by at most |A| radius + 2 u (|A f| + |t|) (`moved`), and e = e^-|t| by that and 4 u of
     itself, since exp errs by 2 u. For t < 0, 1 / (1 + e) as computed is monotonic in e, and so are the clamps and 1 -
     r: both ends of e give the range of r. For t >= 0, e / (1 + e) changes by a share 1 / (1 + e) of the change of e,
     and 4 u for two roundings in each run. If t's sign is open (|t| <= `moved`), nothing is proven. a_ij is the largest
     distance of r^_ij from r_ij. Beyond |t| = 16.2 both are clamped to the same number. A radius of 0 means equal
     values.

     *The error is measured up to a factor.* p^_j = c p_j (1 + e_j), with one c for all j, and |e_j| <= eps_j
     (`relative`): a division of all p by a number changes c, and e_j by 2 u for its roundings. So a step changes e_t
     alone. With sum p = 1 the new p_t is

       y = p_t + (p'Qp - (Qp)_t) / Q_tt = (h(p) + sum_{j != t} |Q_tj| p_j) / Q_tt,  h(p) = p'Qp / sum p:

     a quotient of sums of positive terms, homogeneous of degree 1 in p, so c passes through it. |y^ / (c y) - 1| is at
     most (dh + sum_{j != t} (|Q_tj| eps_j + E_tj) p_j + 2 N) / (Q_tt y) + E_tt / Q_tt, with E_tj = |Q^_tj - Q_tj|, N
     the noise of one run, dh = |h(p (1 + e); Q^) - h(p; Q)|. This does not grow from step to step: near the end every
     (Qp)_j is about h, so dh / h is a mean of eps_j, the whole a mean of eps and E / Q.

     *dh.* p'Qp = sum_{i<j} (r_ji p_i - r_ij p_j)^2, so other r change it by at most 2 sqrt(p'Qp) sqrt(U) + U, by
     Cauchy-Schwarz, U = sum_{i<j} (a_ji p_i + a_ij p_j)^2 <= sum_i p_i^2 2 sum_j a_ji^2 (`chords`). Q's own rounding is
     (k - 1) u of Q_tt and u of the others, in both runs: 2 u k T, T = sum |Q_ij| p_i p_j = 2 sum Q_jj p_j^2 - p'Qp
     (`size`). Then the e_j change h by sum |2 (Qp)_j - h| p_j eps_j (`linear`) and, of second order, max eps (4.5 max a
     / r + 1.1 max eps) T.

     *Noise.* D_j is the distance of g_j from (Qp)_j for the current p, D_l that of l from p'Qp. At the beginning of a
     pass D_j is k + 1 roundings of S_j = sum |Q_jl| p_l = 2 Q_jj p_j - (Qp)_j, and D_l is sum p D and k u sum p |g|. A
     step adds the roundings of the product d Q_jt, the sum, the quotient, and of p itself, which g does not reflect:
     D_j' = D_j / m + u (2 |g_j'| + S_j' + |Q_jt| (y + |d|) / m). l' = (l + d (d Q_tt + 2 g_t)) / m^2: D_l' = (D_l + 2
     |d| D_t + u (3 d^2 Q_tt + 4 |d| S_t + 2 y |g_t + d Q_tt|)) / m^2 + u (3 |l'| + 2 sum |g'| p'). svm-predict's |d| is
     at most |d| + 1e-4 (y + p_t) (`move`). sum p differs from 1 by at most tau (`stretch`): u at first, tau' = tau / m
     + 3.2 u. Together N = D_l + D_t + tau |l| + u Q_tt (2 |d| + y).

     *The stopping test* compares the same numbers, except for D_t + D_l in each run, the effect of e and E on g_t and
     l, and c: |c - 1| <= sum p eps + 2 tau (`scale`), since both p add up to 1 up to tau. If these leave the test open,
     so is the row. Otherwise both runs take the same steps, and end with p^_j within scale + eps_j of p_j. The row is
     settled if all numbers in these ranges print alike and the largest is certain.

Exported models (export/radius.py; the formula itself in export/onnx.py and export/c_text.py)
--------------------------------------------------------------------------------------------
v = 2^-24 or 2^-53, the target's. Its sums, differences, products and quotients round to nearest, in any order,
contracted or not, and lose at most its smallest normal number by underflow; its exp errs by 16 v of itself. A row is
the D numbers that the target receives in this precision. Computed numbers have a hat. An ONNX graph tests its precision
by a number that less precision rounds to 1; if that fails, its radii are infinite. All numbers of the formula are
rounded up, and `up` covers its own arithmetic: (expansions + K + 64) 8 v, K the highest power of R.

B40. *Norms and weights.* m is stored as m^ and what its rounding loses (low), known to v^2 |m|: z_j - m^_j - low_j errs
     by 2.01 v |z~_j| + 2.01 v^2 |m_j|, a vector of length 2.01 v |z~| + 2.01 v^2 |m|. Its square changes |z~|^2 by at
     most 6.1 v |z~|^2 + 3.1 v^3 |m|^2 (4.02 v^2 |z~||m| <= 2.01 (v |z~|^2 + v^3 |m|^2)), and D squares and their sum
     err by (D + 1) v of themselves. So |z~|^2 <= (norm^ + drift) (1 + theta), drift = 6 v^3 |m|^2 and D times what a
     square loses by underflow, theta = (1.2 D + 24) v < 1e-2; and norm^ differs from |z~|^2 by less than theta norm^ +
     1.1 drift. R = sqrt((norm^ + drift) (1 + theta)) + 2.2 v |m| is at least |z~|, and the computed z~ errs by at most
     2.01 v R. The exponent gamma norm errs by gamma times the difference of norms and 2.01 v gamma norm^ (the roundings
     of gamma and of the product). If 1.03 times that and 16.1 v are at most x = x1 norm^ + x0 < 1e-2, weight^ is within
     x of the exponential, relative to either. Below the smallest normal number it may be 0, off by that.
B41. *An expansion*, term^ = weight^ P^. N_k: the Frobenius norm of degree k. P^ - P has three causes. Every product
     passes through at most `path_length` roundings, of sums in any order of at most d terms, or d (d + 1) / 2 with
     products of two features. z~ errs by 2.01 v R in each of k factors. The file's numbers change by rounding to this
     precision, in Frobenius norm (measured, as in B2). So |P^ - P| <= sum_k e_k R^k by Cauchy-Schwarz, where e_k
     includes underflow, once per coefficient and at most R^k times. The file's own error E_k (B2) is added to e_k. For
     B1, degree n is at most W_n weight (2 gamma)^(n/2) R^n / sqrt(n!), since t <= 2 gamma R^2: one polynomial in R,
     times weight <= 1.02 weight^ + 2^-124 (2^-1020). 2^-100 (2^-960) times the polynomial covers this addend: e_k >= 20
     v N_k, so that it covers 2^-124 (2^-1020) of |P| as well. Beyond N: W_{>N} min(1, (2 gamma)^((N+1)/2) R^(N+1) /
     sqrt((N+1)!)). weight^'s error is x |term^| times 1.01. Sums over expansions, the product and rho: (expansions + 8)
     v |term^| and 4.2 v |rho|. svm-predict's rounding: B5, for rows with at most D entries (for finite kernels (gamma x
     |z| + coef0)^degree, multiplied out, |z| <= R). A row with features beyond D has no radius.
B42. *Kernel sums* of a reduced set, RBF: K <= 1, A = sum |a_i|, X the length of the longest vector. Distances by
     differences err by (D + 4) v of themselves, K by 0.37 times that. Vectors round by v X, which changes |x - z| by as
     much, and K by L v X, L = 0.8578 sqrt(gamma) its largest slope. exp, the exponent's product and gamma: 16 v and 0.8
     v. About a center, |x~|^2 + |z~|^2 - 2 x~.z~ errs by (D + 12) v (X + R)^2; where gamma times that is below 1e-2, K
     changes by 1.03 of it. z~ errs by 2.01 v R, K by L times that. Sums of n, in pieces: (`sum_length` + 4) v A;
     compensated (Kahan), 2 v A and of second order n v^2 A: 12 v A with the products. The distance from the exact model
     is B28's, svm-predict's rounding there B5's.
     *Scaled rows.* f is Lipschitz: |f(z) - f(z')| <= L A |z - z'|. svm-scale writes six digits, 5e-6 of a number; ours
     errs by 3.1 v (|slope x| + |offset|) <= 3.1 v (|z| + 2 |offset|). |z| <= R + |m|. Rounding of the range file's
     lines adds 32 u sqrt(D) times its larger limit to |z - z'|, u = 2^-53. For a regression's value in the unit of raw
     labels: the radius times the scale, and 8 v (|value| + |to|).

Where each is used, and what tries to break it
----------------------------------------------
Paths are relative to the package. The table names one use of each statement: the one it was made for.

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
B27  methods/feature_space.py                test_squared_norms_are_not_below_those_of_models_made_to_lose_digits
B28  methods/reduce/reduced_model.py         test_no_hostile_model_is_farther_from_its_reduced_set_than_the_radius
                                             test_coefficients_whose_squares_underflow_are_no_nearer_than_the_radius
B29  methods/reduce/reduction.py             test_sums_of_coefficients_that_cancel_are_within_the_radius_of_lossless
B30  native/exact/grid_tiles.cpp             test_the_largest_distance_of_the_most_features_is_counted_to_the_last
B31  native/exact/grid_tiles.cpp             test_no_row_of_any_kind_breaks_its_error
B32  native/exact/grid_tiles.cpp             test_values_are_within_their_error
B33  native/exact/grid_tiles.cpp             test_entries_that_no_vector_has_count_in_the_distance
B34  native/simd/grid_registers.h            test_the_polynomial_is_right_from_one_to_nothing
B35  native/models/center.cpp                test_a_row_is_far_only_where_every_kernel_value_is_below_the_share_of_it
B36  methods/approx/compression.py           test_what_compression_loses_is_bounded_whatever_eigenvalues_are_computed
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
    """Return the |z - m|^2 below which rows are inside the bound (3.11), for support vectors with |x - m|^2 of at most
    `largest_squared_norm`."""
    product = 16 * gamma * gamma * largest_squared_norm
    return 1 / product if product > 0 else inf


def degree_norm(computed: float, degree: int, moment: float, n: int, d: int, exponent: float) -> float:
    """Return an upper bound of W_degree, from its computed square.

    computed: sum_ij a~_i a~_j (2 gamma x~_i.x~_j)^k / k! in floating point, k = degree, a~_i = a_i e^{-gamma |x~_i|^2}.
    moment: sum_i |a~_i| s_i^k with s_i = sqrt(2 gamma) r_i, where r_i r_j bounds the sizes in an inner product. n
    support vectors of d features; exponent: the largest gamma r_i^2, at least the largest gamma |x~|^2.

    For inner products of the rounded differences x~, r_i = |x~_i|. For sparse vectors they are y_i.y_j - h_i - h_j,
    with y the vectors minus the centre in its full columns, c the rest of the centre (so x~ = y - c, and y is rounded
    as x~ is) and h = y.c - |c|^2 / 2: sums, in either order, of at most d products. Their sizes add up to at most
    |y_i||y_j| + |y_i||c| + |y_j||c| + |c|^2 = r_i r_j with r = |y| + |c| >= |x~|, and no partial sum is larger.

    Every term is wrong by at most kappa u times its own size, with r_i r_j for the inner product: the inner product by
    (d + 8) u of that, its power k times as much, since neither the true nor the computed one is larger; each a~ by the
    error of its exponent, gamma (d + 4) u |x~|^2, and 4 u; the products by k + 8; the sums over i and j by n / 16 + 300
    additions, for which kappa has 2 n + 296, and the factor 1.1. Those sizes add up to moment^2 / k!.

    All is counted per term. Parts of the pairs may thus be computed on different machines, with their own instructions
    and exp, if the parts are added up one by one (methods/approx/pair_sums.py).
    """
    kappa = degree * (d + 8) + 2 * (exponent * (d + 4) + 4) + degree + 2 * n + 304
    size = moment * moment / factorial(degree)
    return sqrt(max(computed, 0.0) + 1.1 * kappa * UNIT * size * _UP) * _UP


def tail_norm(
    computed: float, above: int, moments: "list[float]", weight: float, n: int, d: int, exponent: float
) -> float:
    """Return an upper bound of W_{>above}, from its computed square.

    moments: sum_i |a~_i| s_i^k for k = above + 1, above + 2, ...; weight: sum_i |a_i|. Other arguments: `degree_norm`.

    If every |2 gamma x~_i.x~_j| <= 12, the terms are a series, wrong by kappa u of its size with r_i r_j for inner
    products. Otherwise they are a difference of e^s and a sum of its first terms, wrong by kappa u e^{|s|}, since s is
    wrong by at most (d + 8) u 2 exponent. Either way the error is at most kappa u (sum |a_i|)^2, since e^{2 gamma
    |x~||y~|} <= e^{gamma (|x~|^2 + |y~|^2)}. The series' size is known term by term up to the last moment, and bounded
    by a geometric series beyond.
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
    """Return the maximum distance of the computed tensor T_k = factor sum_i a~_i x~_i^k from the true one, in Frobenius
    norm.

    moment: sum_i |a~_i| |x~_i|^k over the n support vectors. exponent: the largest gamma |x~|^2 (0 for finite kernels).
    Entries are sums of n products of k + 1 factors, with rounded differences x~ and a~ as in `degree_norm`; the norms
    of the terms' absolute values add up to moment.
    """
    operations = n + 3 * degree + exponent * (d + 4) + 24
    return abs(factor) * moment * operations * UNIT * 1.1 + 1e-322 * (n + 10)


def residual_error(size: float, residual: float, d: int, rank: int) -> float:
    """Return the maximum distance of the computed M - sum_r lambda_r q_r q_r', (d, d), from the true one, in Frobenius
    norm (B36). size: sum_r |lambda_r| |q_r|^2; residual: the Frobenius norm of the computed difference."""
    return 1.01 * UNIT * ((rank + 4) * size + 2 * residual) + 4 * LOST_PRODUCT * d * (rank + 2)


def proven_by_cholesky(bound: float, d: int) -> float:
    """Return an upper bound of |R|_2 for a symmetric R, (d, d), with entries of at most 1, if the factorisations of
    `bound` I - R and `bound` I + R found only positive pivots (B36)."""
    return (bound + 2.1 * (d + 4) * (d + 1) * UNIT * (bound + 1)) * _UP


def length(squares: float, n: int) -> float:
    """Return an upper bound of the Euclidean length of n numbers from the computed sum of their squares, some of which
    may have underflowed."""
    return sqrt(squares) * _UP + 2e-154 * sqrt(n)


def poisson_tail_terms(t: float, first: int, last: int) -> "list[float]":
    """Return sqrt(e^{-t} t^n / n!) for n = first..last, then sqrt(min(1, t^{last+1} / (last+1)!)): the factors of W_n
    and W_{>N}."""
    terms = [sqrt(exp(-t) * t**n / factorial(n)) for n in range(first, last + 1)]
    return terms + [sqrt(min(1.0, t ** (last + 1) / factorial(last + 1)))]
