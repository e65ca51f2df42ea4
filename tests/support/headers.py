"""LIBSVM models as svm-train writes them, rows for each, and models that svm-predict reads and fastsvm refuses."""

from support.messages import model_changes
from support.paths import TESTS

FOLDER = TESTS / "models" / "headers"


def _written(path):
    """With a blank after every entry of a vector, as svm-train writes it."""
    header, vectors = path.read_bytes().split(b"SV\n")
    return header + b"SV\n" + vectors.replace(b"\n", b" \n")


BY_NAME = {path.stem.upper(): _written(path) for path in sorted(FOLDER.iterdir())}
BASES = [*BY_NAME.values()]
ONE_CLASS, REGRESSION, SERIALS, THREE, TWO = BASES
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


EXCEPTIONS = changes_of_bases("exceptions")  # by row of FILES.md; the message is a pattern
