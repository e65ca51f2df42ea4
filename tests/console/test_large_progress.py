"""Long compilations show progress in every phase, and announce their duration."""

import io
import re
import sys

import numpy as np
import pytest

import fastsvm_cli
from fastsvm_cli import comparisons
from fastsvm_cli.console import terminal
from fastsvm_cli.methods import feature_space
from fastsvm_cli.methods.feature_space import FeatureSpace
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import parse_model
from support.messages import cases
from support.oracles import random_machine, random_rows
from support.processes import Screen

pytestmark = pytest.mark.usefixtures("best_instruction_set")


@pytest.fixture
def model():
    rng = np.random.default_rng(41)
    rows = random_rows(rng, 90, range(1, 5))
    return parse_model(random_machine(rng, "c_svc", "rbf", rows, gamma=0.3).text(), "m")


#: Method and options of compile, and the least number of calls. Values at the support vectors are computed in one step.
COMPILATIONS = [
    ("geometry", {"points": 6}, 1 + 6),
    ("triangle", {"lists": 3}, 5),
    ("approx", {"centers": 3}, 5 + 3),
    ("approx", {"certify": True}, 2),
    ("reduce", {"vectors": 6}, 4 + 6 + 2),
    ("reduce", {"vectors": 6, "optimizer": "irprop"}, 4 + 12),
    ("border", {"samples": 40}, 6),
]


@pytest.mark.filterwarnings("ignore::fastsvm_cli.FastsvmWarning")
@pytest.mark.parametrize("method, options, least", COMPILATIONS)
def test_every_phase_tells_the_share_that_is_done(model, tmp_path, monkeypatch, method, options, least):
    monkeypatch.setattr(feature_space, "PART_EVALUATIONS", 1)
    monkeypatch.setattr(feature_space, "LEAST_PART", 20)
    (tmp_path / "m").write_bytes(model.to_text())
    shares = []
    fastsvm_cli.compile(tmp_path / "m", method, on_progress=lambda share, *_: shares.append(share), **options)
    assert len(shares) >= least, shares
    assert all(0 <= share <= 1 + 1e-9 for share in shares) and shares == sorted(shares), shares


def test_values_at_the_support_vectors_are_the_same_in_parts(monkeypatch):
    rng = np.random.default_rng(42)
    machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 90, range(1, 5)), nr_class=3, gamma=0.3)
    model = parse_model(machine.text(), "m")
    whole = FeatureSpace(model)
    monkeypatch.setattr(feature_space, "PART_EVALUATIONS", 1)
    for size in (1, 7, 90):
        monkeypatch.setattr(feature_space, "LEAST_PART", size)
        shares = []
        in_parts = FeatureSpace(model, shares.append)
        np.testing.assert_array_equal(in_parts.at_support_vectors, whole.at_support_vectors)
        assert in_parts.squared_norms.tolist() == whole.squared_norms.tolist()
        assert len(shares) == -(-90 // size) and shares[-1] == 1.0


def test_agreement_in_parts_is_the_same(model, monkeypatch):
    reduced = compile_reduced_set(model, fingerprint="f" * 32, count=4, finishing=False).model
    at_once = comparisons.agreement(reduced, model, [model.vectors])
    monkeypatch.setattr(comparisons, "PART_EVALUATIONS", 1)
    monkeypatch.setattr(comparisons, "LEAST_PART", 11)
    shares = []
    in_parts = comparisons.agreement(reduced, model, [model.vectors], shares.append)
    assert (in_parts.rows, in_parts.different) == (at_once.rows, at_once.different) and at_once.different
    assert len(shares) == 9 and shares[-1] == 1.0


@pytest.fixture
def clock(monkeypatch):
    time = [100.0]
    monkeypatch.setattr(terminal, "monotonic", lambda: time[0])
    return time


@pytest.mark.parametrize("announced, quiet, steps, printed", cases("announcements"))
def test_what_takes_long_is_announced_once_where_no_bar_is_drawn(monkeypatch, clock, announced, quiet, steps, printed):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with terminal.Progress("work", quiet=quiet, announced=announced) as shown:
        for at, share in steps:
            clock[0] = 100.0 + at
            shown(share)
    assert screen.getvalue() == printed


def terminal_of(monkeypatch, columns):
    """A terminal as standard error. Not a fixture: pytest replaces it between fixtures and the test."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    return screen


def shown(screen):
    """Frames drawn so far."""
    frames = re.split(r"\r\x1b\[2K|\n", re.sub(r"\x1b\[[\d;]*m|\x1b\[\?25[hl]|\x1b\[1A", "", screen.getvalue()))
    return [frame.rstrip() for frame in frames if frame.strip()]


def test_rows_of_which_no_end_is_known_are_counted(monkeypatch, clock):
    screen = terminal_of(monkeypatch, 60)
    with terminal.Progress("predict", rows=True) as line:
        for seconds, rows in ((0.9, 9_000), (1.5, 15_000), (1.55, 15_500), (3723.0, 12_345_678_901)):
            clock[0] = 100.0 + seconds
            line.count(rows)
    first, *others = shown(screen)
    assert first == "predict 15,000 rows, 10 k rows/s, 0:00:01"
    assert others[-1] == "predict 12,345,678,901 rows, 3.32 M rows/s, 1:02:03"
    assert not any("15,500" in frame for frame in others)  # at most ten frames a second


@pytest.mark.parametrize("columns", [50, 120])
def test_rows_stand_beside_the_bar_of_a_file(monkeypatch, clock, columns):
    screen = terminal_of(monkeypatch, columns)
    with terminal.Progress("predict", rows=True) as line:
        for seconds, share, rows in ((1.5, 0.2, 1_500), (2.0, 0.5, 999_999), (2.5, 0.75, 12_345_678)):
            clock[0] = 100.0 + seconds
            line(share)
            clock[0] += 0.2
            line.count(rows)
    frames = shown(screen)
    assert all(len(frame) <= columns for frame in frames)
    assert frames[-1].startswith("predict ━") and " 75% " in frames[-1]
    assert frames[-1].endswith(" 12.3 M rows, 4.57 M/s")
    assert any(frame.endswith(" 1 M rows, 455 k/s") for frame in frames)


def test_nothing_is_drawn_of_what_is_short_or_quiet(monkeypatch, clock):
    screen = terminal_of(monkeypatch, 80)
    with terminal.Progress("predict", rows=True) as line:
        line.count(5)
        line(1.0)
    with terminal.Progress("predict", quiet=True) as line:
        clock[0] += 100
        line.count(5)
    assert screen.getvalue() == ""
