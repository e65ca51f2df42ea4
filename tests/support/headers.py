"""LIBSVM models as svm-train writes them, rows for each, and models that svm-predict reads and fastsvm refuses."""


def _written(text):
    """Put a blank after every entry of a vector, as svm-train does."""
    header, vectors = text.split(b"SV\n")
    return header + b"SV\n" + vectors.replace(b"\n", b" \n")


REGRESSION = _written(b"""svm_type epsilon_svr
kernel_type rbf
gamma 0.1
nr_class 2
total_sv 3
rho 0.25
SV
1 1:0.5 2:1
-0.5 2:2 3:-1
0.75 1:-1 4:0.5
""")
TWO = _written(b"""svm_type c_svc
kernel_type polynomial
degree 3
gamma 0.5
coef0 1
nr_class 2
total_sv 3
rho -0.5
label 1 -1
probA -1.5
probB 0.25
nr_sv 2 1
SV
0.5 1:0.5 2:1
0.25 2:2 3:-1
-0.75 1:-1 4:0.5
""")
THREE = _written(b"""svm_type nu_svc
kernel_type sigmoid
gamma 0.5
coef0 -0.125
nr_class 3
total_sv 4
rho 0.25 -0.5 0.125
label 4 -2 7
probA -1 -2 -1.5
probB 0.5 0 -0.25
nr_sv 2 1 1
SV
0.5 1 1:1 3:2.5
0.25 0 2:1
-0.75 1 1:-1 4:0.5
-1 -0.5 2:0.125
""")
ONE_CLASS = _written(b"""svm_type one_class
kernel_type linear
nr_class 2
total_sv 2
rho 0.3
prob_density_marks -5 -3 -2 -1 -0.5 0.5 1 2 3 5
SV
0.5 1:1 2:-1
0.5 2:1 4:2
""")
SERIALS = _written(b"""svm_type nu_svr
kernel_type precomputed
nr_class 2
total_sv 2
rho 0.5
SV
1 0:1
-0.5 0:3
""")
BASES = [REGRESSION, TWO, THREE, ONE_CLASS, SERIALS]
ROWS = b"1 1:0.5 2:-1 3:0.25\n-1 1:2 3:1 9:1\n4 2:3\n7 1:1e-3 4:2\n1\n-1 1:-1 2:-2 3:-3 4:-4\n"
SERIAL_ROWS = b"1 0:1 1:0.5 2:-1 3:0.25\n-1 0:2 1:2 2:0 3:1\n2 0:3 1:-1 2:4 3:-0.5\n"
ROWS_OF = {base: SERIAL_ROWS if base is SERIALS else ROWS for base in BASES}


def changed(base, *changes):
    for old, new in changes:
        assert old in base, old
        base = base.replace(old, new)
    return base


EXCEPTIONS = {  # row of the README -> (pattern of the message, model, changes in it)
    "`nan`, `inf` or an overflow in any number (5)": (
        "expected a finite number|too large for a double",
        REGRESSION,
        (b"rho 0.25", b"rho inf"),
    ),
    "a last line without its line end (6)": ("no line end found", REGRESSION, (b"0.5 \n", b"0.5")),
    "a line that is no vector: `x`, `3 -1`, a blank one": (
        "expected a coefficient|expected index:value",
        REGRESSION,
        (b"SV\n", b"SV\n\n"),
    ),
    "CR, VT, FF as above, a NUL byte, an index as above": (
        "a carriage return found inside a line",
        REGRESSION,
        (b"gamma 0.1", b"gamma\r0.1"),
    ),
    "fewer vectors than total_sv": ("support vectors found, expected", REGRESSION, (b"total_sv 3", b"total_sv 4")),
    "header words without a blank between (`1-2`)": (
        "values of 'rho' found, expected|values of 'gamma' found|expected a finite number|expected a whole number",
        THREE,
        (b"rho 0.25 -0.5", b"rho 0.25-0.5"),
    ),
    "a key that the kernel or type needs is missing": ("the header ends without", REGRESSION, (b"gamma 0.1\n", b"")),
    "`nr_class` twice, with two numbers": (
        "nr_class 3 found, and nr_class 2 after it",
        REGRESSION,
        (b"nr_class 2", b"nr_class 3\nnr_class 2"),
    ),
    "`nr_class` other than 2 in a model without classes": (
        "nr_class 3 found, expected 2 for epsilon_svr",
        REGRESSION,
        (b"nr_class 2", b"nr_class 3"),
        (b"rho 0.25", b"rho 0.25 0 0"),
        (b"1 1:0.5", b"1 0 1:0.5"),
        (b"-0.5 2:2", b"-0.5 0 2:2"),
        (b"0.75 1:-1", b"0.75 0 1:-1"),
    ),
    "support vectors in a model of a single class": (
        "support vectors found in a model of a single class",
        TWO,
        (b"nr_class 2", b"nr_class 1"),
        (b"rho -0.5\nlabel 1 -1\nprobA -1.5\nprobB 0.25\nnr_sv 2 1", b"rho\nlabel 1\nnr_sv 3"),
    ),
    "a whole number that overflows": ("expected a whole number", REGRESSION, (b"total_sv 3", b"total_sv 4294967299")),
    "a negative total_sv": (
        "a negative number of support vectors",
        TWO,
        (b"total_sv 3", b"total_sv -3"),
        (b"nr_sv 2 1", b"nr_sv -2 -1"),
    ),
    "`nr_sv` that does not add up to total_sv": ("nr_sv adds up to", TWO, (b"nr_sv 2 1", b"nr_sv 1 1")),
    "a negative degree of a polynomial kernel": ("a negative degree found", TWO, (b"degree 3", b"degree -3")),
    "a precomputed vector without a serial of 0 or more": (
        "a support vector without a serial found",
        SERIALS,
        (b"0:1 ", b"0:-1 "),
    ),
}
