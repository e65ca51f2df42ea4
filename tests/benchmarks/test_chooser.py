"""The choice of a model, with made-up methods, answers and costs: no clock of the machine is read."""

from types import SimpleNamespace

import numpy as np
import pytest

from fastsvm_cli.benchmarks import choice_report, chooser
from fastsvm_cli.benchmarks.chooser import Clocks, choose
from fastsvm_cli.comparisons.budget import Budget, bound
from fastsvm_cli.console.compiler_options import read_source
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.compilation import CompiledModel
from fastsvm_cli.methods.method import Attempt
from support.paths import GOLDEN

COUNT, EXACT = 4000, 10e-6  # rows; seconds a row of the exact model


class Time:
    """A clock that work moves on. rate: its speed. noise: relative, of every run."""

    def __init__(self, rate=1.0, noise=0.0):
        self.now, self.rate, self._noise, self._draw = 0.0, rate, noise, np.random.default_rng(1)

    def __call__(self):
        return self.now

    def spend(self, seconds):
        self.now += self.rate * seconds * (1 + self._noise * self._draw.standard_normal() ** 2)


class Made:
    """A compiled model. seconds: a row; differ: number of rows with another label."""

    certified = reduced = False
    kind = "made"

    def __init__(self, seconds, differ=0):
        self.seconds, self.differ = seconds, differ


class Rows:
    """Rows of two classes, every second of each; a model changes the labels of the first ones of a random order."""

    def __init__(self, time, source, count=COUNT, numbers=None, reading=1e-6):
        self.reading = reading
        self.time, self.source, self.count = time, source, count
        self.numbers = np.arange(count) if numbers is None else np.asarray(numbers)
        self.place = np.random.default_rng(3).permutation(COUNT)

    def sample(self, numbers):
        return Rows(self.time, self.source, len(numbers), self.numbers[numbers], self.reading)

    def chunk(self):
        return self

    def answers(self, model, exact, numbers=None):
        numbers = self.numbers if numbers is None else self.numbers[numbers]
        labels = np.where(numbers % 2, 1.0, -1.0)
        exactly = model is self.source.model
        return labels if exactly else np.where(self.differ(numbers, model.differ), -labels, labels)

    def differ(self, numbers, count):
        return self.place[numbers] < count

    def predict(self, model, exact):
        self.time.spend(self.count * (EXACT if model is self.source.model else model.seconds))

    def proven(self, model):
        raise AssertionError("nothing is certified")


@pytest.fixture
def run(monkeypatch):
    """choose() with one method, whose search tries `attempts`: (name, model or error, seconds to compile, more)."""

    def run(attempts, budget=0.005, each_class=False, time_limit=30.0, time=None, search=None, reading=1e-6):
        time = time or Time()
        source = read_source(str(GOLDEN / "c_svc.model"))
        compiled = []

        def of(name, made, took=0.1, more=None):
            return Attempt(name, {}, **{"seconds": took, **(more or {})}), made, took

        table = {attempts[0].command: attempts for attempts in (of(*each) for each in attempts)}

        def compile_source(command, source, given, watch):
            compiled.append((command, given))
            _, made, seconds = table[command]
            for _ in range(10):
                time.spend(seconds / 10)
                watch(0.5)
            if isinstance(made, BaseException):
                raise made
            return CompiledModel(made, 1000, 0.0, None)

        def default(model, setting):
            for attempt, _, _ in table.values():
                results.append((attempt.command, (yield attempt)))

        results = []
        method = SimpleNamespace(reason_against=lambda model: None, search=search or default)
        monkeypatch.setattr(chooser, "methods", lambda: [method])
        monkeypatch.setattr(chooser, "compile_source", compile_source)
        monkeypatch.setattr(chooser, "facts_of", lambda model: {"kind": "made", "degree": None, "centers": None})
        rows = Rows(time, source)
        rows.reading = reading
        how = {"time_limit": time_limit, "max_bytes": 1e6, "clocks": Clocks(time, time)}
        found = choose(source, rows, Budget(budget, each_class), **how)
        return SimpleNamespace(
            choice=found,
            picked=found.picked.name,
            compiled=[name for name, _ in compiled],
            given=dict(compiled),
            results=dict(results),
        )

    return run


def test_the_fastest_within_the_budget_is_picked(run):
    done = run([("slow", Made(5e-6, 4)), ("fast", Made(1e-6, 10)), ("wrong", Made(0.1e-6, 40))])
    assert done.picked == "fast" and done.results == {"slow": True, "fast": True, "wrong": False}
    gain, error = done.choice.gain(done.choice.picked)
    assert gain == pytest.approx((EXACT + 1e-6) / (1e-6 + 1e-6), rel=1e-6) and error == pytest.approx(0, abs=1e-9)
    by_name = {each.name: each for each in done.choice.entrants}
    assert by_name["wrong"].why == "over the budget" and by_name["fast"].share == 10 / COUNT
    words = choice_report.reason(done.choice)
    assert words.startswith("Fastest of 3 tried within 0.5 %: fast: 5.5 times as fast as the exact model; 10 of 4,000 ")


