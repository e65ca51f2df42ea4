"""Work on cluster workers (two processes): answers for collections, sums of certificates."""

import os
import signal

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

import fastsvm_cli
import fastsvm_cli.dask as lazy
from fastsvm_cli.cluster.scheduler import requiring_workers
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.methods import silent
from fastsvm_cli.methods.approx import certificates as pair_sums
from fastsvm_cli.methods.approx.certificates import PairSums, totals
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import parse_model
from support.oracles import random_machine, random_rows


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    address = "127.0.0.1:0"  # a free port: Dask warns if another process has its usual one
    with LocalCluster(2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=address) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as client:
        yield client


@pytest.mark.full
def test_collections_are_answered_by_workers_which_are_sent_the_model_once(folder, client):
    X = load_svmlight_file(str(folder / "rings.test"), n_features=8)[0].toarray()[:2000]
    path, exact = str(folder / "rings.model.approx"), str(folder / "rings.model")
    fast, rows = fastsvm_cli.load(path, exact=exact), da.from_array(X, chunks=(100, -1))
    found = lazy.predict(rows, path, exact=exact)
    assert found.dtype == np.int64 and (found.compute() == fast.predict(X)).all()
    assert (lazy.decision_function(rows, fast).compute() == fast.decision_function(X)).all()

    def models_here():  # defined here to be pickled by value
        import gc

        return [id(each) for each in gc.get_objects() if type(each).__name__ == "SentModel"]

    # Two collections, one model: one key, one object on each worker.
    keys = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.tasks))
    assert len([key for key in keys if "SentModel" in key]) == 1
    assert [len(each) for each in client.run(models_here).values()] == [1, 1]


@pytest.mark.full
def test_other_schedulers_are_not_given_a_future(folder, client):
    path, X = str(folder / "rings.model"), np.full((30, 8), 0.5)
    with dask.config.set(scheduler="threads"):
        found = lazy.predict(da.from_array(X, chunks=(10, -1)), path)
        assert found.compute().tolist() == fastsvm_cli.load(path).predict(X).tolist()


@pytest.mark.full
@pytest.mark.parametrize("sparse", [False, True])
def test_a_certificate_is_the_same_to_the_last_bit(folder, client, monkeypatch, sparse):
    rng = np.random.default_rng(3)
    features = range(1, 401 if sparse else 31)
    vectors = random_rows(rng, 3000, list(features), density=0.01 if sparse else 1.0)
    exact = parse_model(random_machine(rng, "c_svc", "rbf", vectors, gamma=0.05).text(), "m")
    here = compile_maclaurin(exact, fingerprint="f" * 32, certify=True).to_text()
    requested, shares = [], []
    inner = pair_sums.over(client)

    def noted(pairs, on_progress):
        requested.append((len(pairs.parts), pairs._sparse))
        return inner(pairs, lambda share: (shares.append(share), on_progress(share)))

    there = compile_maclaurin(exact, fingerprint="f" * 32, certify=True, add_up=noted).to_text()
    assert there == here and [kind for _, kind in requested] == [sparse]
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1)


@pytest.mark.full
def test_parts_add_up_in_any_hands(client):
    rng = np.random.default_rng(5)
    arrays = rng.standard_normal((20_000, 3)) / 4, rng.standard_normal(20_000), 0.5, 3, 7
    pairs, shares = PairSums(*arrays, sparse=False), []
    parts, expected = pairs.parts, pairs.here(silent)
    assert len(parts) == 2 and parts.share(0) == 0 and parts.share(2) == 1 and 0.1 < parts.share(1) < 0.9
    backwards = {part: parts.sums(part) for part in (1, 0)}
    assert totals(backwards[part] for part in (0, 1)) == expected
    with pytest.raises(IndexError):
        parts.sums(2)
    assert pair_sums.over(client)(pairs, shares.append) == expected
    first = parts.share(1)  # whichever part is done first
    assert shares in ([pytest.approx(first), pytest.approx(1)], [pytest.approx(1 - first), pytest.approx(1)])


@pytest.mark.full
def test_what_is_lost_is_one_line(client, monkeypatch):
    """A dying scheduler cancels futures, which then have no result."""

    def die(first, last):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 1)
    with pytest.raises(FastsvmError, match="2 workers died at the same task"), requiring_workers(client):
        client.submit(die, 0, 1, pure=False).result()
    submit = client.submit

    def cancelled(*args, **how):
        future = submit(*args, **how)
        client.cancel([future])
        return future

    monkeypatch.setattr(client, "submit", cancelled)
    pairs = PairSums(np.ones((100, 3)), np.ones(100), 0.5, 3, 7, sparse=False)
    with pytest.raises(FastsvmError, match=r"the scheduler was lost, or all workers were: .*cancelled") as reported:
        pair_sums.over(client)(pairs, None)
    assert "\n" not in str(reported.value)


def test_what_is_no_address_or_does_not_go_with_it(fastsvm, folder):
    model = folder / "rings.model"
    assert "it goes with --certify" in fastsvm("approx", "--dask", "local:2", model, code=2).err
    assert "'nowhere' found, expected" in fastsvm("approx", "--certify", "--dask", "nowhere", model, code=2).err
