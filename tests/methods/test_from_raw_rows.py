"""Models compiled from a LIBSVM model of raw rows take raw rows too, and prove that model's label. Golden files:
tests/golden/raw-rows, from c_svc.folded there."""

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model

import fastsvm_cli
from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.checksums import fingerprint, line_with_checksum, with_checksum
from support.evaluation import decide, stopped_after
from support.model_files import libsvm_rows, libsvm_values
from support.paths import GOLDEN
from zoo.kinds import KINDS

RAW = GOLDEN / "raw-rows"
#: Digest of the range file folded into c_svc.folded.
DIGEST = "1449548a528edd8ffde0acb2db4863ba"
#: (method, options) of fastsvm_cli.compile
COMPILED = [(of.method, of.options) for of in KINDS.values() if of.method != "exact" and "rbf" in of.kernels]
COMPILED += [("reduce", {"target": 0.2}), ("reduce", {"lossless": True})]


@pytest.mark.full(few=3)
@pytest.mark.filterwarnings("ignore")  # of speed
@pytest.mark.parametrize("method, options", COMPILED)
def test_the_mark_goes_through_every_compiler_and_every_file(tmp_path, method, options):
    """Also through a reduced set, and a model stopped after some points."""
    reduced = fastsvm_cli.compile(RAW / "c_svc.folded", "reduce", lossless=True, on_progress=False)
    reduced.save(tmp_path / "reduced")
    for source in (RAW / "c_svc.folded", tmp_path / "reduced"):
        out = tmp_path / f"from {source.name}"  # else perhaps a copy of the source, which save does not replace
        fastsvm_cli.compile(source, method, on_progress=False, **options).save(out)
        model = load_model(str(out))
        for each in (model, stopped_after(model, 3)) if method == "geometry" else (model,):
            assert each.folded.inherited and each.folded.digest == DIGEST and each.max_index == 8
    assert fastsvm_cli.compile(GOLDEN / "c_svc.model", method, on_progress=False, **options).model.folded is None


FILES = sorted(path.name for path in RAW.iterdir() if path.name != "c_svc.folded")


@pytest.mark.parametrize("name", FILES)
def test_golden_files_of_raw_rows(name):
    """Radii and proven values refer to libsvm's values of its file."""
    text, model = (RAW / name).read_bytes(), load_model(str(RAW / name))
    assert model.folded.inherited and model.folded.digest == DIGEST
    assert model.fingerprint == fingerprint((RAW / "c_svc.folded").read_bytes())
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
