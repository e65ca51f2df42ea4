"""fastsvm bench: every statistic recomputed, with replaced clocks."""

import itertools
import json
import os
import random
import time
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_read_problem
from libsvm.svmutil import svm_predict as libsvm_predict
from scipy.stats import binom

from fastsvm_cli.benchmarks import bench_run as bench_cases
from fastsvm_cli.benchmarks import timing
from fastsvm_cli.benchmarks.timing import Timed, Timings, interleave, speed_up
from fastsvm_cli.comparisons.sampled import rms_interval_95
from support.benching import ROWS, STATISTICS, by_name, first_rows, ratio_and_error, terminal_tables, train, wilson
from support.compiling import compile_all
from support.paths import FASTSVM


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


def timed(name, seconds, log, clock, divisor=1.0):
    each = iter(seconds)

    def once():
        took = next(each)
        log.append(name)
        if isinstance(took, BaseException):
            raise took
        clock.now += took
        return divisor

    return Timed(name, "a clock", once)


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_cases_take_turns_and_the_warm_up_is_not_counted():
    log, heard, clock = [], [], Clock()
    a = timed("a", [9, 1, 2, 3], log, clock)
    b, c = timed("b", [8, 4, 5, 6], log, clock, divisor=4.0), timed("c", [7, 1, 1, 1], log, clock)
    interleave(
        [a, b, c], 3, 1000.0, lambda case, round, seconds: heard.append((case.name, round, seconds)), clock=clock
    )
    assert log == list("abc") * 4
    assert (a.timings.seconds, b.timings.seconds, c.timings.seconds) == ([1, 2, 3], [1, 1.25, 1.5], [1, 1, 1])
    assert heard[:3] == [("a", timing.WARM_UP, 9), ("b", timing.WARM_UP, 2), ("c", timing.WARM_UP, 7)]
    assert heard[3:6] == [("a", 0, 1), ("b", 0, 1), ("c", 0, 1)] and len(heard) == 12
    assert (a.warm_up, b.warm_up) == (9, 8) and a.failed is b.failed is None


@pytest.mark.parametrize(
    "most, runs, expected", [(35, 10, 3), (1, 10, 3), (55, 10, 5), (1000, 10, 10), (1, 2, 2), (1, 1, 1)]
)
def test_a_slow_case_runs_fewer_times_but_three(most, runs, expected):
    log, clock = [], Clock()
    interleave([timed("slow", [10] * 20, log, clock), timed("fast", [0.001] * 20, log, clock)], runs, most, clock=clock)
    assert log.count("slow") == 1 + expected and log.count("fast") == 1 + runs


def test_no_round_is_begun_when_every_case_has_had_its_runs():
    log, clock = [], Clock()
    interleave([timed("a", [10] * 4, log, clock), timed("b", [7] * 4, log, clock)], 10**23, 1, clock=clock)
    assert log == list("ab") * 4


def test_a_case_that_raises_is_left_out_and_the_others_go_on():
    log, clock = [], Clock()
    at_once, later, silent, good = (
        timed(name, seconds, log, clock)
        for name, seconds in (
            ("at once", [OSError("no file")]),
            ("later", [1, 2, ValueError("odd")]),
            ("silent", [KeyError()]),
            ("good", [1] * 4),
        )
    )
    interleave([at_once, later, silent, good], 3, 100, clock=clock)
    assert (at_once.failed, later.failed, silent.failed, good.failed) == ("no file", "odd", "KeyError", None)
    assert (at_once.timings.seconds, later.timings.seconds, good.timings.seconds) == ([], [2], [1, 1, 1])
    assert log.count("good") == 4 and log.count("later") == 3
    with pytest.raises(KeyboardInterrupt):  # it must reach the user
        interleave([timed("stop", [KeyboardInterrupt()], log, clock)], 3, 100, clock=clock)


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

    def predict(self, model, chunks, write, *, path, exact):
        if not any(each is model for each in self.models):
            self.models.append(model)
        self.spend(("memory", next(at for at, each in enumerate(self.models) if each is model), exact is not None))
        return SimpleNamespace(rows=self.rows)

    def libsvm(self, path, chunks):
        def take(scoring, most):
            scoring.most, scoring.rows = most, min(most, self.rows)

        return type(
            "Scoring",
            (),
            {"take": take, "__call__": lambda scoring: self.spend(("libsvm", scoring.most)) or scoring.rows},
        )()


def digits(value, count):
    text = f"{value:.{count}g}"
    return f"{Decimal(text):,f}" if "e+" in text else text


def sized(path):
    n = os.path.getsize(path) if not isinstance(path, int) else path
    return f"{n} bytes" if n < 1000 else f"{n / 1000:.3g} KB"


