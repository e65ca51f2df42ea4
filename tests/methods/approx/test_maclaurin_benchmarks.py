"""Maclaurin models of benchmark data: how many labels differ, and how many certificates prove."""

import numpy as np
import pytest

from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.text.read_rows import read_chunks
from support.evaluation import decide, reference
from support.in_process import written_lines

pytestmark = pytest.mark.full


@pytest.mark.parametrize(
    "name, degree, share",
    [
        ("a9a_g0.01_c1", 2, 0.98),
        ("ijcnn1_g0.05_c1", 2, 0.984),
        ("mnist1_g0.0001_c10", 2, 1.0),
        ("u20_g0.1_c1", 2, 0.58),
        ("a9a_g0.01_c1", 3, 0.999),
        ("ijcnn1_g0.05_c1", 3, 0.999),
        ("u20_g0.1_c1", 3, 0.94),
    ],
)
def test_radii_prove_the_signs_of_benchmark_rows_and_cover_the_error(shared, name, degree, share):
    exact = load_model(str(shared / "models" / f"{name}.model"))
    model = compile_maclaurin(exact, fingerprint="x", certify=True, degree=degree)
    proven = total = 0
    for chunk in read_chunks(str(shared / "data" / f"{name.split('_')[0]}.t")):
        value, radius = decide(model, chunk)
        if total == 0:
            some = chunk.select(list(range(100)))
            assert np.all(np.abs(value[:100] - reference(exact, some)) <= radius[:100])
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
