"""libfastsvm answers invalid arguments with a code and a message, and leaks nothing."""

import ctypes
import os
import random
import re
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from ctypes.util import find_library
from math import inf, nan

import numpy as np
import pytest
from libsvm.svm import svm_node

from support.c_library import PATH, Error, Rows, library
from support.damage import FILES, made_good
from support.paths import GOLDEN, TESTS
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
    def __init__(self):
        self.functions, self.error = library(), Error()
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
def c():
    return Caller()


def rows_of(count, **arrays):
    """Rows that keep their arrays; numbers are given as they are."""
    rows = Rows(count=count)
    rows.stored = arrays
    for name, each in arrays.items():
        setattr(rows, name, each.ctypes.data if isinstance(each, np.ndarray) else each)
    return rows


NUMBERS = np.tile([0.3, -0.2, 1, 0, 0, 0, -5, 0.1, 7], 1000)


@pytest.fixture(scope="module")
def names(c):
    """The names that a line of refusals.txt may use."""
    models = {"model": "c_svc.model", "certified": "version2/c_svc-certified.approx", "three": "three_classes.model"}
    models |= {"regression": "epsilon_svr.model", "precomputed": "exponential.precomputed"}
    entries = {
        "starts": np.array([0, 0, 2, 2]),
        "indices": np.array([1, 3], np.int32),
        "values": np.array([0.5, 1e300]),
    }
    single, found = NUMBERS[:12].astype(np.float32), {name: c.load(file) for name, file in models.items()}
    yield found | {
        **dict(rows_of=rows_of, none=rows_of(0), out=np.zeros(64), labels=np.zeros(8, np.intc), golden=bytes(GOLDEN)),
        **dict(array=np.array, nan=nan, inf=inf, numbers=NUMBERS[:12], infinite=np.array([1, inf, 0, 0], np.float32)),
        "dense": lambda count, **others: rows_of(count, **{"columns": 4, "stride": 6, "floats": single, **others}),
        "sparse": lambda count=3, **others: rows_of(count, **{**entries, **others}),
        "serials": np.arange(26, dtype=np.int32),
        "of_kernel": np.where(np.arange(26), 0.5, 1),
    }
    c.free(*found.values())


TABLE = re.findall(r"^(\w+)\((.*)\) => (\w+): (.*)", (TESTS / "capi" / "refusals.txt").read_text(), re.M)


def test_what_a_call_refuses_is_said(c, names):
    for name, arguments, status, words in TABLE:
        made = ctypes.c_void_p(7 if name.startswith("load") else None)
        c.fails(eval(status), words, name, *eval(f"[{arguments}]", {**names, "at": ctypes.byref(made)}))
        assert not made or status == "ARGUMENT" or "at" not in arguments
        for kind in ("row", "line"):
            found = re.search(rf"^{'row ' if kind == 'row' else 'model:'}(\d+): ", c.error.text.decode())
            assert found is None or getattr(c.error, kind) == int(found[1])
        assert len(c.error.text) == 487 or "nnn" not in words  # names may be longer than the message
    assert len(TABLE) > 40


def test_no_beginning_of_a_file_is_a_model(c):
    model, text = ctypes.c_void_p(7), (GOLDEN / "version2" / "c_svc-certified.approx").read_bytes()
    for end in range(0, len(text), 7):
        c.fails(MODEL, "m", "load_memory", text[:end], end, b"m", ctypes.byref(model))
        assert not model
    assert c.status("load", b"/nowhere", ctypes.byref(model), error=False) == FILE


def test_a_model_is_described(c, names):
    info = Info()
    c.functions.fastsvm_describe(None, ctypes.byref(info))
    assert (info.pairs, info.kind, info.fingerprint) == (0, b"", b"")
    c.functions.fastsvm_describe(names["model"], None)
    c.functions.fastsvm_describe(names["certified"], ctypes.byref(info))
    assert (info.certified, info.proves, info.classes, info.pairs, info.kind) == (1, 0, 2, 1, b"maclaurin")
    assert len(info.fingerprint) == 32
    c.free(None)
    assert c.status("labels", names["three"], names["labels"], error=False) == OK
    c.functions.fastsvm_instructions.restype = ctypes.c_char_p
    c.works("set_instructions", c.functions.fastsvm_instructions())


def test_unusual_rows_are_answered(c, names):
    """A single row without a stride, rows without columns or entries, rows before a bad one."""
    model, dense, sparse, out = names["model"], names["dense"], names["sparse"], np.full(64, 77.0)
    c.works("predict", model, names["none"], out)
    c.works("predict", model, dense(2), out)
    first, out[0] = out[0], 77
    c.works("predict", model, dense(1, stride=0), out)
    assert out[0] == first
    c.works("predict", model, dense(3, columns=0, stride=0), out)
    assert out[0] == out[1] == out[2]
    for values in (np.ones(2), np.array([0.5, -1e308])):
        c.works("predict", model, sparse(values=values), out)
        assert out[0] == out[2]
    for count in (1, 0):
        c.works("predict", model, sparse(count, indices=None, values=None), out)
    out[:] = 77
    bad = np.array([1, 2, 3, 4, nan, 5])
    c.fails(ROW, "row 2: ", "predict", model, rows_of(3, columns=2, stride=2, doubles=bad), out)
    assert out[0] != 77 != out[1]
    sparse_kernel = rows_of(1, starts=np.array([0, 25]), indices=names["serials"], values=names["of_kernel"])
    c.works("predict", names["precomputed"], sparse_kernel, out)


def test_radii_of_rows_with_unknown_features_write_no_variable_of_the_process(c, names):
    out, radii = np.zeros(64), np.zeros(64)
    sign = ctypes.c_int.in_dll(ctypes.CDLL(find_library("m")), "signgam")  # lgamma writes it; threads would share it
    sign.value = 77
    far = {"indices": np.array([1, 2147483647], np.int32), "values": np.array([0.5, 1e300])}
    c.works("predict", names["model"], names["sparse"](**far), out)
    c.works("values", names["certified"], names["sparse"](**far), out, radii)
    assert sign.value == 77 and not (radii[1] < inf and abs(out[1]) > 1e300)


def nodes(*entries):
    return (svm_node * (len(entries) + 1))(*[svm_node(*entry) for entry in entries], svm_node(-1, 0))


def test_libsvms_functions_take_anything(c):
    functions, out, freed = c.functions, (ctypes.c_double * 8)(), ctypes.CDLL(None).free
    for path in (b"/nowhere", bytes(GOLDEN / "data"), bytes(GOLDEN)):
        assert functions.svm_load_model(path) is None
    text = (GOLDEN / "c_svc.model").read_bytes()
    last = text.rindex(b"\n", 0, len(text) - 1)  # the end of the last vector but one
    for length in (0, last, len(text) - 1, len(text), len(text) + 1):  # VMAF passes the terminating 0 too
        model = ctypes.c_void_p(functions.svm_parse_model_from_buffer(text, length))
        assert bool(model) == (length > last)
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


def test_an_instruction_set_that_is_none_is_said_when_a_model_is_loaded():
    words = [sys.executable, "-c", LOADED, PATH, GOLDEN / "c_svc.model"]
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
