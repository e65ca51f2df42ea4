"""libfastsvm answers invalid arguments with a code and a message, and leaks nothing."""

import ctypes
import os
import random
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from ctypes.util import find_library
from math import inf, nan

import numpy as np
import pytest
from libsvm.svm import svm_node

from support.c_library import Error, Rows
from support.damage import FILES, made_good
from support.paths import GOLDEN
from support.processes import PATIENCE, outcome

pytestmark = pytest.mark.full

OK, FILE, MODEL, ROW, ARGUMENT = range(5)


class Info(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("kind", "fingerprint")),
        *((name, ctypes.c_int) for name in ("svm_type", "classes")),
        *((name, ctypes.c_int64) for name in ("pairs", "vectors")),
        *((name, ctypes.c_int) for name in ("labels", "probabilities", "certified", "proves", "range", "first_index")),
    )


class Caller:
    def __init__(self, library):
        self.functions, self.error = ctypes.CDLL(str(library / "lib" / "libfastsvm.so")), Error()
        for name in ("svm_parse_model_from_buffer", "svm_load_model"):
            getattr(self.functions, name).restype = ctypes.c_void_p
        for name in ("svm_predict", "svm_predict_values", "svm_predict_probability"):
            getattr(self.functions, name).restype = ctypes.c_double

    def status(self, name, *arguments, error=True):
        def given(each):
            if isinstance(each, Rows):
                return ctypes.byref(each)
            kinds = {int: ctypes.c_int64, float: ctypes.c_double}
            return each.ctypes if isinstance(each, np.ndarray) else kinds.get(type(each), lambda same: same)(each)

        last = ctypes.byref(self.error) if error else None
        return getattr(self.functions, f"fastsvm_{name}")(*map(given, arguments), last)

    def works(self, name, *arguments):
        assert (self.status(name, *arguments), self.error.text, self.error.row) == (OK, b"", -1), self.error.text

    def fails(self, status, word, name, *arguments):
        assert self.status(name, *arguments) == self.error.status == status, self.error.text
        assert word in self.error.text.decode(), self.error.text

    def load(self, name, text=None):
        model = ctypes.c_void_p()
        if text is None:
            self.works("load", bytes(GOLDEN / name), ctypes.byref(model))
        else:
            self.works("load_memory", text, len(text), name.encode(), ctypes.byref(model))
        return model

    def free(self, *models):
        for model in models:
            self.functions.fastsvm_free(model)


@pytest.fixture(scope="module")
def c(library):
    return Caller(library)


@pytest.fixture
def models(c):
    names = "c_svc.model", "version2/c_svc-certified.approx", "three_classes.model", "epsilon_svr.model"
    found = [c.load(name) for name in names]
    yield found
    c.free(*found)


def rows_of(count, **arrays):
    """Rows that keep their arrays; numbers are given as they are."""
    rows = Rows(count=count)
    rows.stored = arrays
    for name, each in arrays.items():
        setattr(rows, name, each.ctypes.data if isinstance(each, np.ndarray) else each)
    return rows


def test_what_cannot_be_loaded_is_said(c):
    model = ctypes.c_void_p(7)
    at = ctypes.byref(model)
    c.fails(FILE, "/nowhere/at all: No such file", "load", b"/nowhere/at all", at)
    assert not model
    c.fails(FILE, "directory", "load", bytes(GOLDEN), at)
    c.fails(ARGUMENT, "is NULL", "load", None, at)
    c.fails(ARGUMENT, "is NULL", "load", b"x", None)
    assert c.status("load", b"/nowhere", at, error=False) == FILE
    c.fails(MODEL, "data file", "load", bytes(GOLDEN / "data"), at)
    c.fails(ARGUMENT, "is NULL", "load_memory", None, 5, b"m", at)
    c.fails(MODEL, "m: ", "load_memory", None, 0, b"m", at)
    c.fails(MODEL, "model:3: ", "load_memory", b"svm_type c_svc\nkernel_type x\n", 29, None, at)
    assert c.error.line == 3
    name = b"n" * 1999  # longer than the message
    c.fails(MODEL, "nnn", "load_memory", b"", 0, name, at)
    assert len(c.error.text) == 487
    c.fails(FILE, "nnn", "load", name, at)
    text = (GOLDEN / "version2" / "c_svc-certified.approx").read_bytes()
    for end in range(0, len(text), 7):
        c.fails(MODEL, "m", "load_memory", text[:end], end, b"m", at)
        assert not model


