"""Radii of exported models contain svm-predict's value, on both targets and in single precision."""

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.onnx import model_of
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import parse_model
from fastsvm_cli.models.embedded_scaling import EmbeddedScaling
from fastsvm_cli.text.scaling import parse_scaling
from support.evaluation import reference
from support.exporting import EXPANSIONS, Library, chunk_of, compiled, graph_run, made_up, rows_for
from support.hostile import as_rows, hostile_machine, hostile_options, hostile_rows, uncovered
from support.oracles import random_machine
from support.profiles import seeded

OPTIONS = st.sampled_from([*EXPANSIONS, {"single": False}])
SCALES = st.sampled_from([1e-6, 1e-2, 0.3, 1.0, 3.0, 10.0, 1e3])


def covers(model, exact, rows, single, folder, expected=None):
    """svm-predict's values are within the radii of the C, dense and sparse, and of the graph, and proven labels are its
    own. Returns the radii."""
    expected = reference(exact, chunk_of(rows, model.first_index)) if expected is None else expected
    description, header = describe(model, "m", inputs=rows.shape[1]), exact.header
    program = Program(description, single=single, prefix="m")
    library = Library(program, folder, compiled([program], folder, flags=("-O1",)))
    dense, sparse = library.radius(rows), library.radius(rows, sparse=True)
    assert all(np.array_equal(one, other) for one, other in zip(dense, sparse))
    graph = graph_run(description, single, rows)
    of_c = library.values(rows), dense[1], dense[0].astype(bool)
    of_graph = graph.get("values", graph.get("variable")), graph["radius"], graph.get("proven")
    for values, radii, proven in (of_c, of_graph):
        assert not uncovered(abs(values.astype(float) - expected), radii.astype(float)).any()
        if header.classification or header.svm_type == "one_class":
            decisions = _native.Decisions(model.pairs, True)
            decisions.resize(len(rows))
            np.asarray(decisions.value)[:], np.asarray(decisions.radius)[:] = values, radii
            left_undecided = _native.undecided_rows(header.task(), decisions)
            assert np.array_equal(np.flatnonzero(~proven), left_undecided)
    return of_c[1], of_graph[1]


@seeded(120)
@given(
    seed=st.integers(0, 10**6),
    svm_type=st.sampled_from(["c_svc", "one_class", "epsilon_svr"]),
    classes=st.integers(2, 4),
    d=st.integers(1, 8),
    options=OPTIONS,
    scale=SCALES,
    single=st.booleans(),
)
def test_no_exported_expansion_has_a_value_beyond_its_radius(
    tmp_path, seed, svm_type, classes, d, options, scale, single
):
    exact = made_up(seed, svm_type=svm_type, classes=classes, d=d, n=24, full=0.9)
    options = {**options, **({"rank": min(2, d)} if "rank" in options else {})}
    model = compile_maclaurin(exact, fingerprint="f", certify=True, **{"single": True, **options})
    rows = rows_for(seed, max(model.max_index, 1) + 1) * np.float32(scale)
    for radii in covers(model, exact, rows, single, tmp_path):
        if scale <= 0.3 and options.get("degree", 2) > 1:
            size = sum(abs(np.array(exact.vectors.leading)).ravel())
            assert np.median(radii) < 0.5 * size  # the radii are useful


@seeded(60)
@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(["linear", "polynomial"]),
    d=st.integers(1, 8),
    scale=SCALES,
    single=st.booleans(),
)
def test_no_exported_finite_expansion_has_a_value_beyond_its_radius(tmp_path, seed, kernel, d, scale, single):
    exact = made_up(seed, kernel=kernel, classes=3, d=d, full=0.9)
    model = compile_maclaurin(exact, fingerprint="f", certify=True, single=single)
    covers(model, exact, rows_for(seed, max(model.max_index, 1)) * np.float32(scale), single, tmp_path)


@pytest.mark.parametrize("single", [True, False])
def test_radii_of_far_centers_cover_the_rounding_of_differences(single, tmp_path):
    """The vectors are around a point that single precision cannot represent."""
    rng, offset = np.random.default_rng(4), 12345.678
    x = np.float32(rng.standard_normal((30, 4)) + offset)
    exact = parse_model(random_machine(rng, "c_svc", "rbf", as_rows(x), gamma=0.375).text(), "m")
    model = compile_maclaurin(exact, fingerprint="f", certify=True)
    rows = (rows_for(4, 4, full=1.0) * np.float32(0.5) + np.float32(offset)).astype(np.float32)
    for radii in covers(model, exact, rows, single, tmp_path):
        assert np.isfinite(radii).any()


@seeded(40)
@given(
    seed=st.integers(0, 10**6),
    svm_type=st.sampled_from(["c_svc", "one_class", "epsilon_svr"]),
    classes=st.integers(2, 3),
    scale=SCALES,
    single=st.booleans(),
)
def test_no_exported_reduced_set_has_a_value_beyond_its_radius(tmp_path, seed, svm_type, classes, scale, single):
    exact = made_up(seed, svm_type=svm_type, classes=classes, d=4, n=40, full=0.9)
    model = compile_reduced_set(exact, fingerprint="f", count=30).model
    rows = rows_for(seed, max(exact.max_index, model.max_index)) * np.float32(scale)
    covers(model, exact, rows, single, tmp_path)


