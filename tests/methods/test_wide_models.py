"""Models of many features and few entries: refused before the work, or compiled in memory that depends on the
entries."""

import numpy as np
import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods import feature_space
from fastsvm_cli.methods.feature_space import clusters_of, k_means, matrix
from fastsvm_cli.models import load_model
from support.evaluation import parse
from support.oracles import random_machine
from support.paths import FASTSVM
from support.processes import peak_memory
from support.reducing import as_rows

FEATURES = 150_000


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """300 vectors of 60 entries: 360 MB as a dense matrix."""
    rng, n = np.random.default_rng(0), 300
    rows = [
        dict.fromkeys((rng.choice(FEATURES - 1, 60, replace=False) + 1).tolist(), 1.0) | {FEATURES: float(i % 2)}
        for i in range(n)
    ]
    path = tmp_path_factory.mktemp("wide") / "m"
    machine = random_machine(rng, "c_svc", "rbf", rows, gamma=0.01)
    path.write_bytes(machine.text())
    return path


@pytest.mark.full
def test_centers_and_certificates_of_a_sparse_model_take_little_memory(wide, tmp_path):
    """The 360 MB of dense rows are never written out. (numpy and scipy take 90 MB.)"""
    words = ["approx", "-q", "--certify", "--centers", 4, "--degree", 1, wide, "out"]
    assert peak_memory(FASTSVM, *words, cwd=tmp_path) < 250 << 20


def test_groups_far_apart_are_found():
    rng = np.random.default_rng(2)
    rows = [
        {j: 50.0 * (j == group + 1) + rng.standard_normal() for j in range(1, 5)}
        for group in range(4)
        for _ in range(30)
    ]
    found = np.reshape(clusters_of(parse(rows), 4, "m"), (4, 30))
    assert np.all(found == found[:, :1]) and len(set(found[:, 0])) == 4


def test_sparse_clustering_in_blocks_is_the_same(monkeypatch):
    rows = as_rows(np.random.default_rng(3).standard_normal((90, 6)))
    monkeypatch.setattr(feature_space, "MEANS_DENSE_CELLS", 0)
    whole = clusters_of(parse(rows), 5, "m")
    monkeypatch.setattr(feature_space, "MEANS_BLOCK_CELLS", 35)  # blocks of 7 rows
    assert clusters_of(parse(rows), 5, "m") == whole and len(set(whole)) == 5


@pytest.mark.parametrize("cells", [0, feature_space.MEANS_DENSE_CELLS], ids=["sparse", "dense"])
def test_every_row_is_nearest_to_the_mean_of_its_own_cluster(monkeypatch, cells):
    """k-means comes to rest there."""
    x = np.random.default_rng(4).standard_normal((80, 3))
    monkeypatch.setattr(feature_space, "MEANS_DENSE_CELLS", cells)
    monkeypatch.setattr(feature_space, "ROUNDS", 100)
    means, cluster = k_means(matrix(parse(as_rows(x)))[0], 6, 0, "m")
    np.testing.assert_allclose(means, [x[cluster == c].mean(axis=0) for c in range(6)], atol=1e-12)
    assert np.array_equal(((x[:, None] - means) ** 2).sum(axis=2).argmin(axis=1), cluster)


def test_means_of_too_many_numbers_are_refused(monkeypatch, wide):
    monkeypatch.setattr(feature_space, "CENTROIDS", 1_000_000)
    with pytest.raises(
        ModelFormatError,
        match=r"100 clusters of \d+ features found, whose means take \S+ GB, expected at most 0.008 GB",
    ):
        clusters_of(load_model(str(wide)).vectors, 100, "m")
