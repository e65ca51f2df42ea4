"""Labels that approx and reduce change, measured on support vectors."""

import re

import numpy as np
import pytest

from fastsvm_cli import comparisons
from fastsvm_cli.comparisons import agreement
from fastsvm_cli.models import load_model
from support.evaluation import parse, values
from support.messages import cases
from support.oracles import Machine, labels, random_machine
from support.reducing import as_rows, exact_model
from support.training import train_on

JOBS = {name: words for name, *words in cases("trials on support vectors")}
LABELS = r"labels that differ on support vectors: (\d+) of \d+ \((\S+) %\)"
VALUES = r"root mean square difference on support vectors: (\S+) \((\S+) % of the spread of the values\)"


# commands/test_screens.py has the advice of approx and reduce.
@pytest.mark.full
@pytest.mark.parametrize("name", JOBS)
def test_approx_measures_what_differs_on_support_vectors(fastsvm, tmp_path, name):
    """Labels are counted; values are compared with their spread."""
    train_on(tmp_path / "m", *JOBS[name], 600)
    done = fastsvm("approx", "--degree", 2 if name in ("held", "wrong", "classes") else 4, "m", "out")
    exact, model = (load_model(str(tmp_path / each)) for each in ("m", "out"))
    truth, ours = (values(each, exact.vectors) for each in (exact, model))
    if exact.header.regression:
        found, apart = re.fullmatch(VALUES, done.out.splitlines()[-1]), np.sqrt(np.mean((ours - truth) ** 2))
        share, warned = apart / truth.std(), "Warning: values are off by "
    else:
        machine = Machine.read((tmp_path / "m").read_bytes())
        found = re.fullmatch(LABELS, done.out.splitlines()[-1])
        apart = np.sum(np.array(labels(machine, ours)) != labels(machine, truth))
        share, warned = apart / len(truth), f"Warning: {found[2]} % of these labels are not the exact model's; try "
    assert (float(found[1]), float(found[2])) == pytest.approx((apart, 100 * share), rel=5e-3)
    assert done.err.startswith(warned) == (share > 0.01) == bool(done.err) == (name not in ("held", "smooth"))


@pytest.mark.parametrize("total, rows", [(1, 1), (7, 7), (999, 999), (1000, 1000), (2500, 1000)])
def test_the_rows_are_spread_over_the_file(total, rows):
    machine = random_machine(
        np.random.default_rng(0), "c_svc", "rbf", as_rows(np.arange(total)[:, None] + 1.0), gamma=0.5
    )
    chunk = comparisons.spread(exact_model(machine).vectors, 1000)
    seen = np.asarray(chunk.values)
    assert len(seen) == rows and seen[0] == 1 and np.all(np.diff(seen) > 0) and seen[-1] > total - total / rows


@pytest.mark.full
@pytest.mark.parametrize("entries, rows", [(10, 1000), (100, 500), (400, 125), (700, 100)])
def test_large_models_are_tried_on_fewer_rows(monkeypatch, entries, rows):
    """Evaluating the exact model takes about as many operations as reading it."""
    monkeypatch.setattr(comparisons, "WORK", 50_000_000)
    machine = random_machine(np.random.default_rng(0), "nu_svr", "rbf", as_rows(np.ones((1000, entries))), gamma=0.5)
    model = exact_model(machine)
    assert comparisons.agreement_with_exact(model, model).rows == rows


@pytest.mark.parametrize("off, doubtful", [(0.0, False), (1e-9, False), (1e-3, True)])
def test_values_that_are_all_the_same_have_no_spread_to_measure_by(off, doubtful):
    """Differences are then relative to a millionth of the values' size."""
    one, other = (
        exact_model(Machine("nu_svr", "rbf", [{1: 1.0}], np.array([[1.0]]), [rho], gamma=0.5))
        for rho in (-4.0, -4.0 - off)
    )
    seen = agreement(other, one, [parse([{1: 1.0}, {1: 1.0}])])
    assert seen.spread == 0 and seen.share == pytest.approx(off / 5e-6, rel=1e-6, abs=1e-9)
    assert (seen.share > comparisons.DOUBTFUL) == doubtful


def test_the_spread_is_that_of_all_rows_however_they_are_parted():
    model = exact_model(Machine("nu_svr", "rbf", [{1: 0.0}], np.array([[1.0]]), [-4.0], gamma=0.5))
    rows = [{1: float(x)} for x in np.linspace(0, 3, 12)]
    expected = np.std(values(model, parse(rows)))
    for parts in ([rows], [rows[:5], rows[5:]], [rows[:1], rows[1:7], rows[7:]]):
        assert agreement(model, model, [parse(part) for part in parts]).spread == pytest.approx(expected, rel=1e-12)


def test_a_clock_that_does_not_move_divides_nothing_by_zero(monkeypatch):
    monkeypatch.setattr(comparisons, "thread_time", lambda: 1.0)
    model = exact_model(random_machine(np.random.default_rng(1), "c_svc", "rbf", [{1: 1.0}, {2: 1.0}], gamma=0.5))
    assert comparisons.trial(model, model).speed_up == 1
