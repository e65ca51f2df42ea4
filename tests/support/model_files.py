"""Golden, handwritten and compiled model files; LIBSVM's values for them."""

from ctypes import c_double
from pathlib import Path

import numpy as np
from libsvm.svm import gen_svm_nodearray, libsvm

from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import parse_model
from support.checksums import with_checksum
from support.evaluation import HAND, values
from support.paths import GOLDEN

# ---- golden files

EXACT = sorted(path.name for path in GOLDEN.glob("*.model"))
COMPILED, ORDERED, BORDERS, REDUCED, DENSITIES, CASCADES = (
    sorted(f"version2/{path.name}" for path in (GOLDEN / "version2").glob(f"*.{end}"))
    for end in ("approx", "order", "border", "reduced", "density", "cascade")
)


def exact_name(name):
    """c_svc-certified.approx was compiled from c_svc.model."""
    stem = Path(name).stem.split("-")[0]
    return next(stem + end for end in (".model", ".precomputed") if (GOLDEN / (stem + end)).exists())


def golden_values(name, file="values"):
    rows = [line.split()[1:] for line in (GOLDEN / file).read_text().splitlines() if line.split()[0] == Path(name).name]
    assert [int(row[0]) for row in rows] == list(range(1, 13))
    return np.array([[float(word) for word in row[1:]] for row in rows])


# ---- handwritten and damaged models


REGRESSION = b"svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1\n"


def hand(*changes):
    text = HAND
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text.encode()


def compiled_text(**options):
    return compile_maclaurin(parse_model(hand(), "m"), fingerprint="0123456789abcdef", **options).to_text()


def changed(old, new, count=1, text=None):
    """Renew the checksum after a change, so that the change itself is found."""
    text = text or compiled_text()
    assert old in text, text.decode()
    return with_checksum(text.replace(old, new, count))


def mutations(text, rng, step):
    """One byte in every `step` changed, removed, doubled or inserted."""
    for at in range(0, len(text), step):
        before, byte, after = text[:at], text[at], text[at + 1 :]
        for other in {byte ^ 1, byte ^ 0x80, 0, 10, 32, *b"9-:e", rng.randrange(256)} - {byte}:
            yield before + bytes([other]) + after
        yield before + after
        yield before + bytes([byte, byte]) + after
        yield before + b"1" + bytes([byte]) + after


# ---- evaluation


def values_of(model, chunks):
    """(rows, pairs)"""
    return np.concatenate([np.empty((0, model.pairs)), *(values(model, chunk) for chunk in chunks)])


def libsvm_rows(chunk):
    starts, indices, values = chunk.indptr, chunk.indices, chunk.values
    return [{indices[e]: values[e] for e in range(starts[r], starts[r + 1])} for r in range(chunk.rows)]


def libsvm_values(model, row, pairs):
    # Not libsvm.svmutil.svm_predict, which writes past its buffer for nu_svc with several classes.
    out = (c_double * max(pairs, 1))()
    libsvm.svm_predict_values(model, gen_svm_nodearray(row)[0], out)
    return list(out)[:pairs]