def test_arguments_that_do_not_fit_are_said(c, models):
    model, certified, three, regression = models
    other, info, out, none = ctypes.c_void_p(), Info(), np.zeros(64), rows_of(0)
    labels, at = np.zeros(8, np.intc), ctypes.byref(other)
    c.functions.fastsvm_describe(None, ctypes.byref(info))
    assert (info.pairs, info.kind, info.fingerprint) == (0, b"", b"")
    c.functions.fastsvm_describe(model, None)
    c.functions.fastsvm_describe(certified, ctypes.byref(info))
    assert (info.certified, info.proves, info.classes, info.pairs, info.kind) == (1, 0, 2, 1, b"maclaurin")
    assert len(info.fingerprint) == 32
    c.free(None)
    c.fails(ARGUMENT, "is NULL", "labels", None, labels)
    c.fails(ARGUMENT, "is NULL", "labels", model, None)
    c.fails(ARGUMENT, "no labels", "labels", regression, labels)
    assert c.status("labels", three, labels, error=False) == OK
    c.fails(ARGUMENT, "is NULL", "with_exact", certified, None, 0.0, at)
    for below in (-1.0, nan):
        c.fails(ARGUMENT, "negative", "with_exact", certified, model, below, at)
    c.fails(MODEL, "exact already", "with_exact", model, certified, 0.0, at)
    c.fails(MODEL, "fingerprints", "with_exact", certified, three, 0.0, at)
    assert not other
    c.fails(ARGUMENT, "name is NULL", "set_instructions", None)
    c.fails(ARGUMENT, "'avx1' found", "set_instructions", b"avx1")
    c.functions.fastsvm_instructions.restype = ctypes.c_char_p
    c.works("set_instructions", c.functions.fastsvm_instructions())
    c.fails(ARGUMENT, "is NULL", "predict", None, none, out)
    c.fails(ARGUMENT, "is NULL", "predict", model, None, out)
    c.fails(ARGUMENT, "is NULL", "predict", model, none, None)
    c.works("predict", model, none, out)
    c.fails(ARGUMENT, "certificates", "values", model, none, out, out)
    for each in (three, regression):
        c.fails(ARGUMENT, "without them", "probabilities", each, none, out, None)
    c.fails(ARGUMENT, "in one form", "predict", model, rows_of(2), out)
    c.fails(ARGUMENT, "count is negative", "predict", model, rows_of(-1), out)


def test_dense_rows_that_do_not_fit_are_said(c, models):
    model, out = models[0], np.full(64, 77.0)
    numbers = np.array([1, 0, -0.0, 2, 9, 9, 3, 4, 5, 6, 9, 9])
    single = numbers.astype(np.float32)
    c.works("predict", model, rows_of(2, columns=4, stride=6, floats=single), out)
    first, out[0] = out[0], 77
    c.works("predict", model, rows_of(1, columns=4, stride=0, floats=single), out)  # a single row needs no stride
    assert out[0] == first
    c.fails(ARGUMENT, "in one form", "predict", model, rows_of(2, columns=4, doubles=numbers, floats=single), out)
    c.fails(ARGUMENT, "rows.stride is less", "predict", model, rows_of(2, columns=4, stride=3, floats=single), out)
    for columns in (-1, 2**63 - 1):
        rows = rows_of(1, columns=columns, stride=columns, floats=single)
        c.fails(ARGUMENT, "rows.columns is", "predict", model, rows, out)
    c.works("predict", model, rows_of(3, floats=single), out)
    assert out[0] == out[1] == out[2]
    out[:] = 77
    bad = np.array([1, 2, 3, 4, nan, 5])
    c.fails(ROW, "row 2: ", "predict", model, rows_of(3, columns=2, stride=2, doubles=bad), out)
    assert c.error.row == 2 and out[0] != 77 != out[1]  # the rows before the bad one are answered
    large = np.array([1, inf], np.float32)
    c.fails(ROW, "row 0: ", "predict", model, rows_of(1, columns=2, stride=2, floats=large), out)


