"""C of all exported models. The writer replaces @NAME@; READ reads a real number of a table."""

HEADER = """\
/* @MADE@ */
#ifndef @GUARD@
#define @GUARD@

#define @PREFIX@_FEATURES @FEATURES@ /* numbers in a row: number j, from 0 on, is LIBSVM's feature j + @FIRST@ */
#define @PREFIX@_VALUES @PAIRS@ /* decision values: a pair of classes each, in LIBSVM's order */
@LABELS@
/* Each takes a row of @PREFIX@_FEATURES numbers, or (_sparse) the values of `count` features with increasing indices,
   LIBSVM's own. @NOTES@ */
@DECLARATIONS@

#endif
"""

CORE = """\
/* @MADE@ */
@INCLUDE@

#include <math.h>
#include <stdint.h>
@READ@
"""
PLAIN_READ = "\n#define READ(p) (*(p))"
PROGMEM_READ = "\n#include <avr/pgmspace.h>\n#define READ(p) pgm_read_float(p)"

#: Fills z, (d), and returns the sum of squares of other features. index: null for a dense row.
LOAD = """\
static @REAL@ load(const @REAL@ *row, const int *index, int count, @REAL@ *z)
{
    @REAL@ rest = @ZERO@, x;
    int at = 0;
    long j;
@CLEAR@    for (; index && at < count && index[at] < @FIRST@; ++at)@COUNTS@;
    for (j = 0; j < @FEATURES@; ++j) {
        if (!index)
            x = row[j];
        else
            x = at < count && index[at] - @FIRST@ == j ? row[at++] : @ZERO@;
@COLUMN@
    }
@BEYOND@    (void)z;
    return rest;
}
"""
#: If z has other columns than the row: shows every compiler that all of z is set.
CLEAR = "    for (j = 0; j < @USED@; ++j) z[j] = @ZERO@;\n"
#: Entries outside the features, whose squares count in distances.
BEYOND = "    for (; index && at < count; ++at)@COUNTS@;\n"
COUNTS = " rest += row[at] * row[at]"

DECIDE = """\
static void decide(const @REAL@ *row, const int *index, int count, @REAL@ *values@RADII@)
{
    @REAL@ z[@ROOM@];
    const @REAL@ rest = load(row, index, count, z);
@LOCALS@    sums(z, rest, values@GIVEN@);
@END@}
"""

SUMS = """\
static void sums(const @REAL@ *z, @REAL@ rest, @REAL@ *values@RADII@)
{
    long p;
@LOCALS@    (void)z;
    (void)rest;
    for (p = 0; p < @PAIRS@; ++p) values[p] = @ZERO@;
@BODY@}
"""

ADD = """\
/* Kahan's sum: `lost` is what the sum so far has too much. */
static void add(@REAL@ *sum, @REAL@ *lost, @REAL@ x)
{
    const @REAL@ y = x - *lost, t = *sum + y;
    *lost = (t - *sum) - y;
    *sum = t;
}
"""

KERNEL_LOCALS = "    const @REAL@ *x = VECTOR, *a = COEFFICIENT;\n    long i@J@;\n"
#: Distance and inner product, for dense and for sparse vectors.
DENSE_DISTANCE = """\
        for (j = 0; j < @USED@; ++j) {
            const @REAL@ t = z[j] - READ(x++);
            s += t * t;
        }
"""
DENSE_PRODUCT = "        for (j = 0; j < @USED@; ++j) s += READ(x++) * z[j];\n"
SPARSE_DISTANCE = """\
        j = 0;
        for (e = @ENTRIES@; e > 0; --e, ++entry) {
            const long column = @COLUMN@;
            @REAL@ t;
            for (; j < column; ++j) s += z[j] * z[j];
            t = z[j++] - READ(x++);
            s += t * t;
        }
        for (; j < @USED@; ++j) s += z[j] * z[j];
"""
SPARSE_PRODUCT = "        for (e = @ENTRIES@; e > 0; --e, ++entry) s += READ(x++) * z[@COLUMN@];\n"
POWER = """\
        @REAL@ k = @ONE@, power = @BASE@;
        for (j = @DEGREE@; j > 0; j /= 2) {
            if (j % 2 == 1) k *= power;
            power *= power;
        }
"""
#: LIBSVM's pair of class c and coefficient column j.
PAIR = """\
        for (j = 0; j < @COLUMNS@; ++j) {
            const long first = j < c ? j : c, second = j < c ? c : j + 1;
            p = first * (@WIDTH@ - first) / 2 + second - first - 1;
            @ADD@
        }
"""

