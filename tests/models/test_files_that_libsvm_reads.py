"""Models and rows whose writers differ from LIBSVM's: svm-predict reads them, and so does fastsvm, with its answers."""

import random
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import FastsvmWarning, compile, load
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from support.both_programs import alike, ours, theirs
from support.evaluation import error_of
from support.headers import ROWS
from support.paths import GOLDEN
from support.profiles import seeded
from zoo.traits import cancelling, usual

UNSORTED = (
    "indices of a support vector that do not increase found: rows are answered as by svm-predict, slowly; with sorted"
    " indices the answers would differ"
)


def shuffled(text, rng, twice):
    """The model with every vector's entries in another order. twice: some indices occur again."""
    head, vectors = text.split(b"SV\n")
    lines = []
    for line in vectors.splitlines():
        words = line.split()
        entries = [word for word in words if b":" in word]
        rng.shuffle(entries)
        if twice and entries:
            entries.insert(rng.randrange(len(entries)), rng.choice(entries))
        lines.append(b" ".join([word for word in words if b":" not in word] + entries) + b"\n")
    return head + b"SV\n" + b"".join(lines)


@seeded(60)
@given(
    seed=st.integers(0, 10**6),
    svm_type=st.sampled_from(["c_svc", "one_class", "epsilon_svr"]),
    kernel=st.sampled_from(["linear", "polynomial", "rbf", "sigmoid"]),
    classes=st.integers(2, 4),
    twice=st.booleans(),
)
def test_vectors_in_any_order_are_answered_as_by_svm_predict(
    svm_predict, tmp_path_factory, seed, svm_type, kernel, classes, twice
):
    folder = tmp_path_factory.mktemp("unsorted")
    found = usual(np.random.default_rng(seed), svm_type, kernel, classes=classes, indices=range(1, 8))
    found.machine.marks = None  # Debian's LIBSVM 3.24 does not know this key
    text = shuffled(found.model, random.Random(seed), twice)
    for probability in (False, True)[: 1 + (svm_type == "c_svc")]:
        expected = theirs(svm_predict, folder, found.data, text, probability)
        assert expected is not None and alike(ours(folder, found.data, text, probability), expected)


def test_an_order_matters_and_arrays_and_sparse_rows_have_the_same_labels(svm_predict, tmp_path):
    found = cancelling(np.random.default_rng(3))
    text, x = shuffled(found.model, random.Random(3), False), found.dense()
    (tmp_path / "model").write_bytes(text)
    with pytest.warns(FastsvmWarning, match=UNSORTED):
        fast = load(tmp_path / "model")
    expected = [float(line) for line in theirs(svm_predict, tmp_path, found.data, text)[: len(x)]]
    assert [float(line) for line in ours(tmp_path, found.data, found.model)[: len(x)]] != expected
    assert fast.predict(x).tolist() == expected and fast.predict(x[:1]).tolist() == expected[:1]
    assert fast.classes_[(fast.decision_function(x) > 0).astype(int)].tolist() == expected


def test_such_a_model_is_answered_with_a_warning_and_not_compiled(fastsvm, tmp_path):
    text, model = (GOLDEN / "c_svc.model").read_bytes(), tmp_path / "model"
    model.write_bytes(shuffled(text, random.Random(1), False))
    line = text[: text.index(b"SV")].count(b"\n") + 2
    assert fastsvm("predict", GOLDEN / "data", "model", "out").err == f"Warning: model:{line}: {UNSORTED}\n"
    assert fastsvm("predict", "-q", GOLDEN / "data", "model", "out").err == ""
    why = "this model cannot be compiled or exported; write it again with sorted indices"
    for command in (["approx"], ["reduce", "--ratio", "0.5"], ["order"], ["border"], ["export", "--to", "c"]):
        done = fastsvm(*command, "model", *(["m.c"] if "export" in command else []), code=1)
        assert done.err.splitlines()[-1].startswith("Error: model: ") and done.err.endswith(f"{why}\n")
    with pytest.warns(FastsvmWarning, match=UNSORTED), pytest.raises(ModelFormatError, match=why):
        compile(str(model), "approx")
    assert not list(tmp_path.glob("m*.*"))


def test_text_after_the_last_vector_is_ignored_with_a_warning(svm_predict, tmp_path):
    text, data = (GOLDEN / "c_svc.model").read_bytes(), ROWS
    for more in (b"\nnormalisation 1 2.5\n0.31 4.2\n", b"x\n", b"1 2:3\n", b"\xff\x00\n", b"md5 %s\n" % (b"0a" * 16)):
        with pytest.warns(FastsvmWarning) as warned:
            model = parse_model(text + more, "m")
        line = text.count(b"\n") + 1
        assert [str(each.message) for each in warned] == [
            f"m:{line}: text found after the {model.header.total_sv} support vectors that total_sv announces; it is"
            " ignored, as by LIBSVM"
        ]
        assert model.to_text() == parse_model(text, "m").to_text()
        assert alike(ours(tmp_path, data, text + more), theirs(svm_predict, tmp_path, data, text + more))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_model(text + b"\n \t\r\n\n", "m")


def test_a_line_of_fastsvms_that_was_changed_is_refused():
    text = (GOLDEN / "version2" / "c_svc.reduced").read_bytes()
    for damaged in (text.replace(b"fastsvm_reduced", b"fastsvm-reduced"), text + b"more\n"):
        assert "a line of fastsvm's that was changed" in error_of(damaged)


def test_a_last_line_without_its_end_is_read_with_a_warning_if_the_counts_agree(svm_predict, tmp_path, fastsvm):
    text = (GOLDEN / "c_svc.model").read_bytes()
    note = "m:{}: no line end found after the last support vector, which may be cut off"
    for whole in (text, text.replace(b" \n", b"\n")):
        cut = whole[:-1]
        with pytest.warns(FastsvmWarning) as warned:
            assert parse_model(cut, "m").to_text() == parse_model(whole, "m").to_text()
        assert [str(each.message) for each in warned] == [note.format(text.count(b"\n"))]
        assert alike(ours(tmp_path, ROWS, cut), theirs(svm_predict, tmp_path, ROWS, cut))
    lines = text.splitlines()
    assert ": the last one is cut off" in error_of(b"\n".join(lines[:-1]))
    reduced = (GOLDEN / "version2" / "c_svc.reduced").read_bytes()
    assert error_of(reduced[:-1]).startswith("m:")


def test_a_last_line_without_its_end_is_read_where_nothing_can_be_cut():
    constant = b"svm_type epsilon_svr\nkernel_type rbf\ngamma 1.0\nnr_class 2\ntotal_sv 0\nrho -0.5\nSV"
    assert parse_model(constant, "m").to_text() == constant + b"\n"
    serials = b"svm_type one_class\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0.5\nSV\n1 0:2 \n0.5 0:13 "
    assert parse_model(serials, "m").max_index == 13
    with pytest.warns(FastsvmWarning, match="no line end found"):
        parse_model(serials.rstrip(), "m")
    assert "without a serial" in error_of(serials.removesuffix(b"0:13 "))
    cut = constant.replace(b"total_sv 0", b"total_sv 1")
    assert "0 support vectors found, expected 1" in error_of(cut)
