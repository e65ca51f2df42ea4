"""A hand-made model, and its errors."""

import gzip
import pickle
import zlib

import numpy as np
import pytest
from sklearn.svm import SVC

from fastsvm_cli.errors import FileError
from fastsvm_cli.models import load_model, looks_like_model, parse_model
from support.evaluation import ROWS, error_of
from support.headers import changed
from support.messages import DATA_FILE, model_changes, no_coefficient, values_of_key
from support.model_files import REGRESSION, compiled_text, hand, values_of


def test_the_hand_made_model_is_read():
    model = parse_model(hand(), "m")
    assert model.vectors.leading.tolist() == [[0.5, 1], [0.25, 0], [-0.75, 1], [-1, -0.5]]
    assert model.vectors.indices.tolist() == [1, 3, 2, 1, 4, 0]
    assert model.header.rho == [0.25, -0.5, 0.125] and model.path == "m"
    assert model.to_text() == hand()


@pytest.mark.parametrize(
    "changes",
    [
        [("\nrho 0.25 -0.5 0.125", ""), ("\nSV\n", "\nrho 0.25 -0.5 0.125\nSV\n")],
        [("svm_type c_svc\n", ""), ("nr_class 3", "svm_type c_svc\nnr_class 3")],
        [("gamma 0.5", "gamma  5e-1 ")],
        [("gamma 0.5", "gamma 0x1p-1"), ("rho 0.25 -0.5", "rho +0X.4 -0x.8p+0")],
        [("gamma 0.5", "gamma 0.5\ndegree 3\ncoef0 2")],
        [("nr_class 3", "nr_class +3")],
        [("nr_class 3", "nr_class 00000000000" + "0" * 5000 + "3")],
        [("0.25 0 2:1", "2.5e-1 0 2:1 \t")],
        [("-1 -0.5 0:0.125", "-1 -0.5 0:0.125 ")],
        [("-0.75 1 1:-1 4:0.5\n", "-0.75 1 1:-1 4:0.5 # 5 of 5\n")],
    ],
)
def test_other_spellings_of_the_same_model_are_read(changes):
    other = parse_model(hand(*changes), "m")
    assert np.array_equal(values_of(other, [ROWS]), values_of(parse_model(hand(), "m"), [ROWS]))


def test_a_model_with_carriage_returns_is_read():
    assert parse_model(hand().replace(b"\n", b"\r\n"), "m").to_text() == hand()


def test_blank_lines_after_the_last_support_vector_do_not_matter():
    assert parse_model(hand() + b"\n \n", "m").to_text() == hand()


BROKEN = model_changes("hand")


@pytest.mark.parametrize("name", BROKEN)
def test_an_invalid_model_is_refused_in_one_clear_line(name):
    message, _, *changes = BROKEN[name]
    assert error_of(changed(hand(), *changes)) == message


def test_a_coefficient_too_few_is_not_called_unlabelled_data():
    message = error_of(hand(("0.25 0 2:1", "0.25 2:1")))
    assert message.startswith(f"m:11: {no_coefficient('2:1')}") and "unlabelled" not in message


def test_a_missing_coefficient_of_a_two_class_model_is_called_one():
    text = b"svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:1\n2:1\n"
    assert error_of(text) == f"m:10: {no_coefficient('2:1')}"


@pytest.mark.parametrize(
    "old, new, message",
    [
        (b"nr_class 2", b"nr_class 3", "m:3: nr_class 3 found, expected 2 for epsilon_svr"),
        (b"rho 0", b"rho 0 1", f"m:5: {values_of_key(2, 'rho', 1)}"),
        (b"rho 0", b"rho 0\nnr_sv 1", f"m:6: {values_of_key(1, 'nr_sv', 2)}"),
        (b"rho 0", b"rho 0\nlabel 0", "m:6: 1 labels found, expected 2"),
        (b"rho 0", b"rho 0\nprobA 1 2", f"m:6: {values_of_key(2, 'probA', 1)}"),
    ],
)
def test_an_invalid_regression_model_is_refused(old, new, message):
    assert parse_model(REGRESSION, "m").to_text() == REGRESSION.replace(b"rho 0", b"rho 0.0")
    assert error_of(REGRESSION.replace(old, new)) == message


@pytest.mark.parametrize("row", [b"1 0:-1", b"1", b"1 0:2147483648", b"1 0:1e300"])
def test_a_support_vector_of_a_precomputed_kernel_is_a_serial(row):
    text = REGRESSION.replace(b"linear", b"precomputed")
    assert parse_model(text.replace(b"1 1:1", b"1 0:3"), "m").vectors.values.tolist() == [3.0]
    assert (
        error_of(text.replace(b"1 1:1", row))
        == "m:7: a support vector without a serial found, expected 0:serial: the kernel is precomputed"
    )


def test_a_single_class_has_no_support_vectors():
    text = "svm_type c_svc\nkernel_type linear\nnr_class 1\ntotal_sv 1\nrho\nlabel 3\nnr_sv 1\nSV\n1:1\n"
    assert error_of(text) == "m:3: support vectors found in a model of a single class"


