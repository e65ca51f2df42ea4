"""fastsvm order: wrong usage, and models that cannot be ordered."""

import os

import pytest

from support.messages import sentences
from support.ordering import RBF, cut_model
from support.paths import DATA


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
    fastsvm("approx", "-q", "--certify", trained["rings"][0], "approx")
    models = {name: trained[name][0] for name in ("rings", "waves")} | {
        f"{name}.{method}": ordered(name, method) for name in ("rings", "waves") for method in ("geometry", "triangle")
    }
    (tmp_path / "rows").write_text("1 1:1\n")
    for options, words in (case.values for case in sentences("order predict")):
        done = fastsvm("predict", *(models.get(word, word) for word in options.split()), "out", code=2)
        assert words in done.err and not (tmp_path / "out").exists(), str(done)
