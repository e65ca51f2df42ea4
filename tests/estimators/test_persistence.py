"""Files of an object: they give the same answers, or what they do not hold is named."""

import os

import numpy as np
import pytest

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError
from support.fitting import answers, require_same, trait
from support.messages import cases

#: Trait -> the argument that no model file holds, and that `save` names. None: `save` writes all.
LOST = dict(cases("what no model file holds"))


@pytest.mark.parametrize("name", LOST)
def test_save_writes_all_or_names_what_to_drop(name, tmp_path):
    of, path = trait(name), tmp_path / "model"
    fast = fastsvm_cli.compile(of.estimator)
    if LOST[name] is not None:
        with pytest.raises(ModelFormatError, match=f"FastSVM: {LOST[name]} found, .* use joblib.dump") as error:
            fast.save(path)
        assert not path.exists() and "\n" not in str(error.value)
        drop = str(error.value).split("with ")[1]
        eval(f"fast.{drop}")  # the remedy
    fast.save(os.fsencode(path))
    X = np.asarray(of.X) if name == "frame" else of.X
    found = answers(fastsvm_cli.load(os.fsencode(path), n_features_in=X.shape[1]), X)
    require_same(found, answers(fast, X))


def test_the_file_of_an_estimator_is_compiled_and_loaded_from_any_name_of_it(tmp_path):
    svc, X = trait("balanced").estimator, trait("balanced").X
    fastsvm_cli.to_libsvm(svc, os.fsencode(tmp_path / "m"))
    text = (tmp_path / "m").read_bytes()
    made = [fastsvm_cli.compile(each) for each in (tmp_path / "m", str(tmp_path / "m"), os.fsencode(tmp_path / "m"))]
    made += [fastsvm_cli.loads(each) for each in (text, text.decode(), memoryview(text))]
    for fast in made:
        assert (fast.set_params(n_features_in=5).predict(X) == svc.predict(X)).all()
        assert fast.own_fingerprint == fastsvm_cli.load(tmp_path / "m").own_fingerprint


def test_save_keeps_the_file_that_was_read(folder, tmp_path):
    """So that models compiled from the file still accept it."""
    for name in ("colors.model", "colors.model.approx"):
        fastsvm_cli.load(folder / name).save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    gone = tmp_path / "gone.model"
    gone.write_bytes((folder / "colors.model").read_bytes())
    fast = fastsvm_cli.load(gone)
    gone.write_text("another")
    fast.save(tmp_path / "again")
    X = np.random.default_rng(0).normal(size=(50, fast.n_features_in_))
    assert np.array_equal(fastsvm_cli.load(tmp_path / "again").predict_proba(X), fast.predict_proba(X))
