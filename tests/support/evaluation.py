"""Helpers for tests of every kind of model."""

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli._native import Header
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import Model, parse_model
from support.oracles import data_text

#: Sizes of models and of data.
SIZES = (0, 1, 2, 5, 7, 13, 40, 100)
#: A handwritten model with three classes.
HAND = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 4
rho 0.25 -0.5 0.125
label 1 -1 7
nr_sv 2 1 1
SV
0.5 1 1:1 3:2.5
0.25 0 2:1
-0.75 1 1:-1 4:0.5
-1 -0.5 0:0.125
"""
#: One without entries, one with unknown features.
ROWS = _native.parse(b"1 1:0.5 2:-1 3:0.25\n1\n-1 2:2 9:1\n1 1:-0.5 4:1 2000000000:0.5\n")[0]


def parse(rows, labels=None):
    chunk, error, _, _ = _native.parse(data_text(rows, labels) if rows else b"")
    assert error is None
    return chunk


def decide(model, chunk):
    """(values, radii), each (rows, pairs)"""
    out = _native.Decisions(model.pairs, True)
    model.decision_values(chunk, out)
    return np.array(out.value), np.array(out.radius)


def values(model, chunk):
    """(rows, pairs)"""
    out = _native.Decisions(model.pairs)
    model.decision_values(chunk, out)
    return np.array(out.value)


def reference(model, chunk):
    """(rows, pairs), in LIBSVM's own order of operations"""
    out = _native.Decisions(model.pairs)
    model.reference_values(chunk, out)
    return np.array(out.value)


def decisions_of(values, radii=None):
    """Decisions of these values, (rows, pairs), and radii."""
    out = _native.Decisions(values.shape[1], radii is not None)
    out.resize(len(values))
    np.asarray(out.value)[:] = values
    if radii is not None:
        np.asarray(out.radius)[:] = radii
    return out


def printed_for(task, values):
    """Lines of labels and probabilities for these decision values, (rows, pairs)."""
    out = _native.Predictions()
    _native.predict(task, decisions_of(values), True, out)
    both = zip(out.label, out.probability.tolist())
    return [" ".join([f"{label:.17g}", *(f"{each:g}" for each in row)]) for label, row in both]


def error_of(text, path="m"):
    """The message that refuses a text."""
    with pytest.raises(ModelFormatError) as caught:
        parse_model(text if isinstance(text, bytes) else text.encode(), path)
    message = str(caught.value)
    assert message.startswith(f"{path}:") and message.isprintable() and len(message) < 300, ascii(message)
    return message


class _Stopped(Model):
    """A geometry model that uses only its first points."""

    proves, certified = False, True

    def __init__(self, whole, engine):
        super().__init__(whole.file, whole.path)
        self._embedded_scaling, self._engine = whole.embedded_scaling, engine

    @property
    def native(self):
        return self._engine


def classification(labels, prob_a=(), prob_b=()):
    """The core's task of predicting these labels; prob_a, prob_b: per pair."""
    pairs = len(labels) * (len(labels) - 1) // 2
    both = ({"probA": list(prob_a), "probB": list(prob_b)}) if len(prob_a) else {}
    return Header("c_svc", "rbf", len(labels), 0, [0.0] * pairs, label=list(labels), **both).task()


def stopped_after(model, steps):
    """The model with its first `steps` points only, as of predict --steps; None unless ordered by `geometry`."""
    engine = model.file.stopped_after(steps)
    return None if engine is None else _Stopped(model, engine)
