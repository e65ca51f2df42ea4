"""LIBSVM 3.37 in this process, and fastsvm's pipeline for the same model."""

import ctypes
import io

import numpy as np
from libsvm import svm as libsvm
from libsvm.svmutil import svm_load_model

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.models import parse_model
from fastsvm_cli.prediction import Predictor
from fastsvm_cli.text.files import Content
from support.oracles import Machine
from support.processes import outcome


class Libsvm:
    """A model file in LIBSVM."""

    def __init__(self, path):
        self.model = svm_load_model(str(path))
        self.classes = self.model.get_nr_class()
        self.pairs = self.classes * (self.classes - 1) // 2
        self.svm_type = self.model.get_svm_type()

    @staticmethod
    def nodes(row):
        out = (libsvm.svm_node * (len(row) + 1))(*((index, value) for index, value in sorted(row.items())))
        out[len(row)].index = -1
        return out

    def values(self, rows):
        out = np.empty((len(rows), self.pairs))
        buffer = (ctypes.c_double * max(self.pairs, 1))()
        for r, row in enumerate(rows):
            libsvm.libsvm.svm_predict_values(self.model, self.nodes(row), buffer)
            out[r] = buffer[: self.pairs]
        return out

    def labels(self, rows):
        return [libsvm.libsvm.svm_predict(self.model, self.nodes(row)) for row in rows]

    def probabilities(self, rows):
        labels, out = [], np.empty((len(rows), self.classes))
        buffer = (ctypes.c_double * self.classes)()
        for r, row in enumerate(rows):
            labels.append(libsvm.libsvm.svm_predict_probability(self.model, self.nodes(row), buffer))
            out[r] = buffer[:]
        return labels, out

    @property
    def regression(self):
        return self.svm_type in (libsvm.svm_forms.EPSILON_SVR, libsvm.svm_forms.NU_SVR)

    def lines(self, rows, probability=False):
        """svm-predict 3.37's output, lines as words. Labels of seven digits before probabilities are printed in full; a
        documented difference: svm-predict prints 1e+06."""
        if not probability or self.regression:
            return [["%.17g" % label] for label in self.labels(rows)]
        one_class = self.svm_type == libsvm.svm_forms.ONE_CLASS
        head = ["label", "normal", "outlier"] if one_class else ["labels", *map(str, self.model.get_labels())]
        return [
            head,
            *(["%.17g" % label, *("%g" % p for p in row)] for label, row in zip(*self.probabilities(rows))),
        ]


def written_lines(model, chunks, **options):
    written = []
    run_counts = Predictor(model, **options).write(chunks, written.append, "rows")
    return b"".join(written), run_counts


def answered(model, path, *, size=None, exact=None, **options):
    """(prediction, lines, open rows, outside rows, error) of a run of predict with a model in memory. size: bytes of a
    block. options: of predict."""
    request = _native.Request(test_file=str(path), model_file="m", **options)
    prediction = _native.Prediction(request, model.file, "", model.first_index, exact, lambda warning: None)
    prediction.prepare()
    prediction.block_size = size or prediction.block_size
    prediction.position.fields = 0  # sparse rows: no block waits for the first one
    files, failure = [io.BytesIO() for _ in range(3)], None
    try:
        with Content(str(path)) as content:
            prediction.answer(content, *(file.write for file in files))
    except DataFormatError as error:
        failure = str(error)
    return prediction, *(file.getvalue() for file in files), failure


def both(machine, folder):
    """The same model file in fastsvm and in LIBSVM."""
    path = folder / "a.model"
    path.write_bytes(machine.text())
    return parse_model(path.read_bytes(), "a.model"), Libsvm(path)


def mirrored(rng, kernel, n=30, d=6, *, size=1.0, lean=0.0, svm_type="c_svc"):
    """A machine and rows for which f is 0, but its rounding is not: vectors come with mirror images of opposite
    coefficients, rho is 0, rows are palindromes. lean: size of a part of the vectors orthogonal to every row."""
    away = rng.standard_normal((n, d // 2))
    x = size * rng.standard_normal((n, d)) + lean * np.hstack([away, -away[:, ::-1]])
    a, order = rng.uniform(0.1, 3, n), rng.permutation(n)
    vectors = [dict(enumerate(row.tolist(), 1)) for row in (*x, *x[order, ::-1])]
    machine = Machine(
        svm_type, kernel, vectors, np.concatenate([a, -a[order]])[:, None], [0.0], gamma=0.3, coef0=0.2, degree=3
    )
    if svm_type == "c_svc":
        machine.label, machine.nr_sv = [5, -2], [n, n]
    left, beyond = size * rng.standard_normal((200, d // 2)), size * rng.standard_normal((200, 2))
    return machine, [dict(enumerate(row, 1)) for row in np.hstack([left, left[:, ::-1], beyond]).tolist()]


def run_both(svm_predict, fastsvm, folder, test, model, *options):
    """(lines, summary) of svm-predict and of fastsvm predict"""
    theirs = outcome([svm_predict, *options, str(test), str(model), "theirs"], cwd=folder, check=True)
    ours = fastsvm("predict", *options, test, model, "ours")
    return ((folder / "theirs").read_text(), theirs.stdout), ((folder / "ours").read_text(), ours.out)
