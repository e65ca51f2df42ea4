"""fastsvm bench: every statistic recomputed, with replaced clocks."""

import json
import os
import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from libsvm.svmutil import svm_load_model, svm_read_problem
from libsvm.svmutil import svm_predict as libsvm_predict
from scipy.stats import binom

from fastsvm_cli.benchmarks import bench_run as bench_cases
from fastsvm_cli.benchmarks import environment, timing
from fastsvm_cli.benchmarks.timing import Timed, Timings, interleave, speed_up
from fastsvm_cli.commands.bench import command
from fastsvm_cli.comparisons import rms_interval_95
from support.benching import MACHINE, ROWS, STATISTICS, Clock, by_name, compact, ratio_and_error, rounded
from support.paths import FASTSVM, GOLDEN, SCRIPTS, TESTS
from support.processes import outcome


@pytest.mark.parametrize("count", [1, 3, 5, 6, 8, 9, 20, 40])
def test_the_interval_holds_the_median_with_95_percent(count):
    """Ranks low and high of `count` draws enclose the median unless fewer than `low` draws are below it, or above
    it."""
    runs = list(range(1, count + 1))
    random.Random(count).shuffle(runs)
    low, high = Timings(runs).interval_95
    assert low + high == count + 1
    outside = 2 * binom.cdf(low - 1, count, 0.5)
    assert outside <= 0.05 or low == 1
    assert 2 * binom.cdf(low, count, 0.5) > 0.05, "no narrower one does"


def test_the_interval_of_a_root_mean_square():
    draw = np.random.default_rng(0)
    held = 0
    for _ in range(300):
        values = draw.normal(size=400)
        low, high = rms_interval_95((values**2).sum(), (values**4).sum(), 400)
        held += low < 1 < high
    assert 300 * 0.9 < held < 300 * 0.99
    assert rms_interval_95(0.0, 0.0, 0) == (0.0, float("inf"))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 20])
def test_statistics_of_runs(count):
    draw = random.Random(count)
    runs, others = ([draw.lognormvariate(0, 0.5) for _ in range(count)] for _ in range(2))
    for name, formula in STATISTICS.items():
        assert getattr(Timings(list(runs)), name) == pytest.approx(formula(runs), rel=1e-12), name
    assert len(Timings(list(runs))) == count and len(Timings()) == 0
    assert speed_up(Timings(runs), Timings(others)) == pytest.approx(ratio_and_error(runs, others), rel=1e-12)


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(timing, "perf_counter", made := Clock())
    return made


def timed(name, seconds, log, clock, divisor=1.0):
    each = iter(seconds)

    def once():
        took = next(each)
        log.append(name)
        if isinstance(took, BaseException):
            raise took
        clock.now += took
        return divisor

    return Timed(name, once)


def test_cases_take_turns_and_the_warm_up_is_not_counted(clock):
    log, heard = [], []
    a = timed("a", [9, 1, 2, 3], log, clock)
    b, c = timed("b", [8, 4, 5, 6], log, clock, divisor=4.0), timed("c", [7, 1, 1, 1], log, clock)
    interleave([a, b, c], 3, 1000.0, lambda case, round: heard.append((case.name, round)))
    assert log == list("abc") * 4
    assert (a.timings.seconds, b.timings.seconds, c.timings.seconds) == ([1, 2, 3], [1, 1.25, 1.5], [1, 1, 1])
    assert heard == [(name, round) for round in (timing.WARM_UP, 0, 1, 2) for name in "abc"]
    assert (a.warm_up, b.warm_up) == (9, 8) and (a.first, b.first, c.first) == (9, 2, 7)
    assert a.failed is b.failed is None


@pytest.mark.parametrize(
    "most, runs, expected", [(35, 10, 3), (1, 10, 3), (55, 10, 5), (1000, 10, 10), (1, 2, 2), (1, 1, 1)]
)
def test_a_slow_case_runs_fewer_times_but_three(clock, most, runs, expected):
    log = []
    interleave([timed("slow", [10] * 20, log, clock), timed("fast", [0.001] * 20, log, clock)], runs, most)
    assert log.count("slow") == 1 + expected and log.count("fast") == 1 + runs


def test_no_round_is_begun_when_every_case_has_had_its_runs(clock):
    log = []
    interleave([timed("a", [10] * 4, log, clock), timed("b", [7] * 4, log, clock)], 10**23, 1)
    assert log == list("ab") * 4


