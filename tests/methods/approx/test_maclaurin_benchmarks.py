"""Maclaurin models of benchmark data: how many labels differ, and how many certificates prove."""

import numpy as np
import pytest

from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.evaluation import decide, values

pytestmark = pytest.mark.full


@pytest.mark.parametrize(
    "name, degree, center, share, most",
    [
        ("a9a_g0.01_c1", 2, "mean", 0.98, 3 / 16281),
        ("a9a_g0.01_c1", 2, "origin", 0.0, 0.0022),
        ("a9a_g0.01_c1", 3, "mean", 0.999, 3 / 16281),
        ("ijcnn1_g0.05_c1", 2, "mean", 0.984, 0.001),
        ("ijcnn1_g0.05_c1", 3, "mean", 0.999, 0.001),
        ("mnist1_g0.0001_c10", 2, "mean", 1.0, 0.0),
        ("u20_g0.1_c1", 2, "mean", 0.58, 0.0045),
        ("u20_g0.1_c1", 3, "mean", 0.94, 0.0045),
    ],
)
def test_few_labels_of_benchmark_rows_differ_and_radii_prove_most(shared, name, degree, center, share, most):
    exact = load_model(str(shared / "models" / f"{name}.model"))
    model = compile_maclaurin(exact, fingerprint="x", certify=True, degree=degree, center=center)
    proven = differ = total = 0
    for chunk in read_chunks(str(shared / "data" / f"{name.split('_')[0]}.t")):
        (value, radius), truth = decide(model, chunk), values(exact, chunk)
        assert np.all(np.abs(value - truth) <= radius + 1e-9)
        proven, total = proven + int((np.abs(value) > radius).sum()), total + chunk.rows
        differ += int(((value > 0) != (truth > 0)).sum())
    assert proven >= share * total and differ <= most * total, (proven, differ, total)
