"""Interfaces: ways to ask a model for answers, by name. An interface returns the text that `fastsvm predict` writes, or
labels and decision values.

To add one, write a function here: every trait and every kind is then tested with it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas
import scipy.sparse

import fastsvm_cli
from support import dasking, forked
from support.c_library import CModel
from support.paths import PROGRAM
from support.processes import outcome
from zoo.specimens import Specimen


@dataclass(frozen=True)
class Question:
    """model, exact: files; exact is None if the model answers alone."""

    specimen: Specimen
    model: Path
    exact: "Path | None"
    folder: Path

    @property
    def rows(self) -> Path:
        path = self.folder / f"{self.specimen.name}-rows.txt"
        path.write_bytes(self.specimen.data)
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


@text
def command(question, probability):
    words = ["predict", *_options(question, probability), question.rows, question.model, "-"]
    return forked.fastsvm(words, check=True).stdout


@text
def program(question, probability):
    if "--tolerance" in question.words:
        return None
    words = [PROGRAM, *_options(question, probability), question.rows, question.model, "-"]
    return outcome(words, check=True).stdout.encode()


@text
def one_thread(question, probability):
    words = ["predict", "--threads", "1", *_options(question, probability), question.rows, question.model, "-"]
    return forked.fastsvm(words, check=True).stdout


@text
def dense_text(question, probability):
    """Delimited numbers."""
    if not question.specimen.fits_array:
        return None
    path = question.folder / f"{question.specimen.name}.csv"
    path.write_text("".join(",".join(map(repr, row)) + "\n" for row in question.specimen.dense().tolist()))
    words = ["--dense", "--unlabelled", *_options(question, probability)]
    return forked.fastsvm(["predict", *words, path, question.model, "-"], check=True).stdout


@text
def predict_file(question, probability):
    out = question.folder / "predicted"
    more = {"tolerance": 1e-3} if question.words[2:] else {}
    fastsvm_cli.predict_file(
        question.rows, question.model, out, probability=probability, exact=question.exact, on_progress=None, **more
    )
    return out.read_bytes()


@text
def dask(question, probability):
    out = question.folder / f"parts-{question.model.name}-{probability}-{question.exact is None}"
    dasking.predict(
        "-q", "--dask", "local", "-b", int(probability), *question.words, question.rows, question.model, out
    )
    return dasking.parts(out)


# ---- numbers


def _loaded(question):
    columns = question.specimen.columns
    more = {"tolerance": 1e-3} if question.words[2:] else {}
    more |= {"n_features_in": len(columns), "zero_based": columns[0] == 0} if columns else {}
    return fastsvm_cli.load(question.model, exact=question.exact, decision_function_shape="ovo", **more)


def _array(convert):
    def ask(question):
        if not question.specimen.fits_array:
            return None
        return _loaded(question).predict(convert(question.specimen.dense())), None

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
    fast = _loaded(question)
    return np.concatenate([fast.predict(row[None]) for row in question.specimen.dense()]), None


def _c(question):
    pairs = fastsvm_cli.load(question.model).model.pairs
    return CModel(question.model, pairs, exact=question.exact)


@numbers
def c_sparse(question):
    rows = question.specimen.rows
    entries = [(j, v) for row in rows for j, v in sorted(row.items())]
    starts = np.cumsum([0, *map(len, rows)])
    return _c(question).sparse(starts, [j for j, _ in entries], [v for _, v in entries])


@numbers
def c_dense(question):
    if not question.specimen.fits_array:
        return None
    return _c(question).dense(question.specimen.dense())
