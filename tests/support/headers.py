"""LIBSVM models as svm-train writes them, rows for each, and models that svm-predict reads and fastsvm refuses."""

from support.messages import model_changes


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
BY_NAME = {"REGRESSION": REGRESSION, "TWO": TWO, "THREE": THREE, "ONE_CLASS": ONE_CLASS, "SERIALS": SERIALS}
BASES = [*BY_NAME.values()]
ROWS = b"1 1:0.5 2:-1 3:0.25\n-1 1:2 3:1 9:1\n4 2:3\n7 1:1e-3 4:2\n1\n-1 1:-1 2:-2 3:-3 4:-4\n"
SERIAL_ROWS = b"1 0:1 1:0.5 2:-1 3:0.25\n-1 0:2 1:2 2:0 3:1\n2 0:3 1:-1 2:4 3:-0.5\n"
ROWS_OF = {base: SERIAL_ROWS if base is SERIALS else ROWS for base in BASES}


def changed(base, *changes):
    for old, new in changes:
        assert old in base, old
        base = base.replace(old, new)
    return base


def changes_of_bases(section):
    """{name: (message, model, changes in it)} of a section of model_changes.txt."""
    return {name: (printed, BY_NAME[base], *pairs) for printed, name, base, *pairs in model_changes(section).values()}


EXCEPTIONS = changes_of_bases("exceptions")  # by row of the README; the message is a pattern
