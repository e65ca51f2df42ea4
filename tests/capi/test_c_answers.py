"""libfastsvm gives the answers of the Python package, for all forms of rows."""

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from fastsvm_cli import Chunk, load_model, read_chunks
from fastsvm_cli.prediction.answers import Fallback, Predictor
from support.c_library import CModel, dense_rows, sparse_rows
from support.model_files import exact_name
from support.paths import DATA, GOLDEN

pytestmark = pytest.mark.full

MODELS = sorted(
    str(path.relative_to(GOLDEN))
    for folder in (".", "version2", "version3", "raw-rows")
    for path in (GOLDEN / folder).iterdir()
    if path.suffix in (".model", ".approx", ".border", ".density", ".order", ".reduced")
)


def answered(model, rows, output_kind, form="sparse", exact=None):
    """The library's answers, (rows, numbers). form: sparse, one (row by row), doubles, floats, or memory (which the
    models are loaded from)."""
    known = load_model(str(model))
    library = CModel(model, known.pairs, exact=exact, memory=form == "memory")
    chunk = Chunk.concatenate(read_chunks(str(rows)))
    starts, *entries = (np.array(each) for each in (chunk.indptr, chunk.indices, chunk.values))
    if form in ("doubles", "floats"):
        x = np.zeros((chunk.rows, 64))
        x[np.repeat(np.arange(chunk.rows), np.diff(starts)), entries[0] - known.first_index] = entries[1]
        given = [dense_rows(x.astype("f8" if form == "doubles" else "f4"))]
    elif form == "one":
        given = [sparse_rows(starts[at : at + 2], *entries) for at in range(chunk.rows)]
    else:
        given = [sparse_rows(starts, *entries)]
    for _ in range(3):  # the first few rows are answered in another way
        found = [library.ask(output_kind, each, known.header.nr_class) for each in given]
    return np.concatenate(found)


def expected(model, rows, output_kind, exact=None):
    """The package's answers: (rows, numbers)."""
    fallback = None if exact is None else Fallback(lambda: load_model(str(exact)).plain())
    by_value = output_kind in ("values", "radii")
    predictor = Predictor(model, probability=output_kind == "probabilities", values=by_value, exact=fallback)
    parts = []
    for chunk in read_chunks(str(rows), scaling=model.row_scaling()):
        answer = predictor.answer(chunk)
        found, decisions = answer.predictions, answer.decisions
        if by_value:
            parts.append(np.array(decisions.value))
            if output_kind == "radii":
                parts[-1] = np.hstack([parts[-1], np.array(decisions.radius)])
        else:
            parts.append(np.column_stack([np.array(found.label), np.array(found.probability)]))
    return np.concatenate(parts)


def assert_alike(found, requested, regression=False):
    """Same labels, other numbers up to rounding: the first rows are answered in another way."""
    assert found.shape == requested.shape
    assert regression or np.array_equal(found[:, 0] > 0, requested[:, 0] > 0)
    assert found == pytest.approx(requested, rel=1e-10, abs=1e-11)


@pytest.mark.parametrize("name", MODELS)
def test_golden_models_answer_as_in_python(name):
    path = GOLDEN / name
    rows = path.parent / "data" if "version3" in name else GOLDEN / "data"
    model = load_model(str(path))
    regression, probabilities = "svr" in model.header.svm_type, model.header.has_probability
    labels = answered(path, rows, "labels")
    assert_alike(labels, expected(model, rows, "labels"), regression)
    for form in ("one", "memory"):
        assert_alike(answered(path, rows, "labels", form), labels, regression)
    values = answered(path, rows, "values")
    assert_alike(values, expected(model, rows, "values")[:, : values.shape[1]])
    if model.certified:
        both, known = answered(path, rows, "radii"), expected(model, rows, "radii")
        assert both == pytest.approx(known, rel=1e-10, abs=1e-11)
    if probabilities and not regression:
        assert_alike(answered(path, rows, "probabilities"), expected(model, rows, "probabilities"))


@pytest.mark.parametrize(
    "name",
    [
        f"version2/{name}"
        for name in ("c_svc-certified.approx", "nu_svc-certified.approx", "c_svc.reduced", "epsilon_svr.reduced")
    ],
)
def test_a_certified_model_with_its_exact_one_has_svm_predicts_labels(name):
    path, exact, rows = GOLDEN / name, GOLDEN / exact_name(name), GOLDEN / "data"
    regression = "svr" in name
    found = answered(path, rows, "labels", "sparse", exact)
    assert_alike(found, expected(load_model(str(path)), rows, "labels", exact), regression)
    assert_alike(found, expected(load_model(str(exact)), rows, "labels"), regression)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Models of data/, which has more rows than are answered at a time."""
    folder = tmp_path_factory.mktemp("models")
    for name, options in (("rings", "-g 2 -b 1"), ("colors", "-g 0.02"), ("waves", "-s 3 -g 0.5")):
        svm_save_model(str(folder / name), svm_train(*svm_read_problem(str(DATA / f"{name}.train")), f"-q {options}"))
    return folder


@pytest.mark.parametrize("name", ["rings", "colors", "waves"])
def test_forms_of_rows_are_one(trained, name):
    """Dense doubles with a stride equal sparse rows; floats are close."""
    model, rows = trained / name, DATA / ("waves.train" if name == "waves" else f"{name}.test")
    regression = name == "waves"
    for output_kind in ("labels", "values", *(["probabilities"] if name == "rings" else [])):
        sparse = answered(model, rows, output_kind)
        assert_alike(sparse, expected(load_model(str(model)), rows, output_kind), regression)
        assert_alike(answered(model, rows, output_kind, "doubles"), sparse, regression)
        assert_alike(answered(model, rows, output_kind, "one"), sparse, regression)
    values = answered(model, rows, "values")
    assert answered(model, rows, "values", "floats") == pytest.approx(values, abs=1e-3)
