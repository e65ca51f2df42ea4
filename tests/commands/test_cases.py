"""Small inputs from bug reports and published files, beside the checkout: each at every interface that can meet it."""

import subprocess

import numpy as np
import pytest
import scipy.sparse

from fastsvm_cli import load, read_chunks
from support.c_library import CModel
from support.paths import PROGRAM, ROOT

CASES = ROOT.parent / "shared" / "cases"
#: folder -> (rows, model); `expected` has svm-predict's output.
PREDICTED = {
    "blank-after-colon": ("rows", "m"),
    "feature-0": ("z.te", "z.m"),
    "precomputed-serial": ("pk.te", "m"),
    "text-after-vectors": ("t", "m"),
    "unsorted-vectors": ("t", "m"),
}
pytestmark = [
    pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the checkout"),
    pytest.mark.filterwarnings("ignore::fastsvm_cli.FastsvmWarning"),
]


@pytest.mark.parametrize("name", PREDICTED)
def test_labels_are_svm_predicts_at_every_interface(fastsvm, tmp_path, name):
    folder = CASES / name
    rows, model = (folder / each for each in PREDICTED[name])
    expected = (folder / "expected").read_text()
    labels = np.loadtxt(folder / "expected")
    fastsvm("predict", "-q", rows, model, "out")
    assert (tmp_path / "out").read_text() == expected
    subprocess.run([PROGRAM, "-q", rows, model, tmp_path / "native"], check=True)
    assert (tmp_path / "native").read_text() == expected
    (chunk,) = read_chunks(str(rows))
    indptr, indices, values = (np.array(each) for each in (chunk.indptr, chunk.indices, chunk.values))
    assert np.array_equal(CModel(model, 1).sparse(indptr, indices, values)[0], labels)
    fast = load(model)
    if fast.model.serials:
        with pytest.raises(ValueError, match="serial"):
            fast.predict(values.reshape(len(labels), -1))
        assert np.array_equal(fast.predict(values.reshape(len(labels), -1)[:, 1:]), labels)
        return
    x = scipy.sparse.csr_matrix((values, indices - fast.first_index, indptr), (len(labels), fast.n_features_in_))
    for X in (x, x.toarray()):
        assert np.array_equal(fast.predict(X), labels)
    assert np.array_equal(CModel(model, 1).dense(x.toarray())[0], labels)


def test_dense_text_of_a_model_with_a_feature_0(fastsvm, tmp_path):
    folder = CASES / "feature-0"
    fastsvm("predict", "-q", "--dense", folder / "z.csv", folder / "z.m", "out")
    assert (tmp_path / "out").read_text() == (folder / "expected").read_text()


@pytest.mark.parametrize(
    "folder, rows, model, exported",
    [
        ("export-extremes", "t", "neg.model", {"single", "double"}),
        ("export-extremes", "t", "big.model", {"double"}),
        ("export-extremes", "t", "bigsig.model", {"double"}),
        ("export-extremes", "tiny.t", "tiny.model", {"double"}),
        ("constant", "t", "m", {"single", "double"}),
        ("feature-0", "z.te", "z.m", {"single", "double"}),
    ],
)
def test_exports_answer_as_predict_or_are_refused(fastsvm, folder, rows, model, exported):
    for target in ("c", "onnx"):
        for precision in ("single", "double"):
            features = ["--features", "4"] if folder == "constant" and target == "onnx" else []
            words = ["export", "--to", target, "--precision", precision, *features, "--test", CASES / folder / rows]
            done = fastsvm(*words, CASES / folder / model, f"m.{target}", code=int(precision not in exported))
            if precision not in exported:
                assert done.err.count("\n") == 1 and "--precision double" in done.err
            elif folder != "constant":
                assert f"0 of {len((CASES / folder / rows).read_text().splitlines())} labels differ" in done.out


@pytest.mark.parametrize(
    "rows, model, message",
    [
        ("blank-after-colon/rows", "no-last-line-end/m1", "add it with echo >> FILE"),
        ("multilabel-blanks/a", "multilabel-blanks/m", "a multi-label line ('324, 674, 54') found, expected one label"),
        ("multilabel-blanks/b", "multilabel-blanks/m", "a multi-label line ('324,674,54') found, expected one label"),
        ("multilabel-blanks/c", "multilabel-blanks/m", "or is this a multi-label line without labels?"),
    ],
)
def test_files_that_stay_refused_are_named(fastsvm, rows, model, message):
    assert message in fastsvm("predict", CASES / rows, CASES / model, code=1).err