def test_the_bound_counts_not_the_share(run):
    """14 of 4,000 are 0.35 %, at most 0.503 % with 90 % confidence."""
    assert bound(13, COUNT) <= 0.005 < bound(14, COUNT)
    done = run([("unsure", Made(1e-6, 14)), ("sure", Made(4e-6, 13))])
    assert done.picked == "sure"
    assert done.choice.entrants[0].why == "not shown to be within the budget"


def test_of_equally_fast_models_the_one_with_fewest_changed_labels(run):
    assert run([("a", Made(2.0e-6, 9)), ("b", Made(2.05e-6, 1)), ("c", Made(3e-6, 0))]).picked == "b"
    # Noise does not make the slower one win.
    assert run([("a", Made(2e-6, 9)), ("b", Made(4e-6, 1))], time=Time(noise=0.2)).picked == "a"


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_a_clock_of_another_rate_picks_the_same(run, rate):
    attempts = [("a", Made(2e-6, 9)), ("b", Made(2.05e-6, 1)), ("c", Made(9e-6, 0))]
    done = run(attempts, time=Time(rate))
    assert done.picked == "b"
    gain, _ = done.choice.gain(done.choice.picked)
    assert gain == pytest.approx((rate * EXACT + 1e-6) / (rate * 2.05e-6 + 1e-6))


def test_the_exact_model_is_kept_unless_another_is_faster(run):
    done = run([("as fast", Made(9.6e-6)), ("slower", Made(30e-6)), ("wrong", Made(1e-6, 400))])
    assert done.choice.picked is done.choice.exact and done.choice.gain(done.choice.exact) == (1.0, 0.0)
    words = choice_report.reason(done.choice)
    assert words == "Keep the exact model: of 3 tried, none is within 0.5 % and measurably faster."
    done = run([])
    assert choice_report.reason(done.choice) == "Keep the exact model: no other was tried."
    assert choice_report.commands(done.choice, "t", "m", None, "kept") == ["fastsvm-predict t m out"]


def test_what_takes_too_long_is_named_and_nothing_is_concluded_from_it(run):
    done = run([("long", Made(1e-7), 100.0), ("quick", Made(5e-6), 1.0)], time_limit=20.0)
    assert done.picked == "quick" and done.compiled == ["quick"]
    assert [each.command for each in done.choice.waiting] == ["long"]
    words = choice_report.not_tried(done.choice)
    assert (
        words.startswith("1 of 2 not tried in 20 s of processor time (long); --time-limit ") and done.choice.limit == 20
    )
    assert choice_report.reason(done.choice).startswith("Fastest of 1 tried within 0.5 %: quick: ")
    assert choice_report.not_tried(run([("quick", Made(5e-6))]).choice) is None
    # An estimate may be wrong.
    done = run([("longer", Made(1e-7), 100.0, {"seconds": 1.0}), ("quick", Made(5e-6))], time_limit=20.0)
    (given_up,) = (each for each in done.choice.entrants if each.name == "longer")
    assert given_up.failed and given_up.why.startswith("given up after ") and done.picked == "exact model"
    assert done.choice.seconds < 25


def test_a_small_job_gets_a_small_search(run):
    """Ten times a million rows of the exact model."""
    done = run([], reading=0.0, time_limit=1e9)
    assert done.choice.limit == pytest.approx(10 * 1e6 * EXACT)
    # A longer limit would try no more.
    done = run([("long", Made(1e-7), 1000.0)], reading=0.0, time_limit=1e9)
    words = "1 of 1 not tried in 100 s of processor time (long), the most for a model as fast as this."
    assert choice_report.not_tried(done.choice) == words
    done = run([("long", Made(1e-7), 1000.0)], reading=0.0, time_limit=50.0)
    assert choice_report.not_tried(done.choice).endswith("(long); --time-limit 100 tries more.")


def test_a_slow_exact_model_answers_a_sample(run):
    done = run([("fast", Made(1e-6, 3))], time_limit=0.1)
    assert done.choice.rows == chooser._LEAST_ROWS and done.choice.picked.changed.rows == chooser._LEAST_ROWS


def test_what_cannot_win_is_not_compiled(run):
    done = run([("fast", Made(1e-6), 0.1, {"rank": 0}), ("slow", Made(5e-6), 0.1, {"rank": 1, "gain": 2.0})])
    assert done.compiled == ["fast"] and done.results == {"fast": True, "slow": None}
    assert not done.choice.waiting and len(done.choice.entrants) == 1
    # One beyond the budget does not count.
    done = run([("wrong", Made(1e-6, 400), 0.1, {"rank": 0}), ("slow", Made(5e-6), 0.1, {"rank": 1, "gain": 2.0})])
    assert done.picked == "slow"


