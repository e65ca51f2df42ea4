"""Maclaurin models of benchmark data: how many labels differ, and how many certificates prove."""

import numpy as np
import pytest

from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.prediction import Fallback
from fastsvm_cli.text.read_rows import read_chunks
from support.evaluation import decide, reference
from support.hostile import uncovered
from support.in_process import written_lines
from support.messages import cases
from support.oracles import EXTENDED

pytestmark = pytest.mark.full


def benchmark_truth(exact, chunk):
    """(rows) decision values of a model with one decision function, in extended precision."""
    both = [exact.vectors, chunk]
    columns = np.unique(np.concatenate([np.asarray(part.indices) for part in both]))
    x, z = (np.zeros((part.rows, len(columns)), EXTENDED) for part in both)
    for to, part in zip((x, z), both):
        to[np.repeat(np.arange(part.rows), np.diff(part.indptr)), np.searchsorted(columns, part.indices)] = part.values
    coef = np.asarray(exact.vectors.leading)[:, 0].astype(EXTENDED)
    squares, gamma = (x**2).sum(axis=1), EXTENDED(exact.header.gamma)
    return (
        np.array([coef @ np.exp(-gamma * (squares - 2 * (x[:, row != 0] @ row[row != 0]) + row @ row)) for row in z])
        - exact.header.rho[0]
    )


@pytest.mark.parametrize("name, degree, share", cases("shares that degrees prove"))
def test_radii_prove_the_signs_of_benchmark_rows_and_cover_the_error(shared, name, degree, share):
    exact = load_model(str(shared / "models" / f"{name}.model"))
    model = compile_maclaurin(exact, fingerprint="x", certify=True, degree=degree)
    proven = total = 0
    for chunk in read_chunks(str(shared / "data" / f"{name.split('_')[0]}.t")):
        value, radius = decide(model, chunk)
        if total == 0:
            some = chunk.select(list(range(100)))
            truth, theirs = benchmark_truth(exact, some), reference(exact, some)[:, 0]
            error = np.maximum(np.abs(value[:100, 0] - truth), np.abs(value[:100, 0] - theirs))
            assert not uncovered(error, radius[:100, 0]).any()
        proven, total = proven + int((np.abs(value) > radius).sum()), total + chunk.rows
    assert proven >= share * total, proven / total


def labels_of(model, path, **options):
    text, counts = written_lines(model, read_chunks(str(path)), **options)
    return np.array(text.split(), float), counts


@pytest.mark.parametrize(
    "name, center, most",
    [
        ("ijcnn1_g0.05_c1", None, 0.001 * 91701),
        ("mnist1_g0.0001_c10", None, 0),
        ("u20_g0.1_c1", None, 0.0045 * 20000),
        ("a9a_g0.01_c1", None, 3),
        ("a9a_g0.01_c1", "origin", 0.0022 * 16281),
    ],
)
def test_few_labels_differ_on_benchmark_data(shared, name, center, most):
    exact = load_model(str(shared / "models" / f"{name}.model"))
    fast = parse_model(compile_maclaurin(exact, fingerprint="0" * 32, center=center).to_text(), "a.approx")
    path = shared / "data" / f"{name.split('_')[0]}.t"
    assert np.sum(labels_of(fast, path)[0] != labels_of(exact, path)[0]) <= most


def test_certificates_decide_benchmark_rows_and_the_exact_model_the_rest(shared):
    exact = load_model(str(shared / "models" / "ijcnn1_g0.05_c1.model"))
    fast = compile_maclaurin(exact, fingerprint="0" * 32, certify=True)
    path = shared / "data" / "ijcnn1.t"
    labels, counts = labels_of(fast, path, exact=Fallback(lambda: exact))
    np.testing.assert_array_equal(labels, labels_of(exact, path)[0])
    assert counts.evaluated <= 0.02 * counts.rows
