"""One model and one set of rows through every interface: the same answers."""

import random

import numpy as np
import onnxruntime
import pandas
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import load
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.onnx import model_of
from fastsvm_cli.export.tolerance import tolerance
from fastsvm_cli.models import parse_model
from support import forked
from support.both_programs import theirs
from support.c_library import CModel
from support.exporting import KERNELS, Library, made_up
from support.paths import PROGRAM
from support.processes import outcome
from support.profiles import calm


def renumbered(model, first, gaps, rng):
    """The model with other indices, from `first` on. Returns (model, indices by column)."""
    d = model.max_index
    others = sorted(rng.sample(range(first + 1, first + 2 * d), d - 1)) if gaps else range(first + 1, first + d)
    indices = [first, *others]
    head, vectors = model.to_text().split(b"SV\n")
    lines = []
    for line in vectors.decode().splitlines():
        words = [word.split(":") for word in line.split()]
        lines.append(" ".join(f"{indices[int(w[0]) - 1]}:{w[1]}" if len(w) > 1 else w[0] for w in words) + "\n")
    return parse_model(head + b"SV\n" + "".join(lines).encode(), "m"), indices


def read(text):
    return np.array([line.split() for line in text.splitlines()], dtype=float)


@calm(80)
@given(
    seed=st.integers(0, 10**6),
    svm_type=st.sampled_from(("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")),
    kernel=st.sampled_from(sorted(KERNELS)),
    classes=st.integers(2, 4),
    d=st.integers(1, 6),
    zero_based=st.booleans(),
    gaps=st.booleans(),
)
def test_every_interface_has_the_same_answers(
    svm_predict, tmp_path_factory, seed, svm_type, kernel, classes, d, zero_based, gaps
):
    folder, rng = tmp_path_factory.mktemp("interfaces"), random.Random(seed)
    made = made_up(seed, svm_type=svm_type, kernel=kernel, classes=classes, d=d)
    model, indices = renumbered(made, 0 if zero_based else 1, gaps, rng)
    if model.max_index != indices[-1]:  # the last features are in no vector
        indices = indices[: 1 + max(at for at, index in enumerate(indices) if index <= model.max_index)]
    first, pairs = model.first_index, model.pairs
    assert first == (0 if zero_based else 1)
    # Rows have entries in columns that no vector has, too.
    x = np.random.default_rng(seed).normal(size=(12, model.columns)).astype(np.float32).astype(float)
    x[np.random.default_rng(seed + 1).random(x.shape) < 0.3] = 0
    sparse = scipy.sparse.csr_matrix(x)
    rows = "".join(
        "0 " + " ".join(f"{j + first}:{value!r}" for j, value in zip(row.indices, row.data.tolist())) + "\n"
        for row in sparse
    )
    (folder / "m").write_bytes(model.to_text())
    (folder / "rows").write_text(rows)
    (folder / "csv").write_text("".join(",".join(map(repr, row)) + "\n" for row in x.tolist()))

    # The commands
    words = ["predict", "-q", "--values"]
    found = read(forked.fastsvm([*words, "rows", "m", "-"], cwd=folder, text=True, check=True).stdout)
    labels, values = found[:, 0], found[:, 1:]
    assert values.shape == (12, pairs)
    dense = forked.fastsvm([*words, "--dense", "--unlabelled", "csv", "m", "-"], cwd=folder, text=True, check=True)
    assert np.array_equal(read(dense.stdout), found)
    native = outcome([PROGRAM, "-q", "--values", "rows", "m", "-"], cwd=folder, check=True)
    assert np.array_equal(read(native.stdout), found)
    expected = theirs(svm_predict, folder, rows.encode(), model.to_text())[:12]
    if model.header.regression:
        np.testing.assert_allclose(labels, np.array(expected, float), rtol=1e-5, atol=1e-9)
    else:
        assert labels.tolist() == [float(line) for line in expected]

    # Arrays
    fast = load(folder / "m", decision_function_shape="ovo")
    assert fast.n_features_in_ == x.shape[1]
    names = [f"f{j}" for j in range(x.shape[1])]
    for X in (x, x.astype(np.float32), sparse, sparse.tocsc(), pandas.DataFrame(x, columns=names), x.tolist()):
        assert np.array_equal(fast.predict(X), labels)
        if not model.header.regression:
            requested = fast._classes.pairwise(values) if model.header.classification else values
            requested = -requested if model.header.classification and pairs == 1 else requested
            assert np.array_equal(fast.decision_function(X).reshape(12, pairs), requested)

    # The C library
    c = CModel(folder / "m", pairs)
    for theirs_ in (
        c.sparse(sparse.indptr, sparse.indices + first, sparse.data),
        c.dense(x),
        c.dense(x.astype(np.float32)),
    ):
        size = 1e-12 * (1 + np.abs(values).max())
        np.testing.assert_allclose(theirs_[0], labels, atol=size if model.header.regression else 0, rtol=0)
        np.testing.assert_allclose(theirs_[1], values, atol=size, rtol=1e-12)

    # Exported programs
    description = describe(model, "m")
    assert description.inputs == x.shape[1]
    chunk = next(iter(_chunks(folder / "rows")))
    near = tolerance(description, chunk, False)
    library = Library(Program(description, single=False, prefix="m"), folder)
    session = onnxruntime.InferenceSession(model_of(description, False).SerializeToString())
    graph = dict(zip((each.name for each in session.get_outputs()), session.run(None, {"X": x})))
    of_graph = graph["variable" if model.header.regression else "values"]
    for found_values in (library.values(x), library.values(x, sparse=True), of_graph):
        assert (np.abs(found_values - values) <= near + 1e-300).all()
    if not model.header.regression:
        sure = (np.abs(values) > near).all(axis=1)
        for found_labels in (library.predict(x), library.predict(x, sparse=True), graph["label"].ravel()):
            assert np.array_equal(np.ravel(found_labels)[sure], labels[sure])


def _chunks(path):
    from fastsvm_cli import read_chunks

    return read_chunks(str(path))
