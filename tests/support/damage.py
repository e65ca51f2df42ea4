"""Golden files of every kind of model, to be damaged."""

from fastsvm_cli.models import looks_like_model
from support.checksums import line_with_checksum, with_checksum
from support.evaluation import error_of
from support.paths import GOLDEN

#: Kinds of compiled models, as the core names them.
COMPILED_KINDS = error_of("fastsvm_model quadrature 2\nend\n").partition(" found, this fastsvm knows ")[2].split(", ")
#: First words of a file, or of a LIBSVM model's last line; of every kind.
KINDS = (
    "svm_type",
    "fastsvm_reduced",
    "fastsvm_folded",
    *(f"fastsvm_model {kind}" for kind in COMPILED_KINDS),
)

#: Name -> text; every kind of model, every version of the format.
FILES = {
    str(path.relative_to(GOLDEN)): path.read_bytes()
    for path in sorted(GOLDEN.rglob("*"))
    if path.is_file() and looks_like_model(path.read_bytes())
}


def kind_of(text):
    """One of KINDS."""
    words = (text.splitlines()[-1].split()[:1], text.split()[:2], text.split()[:1])
    return next(key for key in (b" ".join(each).decode(errors="replace") for each in words) if key in KINDS)


def compiled(text):
    return text.startswith(b"fastsvm_model ")


def summed(text):
    """Whether it has a checksum."""
    return kind_of(text) != "svm_type"


def made_good(text, damaged):
    """Renew the checksum, if there was one, so that the damage itself is found."""
    if not summed(text):
        return damaged
    if compiled(text):
        return with_checksum(damaged)
    mark = kind_of(text).encode() + b" "
    return line_with_checksum(damaged) if damaged.rpartition(mark)[2].split()[1:] and mark in damaged else damaged


#: One of KINDS -> shortest file.
SHORTEST = {
    kind: min((name for name in FILES if kind_of(FILES[name]) == kind), key=lambda name: len(FILES[name]))
    for kind in KINDS
}
# The shortest LIBSVM model has a precomputed kernel.
SHORTEST["svm_type"] = "epsilon_svr.model"