def test_every_statistic_that_is_printed(tmp_path, monkeypatch):
    """JSON and tables print the replaced times and predictions."""
    from click.testing import CliRunner

    from fastsvm_cli.benchmarks import child_processes, environment
    from fastsvm_cli.commands.bench import command

    rows = first_rows(tmp_path, "rows", "rings.test", ROWS)
    model = train(tmp_path, "linear.model", "rings.train", "-t 0 -c 1", 200)
    labels, _, _ = libsvm_predict(*svm_read_problem(str(rows)), svm_load_model(str(model)), "-q")
    monkeypatch.setattr(environment, "fastsvm_command", lambda: [FASTSVM])
    monkeypatch.setattr(environment, "native_program", lambda: None)
    named = {"cert": "approx --certify", "border": "border --samples 30", "order": "order --method geometry"}
    compile_all(tmp_path, *(f"{words} linear.model {name}" for name, words in named.items()))
    describe = environment.describe
    monkeypatch.setattr(
        environment, "describe", lambda threads: {**describe(threads), "svm_predict": "/somewhere/svm-predict"}
    )
    printed = []
    for options in (["--json"], ["--all"]):
        theatre = Theatre(labels, ROWS)
        with monkeypatch.context() as patch:
            patch.setattr(child_processes, "run", theatre.process_run)
            patch.setattr(time, "perf_counter", theatre.clock)
            patch.setattr(bench_cases, "predict", theatre.predict)
            patch.setattr(bench_cases, "LibsvmScoring", theatre.libsvm)
            patch.setattr(bench_cases, "interleave", lambda *args, clock=theatre.clock: interleave(*args, clock=clock))
            done = CliRunner().invoke(
                command,
                [
                    "-q",
                    "--runs",
                    "5",
                    "--budget",
                    "1",
                    *options,
                    *map(str, (rows, model, *(tmp_path / n for n in named))),
                ],
            )
        assert done.exit_code == 0, (done.output, done.exception)
        printed.append(done.stdout)
    document, (times, answers, classes) = json.loads(printed[0]), terminal_tables(printed[1])
    # Builds of svm-predict differ in speed.
    assert " ".join(printed[1].split()).endswith(" svm-predict is /somewhere/svm-predict.")
    records = by_name(document)
    assert [row[0] for row in times[1:]] == list(records) and len(records) == 9

    memory = [runs for key, runs in theatre.taken.items() if key[0] == "memory"]
    libsvm = [runs for key, runs in theatre.taken.items() if key[0] == "libsvm"][-1]
    program = {"reference": "svm-predict", "start-up": None}
    spent = {}  # (name, clock) -> the runs, warm-up first
    flips = {}
    for name, record in records.items():
        if name == "libsvm, in process":
            spent[name, "scoring"] = [each / ROWS for each in libsvm]
            continue
        key = (
            "svm-predict" if name.startswith("svm-predict") else os.path.basename(FASTSVM),
            "empty" if record["role"] == "start-up" else "rows",
            os.path.basename(record["model"]),
            name.endswith("predict --exact"),
        )
        spent[name, "end to end"], flips[name] = theatre.taken[key], theatre.flips[key]
        if record["role"] not in program:
            spent[name, "scoring"] = [each / ROWS for each in memory.pop(0)]
    assert not memory and all(len(runs) == 6 for runs in spent.values())
    reference = {
        "end to end": spent["svm-predict", "end to end"][1:],
        "scoring": spent["libsvm, in process", "scoring"][1:],
    }

    for row, (name, record) in zip(times[1:], records.items()):
        cells = ["" if record["role"] == "start-up" else sized(record["size"])]
        file = name.removesuffix(", predict --exact")
        assert record["size"] == os.path.getsize(tmp_path / file if file in named else model)
        assert record["size_ratio"] == pytest.approx(os.path.getsize(model) / record["size"])
        for clock, key in (("end to end", "end_to_end"), ("scoring", "scoring")):
            if (name, clock) not in spent:
                assert record[key] is None
                cells += [""] * (3 if key == "end_to_end" else 2)
                continue
            runs = spent[name, clock][1:]  # without the warm-up
            timings = record[key]
            assert timings["runs"] == pytest.approx(runs)
            for statistic, formula in STATISTICS.items():
                assert timings[statistic] == pytest.approx(formula(runs)), (name, clock, statistic)
            ratio, error = ratio_and_error(reference[clock], runs)
            middle = np.median(runs)
            spread, per_second = STATISTICS["spread"](runs), (ROWS if key == "end_to_end" else 1) / np.median(runs)
            own = record["role"] == "reference"
            if record["role"] == "start-up":
                assert timings["speed_up"] is timings["rows_per_second"] is None
                ratio_cell, speed_cell = "", ""
            else:
                assert timings["speed_up"] == pytest.approx(ratio)
                assert timings["rows_per_second"] == pytest.approx(per_second)
                assert own or timings["speed_up_error"] == pytest.approx(error)
                ratio_cell = "1" if own else f"{digits(ratio, 3)} +- {digits(error, 2)}"
                speed_cell = f"{per_second:,.0f}"
            cells += (
                [f"{middle:.3g} +- {spread:.1g} s", ratio_cell, speed_cell]
                if key == "end_to_end"
                else [f"{digits(1e6 * middle, 3)} +- {digits(1e6 * spread, 1)} us", ratio_cell]
            )
        assert row == [name, *cells]

    shown = {row[0]: row[1:] for row in answers[1:]}
    for name, record in records.items():
        if name not in flips or record["role"] in ("start-up", "reference"):
            continue
        different = flips[name]
        assert (record["labels_that_differ"], record["disagreement"]) == (different, different / ROWS)
        assert record["disagreement_upper_95"] == pytest.approx(wilson(different, ROWS), rel=1e-4)
        number = [
            "" if record[key] is None else f"{record[key]:.3g}" for key in ("largest_difference", "mean_difference")
        ]
        proven = "" if record["rows_proven"] is None else f"{100 * record['rows_proven'] / ROWS:.4g} %"
        assert shown.pop(name) == [
            f"{different} ({100 * different / ROWS:.3g} %)",
            f"{100 * wilson(different, ROWS):.2g} %",
            f"{100 * record['accuracy']:.2f} %",
            *number,
            proven,
        ]
    assert not shown and len(set(flips.values())) == len(flips)

    # The first lines of every output have label 7.
    shown = {row[0]: row[1:] for row in classes[1:]}
    assert classes[0][1:] == [f"{label} ({labels.count(label)} rows)" for label in (-1, 1)]
    for name, row in shown.items():
        by_class = [(labels[: flips[name]].count(label), labels.count(label)) for label in (-1, 1)]
        assert row == [f"{different} ({100 * different / rows:.3g} %)" for different, rows in by_class]
        assert [(each["labels_that_differ"], each["rows"]) for each in records[name]["classes"]] == by_class
        assert records[name]["largest_class_disagreement"] == max(different / rows for different, rows in by_class)
    assert set(shown) == {row[0] for row in answers[1:]}


