"""Interfaces: ways to ask a model for answers, by name. An interface returns the text that `fastsvm predict` writes, or
labels and decision values.

To add one, write a function here: every trait and every kind is then tested with it."""

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path

import numpy as np
import pandas
import scipy.sparse

import fastsvm_cli
from fastsvm_cli import _native, sklearn
from support import dasking, forked
from support.c_library import CModel, libsvm_functions, sparse_rows
from support.in_process import Libsvm
from support.paths import PROGRAM
from support.processes import outcome
from zoo.as_estimators import scikit_learns
from zoo.specimens import Specimen


@dataclass(frozen=True)
class Question:
    """model, exact: files; exact is None if the model answers alone. proves: whether the model has LIBSVM's labels."""

    specimen: Specimen
    model: Path
    exact: "Path | None"
    folder: Path
    proves: bool

    @property
    def proven(self) -> bool:
        return self.proves or self.exact is not None

    @cached_property
    def rows(self) -> Path:
        path = self.folder / f"{self.specimen.name}-rows.txt"
        path.write_bytes(self.specimen.data)
        return path

    @cached_property
    def csv(self) -> Path:
        """Delimited numbers."""
        path = self.folder / f"{self.specimen.name}.csv"
        path.write_text("".join(",".join(map(repr, row)) + "\n" for row in self.specimen.dense().tolist()))
        return path

    @property
    def words(self) -> list:
        """Options of `predict`."""
        if self.exact is None:
            return []
        return ["--exact", self.exact, *(["--tolerance", "1e-3"] if self.specimen.regression else [])]


Texts = "Callable[[Question, bool], bytes]"
#: The text that svm-predict would write. Arguments: question, whether -b 1. None: this interface cannot ask this.
TEXTS: "dict[str, Texts]" = {}
#: (labels, values (rows, pairs) or None). None: this interface cannot ask this.
NUMBERS: "dict[str, Callable[[Question], tuple[np.ndarray, np.ndarray | None] | None]]" = {}


def text(ask):
    TEXTS[ask.__name__] = ask
    return ask


def numbers(ask):
    NUMBERS[ask.__name__] = ask
    return ask


# ---- text


def _options(question, probability):
    return ["-q", "-b", str(int(probability)), *question.words]


def predict_file(question, probability, **more):
    """The answers that all others are compared with."""
    out = question.folder / "predicted"
    more = {"tolerance": 1e-3, **more} if question.words[2:] else more
    given = {"path": question.rows, "on_progress": None, **more}
    fastsvm_cli.predict_file(model=question.model, out=out, probability=probability, exact=question.exact, **given)
    return out.read_bytes()


@text
def one_thread(question, probability):
    return predict_file(question, probability, n_threads=1)


@text
def program(question, probability, **variables):
    if "--tolerance" in question.words:
        return None
    words = [PROGRAM, *_options(question, probability), question.rows, question.model, "-"]
    return outcome(words, check=True, env={**os.environ, **variables}).stdout.encode()


#: Their values may differ in the last digits.
INSTRUCTION_SETS = {
    f"program_{name}": partial(program, FASTSVM_INSTRUCTIONS=name) for name in _native.instruction_sets()
}
TEXTS |= INSTRUCTION_SETS


@text
def dense_text(question, probability):
    if not question.specimen.fits_array:
        return None
    return predict_file(question, probability, path=question.csv, dense=True, unlabelled=True)


# ---- text, at greater cost


def command(question, probability):
    words = ["predict", *_options(question, probability), question.rows, question.model, "-"]
    return forked.fastsvm(words, check=True).stdout


def dask(question, probability):
    out = question.folder / f"parts-{question.model.name}-{probability}-{question.exact is None}"
    dasking.predict(
        "-q", "--dask", "local", "-b", int(probability), *question.words, question.rows, question.model, out
    )
    return dasking.parts(out)


#: Each question has one of these, in turn, with or without -b 1.
IN_TURN = [(command, False), (dask, True), (command, True), (dask, False)]


# ---- numbers


def loaded(question):
    columns = question.specimen.columns
    more = {"n_features_in": len(columns), "zero_based": columns[0] == 0} if columns else {}
    return _fast(question.model, question.exact, 1e-3 if question.words[2:] else None, **more)


@lru_cache(maxsize=4)
def _fast(model, exact, tolerance, **more):
    return fastsvm_cli.load(model, exact=exact, tolerance=tolerance, decision_function_shape="ovo", **more)


def _array(convert):
    def ask(question):
        if not question.specimen.fits_array:
            return None
        return loaded(question).predict(convert(question.specimen.dense())), None

    return ask


NUMBERS["dense"] = _array(lambda x: x)
NUMBERS["list"] = _array(np.ndarray.tolist)
NUMBERS["read_only"] = _array(lambda x: (x.setflags(write=False), x)[1])
NUMBERS["fortran"] = _array(np.asfortranarray)
NUMBERS["csr"] = _array(scipy.sparse.csr_matrix)
NUMBERS["csc"] = _array(scipy.sparse.csc_matrix)
NUMBERS["frame"] = _array(pandas.DataFrame)


@numbers
def row_by_row(question):
    if not question.specimen.fits_array:
        return None
    fast = loaded(question)
    return np.concatenate([fast.predict(row[None]) for row in question.specimen.dense()]), None


@lru_cache(maxsize=4)
def _c(model, exact):
    return CModel(model, fastsvm_cli.load(model).model.pairs, exact=exact)


def c_answers(question, output_kind, classes=0):
    """Of CModel.ask, for sparse rows."""
    rows = question.specimen.rows
    entries = [(j, v) for row in rows for j, v in sorted(row.items())]
    given = sparse_rows(np.cumsum([0, *map(len, rows)]), [j for j, _ in entries], [v for _, v in entries])
    return _c(question.model, question.exact).ask(output_kind, given, classes)


@numbers
def c_sparse(question):
    return c_answers(question, "labels")[:, 0], c_answers(question, "values")


@numbers
def c_dense(question):
    if not question.specimen.fits_array:
        return None
    return _c(question.model, question.exact).dense(question.specimen.dense())


@numbers
def libsvm_names(question):
    if not question.model.name.endswith("-exact"):
        return None
    functions = libsvm_functions()
    model = functions.svm_load_model(os.fsencode(question.model))
    labels, values = [], []
    for row in question.specimen.rows:
        out = (ctypes.c_double * max(1, len(question.specimen.machine.pairs)))()
        labels.append(functions.svm_predict_values(model, Libsvm.nodes(row), out))
        values.append(out[: len(question.specimen.machine.pairs)])
        assert functions.svm_predict(model, Libsvm.nodes(row)) == labels[-1]
    functions.svm_free_and_destroy_model(model)
    return np.array(labels), np.array(values)


@numbers
def patched(question):
    """scikit-learn's estimator with this model's numbers, under patch(). Its truth is `scikit_learns_labels`."""
    if scikit_learns_labels(question) is None:
        return None
    with sklearn.patched():
        return scikit_learns(question.specimen).predict(question.specimen.dense()), None


def scikit_learns_labels(question):
    """Those of scikit-learn's own code, whose BLAS adds up in an order that depends on the processor: on ties and steep
    kernels they are not LIBSVM's. None: it has no such estimator."""
    if not question.model.name.endswith("-exact") or not question.specimen.fits_array:
        return None
    estimator = scikit_learns(question.specimen)
    return None if estimator is None else estimator.predict(question.specimen.dense())
