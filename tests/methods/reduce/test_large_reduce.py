"""Reduced sets of large models: no kernel value computed twice, one file for any number of threads."""

import threading

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.methods import feature_space, parallel
from fastsvm_cli.methods.feature_space import FeatureSpace, KernelMatrix
from fastsvm_cli.methods.reduce import placement
from fastsvm_cli.methods.reduce.placement import Problem
from support import oracles
from support.oracles import EXTENDED
from support.reducing import exact_model, reduce, some_machine

pytestmark = pytest.mark.usefixtures("best_instruction_set")


@pytest.mark.parametrize("optimizer, classes", [("none", 3), ("irprop", 2)])
def test_kernel_values_of_every_two_support_vectors_are_the_cores_alone(monkeypatch, optimizer, classes):
    cells = []

    def counting(name, count):
        before = getattr(KernelMatrix, name)

        def counted(self, rows, *more):
            cells.append(self.shape[0] * count(rows))
            return before(self, rows, *more)

        monkeypatch.setattr(KernelMatrix, name, counted)

    counting("__call__", lambda z: z.shape[0])
    counting("times", len)
    counting("of_vectors", len)
    reduce(some_machine(31, classes=classes, n=120), 6, optimizer=optimizer, finishing=False)
    assert cells and max(cells) < 60 * 60 / 4  # vectors of a part times those of the reduced set


@pytest.mark.parametrize("svm_type, classes, scale", [("c_svc", 2, 1e150), ("nu_svc", 3, 1.0), ("nu_svr", 2, 1.0)])
def test_values_of_a_part_are_the_kernel_matrix_times_its_coefficients(svm_type, classes, scale, monkeypatch):
    monkeypatch.setattr(placement, "BLOCK_CELLS", 20)  # a few rows at a time
    machine = some_machine(31, svm_type, classes, n=60)
    machine.coef *= scale
    k = np.asarray(oracles.kernel_matrix(machine, machine.vectors, machine.vectors), EXTENDED)
    first = 0
    for part in Problem(FeatureSpace(exact_model(machine))).parts:
        rows = slice(first, first + len(part))
        true = k[rows, rows] @ part.a.astype(EXTENDED)
        np.testing.assert_allclose(part.values, true.astype(float), rtol=0, atol=1e-12 * np.abs(part.a).sum())
        first += len(part)
    assert first == 60


@pytest.mark.parametrize("sparse", [False, True])
def test_one_file_whatever_the_number_of_threads(monkeypatch, sparse):
    monkeypatch.setattr(feature_space, "BLOCK_CELLS", 100)
    monkeypatch.setattr(feature_space, "BLOCK_ROWS", 7)
    monkeypatch.setattr(placement, "DENSE_CELLS", 1 if sparse else 1 << 25)
    machine, texts = some_machine(31, n=120), set()
    for threads in (1, 2, 5):
        _native.set_threads(threads)
        texts.add(reduce(machine, 5).model.to_text())
    assert len(texts) == 1


def test_blocks_are_done_once_each_by_as_many_threads_as_were_set_and_an_error_is_the_callers(monkeypatch):
    started, start = [], threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started.append(thread), start(thread)))
    _native.set_threads_here(0)  # an earlier test may have left 1 in this thread
    for threads, helpers in ((1, 0), (3, 2), (50, 4)):  # at most one thread per block
        _native.set_threads(threads)
        started.clear()
        done = np.zeros(23, int)

        def one_more(rows, done=done):
            done[rows] += 1

        parallel.over_blocks(23, 5, one_more)
        assert done.tolist() == 23 * [1] and len(started) == helpers

    def invalid(rows):
        if rows.start >= 10:
            raise ZeroDivisionError(rows.start)

    with pytest.raises(ZeroDivisionError, match=r"^10$"):  # not 15 or 20, whichever thread was first
        parallel.over_blocks(23, 5, invalid)
    parallel.over_blocks(0, 5, invalid)
