"""Models compiled from a LIBSVM model of raw rows take raw rows too, and prove that model's label. Golden files:
tests/golden/raw-rows, from c_svc.folded there."""

from hashlib import sha256

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model

import fastsvm_cli
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.border.signed_distance import compile_border
from fastsvm_cli.methods.order.geometry import compile_geometry
from fastsvm_cli.methods.order.triangle import compile_triangle
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set, lossless
from fastsvm_cli.methods.reduce.target import reduce_to
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.text.read_rows import read_chunks
from support.checksums import line_with_checksum, with_checksum
from support.evaluation import decide
from support.model_files import libsvm_rows, libsvm_values
from support.paths import GOLDEN

RAW = GOLDEN / "raw-rows"
#: Digest of the range file folded into c_svc.folded.
DIGEST = "1449548a528edd8ffde0acb2db4863ba"
NONE = "f" * 32
COMPILERS = {
    "approx": lambda model: compile_maclaurin(model, fingerprint=NONE),
    "approx --certify": lambda model: compile_maclaurin(model, fingerprint=NONE, certify=True),
    "approx --centers": lambda model: compile_maclaurin(model, fingerprint=NONE, clusters=3, degree=3),
    "border": lambda model: compile_border(model, fingerprint=NONE, count=5).model,
    "border --tolerance": lambda model: compile_border(model, fingerprint=NONE, count=5, tolerance=1e-11).model,
    "order": lambda model: compile_geometry(model, fingerprint=NONE),
    "order --method triangle": lambda model: compile_triangle(model, fingerprint=NONE),
    "reduce --vectors": lambda model: compile_reduced_set(model, fingerprint=NONE, count=5).model,
    "reduce --target": lambda model: reduce_to(model, 0.2, None, fingerprint=NONE).model,
    "reduce --lossless": lambda model: lossless(model, NONE).model,
}


@pytest.mark.full(few=4)
@pytest.mark.parametrize("name", COMPILERS)
def test_the_mark_goes_through_every_compiler_and_every_file(name):
    """Also through a reduced set, and a model stopped after some points."""
    compiler, raw = COMPILERS[name], load_model(str(RAW / "c_svc.folded"))
    compiled, again = compiler(raw), compiler(parse_model(lossless(raw, NONE).model.to_text(), "m"))
    models = [compiled, *(parse_model(each.to_text(), "m") for each in (compiled, again))]
    models += [compiled.stopped_after(3)] * (name == "order")
    for model in models:
        assert model.folded.inherited and model.folded.digest == DIGEST and model.max_index == 8
    assert compiler(load_model(str(GOLDEN / "c_svc.model"))).folded is None


FILES = sorted(path.name for path in RAW.iterdir() if path.name != "c_svc.folded")


@pytest.mark.parametrize("name", FILES)
def test_golden_files_of_raw_rows(name):
    """Radii and proven values refer to libsvm's values of its file."""
    text, model = (RAW / name).read_bytes(), load_model(str(RAW / name))
    assert model.folded.inherited and model.folded.digest == DIGEST
    assert model.fingerprint == sha256((RAW / "c_svc.folded").read_bytes()).hexdigest()[:32]
    assert model.to_text() == text == (line_with_checksum if name == "c_svc.reduced" else with_checksum)(text)
    libsvm = svm_load_model(str(RAW / "c_svc.folded"))
    for chunk in read_chunks(str(GOLDEN / "data")):
        exact = np.array([libsvm_values(libsvm, row, 1) for row in libsvm_rows(chunk)])
        values, radii = decide(model, chunk)
        if model.proves and not model.certified:
            assert np.array_equal(values > 0, exact > 0)
        if model.certified:
            assert np.all(np.abs(values - exact) <= radii) and np.all(np.isfinite(radii))
        assert np.median(np.abs(values - exact)) < 1


def test_nothing_is_proven_of_the_model_of_scaled_rows():
    """Only the raw-row model's labels are proven."""
    with pytest.raises(ValueError, match="exact= goes with a certified model: --scale is folded into it: "):
        fastsvm_cli.load(RAW / "c_svc.folded", exact=GOLDEN / "c_svc.model")
    exact, X = fastsvm_cli.load(RAW / "c_svc.folded"), np.random.default_rng(0).normal(size=(200, 8)) * 4
    for name in ("c_svc.approx", "c_svc.reduced"):
        fast = fastsvm_cli.load(RAW / name, exact=RAW / "c_svc.folded")
        assert np.array_equal(fast.predict(X), exact.predict(X))
