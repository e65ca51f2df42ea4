"""Models of many features and few entries: refused before the work, or compiled in memory that depends on the
entries."""

import numpy as np
import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods import clusters
from fastsvm_cli.methods.clusters import clusters_of, k_means
from fastsvm_cli.methods.feature_space import matrix
from fastsvm_cli.models import load_model
from support.evaluation import parse
from support.oracles import random_machine
from support.paths import FASTSVM
from support.processes import peak_memory

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
def test_centers_of_a_sparse_model_are_found_in_little_memory(wide, tmp_path):
    """The 360 MB of dense rows are never written out. (numpy and scipy take 90 MB.)"""
    assert peak_memory(FASTSVM, "approx", "-q", "--centers", 4, "--degree", 1, wide, "out", cwd=tmp_path) < 250 << 20


def parts(vectors, k):
    """The clusters, regardless of their numbers."""
    cluster = clusters_of(vectors, k, "m")
    return {tuple(np.flatnonzero(np.array(cluster) == c)) for c in set(cluster)}


def test_sparse_rows_are_clustered_as_dense_ones_are(monkeypatch):
    """Groups so far apart that any start with a row of each finds them."""
    rng = np.random.default_rng(2)
    rows = [
        {j: 50.0 * (j == group + 1) + rng.standard_normal() for j in range(1, 5)}
        for group in range(4)
        for _ in range(30)
    ]
    dense = parts(parse(rows), 4)
    monkeypatch.setattr(clusters, "DENSE_CELLS", 0)
    found = [k_means(matrix(parse(rows))[0], 4, seed, "m")[1] for seed in range(40)]
    assert dense == {tuple(range(30 * g, 30 * g + 30)) for g in range(4)}
    assert any({tuple(np.flatnonzero(cluster == c)) for c in set(cluster)} == dense for cluster in found)


def test_sparse_clustering_in_blocks_is_the_same(monkeypatch):
    rows = [dict(enumerate(row, 1)) for row in np.random.default_rng(3).standard_normal((90, 6)).tolist()]
    monkeypatch.setattr(clusters, "DENSE_CELLS", 0)
    whole = clusters_of(parse(rows), 5, "m")
    monkeypatch.setattr(clusters, "BLOCK_CELLS", 35)  # blocks of 7 rows
    assert clusters_of(parse(rows), 5, "m") == whole and len(set(whole)) == 5


def test_every_row_is_nearest_to_the_mean_of_its_own_cluster(monkeypatch):
    """k-means comes to rest there."""
    x = np.random.default_rng(4).standard_normal((80, 3))
    monkeypatch.setattr(clusters, "DENSE_CELLS", 0)
    monkeypatch.setattr(clusters, "ROUNDS", 1000)
    means, cluster = k_means(matrix(parse([dict(enumerate(row, 1)) for row in x.tolist()]))[0], 6, 0, "m")
    np.testing.assert_allclose(means, [x[cluster == c].mean(axis=0) for c in range(6)], atol=1e-12)
    assert np.array_equal(((x[:, None] - means) ** 2).sum(axis=2).argmin(axis=1), cluster)


def test_means_of_too_many_numbers_are_refused(monkeypatch, wide):
    monkeypatch.setattr(clusters, "CENTROIDS", 1_000_000)
    with pytest.raises(
        ModelFormatError,
        match=r"100 clusters of \d+ features found, whose means take \S+ GB, expected at most 0.008 GB",
    ):
        clusters_of(load_model(str(wide)).vectors, 100, "m")
