"""Radii of exported models contain svm-predict's value, on both targets and in single precision."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.onnx import model_of
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import parse_model
from fastsvm_cli.text.scaling import EmbeddedScaling, parse_scaling
from support.evaluation import decisions_of, reference
from support.exporting import EXPANSIONS, Library, chunk_of, compiled, graph_run, made_up, rows_for
from support.hostile import as_rows, hostile_machine, hostile_options, hostile_rows, uncovered
from support.oracles import random_machine
from support.profiles import tries

SVM_TYPES = ("c_svc", "one_class", "epsilon_svr")
RANGE = b"x\n-1 1\n1 -3 5\n2 0 7\n3 -0.125 4\n4 10 11\n5 -1 1\n"


@dataclass
class Case:
    """model: compiled from exact. expected: svm-predict's values, by default those of exact. This share of the radii
    is below the limit: they are useful."""

    model: Any
    exact: Any
    rows: np.ndarray
    expected: "np.ndarray | None" = None
    share: float = 0.0
    limit: float = np.inf


def covers(cases, folder):
    """In single and double precision by turns: svm-predict's values are within the radii of the C, dense and sparse,
    and of the graph, and proven labels are its own."""
    of = [describe(case.model, "m", inputs=case.rows.shape[1]) for case in cases]
    programs = [Program(each, single=at % 2 == 0, prefix=f"m{at}") for at, each in enumerate(of)]
    compiled_together = compiled(programs, folder, flags=("-O0",))
    for case, program in zip(cases, programs):
        rows, header, library = case.rows, case.exact.header, Library(program, folder, compiled_together)
        expected = (
            reference(case.exact, chunk_of(rows, case.model.first_index)) if case.expected is None else case.expected
        )
        dense, sparse = library.radius(rows), library.radius(rows, sparse=True)
        assert all(np.array_equal(one, other) for one, other in zip(dense, sparse))
        graph = graph_run(program.description, program.single, rows)
        of_c = library.values(rows), dense[1], dense[0].astype(bool)
        of_graph = graph.get("values", graph.get("variable")), graph["radius"], graph.get("proven")
        for values, radii, proven in (of_c, of_graph):
            assert not uncovered(abs(values.astype(float) - expected), radii.astype(float)).any()
            assert np.mean(radii < case.limit) >= case.share
            if header.classification or header.svm_type == "one_class":
                left_undecided = _native.undecided_rows(header.task(), decisions_of(values, radii))
                assert np.array_equal(np.flatnonzero(~proven), left_undecided)


def scale_of(rng):
    return np.float32(rng.choice([1e-6, 1e-2, 0.3, 1.0, 3.0, 10.0, 1e3]))


def expansion(rng):
    svm_type, classes, d = str(rng.choice(SVM_TYPES)), int(rng.integers(2, 5)), int(rng.integers(1, 9))
    exact = made_up(rng.random(), svm_type=svm_type, classes=classes, d=d, n=24, full=0.9)
    options = {"single": True, **[*EXPANSIONS, {"single": False}][rng.integers(len(EXPANSIONS) + 1)]}
    options |= {"rank": min(2, d)} if "rank" in options else {}
    model, scale = compile_maclaurin(exact, fingerprint="f", certify=True, **options), scale_of(rng)
    rows = rows_for(rng.random(), max(model.max_index, 1) + 1) * scale
    near = scale < 0.31 and options.get("degree", 2) > 1
    return Case(model, exact, rows, None, 0.5 * near, 0.5 * abs(np.array(exact.vectors.leading)).sum())


def finite_expansion(rng):
    kernel, d = str(rng.choice(["linear", "polynomial"])), int(rng.integers(1, 9))
    exact = made_up(rng.random(), kernel=kernel, classes=3, d=d, full=0.9)
    model = compile_maclaurin(exact, fingerprint="f", certify=True, single=bool(rng.integers(2)))
    return Case(model, exact, rows_for(rng.random(), max(model.max_index, 1)) * scale_of(rng))


def reduced_set(rng):
    svm_type, classes = str(rng.choice(SVM_TYPES)), int(rng.integers(2, 4))
    exact = made_up(rng.random(), svm_type=svm_type, classes=classes, d=4, n=40, full=0.9)
    model = compile_reduced_set(exact, fingerprint="f", count=30).model
    return Case(model, exact, rows_for(rng.random(), max(exact.max_index, model.max_index)) * scale_of(rng))


def far_center(rng):
    """The vectors are around a point that single precision cannot represent."""
    offset = np.float32(12345.678)
    x = np.float32(rng.standard_normal((30, 4)) + offset)
    exact = parse_model(random_machine(rng, "c_svc", "rbf", as_rows(x), gamma=0.375).text(), "m")
    rows = (rows_for(4, 4, full=1.0) * np.float32(0.5) + offset).astype(np.float32)
    return Case(compile_maclaurin(exact, fingerprint="f", certify=True), exact, rows, None, 0.001)


def scaled(rng):
    """svm-scale loses digits. Radii are in the unit of raw labels."""
    svm_type = str(rng.choice(["c_svc", "epsilon_svr"]))
    exact, y = made_up(rng.random(), svm_type=svm_type, classes=3, d=5, n=30), svm_type == "epsilon_svr"
    model = compile_maclaurin(exact, fingerprint="f", certify=True, degree=4)
    model.embedded_scaling = EmbeddedScaling(parse_scaling(b"y\n-1 1\n0 250\n" * y + RANGE, "range"), "m")
    rows = rows_for(rng.random(), 5) * np.float32([4, 4, 2, 1, 1]) + np.float32([0, 3, 2, 10, 0])
    expected = reference(exact, model.embedded_scaling.rows(chunk_of(rows)))
    return Case(model, exact, rows, 125 * (expected + 1) if y else expected, float(y), 125 * 20)


def scaled_at_the_center(rng):
    """There the terms that grow with the distance from the centre are almost 0."""
    machine = random_machine(rng, "one_class", "rbf", as_rows(0.7 + 0.1 * rng.standard_normal((20, 3))), gamma=0.5)
    exact = parse_model(machine.text(), "m")
    model = compile_maclaurin(exact, fingerprint="f", certify=True, degree=4, single=False)
    model.embedded_scaling = EmbeddedScaling(parse_scaling(b"x\n-1 1\n1 0 3\n2 0 3\n3 0 3\n", "range"), "m")
    rows = np.float32(1.5 * (np.array(model.centers[0].point) + 1 + 1e-6 * rng.standard_normal((20, 3))))
    return Case(model, exact, rows, reference(exact, model.embedded_scaling.rows(chunk_of(rows))))


def any_first_feature(rng):
    exact = made_up(rng.random(), classes=3, d=4, n=24, full=0.9, first=int(rng.integers(2)))
    model = compile_maclaurin(exact, fingerprint="f", certify=True, degree=4)
    return Case(model, exact, rows_for(4, 4) * np.float32(0.3), None, 1.0)


#: Models of --full.
KINDS = {expansion: 80, finite_expansion: 40, reduced_set: 30, far_center: 4, scaled: 20, scaled_at_the_center: 4}
KINDS |= {any_first_feature: 10}


@pytest.mark.full(few=3)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_exported_model_has_a_value_beyond_its_radius(tmp_path, kind):
    covers([kind(np.random.default_rng(seed)) for seed in range(max(2, tries(KINDS[kind])))], tmp_path)


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
    for seed in range(100):
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
        single = seed % 2 == 0
        with np.errstate(over="ignore"):
            given = rows.astype(np.float32 if single else np.float64)
        given[~np.isfinite(given) | (abs(given) < np.finfo(given.dtype).tiny)] = 0
        found = graph_run(description, single, given)
        values = found.get("values", found.get("variable")).astype(float)
        expected = reference(exact, chunk_of(given))
        assert not uncovered(abs(values - expected), found["radius"].astype(float)).any(), seed


@pytest.mark.parametrize("single, first", [(True, 0), (False, 1)])
def test_a_row_with_features_that_the_model_does_not_know_has_no_radius(single, first, tmp_path):
    """Radii count from the first feature."""
    exact = made_up(4, classes=3, d=4, n=24, full=0.9, first=first)
    model = compile_maclaurin(exact, fingerprint="f", certify=True, degree=4)
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
