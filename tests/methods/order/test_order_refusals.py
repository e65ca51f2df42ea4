"""fastsvm order: wrong usage, and models that cannot be ordered."""

import os

import pytest

from support.messages import COMPILED_MODEL, sentences
from support.ordering import METHODS, RBF, cut_model
from support.places import DATA, GOLDEN


@pytest.mark.full(few=5)
@pytest.mark.parametrize("options, words", sentences("order"))
def test_wrong_usage_of_order_is_exit_code_2(fastsvm, tmp_path, options, words):
    cut_model(tmp_path / "m", RBF)
    (tmp_path / "train").write_text("1 1:1\n-1 2:1\n")
    done = fastsvm("order", *options.split(), "m", code=2)
    assert words in done.err and done.out == "" and not (tmp_path / "m.order").exists(), str(done)


def test_folded_vectors_are_of_two_classes(fastsvm, trained, tmp_path):
    for name in ("colors", "waves", "rings-one-class"):
        assert (
            "--fold is for models of two classes"
            in fastsvm("order", "--fold", DATA / "rings.train", trained[name][0], code=2).err
        )
    assert os.listdir(tmp_path) == []


@pytest.mark.full
def test_wrong_usage_of_predict_is_exit_code_2(fastsvm, trained, ordered, tmp_path):
    rings, waves = trained["rings"][0], trained["waves"][0]
    fastsvm("approx", "-q", "--certify", rings, "approx")
    others = (ordered("rings", "triangle"), "approx", rings)
    cases = [
        (["--steps", 5, "rows", model], "--steps goes with a model of fastsvm order --method geometry")
        for model in others
    ]
    cases += [
        (
            ["--steps", 5, "-b", 1, "rows", ordered("rings", "geometry")],
            "--steps stops before the value that -b 1 needs.",
        ),
        (["--steps", 0, "rows", ordered("rings", "geometry")], "'--steps': 0 is not in the range"),
        (["--tolerance", 0.1, "rows", ordered("rings", "geometry")], "--tolerance"),
        (["--tolerance", 0.1, "rows", ordered("rings", "triangle")], "--tolerance"),
        (
            ["--tolerance", 0.1, "rows", waves],
            "--tolerance goes with --exact, --open-rows, or with an ordered regression model.",
        ),
        (
            ["--tolerance", 0.1, "--steps", 5, "rows", ordered("waves", "geometry")],
            "does not go with --steps, --values or -b 1",
        ),
        (
            ["--tolerance", 0.1, "--values", "rows", ordered("waves", "triangle")],
            "does not go with --steps, --values or -b 1",
        ),
        (
            ["--tolerance", 0.1, "-b", 1, "rows", ordered("waves", "triangle")],
            "does not go with --steps, --values or -b 1",
        ),
        (["--tolerance", -1, "rows", ordered("waves", "geometry")], "'--tolerance': -1.0 is not in the range"),
    ]
    (tmp_path / "rows").write_text("1 1:1\n")
    for options, words in cases:
        done = fastsvm("predict", *options, "out", code=2)
        assert words in done.err and not (tmp_path / "out").exists(), str(done)


def test_an_ordered_model_needs_no_exact_one_and_says_so(fastsvm, trained, ordered):
    model, test = trained["rings"]
    for method in METHODS:
        done = fastsvm("predict", "--exact", model, test, ordered("rings", method), code=1)
        assert done.err.count("\n") == 1 and "LIBSVM model found" not in done.err and "exact" in done.err, str(done)


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_other_files_are_refused_in_one_line(fastsvm, trained, ordered, tmp_path, method):
    test = trained["rings"][1]
    (tmp_path / "precomputed").write_text(
        "svm_type one_class\nkernel_type precomputed\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 0:1\n"
    )
    for path, words in (
        (ordered("rings", method), COMPILED_MODEL),
        (GOLDEN / "version2" / "c_svc.approx", COMPILED_MODEL),
        ("precomputed", "a precomputed kernel found: name its vectors with --vectors and its kernel with --kernel"),
        (test, "this looks like a data file"),
        ("nowhere", "No such file or directory"),
    ):
        done = fastsvm("order", "--method", method, path, "out", code=1)
        assert words in done.err and done.err.startswith("Error: "), str(done)
        assert done.err.count("\n") == 1 and not (tmp_path / "out").exists(), str(done)
    assert "a compiled model found" in fastsvm("approx", ordered("rings", method), "out", code=1).err