def test_sparse_rows_that_do_not_fit_are_said(c, models):
    model, certified, out, radii = *models[:2], np.zeros(64), np.zeros(64)
    starts, indices, values = np.array([0, 0, 2, 2]), np.array([1, 2147483647], np.int32), np.array([0.5, 1e300])

    def rows(count=3, **others):
        return rows_of(count, **{"starts": starts, "indices": indices, "values": values, **others})

    c.works("predict", model, rows(), out)
    assert out[0] == out[2]
    sign = ctypes.c_int.in_dll(ctypes.CDLL(find_library("m")), "signgam")  # lgamma writes it; threads would share it
    sign.value = 77
    c.works("values", certified, rows(), out, radii)
    assert sign.value == 77 and not (radii[1] < inf and abs(out[1]) > 1e300)
    for bad in ([0, 2, 1, 2], [-1, 0, 0, 0]):
        c.fails(ARGUMENT, "starts decreases", "predict", model, rows(starts=np.array(bad)), out)
    c.fails(ARGUMENT, "is NULL", "predict", model, rows(indices=None), out)
    for count in (1, 0):  # no entries
        c.works("predict", model, rows(count, indices=None, values=None), out)
    for index, word in ((1, "index 1 found after index 1"), (-7, "row 1: index -7")):
        c.fails(ROW, word, "predict", model, rows(indices=np.array([1, index], np.int32)), out)
    near = np.array([1, 3], np.int32)
    for bad in (nan, inf, -inf):
        c.fails(ROW, "finite", "predict", model, rows(indices=near, values=np.array([0.5, bad])), out)
    c.works("predict", model, rows(indices=near, values=np.array([0.5, -1e308])), out)


def test_rows_of_a_precomputed_kernel_that_do_not_fit_are_said(c):
    model, out = c.load("exponential.precomputed"), np.zeros(64)
    serials, values = np.arange(26, dtype=np.int32), np.where(np.arange(26), 0.5, 1)
    sparse = {"starts": np.array([0, 25, 26]), "indices": serials, "values": values}
    c.works("predict", model, rows_of(1, **sparse), out)
    c.fails(ROW, "row 1: a row without the serials", "predict", model, rows_of(2, **sparse), out)
    c.fails(ARGUMENT, "precomputed", "predict", model, rows_of(1, doubles=values, columns=25, stride=25), out)
    c.free(model)


def nodes(*entries):
    return (svm_node * (len(entries) + 1))(*[svm_node(*entry) for entry in entries], svm_node(-1, 0))


def test_libsvms_functions_take_anything(c):
    functions, out, freed = c.functions, (ctypes.c_double * 8)(), ctypes.CDLL(None).free
    for path in (b"/nowhere", bytes(GOLDEN / "data"), bytes(GOLDEN)):
        assert functions.svm_load_model(path) is None
    text = (GOLDEN / "c_svc.model").read_bytes()
    for length in (0, len(text) - 1, len(text), len(text) + 1):  # VMAF passes the terminating 0 too
        model = ctypes.c_void_p(functions.svm_parse_model_from_buffer(text, length))
        assert bool(model) == (length >= len(text))
        functions.svm_free_and_destroy_model(ctypes.byref(model))
    for nothing in (ctypes.byref(ctypes.c_void_p()), None):
        functions.svm_free_and_destroy_model(nothing)
    names = ["c_svc.model", "three_classes.model", "one_class.model", "epsilon_svr.model", "exponential.precomputed"]
    names += ["version2/c_svc-certified.approx", "version2/c_svc.border", "version2/c_svc.reduced"]
    odd = nodes((1, nan), (2, inf), (2147483647, 1e308))
    for name in [*names, "version2/three_classes-triangle.order"]:
        model = ctypes.c_void_p(functions.svm_load_model(bytes(GOLDEN / name)))
        assert functions.svm_get_nr_class(model) >= 2 and functions.svm_get_nr_sv(model) > 0
        for row in (nodes(), nodes((3, 1), (1, 2), (1, 3), (-5, 1)), odd):
            functions.svm_predict(model, row)
            functions.svm_predict_values(model, row, out)
            functions.svm_predict_probability(model, row, out)
        functions.svm_get_sv_indices(model, None)
        functions.svm_free_model_content(model)
        found = functions.svm_predict(model, nodes()), functions.svm_predict_values(model, nodes(), out), out[0]
        assert np.isnan(found).all()
        functions.svm_free_model_content(model)
        if "c_svc" in name:
            freed(model)  # as programs do that filled in the struct
        else:
            functions.svm_free_and_destroy_model(ctypes.byref(model))