TRAIN = "svm-train makes one of the same training rows"
WRITE = "in Python, fastsvm_cli.to_libsvm(joblib.load(path), out) writes a fitted SVC or SVR as one"
FROM_R = "in R, e1071's write.svm(model, svm.file, scale.file) writes one"
COMMENT = "a comment found, which LIBSVM's reader refuses too: grep -v '^#' leaves such lines out"
OTHERS = {
    b"": "m: the file is empty, expected a model",
    b"\n": "m:1: a blank line found, expected a model",
    b" \t\r\n\n": "m:1: a blank line found, expected a model",
    b"1 1:2 3:4\n-1 2:1\n": f"m:1: {DATA_FILE}",
    b"-1\n1\n": f"m:1: {DATA_FILE}",
    b"+0.5 7:1\n": f"m:1: {DATA_FILE}",
    b"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias -1\nw\n0.1\n": (
        "m:1: a LIBLINEAR model found, expected a LIBSVM or fastsvm model"
    ),
    **{
        start: f"m:1: {name} found, expected a LIBSVM or fastsvm model; {remedy}"
        for name, remedy, starts in (
            ("an SVM-light model", TRAIN, [b"SVM-light Version V6.02\n2 # kernel type\n"]),
            (
                "an OpenCV model",
                TRAIN,
                [
                    b"%YAML:1.0\nmy_svm: !!opencv-ml-svm\n",
                    b'<?xml version="1.0"?>\n<opencv_storage>\n',
                    b'{\n    "opencv_ml_svm": {\n',
                ],
            ),
            ("a PMML model", TRAIN, [b'<?xml version="1.0"?>\n<PMML version="4.1">\n']),
            ("a pickled Python object", WRITE, [pickle.dumps(SVC(), protocol) for protocol in (0, 2, 3, 4, 5)]),
            ("zlib data (a compressed file of joblib?)", WRITE, [zlib.compress(b"", level) for level in (1, 3, 6, 9)]),
            ("an R object of saveRDS", FROM_R, [b"X\n\0\0\0\3"]),
            ("R objects of save", FROM_R, [b"RDX2\nX\n", b"RDX3\nX\n"]),
        )
        for start in starts
    },
    b"# a comment\n" + hand(): f"m:1: {COMMENT}",
    b"\n# a comment\n\n # another\nfastsvm_model x\n": f"m:1: {COMMENT}",
    hand(("gamma", "# a comment\ngamma")): f"m:3: {COMMENT}",
    b"# a comment\n1 1:2\n": f"m:1: {DATA_FILE}",
    b"hello\n": "m:1: 'hello' found, expected a LIBSVM model ('svm_type ...') or a fastsvm model ('fastsvm_model ...')",
    b"<!DOCTYPE html>\n": (
        "m:1: '<!DOCTYPE html>' found, expected a LIBSVM model ('svm_type ...') or a fastsvm model ('fastsvm_model"
        " ...')"
    ),
    b"\x7fELF\x02\x01\x01\x00\n": (
        "m:1: '?ELF????' found, expected a LIBSVM model ('svm_type ...') or a fastsvm model ('fastsvm_model ...')"
    ),
    b"fastsvm_model\n": "m:1: 'fastsvm_model' found, expected 'fastsvm_model <kind> <version>'",
    b"fastsvm_model maclaurin\nend\n": (
        "m:1: 'fastsvm_model maclaurin' found, expected 'fastsvm_model <kind> <version>'"
    ),
    b"fastsvm_model maclaurin one\nend\n": (
        "m:1: 'fastsvm_model maclaurin one' found, expected 'fastsvm_model <kind> <version>'"
    ),
    b"fastsvm_model maclaurin 1 1\nend\n": (
        "m:1: 'fastsvm_model maclaurin 1 1' found, expected 'fastsvm_model <kind> <version>'"
    ),
    b"fastsvm_model maclaurin 4\nend\n": (
        "m:1: version 4 of the format found, this fastsvm reads up to 3: a newer fastsvm wrote it"
    ),
    b"fastsvm_model quadrature 7\nend\n": (
        "m:1: version 7 of the format found, this fastsvm reads up to 3: a newer fastsvm wrote it"
    ),
    b"svm_type c_svc": "m:1: the file ends inside the header, expected a line 'SV'",
    b"svm_type c_svc\nkernel_type rbf\n": "m:3: the file ends inside the header, expected a line 'SV'",
}


@pytest.mark.parametrize("text", OTHERS, ids=lambda text: ascii(text[:40])[2:-1])
def test_other_files_are_named_for_what_they_are(text):
    assert error_of(text) == OTHERS[text]


def test_an_approxsvm_model_is_named():
    assert error_of("approximated 1\n") == "m:1: an ApproxSVM model found, expected a LIBSVM or fastsvm model"


def test_models_are_told_from_data_by_their_first_word():
    for text in (
        hand(),
        b"kernel_type rbf\n",
        b"fastsvm_model x",
        b"fastsvm_model maclaurin 2\n",
        b"solver_type L2R_LR\n",
        b"rho 1\n",
        b"%YAML:1.0\n",
        pickle.dumps(SVC()),
    ):
        assert looks_like_model(text)
    for text in (b"", b"\n", b"1 1:1\n", b"hello\n", b"svm_types\n", b"\x1f\x8b", b"-1"):
        assert not looks_like_model(text)


def test_model_files_may_be_compressed(tmp_path):
    for text in (hand(), compiled_text()):
        (tmp_path / "m").write_bytes(gzip.compress(text))
        assert load_model(str(tmp_path / "m")).to_text() == text


def test_a_model_file_that_cannot_be_read_is_named(tmp_path):
    for path, words in ((tmp_path / "nowhere", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(FileError) as caught:
            load_model(str(path))
        assert str(caught.value) == f"{path}: {words}"