def test_a_graph_that_is_computed_in_less_than_its_precision_proves_nothing():
    """OpenVINO computes so with double precision, and with single on processors that have half."""
    model = compile_maclaurin(made_up(2), fingerprint="f", certify=True, degree=4)
    proto, rows = model_of(describe(model, "m"), False), rows_for(2, 5) * np.float32(0.1)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    assert session.run(["proven"], {"X": rows.astype(float)})[0].any()
    double, single = onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT
    for table in proto.graph.initializer:
        if table.data_type == double:
            with np.errstate(over="ignore"):
                numbers = onnx.numpy_helper.to_array(table).astype(np.float32)
            table.CopyFrom(onnx.numpy_helper.from_array(numbers, table.name))
    for value in (*proto.graph.input, *proto.graph.output):
        if value.type.tensor_type.elem_type == double:
            value.type.tensor_type.elem_type = single
    for node in proto.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.i == double:
                attribute.i = single
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    radii, proven = session.run(["radius", "proven"], {"X": rows})
    assert np.isinf(radii).all() and not proven.any()


@pytest.mark.full
def test_no_hostile_model_that_is_exported_has_a_value_beyond_its_radius():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        kernel = str(rng.choice(["rbf", "rbf", "linear", "polynomial"]))
        machine, x = hostile_machine(rng, kernel)
        exact = parse_model(machine.text(), "m")
        try:
            model = compile_maclaurin(exact, fingerprint="f", certify=True, **hostile_options(rng, kernel))
            rows = np.zeros((8, max(model.max_index, x.shape[1])))
            for row, entries in zip(rows, hostile_rows(rng, x)):
                row[[j - 1 for j in entries]] = list(entries.values())
            description = describe(model, "m", inputs=rows.shape[1])
            for single in (True, False):
                model_of(description, single)
        except ModelFormatError:
            continue
        for single, kind in zip((True, False), (np.float32, np.float64)):
            with np.errstate(over="ignore"):
                given = rows.astype(kind)
            given[~np.isfinite(given) | (abs(given) < np.finfo(kind).tiny)] = 0
            found = graph_run(description, single, given)
            values = found.get("values", found.get("variable")).astype(float)
            expected = reference(exact, chunk_of(given))
            assert not uncovered(abs(values - expected), found["radius"].astype(float)).any(), seed


RANGE = b"x\n-1 1\n1 -3 5\n2 0 7\n3 -0.125 4\n4 10 11\n5 -1 1\n"


@pytest.mark.parametrize("single", [True, False])
def test_radii_cover_the_digits_that_svm_scale_loses(single, tmp_path):
    """They are in the unit of raw labels."""
    for seed, svm_type, y in ((0, "c_svc", b""), (1, "c_svc", b""), (3, "epsilon_svr", b"y\n-1 1\n0 250\n")):
        exact = made_up(seed, svm_type=svm_type, classes=3, d=5, n=30)
        model = compile_maclaurin(exact, fingerprint="f", certify=True, degree=4)
        model.embedded_scaling = EmbeddedScaling(parse_scaling(y + RANGE, "range"), "m")
        rows = (rows_for(seed, 5) * np.float32([4, 4, 2, 1, 1]) + np.float32([0, 3, 2, 10, 0])).astype(np.float32)
        expected = reference(exact, model.embedded_scaling.rows(chunk_of(rows)))
        for radii in covers(model, exact, rows, single, tmp_path, 125 * (expected + 1) if y else expected):
            assert not y or (radii < 125 * 20).all()


def test_radii_cover_the_digits_that_svm_scale_loses_at_the_center(tmp_path):
    """There the terms that grow with the distance from the centre are almost 0."""
    rng = np.random.default_rng(5)
    machine = random_machine(rng, "one_class", "rbf", as_rows(0.7 + 0.1 * rng.standard_normal((20, 3))), gamma=0.5)
    exact = parse_model(machine.text(), "m")
    model = compile_maclaurin(exact, fingerprint="f", certify=True, degree=4, single=False)
    model.embedded_scaling = EmbeddedScaling(parse_scaling(b"x\n-1 1\n1 0 3\n2 0 3\n3 0 3\n", "range"), "m")
    rows = 1.5 * (np.array(model.centers[0].point) + 1 + 1e-6 * rng.standard_normal((20, 3)))
    expected = reference(exact, model.embedded_scaling.rows(chunk_of(rows)))
    covers(model, exact, rows, False, tmp_path, expected)


@pytest.mark.parametrize("single, first", [(True, 0), (False, 0), (True, 1)])
def test_a_row_with_features_that_the_model_does_not_know_has_no_radius(single, first, tmp_path):
    """Radii count from the first feature."""
    exact = made_up(4, classes=3, d=4, n=24, full=0.9, first=first)
    model = compile_maclaurin(exact, fingerprint="f", certify=True, degree=4)
    for radii in covers(model, exact, rows_for(4, 4) * np.float32(0.3), single, tmp_path):
        assert np.isfinite(radii).all()
    library = Library(Program(describe(model, "m"), single=single, prefix="m"), tmp_path)
    proven, radii = library.radius(np.eye(1, 5, 4, dtype=np.float32), sparse=True)
    assert not proven[0] and np.isinf(radii).all()


def test_what_is_not_proven_is_refused_and_can_be_left_out(fastsvm, tmp_path):
    model = compile_maclaurin(made_up(1, kernel="linear"), fingerprint="f", certify=True)
    model.embedded_scaling = EmbeddedScaling(parse_scaling(RANGE, "range"), "m")
    with pytest.raises(ModelFormatError, match="--no-radius"):
        Program(describe(model, "m"), single=True, prefix="m")
    (tmp_path / "model").write_bytes(model.to_text())
    done = fastsvm("export", "--to", "c", "--no-radius", tmp_path / "model", tmp_path / "out.c")
    assert done.code == 0 and "_radius" not in (tmp_path / "out.h").read_text()
