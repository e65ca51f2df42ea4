"""Errors of model files, by the table model_changes.txt, and other files."""

import gzip
import pickle
import zlib

import pytest
from sklearn.svm import SVC

from fastsvm_cli.models import load_model, looks_like_model, parse_model
from support.checksums import embedding
from support.damage import made_good
from support.evaluation import error_of
from support.headers import changed
from support.messages import model_changes
from support.model_files import REGRESSION, compiled_text, hand
from support.paths import GOLDEN

RANGE = b"x\n0 1\n" + b"".join(b"%d -4 4\n" % feature for feature in (1, 2, 4, 7, 8))
#: Section of the table -> the file that is changed.
BASES = {
    "hand": hand(),
    "regression": REGRESSION,
    "ranges": embedding((GOLDEN / "version2" / "c_svc.border").read_bytes(), RANGE),
}
CASES = {(section, case): words for section in BASES for case, words in model_changes(section).items()}


@pytest.mark.parametrize("section, case", CASES)
def test_an_invalid_model_is_refused_in_one_clear_line(section, case):
    (message, _, *changes), text = CASES[section, case], BASES[section]
    parse_model(text, "m")
    assert error_of(made_good(text, changed(text, *changes))) == message


# ---- other files


def unescaped(text):
    return text.encode().decode("unicode_escape").encode("latin-1")


OTHERS = {unescaped(text): message for text, (message, *_) in model_changes("other files").items()}
PICKLED = "in Python, fastsvm_cli.to_libsvm(joblib.load(path), out) writes a fitted SVC or SVR as one"
for _found, _texts in {
    "a pickled Python object": [pickle.dumps(SVC(), protocol) for protocol in (0, 2, 3, 4, 5)],
    "zlib data (a compressed file of joblib?)": [zlib.compress(b"", level) for level in (1, 3, 6, 9)],
}.items():
    OTHERS |= dict.fromkeys(_texts, f"m:1: {_found} found, expected a LIBSVM or fastsvm model; {PICKLED}")
MODELS = hand(), b"kernel_type rbf\n", b"fastsvm_model x", b"solver_type L2R_LR\n", b"rho 1\n", b"%YAML:1.0\n"


@pytest.mark.parametrize("text", OTHERS, ids=lambda text: ascii(text[:40])[2:-1])
def test_other_files_are_named_for_what_they_are(text):
    assert error_of(text) == OTHERS[text]


def test_models_are_told_from_data_by_their_first_word():
    assert all(looks_like_model(text) for text in (*MODELS, pickle.dumps(SVC())))
    assert not any(map(looks_like_model, (b"", b"\n", b"1 1:1\n", b"hello\n", b"svm_types\n", b"\x1f\x8b", b"-1")))


def test_model_files_may_be_compressed(tmp_path):
    for text in (hand(), compiled_text()):
        (tmp_path / "m").write_bytes(gzip.compress(text))
        assert load_model(str(tmp_path / "m")).to_text() == text