NUMBERS = np.tile([0.3, -0.2, 1, 0, 0, 0, -5, 0.1, 7], 1000)


@pytest.mark.parametrize(
    "name",
    ["c_svc.model", *(f"version2/c_svc{end}" for end in ("-certified.approx", "-geometry.order", ".border"))],
)
def test_threads_share_a_model(c, name):
    model, again = c.load(name), c.load(name)
    rows, expected = rows_of(3000, doubles=NUMBERS, columns=3, stride=3), np.zeros(3000)
    c.works("predict", model, rows, expected)

    def ask(_):
        own, labels, values = Error(), np.zeros(3000), np.zeros(3000)
        for _ in range(10):
            given = again, ctypes.byref(rows), labels.ctypes
            assert c.functions.fastsvm_predict(*given, ctypes.byref(own)) == OK
            given = again, ctypes.byref(rows), values.ctypes, None
            assert c.functions.fastsvm_values(*given, ctypes.byref(own)) == OK
            assert np.array_equal(labels, expected)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))
    c.free(model, again)


def test_no_memory_is_kept(c):
    rows, out, before = rows_of(1, doubles=NUMBERS, columns=3, stride=3), np.zeros(8), 0

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    for at in range(3000):
        model = c.load("version2/c_svc-certified.approx" if at % 2 else "c_svc.model")
        c.works("predict", model, rows, out)
        c.works("probabilities", model, rows, out, None)
        c.free(model)
        if at % 10 == 0:
            theirs = ctypes.c_void_p(c.functions.svm_load_model(bytes(GOLDEN / "one_class.model")))
            c.functions.svm_predict(theirs, nodes((1, 0.3)))
            c.functions.svm_free_and_destroy_model(ctypes.byref(theirs))
        before = resident() if at == 100 else before
    assert resident() - before < 2_000_000


LOADED = """
import ctypes, sys
library, error, model = ctypes.CDLL(sys.argv[1]), ctypes.create_string_buffer(512), ctypes.c_void_p()
status = library.fastsvm_load(sys.argv[2].encode(), ctypes.byref(model), error)
library.fastsvm_instructions.restype = ctypes.c_char_p
print(status, library.fastsvm_instructions().decode(), error.raw[24:].partition(b"\\0")[0].decode())
"""


def test_an_instruction_set_that_is_none_is_said_when_a_model_is_loaded(library):
    words = [sys.executable, "-c", LOADED, library / "lib" / "libfastsvm.so", GOLDEN / "c_svc.model"]
    for name, printed in (("baseline", "0 baseline "), ("avx1", "4 ")):
        done = outcome(words, env={"FASTSVM_INSTRUCTIONS": name})
        assert done.stdout.startswith(printed), done
    assert "FASTSVM_INSTRUCTIONS: 'avx1' found, expected" in done.stdout


def test_damaged_models_from_memory_are_read_or_refused(client):
    """Both interfaces load them; the models answer odd rows on two threads."""
    rng, texts = random.Random(8), []
    for text in FILES.values():
        for _ in range(3):
            at = rng.randrange(len(text))
            new = rng.choice([b"", b"1e308", b"-1 ", b"\n", b"nan", b"\0"])
            damaged = text[:at] + new + text[at + rng.randrange(4) :]
            texts += [damaged, made_good(text, damaged), text[:at]]
        texts.append(text)
    given = b"".join(struct.pack("=I", len(text)) + text for text in texts)
    done = subprocess.run([str(client("damaged")), "2"], input=given, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr.decode()
    answers = done.stdout.split()
    assert len(answers) == len(texts) and set(answers) == {b"0", b"2"}
    assert all(answer == b"0" for answer, text in zip(answers, texts) if text in FILES.values())