ABOUT = """\
        if (@ABOUT@ != about) {
            const @REAL@ *m = CENTER + @ABOUT@ * @USED@;
@LOW_POINTER@            about = @ABOUT@;
@NORM_0@            for (i = 0; i < @USED@; ++i) {
                moved[i] = z[i] - READ(m++)@LOW@;
@NORM@            }
@WEIGHT@        }
"""
RANK = """\
            for (r = @RANK@; r > 0; --r) {
                const @REAL@ weight_r = READ(c++);
                @REAL@ s = @ZERO@;
                for (i = 0; i < @USED@; ++i) s += READ(c++) * @POINT@[i];
                sum += weight_r * s * s;
            }
"""

SAMPLES = """\
    for (p = 0; p < @PAIRS@; ++p) {
        const @REAL@ *best = 0;
        @REAL@ least = @ZERO@, side = READ(&LEVEL[p]);
        for (i = 0; i < @COUNT@; ++i) {
            const @REAL@ *const here = b;
            @REAL@ s = @ZERO@;
            for (j = 0; j < @USED@; ++j) {
                const @REAL@ t = z[j] - READ(b++);
                s += t * t;
            }
            b += @USED@;
            if (!best || s < least) {
                best = here;
                least = s;
            }
        }
        for (j = 0; best && j < @USED@; ++j) side += READ(best + @USED@ + j) * (z[j] - READ(best + j));
        values[p] = side;
    }
"""

#: Bound of the distance from svm-predict's value (B41, B42 of PROOFS.md). Newton's root approaches from above.
BOUND = """\
static @REAL@ root(@REAL@ x)
{
    @REAL@ y = x > @ONE@ ? x : @ONE@, next = @ZERO@;
    if (!(x > @ZERO@)) return @ZERO@;
    while ((next = (y + x / y) / @TWO@) < y) y = next;
    return y;
}

static @REAL@ bound(long e, @REAL@ norm, @REAL@ weight, @REAL@ term)
{
    const @REAL@ *const b = BOUND + e * @WIDTH@;
    const @REAL@ drift = READ(&DRIFT[@CENTER@]), shift = READ(&SHIFT[@CENTER@]);
    const @REAL@ reach = root((norm + drift) * @GROW@) * @NEAR@ + shift, moved = @X1@ * norm + @X0@;
    @REAL@ sum = @ZERO@, power = READ(b + @K@ + 4);
    long k;
    for (k = @K@; k >= 0; --k) {
        sum = sum * reach + READ(b + k);
        power *= reach;
    }
    if (!(power < @ONE@)) power = @ONE@;
    if (!(moved < @LIMIT@)) return (@REAL@)INFINITY;
    sum = (weight + @TINY@) * sum + READ(b + @K@ + 1) + READ(b + @K@ + 2) * reach + READ(b + @K@ + 3) * power;
    return sum + (term < @ZERO@ ? -term : term) * moved;
}
"""
RADII_END = """\
    for (p = 0; radii && p < @PAIRS@; ++p) {
        radii[p] *= @UP@;
@UNITS@        if (!(radii[p] < (@REAL@)INFINITY) || unknown) radii[p] = (@REAL@)INFINITY;
    }
"""
UNITS = """\
        radii[p] *= @SCALE@;
        radii[p] += @SHARE@ * ((values[p] < @ZERO@ ? -values[p] : values[p]) + @TO@);
"""
#: Whether the radii leave one label only.
SETTLED_VALUE = """\
static int settled(const @REAL@ *values, const @REAL@ *radii)
{
    (void)values;
    return radii[0] < (@REAL@)INFINITY;
}
"""
SETTLED_SIGN = """\
static int settled(const @REAL@ *values, const @REAL@ *radii)
{
    return values[0] > radii[0] || -values[0] >= radii[0];
}
"""
SETTLED_VOTES = """\
static int settled(const @REAL@ *values, const @REAL@ *radii)
{
    int low[@CLASSES@], high[@CLASSES@], i, j, best = 0;
    for (i = 0; i < @CLASSES@; ++i) low[i] = high[i] = 0;
    for (i = 0; i < @CLASSES@; ++i)
        for (j = i + 1; j < @CLASSES@; ++j, ++values, ++radii) {
            const int first = *values > *radii, second = -*values >= *radii;
            low[i] += first;
            low[j] += second;
            high[i] += !second;
            high[j] += !first;
        }
    for (i = 1; i < @CLASSES@; ++i)
        if (low[i] > low[best]) best = i;
    for (i = 0; i < @CLASSES@; ++i)
        if (i != best && !(low[best] > high[i] || (low[best] == high[i] && best < i))) return 0;
    return 1;
}
"""

SIGN = "static @LABEL@ answer(const @REAL@ *values)\n{\n    return values[0] > @ZERO@ ? @FIRST@ : @SECOND@;\n}\n"
VALUE = "static @LABEL@ answer(const @REAL@ *values)\n{\n    return values[0];\n}\n"
VOTES = """\
static @LABEL@ answer(const @REAL@ *values)
{
    int votes[@CLASSES@], i, j, best = 0;
    for (i = 0; i < @CLASSES@; ++i) votes[i] = 0;
    for (i = 0; i < @CLASSES@; ++i)
        for (j = i + 1; j < @CLASSES@; ++j) ++votes[*values++ > @ZERO@ ? i : j];
    for (i = 1; i < @CLASSES@; ++i)
        if (votes[i] > votes[best]) best = i;
    return @LABEL_BEST@;
}
"""

