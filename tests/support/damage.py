"""The golden files of every kind of model, to be damaged. A kind that is added brings its own, and is damaged with the
others."""

from fastsvm_cli.models import MODEL_TYPES, looks_like_model
from support.places import GOLDEN
from support.sealing import sealed, sealed_line

#: Name -> text: of every kind of model, in every version of the format.
FILES = {
    str(path.relative_to(GOLDEN)): path.read_bytes()
    for path in sorted(GOLDEN.rglob("*"))
    if path.is_file() and looks_like_model(path.read_bytes())
}


def kind_of(text):
    """Its key of MODEL_TYPES."""
    words = (text.splitlines()[-1].split()[:1], text.split()[:2], text.split()[:1])
    return next(key for key in (b" ".join(each).decode(errors="replace") for each in words) if key in MODEL_TYPES)


def compiled(text):
    return text.startswith(b"fastsvm_model ")


def summed(text):
    """Whether it has a checksum."""
    if compiled(text):
        return text.split(b"\n", 1)[0].endswith((b" 2", b" 3"))
    return kind_of(text) != "svm_type" and text.splitlines()[-1].split()[1] == b"2"


def made_good(text, damaged):
    """The damaged text, with a checksum that fits it where the text had one: what is wrong is found and said."""
    if not summed(text):
        return damaged
    if compiled(text):
        return sealed(damaged)
    mark = kind_of(text).encode() + b" "
    return sealed_line(damaged) if damaged.rpartition(mark)[2].split()[1:] and mark in damaged else damaged


def _order(name):
    return not summed(FILES[name]), len(FILES[name])


#: Key of MODEL_TYPES -> the name of its shortest file, in the latest version of the format.
SHORTEST = {kind: min((name for name in FILES if kind_of(FILES[name]) == kind), key=_order) for kind in MODEL_TYPES}
# The shortest LIBSVM model there is has a precomputed kernel.
SHORTEST["svm_type"] = "epsilon_svr.model"