def test_what_is_far_slower_is_timed_no_further(run):
    done = run([("fast", Made(1e-6)), ("slow", Made(8e-6))])
    fast, slow = done.choice.entrants
    assert slow.why == "slower" and not len(slow.timings) and len(fast.timings)
    assert slow.within and done.choice.gain(slow)[1] == float("inf")


def test_failures_have_a_reason_and_others_go_on(run):
    error = ModelFormatError(str(GOLDEN / "c_svc.model"), "no such luck")
    done = run([("bad", error), ("large", Made(1e-6), 0.1, {"skipped": "99 MB of file"}), ("good", Made(2e-6))])
    bad, large, good = done.choice.entrants
    whys = [(True, "no such luck"), (True, "99 MB of file")]
    assert [(each.failed, each.why) for each in (bad, large)] == whys and not good.failed and done.picked == "good"
    assert done.compiled == ["bad", "good"] and done.results == {"bad": None, "large": None, "good": True}
    assert choice_report.left_out(done.choice, [], False) == ["--all shows 2 that failed."]


def test_a_calibrated_model_gets_the_rows_and_keeps_its_own_budget(run):
    """20 of 4,000 are 0.5 %: more than the bound for others, but these rows fitted it, too."""
    done = run([("own", Made(1e-6, 18), 0.1, {"calibrated": 0.005}), ("other", Made(1e-6, 18))])
    assert done.picked == "own" and list(done.given["own"]) == ["data"] and done.given["other"] == {}
    assert done.choice.picked.upper == 0.005
    assert "by its own test on these rows, at most 0.5 % of rows like them" in choice_report.reason(done.choice)
    assert choice_report.commands(done.choice, "t", "m", None, None)[0] == "fastsvm own --data t m fast.model"
    # Unless far more differ.
    assert run([("own", Made(1e-6, 60), 0.1, {"calibrated": 0.005})]).picked == "exact model"


def test_an_interrupt_returns_what_is_known(run):
    done = run([("a", Made(1e-6)), ("b", KeyboardInterrupt()), ("c", Made(1e-7))])
    assert isinstance(done.choice.interrupted, KeyboardInterrupt) and done.picked == "a" and done.compiled == ["a", "b"]
    assert "not measurable" in choice_report.reason(done.choice)


def test_the_most_promising_attempt_comes_first(run):
    def search(model, setting):
        assert setting.budget.share == 0.005 and setting.rows == COUNT and setting.max_bytes == 1e6
        within = yield Attempt("second", {}, rank=2)
        yield Attempt("fourth" if within else "never", {}, rank=0)

    attempts = [(name, Made(5e-6, 0)) for name in ("second", "fourth", "never")]
    assert run(attempts, search=search).compiled == ["second", "fourth"]


def test_each_class_can_be_asked_for(run, monkeypatch):
    """All labels that differ are of one class: 12 of its 2,000 rows."""
    monkeypatch.setattr(Rows, "differ", lambda self, numbers, count: (numbers % 2 == 1) & (numbers < 2 * count))
    attempts = [("one class", Made(1e-6, 12))]
    assert run(attempts).picked == "one class" and run(attempts, each_class=True).picked == "exact model"


def test_a_document_has_the_numbers_of_the_screen(run):
    done = run([("fast", Made(1e-6, 10)), ("wrong", Made(1e-7, 400)), ("slow", Made(8e-6, 1))])
    machine = {"fastsvm": "1", "processor": "a processor", "kernels": "avx2"}
    found = choice_report.document(done.choice, machine, "t", "m", 7, ["a command"])
    assert (found["picked"], found["rows"], found["total_sv"], found["budget"]) == ("fast", COUNT, 7, 0.005)
    cases = {case["name"]: case for case in found["cases"]}
    assert list(cases) == ["exact model", "fast", "wrong", "slow"]
    assert cases["fast"]["times_exact"] == pytest.approx(5.5) and cases["fast"]["within"]
    assert cases["fast"]["labels_that_differ"] == 10 and cases["wrong"]["dropped"] == "over the budget"
    assert cases["fast"]["end_to_end"]["median"] == pytest.approx(COUNT * 2e-6)
    assert cases["fast"]["scoring"]["median"] == pytest.approx(1e-6) and cases["wrong"]["scoring"] is None
    assert len(cases["fast"]["scoring"]["runs"]) >= 4 and len(cases["slow"]["scoring"]["runs"]) == 1
    assert found["front"]["scoring"] == ["exact model", "fast", "slow"] and found["not_tried"] == []
