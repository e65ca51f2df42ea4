"""Models of svm-train are read, and written back for LIBSVM."""

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_save_model, svm_train

from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.models.base import ExactModel
from support.evaluation import ROWS
from support.model_files import COMBINATIONS, libsvm_rows, libsvm_values, values_of


@pytest.mark.parametrize("svm_type, kernel, classes", COMBINATIONS)
def test_a_trained_model_is_read_and_gives_libsvms_values(trained, svm_type, kernel, classes):
    path = str(trained(svm_type, kernel, classes))
    model, theirs = load_model(path), svm_load_model(path)
    assert isinstance(model, ExactModel) and (model.header.svm_type, model.header.kernel_type) == (svm_type, kernel)
    assert model.header.total_sv == model.vectors.rows == theirs.get_nr_sv()
    assert model.header.nr_class == theirs.get_nr_class()
    assert model.header.label == (theirs.get_labels() if model.header.classification else None)
    assert model.vectors.leading_count == model.header.nr_class - 1 and model.pairs == classes * (classes - 1) // 2
    expected = [libsvm_values(theirs, row, model.pairs) for row in libsvm_rows(ROWS)]
    assert values_of(model, [ROWS]) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("svm_type, kernel, classes", COMBINATIONS)
def test_an_exact_model_is_written_with_the_same_numbers_for_libsvm_too(trained, tmp_path, svm_type, kernel, classes):
    path = trained(svm_type, kernel, classes)
    model = load_model(str(path))
    text = model.to_text()
    again = parse_model(text, "again")
    assert again.to_text() == text
    assert again.header.lines() == model.header.lines()
    for view in ("leading", "indptr", "indices", "values", "squared_norms"):
        assert getattr(again.vectors, view).tolist() == getattr(model.vectors, view).tolist()
    assert len(text) <= path.stat().st_size
    for ours, theirs in zip(text.split(), path.read_bytes().split(), strict=True):
        assert ours == theirs or [float(part) for part in ours.split(b":")] == [
            float(part) for part in theirs.split(b":")
        ]
    (tmp_path / "written").write_bytes(text)
    old, new = svm_load_model(str(path)), svm_load_model(str(tmp_path / "written"))
    assert old.get_sv_coef() == new.get_sv_coef()
    assert old.get_SV() == new.get_SV() and old.get_nr_sv() == new.get_nr_sv()


@pytest.mark.parametrize(
    "svm_type, classes",
    [("c_svc", 2), ("c_svc", 4), ("nu_svc", 2), ("one_class", 2), ("epsilon_svr", 2), ("nu_svr", 2)],
)
def test_probability_parameters_are_read(trained, svm_type, classes):
    path = trained(svm_type, "rbf", classes, True)
    header, theirs = load_model(str(path)).header, svm_load_model(str(path))
    assert header.has_probability and theirs.is_probability_model()
    words = {
        line.split()[0]: [float(w) for w in line.split()[1:]]
        for line in path.read_text().splitlines()
        if line.startswith("prob")
    }
    assert words == {
        key: getattr(header, key)
        for key in ("probA", "probB", "prob_density_marks")
        if getattr(header, key) is not None
    }
    assert words
    assert not load_model(str(trained(svm_type, "rbf", classes))).header.has_probability


def test_a_model_of_a_single_class_without_support_vectors_is_read(tmp_path):
    svm_save_model(str(tmp_path / "m"), svm_train([3, 3], [{1: 1}, {1: 2}], "-q"))
    model = load_model(str(tmp_path / "m"))
    assert (model.header.nr_class, model.header.total_sv, model.header.label, model.header.rho, model.pairs) == (
        1,
        0,
        [3],
        [],
        0,
    )
    assert parse_model(model.to_text(), "again").to_text() == model.to_text()
    assert values_of(model, [ROWS]).shape == (4, 0)
    compiled = compile_maclaurin(model, fingerprint="f")
    assert parse_model(compiled.to_text(), "again").to_text() == compiled.to_text()
    assert values_of(compiled, [ROWS]).shape == (4, 0)


def test_a_model_without_support_vectors_answers_minus_rho():
    text = b"svm_type epsilon_svr\nkernel_type rbf\ngamma 1\nnr_class 2\ntotal_sv 0\nrho 0.5\nSV\n"
    assert values_of(parse_model(text, "m"), [ROWS]).tolist() == [[-0.5]] * 4
    compiled = compile_maclaurin(parse_model(text, "m"), fingerprint="f")
    assert values_of(parse_model(compiled.to_text(), "c"), [ROWS]).tolist() == [[-0.5]] * 4
