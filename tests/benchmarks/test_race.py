"""Races of models, by a made-up clock. Who is timed how often is in screens/choices.txt."""

from math import inf

import numpy as np
import pytest

from fastsvm_cli.benchmarks import timing
from fastsvm_cli.benchmarks.timing import Timings, factor, median_error, race, run_once, warm_up
from support.benching import Clock


class Runner:
    def __init__(self, clock, seconds, noise=0.0, seed=0):
        self.clock, self.seconds, self.noise = clock, seconds, noise
        self.timings, self.count, self.prepared = Timings(), 0, []
        self._draw = np.random.default_rng(seed)

    def prepare(self, count):
        self.prepared.append(count)

    def run(self):
        seconds = self.prepared[-1] * self.seconds * (1 + self.noise * abs(self._draw.standard_normal()))
        self.clock.spend(seconds)


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(timing, "thread_time", made := Clock())
    return made


def test_a_run_has_enough_rows_to_be_timed(clock):
    for seconds, count in ((1e-6, 5000), (5e-6, 2000), (1e-3, 200)):
        runner = Runner(clock, seconds)
        assert warm_up(runner, 5000) == pytest.approx(seconds) and runner.count == pytest.approx(count, abs=1)
        assert run_once(runner, 7) == pytest.approx(seconds) and runner.prepared[-1] == 7
    few = Runner(clock, 1e-6)
    warm_up(few, 30)
    assert few.count == 30


def test_a_race_ends_with_its_seconds(clock):
    runners = [Runner(clock, 1e-3, 0.1, at) for at in range(2)]
    for each in runners:
        warm_up(each, 5000)
    start = clock.now
    race(runners, 1.0)
    assert clock.now - start < 6


def test_a_factor_and_its_error():
    one, other = Timings([4e-6, 4.2e-6, 3.8e-6]), Timings([1e-6, 1.1e-6, 0.9e-6])
    ratio, error = factor(one, other, 1e-6)
    assert ratio == pytest.approx(5 / 2)
    parts = median_error(one) / 5e-6, median_error(other) / 2e-6
    assert error == pytest.approx(ratio * np.hypot(*parts))
    assert median_error(Timings([1.0])) == inf and median_error(one) == pytest.approx(1.2533 * one.spread / np.sqrt(3))