@pytest.mark.full
def test_a_time_is_of_one_process_or_of_one_prediction_in_memory(directory, monkeypatch):
    """With a clock that advances by one at each reading, and before and after each process or prediction in memory."""
    from click.testing import CliRunner

    from fastsvm_cli.benchmarks import child_processes, environment
    from fastsvm_cli.benchmarks.timing import interleave
    from fastsvm_cli.commands.bench import command

    clock = itertools.count().__next__
    ended = []

    def between_ticks(work):
        def ticking(*arguments, **options):
            clock()
            done = work(*arguments, **options)
            clock()
            ended.append(arguments)
            return done

        return ticking

    monkeypatch.setenv("PATH", str(directory / "path"))
    monkeypatch.setattr(environment, "fastsvm_command", lambda: [FASTSVM])
    monkeypatch.setattr(child_processes, "run", between_ticks(child_processes.run))
    monkeypatch.setattr(bench_cases, "predict", between_ticks(bench_cases.predict))
    monkeypatch.setattr(bench_cases, "interleave", lambda *arguments: interleave(*arguments, clock=clock))
    rows = str(directory / "rows")
    models = [str(directory / "rings.model"), str(directory / "rings.approx")]
    done = CliRunner().invoke(command, ["-q", "--json", "--runs", "3", rows, *models])
    assert done.exit_code == 0, (done.output, done.exception)
    records = by_name(json.loads(done.stdout))
    for name in ("exact model", "rings.approx"):
        end_to_end, scoring = records[name]["end_to_end"], records[name]["scoring"]
        assert end_to_end["runs"] == [3, 3, 3] and end_to_end["rows_per_second"] == ROWS / 3
        assert scoring["runs"] == pytest.approx([3 / ROWS] * 3)
        assert scoring["rows_per_second"] == pytest.approx(ROWS / 3)
    start_up = records["fastsvm, empty file"]["end_to_end"]
    assert start_up["runs"] == [3, 3, 3] and start_up["rows_per_second"] is None
    models = [os.path.basename(words[0][-2]) for words in ended if isinstance(words[0], list)]
    # A warm-up and three runs, each beginning with the empty file; then by fastsvm-predict.
    assert models[:12] == ["rings.model", "rings.model", "rings.approx"] * 4
    assert models[12:] in (["rings.model"] * 4, ["rings.model", "rings.approx"] * 4)
