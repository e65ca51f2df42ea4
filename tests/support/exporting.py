"""Helpers for tests of exported models: random models, compiled C."""

import ctypes
import itertools
import re
from zlib import crc32

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.export.onnx import model_of
from fastsvm_cli.export.rounding import tolerance
from fastsvm_cli.models import Precision, parse_model
from support.oracles import random_machine, random_rows
from support.processes import outcome

#: Compiler flags for every C file.
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
KERNELS = {
    "linear": {},
    "polynomial": {"degree": 3, "gamma": 0.5, "coef0": 0.25},
    "rbf": {"gamma": 0.375},
    "sigmoid": {"gamma": 0.25, "coef0": -0.5},
}
EXPANSIONS = [
    {"degree": 1},
    {"degree": 2},
    {"degree": 3},
    {"degree": 4},
    {"rank": 2},
    {"clusters": 3},
    {"center": "pair"},
]
_NUMBERS = itertools.count()


def made_up(seed, *, svm_type="c_svc", kernel="rbf", classes=2, d=5, n=20, full=0.6, probability=False, first=1):
    """A random model. full: share of the entries that are not 0. first: feature."""
    rng = np.random.default_rng(crc32(str(seed).encode()))
    x = random_rows(rng, n, list(range(first, first + d)), density=full)
    if x and full:
        x[0] = {first: 1.5} | x[0]
    words = dict(nr_class=classes, probability=probability, **KERNELS[kernel])
    return parse_model(random_machine(rng, svm_type, kernel, x, **words).text(), f"made up of {seed!r}")


def rows_for(seed, d, n=40, full=0.7):
    """(n, d) in single precision; some rows are sparse."""
    rng = np.random.default_rng(crc32(str(seed).encode()))
    x = rng.normal(size=(n, d)).astype(np.float32)
    return np.where(rng.random((n, d)) < full, x, np.float32(0))


def chunk_of(rows, first=1):
    columns = np.arange(first, first + rows.shape[1], dtype=np.int32)
    return _native.Chunk.from_dense(np.zeros(len(rows)), np.ascontiguousarray(rows, dtype=np.float64), columns)


def bytes_of_tables(source):
    """Bytes of all tables of a C file."""
    sizes = {"float": 4, "uint8_t": 1, "uint16_t": 2, "int8_t": 1, "int16_t": 2, "int32_t": 4}
    found = re.findall(r"^static const (\w+) \w+\[(\d+)\]", source, re.M)
    return sum(sizes[kind] * int(count) for kind, count in found)


def graph_run(description, single, rows):
    """Outputs of the graph by name; the checker accepts it."""
    import onnx
    import onnxruntime

    proto, kind = model_of(description, single), np.float32 if single else np.float64
    onnx.checker.check_model(proto, full_check=True)
    assert {each.domain for each in proto.opset_import} == {""}
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([each.name for each in session.get_outputs()], session.run(None, {"X": rows.astype(kind)})))


def predicted(model, chunk, probability=False):
    """(labels, values, probabilities) of fastsvm predict"""
    out, predictions = model.decisions(Precision.values()), _native.Predictions()
    model.decision_values(
        chunk if model.embedded_scaling is None else model.embedded_scaling.rows(chunk), out, Precision.values()
    )
    model.answer(out)
    _native.predict(model.header.task(), out, False, predictions)
    labels = np.array(predictions.label)
    if probability:
        _native.predict(model.header.task(), out, True, predictions)
    return labels, np.array(out.value), np.array(predictions.probability)


def compiled(programs, folder, compiler="gcc", flags=("-O2",)):
    """C of programs with different prefixes, compiled and loaded. flags: in addition to WARNINGS."""
    sources = [folder / f"{program.prefix}_model.c" for program in programs]
    for program, source in zip(programs, sources):
        (folder / f"{program.file}.h").write_text(program.header())
        source.write_text(program.source())
    out = folder / f"{next(_NUMBERS)}.so"  # a loaded library must not be overwritten
    words = [compiler, *WARNINGS, *flags, "-shared", "-fPIC", "-o", out, *sources, "-lm"]
    done = outcome(words)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(out))


class Library:
    """Functions of a program. library: that `compiled` made; by default, it compiles the program."""

    def __init__(self, program, folder, library=None):
        self._library, self._program = library or compiled([program], folder), program
        self._kind, self._real = (np.float32, ctypes.c_float) if program.single else (np.float64, ctypes.c_double)
        header, self._first = program.description.header, program.description.first_index
        self._returns = self._real if header.regression else ctypes.c_int

    def _call(self, name, rows, width, sparse):
        function = getattr(self._library, f"{self._program.prefix}_{name}" + "_sparse" * sparse)
        function.restype = self._returns if name == "predict" else ctypes.c_int
        out, labels = np.full((len(rows), width), np.nan, dtype=self._kind), []
        for row, filled in zip(np.ascontiguousarray(rows, dtype=self._kind), out):
            at = np.flatnonzero(row)
            index, value = np.ascontiguousarray(at + self._first, dtype=np.intc), np.ascontiguousarray(row[at])
            given = [index.ctypes, value.ctypes, ctypes.c_int(len(at))] if sparse else [row.ctypes]
            pointers = [each if isinstance(each, ctypes.c_int) else ctypes.c_void_p(each.data) for each in given]
            more = [] if name == "predict" else [ctypes.c_void_p(filled.ctypes.data)]
            labels.append(function(*pointers, *more))
        return np.array(labels), out

    def predict(self, rows, sparse=False):
        return self._call("predict", rows, 1, sparse)[0]

    def values(self, rows, sparse=False):
        return self._call("values", rows, self._program.description.header.pairs, sparse)[1]

    def probabilities(self, rows, sparse=False):
        header = self._program.description.header
        return self._call("probabilities", rows, header.nr_class if header.classification else 2, sparse)[1]

    def radius(self, rows, sparse=False):
        """(proven, radii)"""
        return self._call("radius", rows, self._program.description.header.pairs, sparse)


def agrees(model, program, rows, library, *, graph=True, more=True):
    """C, from dense and from sparse rows, and the graph answer as fastsvm predict: labels may differ only within the
    tolerance of 0. Returns the number of other rows. more: also rows with one more feature."""
    description, single, regression = program.description, program.single, model.header.regression
    chunk, first = chunk_of(rows, description.first_index), description.first_index
    labels, values, _ = predicted(model, chunk)
    allowed = tolerance(description, chunk, single) + 1e-300
    c = Library(program, None, library)
    answers = [(c.values(rows, sparse), c.predict(rows, sparse)) for sparse in (False, True)]
    assert all(np.array_equal(*each) for each in zip(*answers))
    if graph:
        found = graph_run(description, single, rows)
        assert not regression or next(iter(found)) == "variable"
        answers.append((found["variable"],) * 2 if regression else (found["values"], found["label"]))
    sure = (abs(values) > allowed).all(axis=1) | regression
    for found, answer in answers:
        assert (abs(found - values) <= allowed).all(), program.prefix
        assert np.array_equal(np.ravel(answer)[sure], found[sure, 0] if regression else labels[sure]), program.prefix
    if more:  # it counts in a distance alone
        wider = np.column_stack([rows, rows[:, :1]])
        _, expected, _ = predicted(model, chunk_of(wider, first))
        assert (abs(c.values(wider, sparse=True) - expected) <= allowed + 1e-6).all()
    return sure.sum()