ONE_CLASS = """\
static void couple(const @REAL@ *values, @REAL@ *p)
{
    static const @REAL@ mark[10] = {@MARKS@};
    int i = 0;
    while (i < 10 && !(values[0] < mark[i])) ++i;
    p[0] = i == 0 ? @LOW@ : i < 10 ? (@REAL@)i / @TEN@ : values[0] > mark[9] ? @HIGH@ : (values[0] - mark[9]) * @ZERO@;
    p[1] = @ONE@ - p[0];
}
"""
SIGMOID = """\
static @REAL@ sigmoid(@REAL@ value, int pair)
{
    static const @REAL@ a[@PAIRS@] = {@A@};
    static const @REAL@ b[@PAIRS@] = {@B@};
    const @REAL@ t = value * a[pair] + b[pair], power = @EXP@(t >= @ZERO@ ? -t : t);
    const @REAL@ p = t >= @ZERO@ ? power / (@ONE@ + power) : @ONE@ / (@ONE@ + power);
    return p < @LEAST@ ? @LEAST@ : p > @MOST@ ? @MOST@ : p;
}
"""
TWO_CLASSES = """\
static void couple(const @REAL@ *values, @REAL@ *p)
{
    p[0] = sigmoid(values[0], 0);
    p[1] = @ONE@ - p[0];
}
"""
#: Wu, Lin and Weng (2004), method 2, as LIBSVM iterates it.
COUPLING = """\
static void couple(const @REAL@ *values, @REAL@ *p)
{
    @REAL@ q[@CLASSES@][@CLASSES@], product[@CLASSES@];
    int i, j, pair = 0, round;
    for (i = 0; i < @CLASSES@; ++i) {
        p[i] = @SHARE@;
        q[i][i] = @ZERO@;
    }
    for (i = 0; i < @CLASSES@; ++i)
        for (j = i + 1; j < @CLASSES@; ++j, ++pair) {
            const @REAL@ r = sigmoid(values[pair], pair), other = @ONE@ - r;
            q[j][j] += r * r;
            q[i][i] += other * other;
            q[i][j] = q[j][i] = -other * r;
        }
    for (round = 0; round < @ROUNDS@; ++round) {
        @REAL@ form = @ZERO@, most = @ZERO@;
        for (i = 0; i < @CLASSES@; ++i) {
            product[i] = @ZERO@;
            for (j = 0; j < @CLASSES@; ++j) product[i] += q[i][j] * p[j];
            form += p[i] * product[i];
        }
        for (i = 0; i < @CLASSES@; ++i) {
            const @REAL@ apart = product[i] > form ? product[i] - form : form - product[i];
            if (!(apart <= most)) most = apart;
        }
        if (most < @EPS@) break;
        for (i = 0; i < @CLASSES@; ++i) {
            const @REAL@ move = (form - product[i]) / q[i][i], all = @ONE@ + move;
            p[i] += move;
            form = (form + move * (move * q[i][i] + @TWO@ * product[i])) / all / all;
            for (j = 0; j < @CLASSES@; ++j) {
                product[j] = (product[j] + move * q[i][j]) / all;
                p[j] /= all;
            }
        }
    }
}
"""

#: Reads LIBSVM rows; writes the label, then the values.
MAIN = """\
/* Answers the rows of a LIBSVM file, or of standard input: the label, then the decision values. */
#include <stdio.h>
#include <stdlib.h>

@INCLUDE@

#define MOST @MOST@

static char line[40 * MOST + 64];

int main(int argc, char **argv)
{
    static int index[MOST];
    static @REAL@ value[MOST], values[@PREFIX@_VALUES];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!file) {
        fputs("the file of rows cannot be opened\\n", stderr);
        return 1;
    }
    while (fgets(line, (int)sizeof line, file)) {
        char *at = line, *end;
        int count = 0, j;
        (void)strtod(at, &at);
        for (;;) {
            const long feature = strtol(at, &end, 10);
            if (end == at || *end != ':') break;
            if (count == MOST) {
                fputs("a row of more entries than MOST found\\n", stderr);
                return 1;
            }
            index[count] = (int)feature;
            value[count++] = (@REAL@)strtod(end + 1, &at);
        }
        @PRINT@
        @PREFIX@_values_sparse(index, value, count, values);
        for (j = 0; j < @PREFIX@_VALUES; ++j) printf(" %.@DIGITS@g", (double)values[j]);
        printf("\\n");
    }
    return 0;
}
"""