def test_a_case_that_raises_is_left_out_and_the_others_go_on(clock):
    log = []
    at_once, later, silent, good = (
        timed(name, seconds, log, clock)
        for name, seconds in (
            ("at once", [OSError("no file")]),
            ("later", [1, 2, ValueError("odd")]),
            ("silent", [KeyError()]),
            ("good", [1] * 4),
        )
    )
    interleave([at_once, later, silent, good], 3, 100)
    assert (at_once.failed, later.failed, silent.failed, good.failed) == ("no file", "odd", "KeyError", None)
    assert (at_once.timings.seconds, later.timings.seconds, good.timings.seconds) == ([], [2], [1, 1, 1])
    assert log.count("good") == 4 and log.count("later") == 3
    with pytest.raises(KeyboardInterrupt):  # it must reach the user
        interleave([timed("stop", [KeyboardInterrupt()], log, clock)], 3, 100)


class Theatre:
    """Replaces everything that takes time: run times are random, case n differs in n labels."""

    def __init__(self, labels, rows):
        self.clock, self.taken, self.flips, self.labels, self.rows, self.models = Clock(), {}, {}, labels, rows, []

    def spend(self, key):
        runs = self.taken.setdefault(key, [])
        runs.append(random.Random(f"{key} {len(runs)}").uniform(0.02, 0.07))
        self.clock.now += runs[-1]

    def process_run(self, words, **_):
        words = list(map(str, words))
        rows, model, out = words[-3:]
        key = (os.path.basename(words[0]), os.path.basename(rows), os.path.basename(model), "--exact" in words)
        self.spend(key)
        flips = self.flips.setdefault(key, len(self.flips))  # 0 for svm-predict, the first
        with open(out, "w") as file:
            file.write(
                "".join(
                    f"{7 if at < flips else label:g}\n"
                    for at, label in enumerate(self.labels if key[1] != "empty" else [])
                )
            )
        return 0, ""

    def predict(self, predictor):
        if not any(each is predictor.model for each in self.models):
            self.models.append(predictor.model)
        number = next(at for at, each in enumerate(self.models) if each is predictor.model)
        self.spend(("memory", number, predictor.exact is not None))
        return SimpleNamespace(rows=self.rows)

    def libsvm(self, path, chunks):
        def take(scoring, most):
            scoring.most, scoring.rows = most, min(most, self.rows)

        return type(
            "Scoring",
            (),
            {"take": take, "__call__": lambda scoring: self.spend(("libsvm", scoring.most)) or scoring.rows},
        )()


MODELS = {"m": "c_svc.model", "cert": "version2/c_svc-certified.approx"}
MODELS |= {"border": "version2/c_svc.border", "order": "version2/c_svc-geometry.order"}


def test_tables_and_json_have_the_statistics_of_the_runs(tmp_path, monkeypatch, screen):
    """With replaced times and predictions. The statistics: test_statistics_of_runs."""
    for name, golden in MODELS.items():
        (tmp_path / name).write_bytes((GOLDEN / golden).read_bytes())
    (tmp_path / "rows").write_text("1 1:0.5 2:-0.25\n1 1:-1 4:0.5\n-1 4:1 8:-0.75\n" * (ROWS // 3))
    labels, _, _ = libsvm_predict(*svm_read_problem(str(tmp_path / "rows")), svm_load_model(str(tmp_path / "m")), "-q")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(environment, "fastsvm_command", lambda: [FASTSVM])
    monkeypatch.setattr(environment, "native_program", lambda: None)
    monkeypatch.setattr(environment, "describe", lambda threads: MACHINE)
    printed = {}
    for option in ("--json", "--all"):
        theatre = Theatre(labels, ROWS)
        with monkeypatch.context() as patch:
            patch.setattr(bench_cases, "run_process", theatre.process_run)
            patch.setattr(timing, "perf_counter", theatre.clock)
            patch.setattr(bench_cases.Predictor, "write", lambda predictor, *_: theatre.predict(predictor))
            patch.setattr(bench_cases, "LibsvmScoring", theatre.libsvm)
            words = ["-q", "--runs", "5", "--budget", "1", option, "rows", *MODELS]
            done = CliRunner().invoke(command, words)
        assert done.exit_code == 0, (done.output, done.exception)
        printed[option] = done.stdout
    screen("bench", "".join(line.rstrip() + "\n" for line in printed["--all"].splitlines()))
    document = rounded(json.loads(printed["--json"]))
    screen("bench-json", compact(document))
    # Case n differs in n labels; runs are the time spent, after the warm-up.
    records = by_name(document)
    assert [records[name]["labels_that_differ"] for name in MODELS if name != "m"] == [4, 6, 7]
    spent = theatre.taken[os.path.basename(FASTSVM), "rows", "border", False]
    assert len(spent) == 6 and records["border"]["end_to_end"]["runs"] == pytest.approx(spent[1:])


def test_the_script_tabulates_the_json(screen):
    words = [sys.executable, SCRIPTS / "tabulate_bench.py", TESTS / "screens" / "bench-json.txt"]
    screen("bench-tabulated", "".join(outcome([*words, *more], check=True).stdout for more in ([], ["--runs"])))
