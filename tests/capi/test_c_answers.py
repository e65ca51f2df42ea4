"""libfastsvm gives the same numbers for all forms of rows and of models. The parity table compares them with the
command's."""

import numpy as np
import pytest

from fastsvm_cli import Chunk, load_model, read_chunks
from support.c_library import CModel, dense_rows, sparse_rows
from support.damage import SHORTEST
from support.oracles import data_text
from support.paths import GOLDEN
from zoo.traits import usual

pytestmark = pytest.mark.full
CERTIFIED = [f"version2/{name}" for name in ("c_svc-certified.approx", "nu_svc-certified.approx", "c_svc.reduced")]
#: One of every kind, but for cascades; with certificates, embedded ranges, several classes, probabilities.
MODELS = [*(name for name in SHORTEST.values() if "cascade" not in name), *CERTIFIED]
MODELS += [f"version3/{name}" for name in ("c_svc.border", "epsilon_svr-triangle.order", "three_classes.density")]
MODELS += ["c_svc.model", "one_class.model", "nu_svc.model", "raw-rows/c_svc.folded", "version2/three_classes.border"]


def assert_alike(path, chunk, dense=False):
    """Rows at once, one by one, of a model from memory, and dense: the same numbers up to rounding."""
    known = load_model(str(path))
    starts, *entries = (np.array(each) for each in (chunk.indptr, chunk.indices, chunk.values))
    library, from_memory = CModel(path, known.pairs), CModel(path, known.pairs, memory=True)
    at_once = sparse_rows(starts, *entries)
    forms = [(from_memory, [at_once])]
    forms += [(library, [sparse_rows(starts[at : at + 2], *entries) for at in range(chunk.rows)])]
    if dense:
        x = np.zeros((chunk.rows, 64))
        x[np.repeat(np.arange(chunk.rows), np.diff(starts)), entries[0] - known.first_index] = entries[1]
        forms += [(library, [dense_rows(x)]), (library, [dense_rows(x.astype("f4"))])]
    kinds = ["labels", "radii" if known.certified else "values"]
    kinds += ["probabilities"] * (known.header.has_probability and not known.header.regression)
    for output_kind in kinds:
        expected = library.ask(output_kind, at_once, known.header.nr_class)
        for model, given in forms:
            for _ in range(3):  # the first few rows are answered in another way
                found = np.concatenate([model.ask(output_kind, each, known.header.nr_class) for each in given])
            assert found == pytest.approx(expected, rel=1e-10, abs=1e-11), output_kind


@pytest.mark.parametrize("name", MODELS)
def test_golden_models(name):
    rows = GOLDEN / ("version3/data" if "version3" in name else "data")
    assert_alike(GOLDEN / name, Chunk.concatenate(read_chunks(str(rows))))


@pytest.mark.parametrize("svm_type, classes", [("c_svc", 2), ("c_svc", 5), ("epsilon_svr", 2)])
def test_more_rows_than_are_answered_at_a_time(tmp_path, svm_type, classes):
    """Dense doubles with a stride equal sparse rows; so do floats."""
    found = usual(np.random.default_rng(3), svm_type, classes=classes, rows=1100, indices=range(1, 11))
    found = found.with_(rows=[{j: float(np.float32(v)) for j, v in row.items()} for row in found.rows])
    (tmp_path / "model").write_bytes(found.model)
    (tmp_path / "rows").write_bytes(data_text(found.rows))
    assert_alike(tmp_path / "model", Chunk.concatenate(read_chunks(str(tmp_path / "rows"))), dense=True)
