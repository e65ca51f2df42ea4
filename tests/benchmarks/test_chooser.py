"""The choice of a model, with made-up methods, answers and costs: no clock of the machine is read."""

from types import SimpleNamespace

import numpy as np
import pytest

from fastsvm_cli.benchmarks import choice_report, chooser, timing
from fastsvm_cli.benchmarks.chooser import Choice
from fastsvm_cli.comparisons import Budget, bound
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.method import Attempt, CompiledModel, read_source
from support.benching import Clock, compact, printed, rounded
from support.paths import GOLDEN, TESTS

COUNT, EXACT = 4000, 10e-6  # rows; seconds a row of the exact model


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
    """Choice with one method, whose search tries `attempts`: (name, model or error, seconds to compile, more)."""

    def run(attempts, each_class=False, time_limit=30.0, rate=1.0, noise=0.0, search=None, reading=1e-6):
        time = Clock(rate, noise)
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
        monkeypatch.setattr(chooser, "process_time", time)
        monkeypatch.setattr(timing, "thread_time", time)
        found = Choice(source, rows, Budget(0.005, each_class), time_limit=time_limit, max_bytes=1e6).run()
        given = {name: [*options] for name, options in compiled}
        return SimpleNamespace(choice=found, given=given, results=dict(results))

    return run


def numbers(words):
    """{key: number or words} of `key=value`; `_` means a blank."""
    pairs = (word.split("=") for word in words)
    return {key: value.replace("_", " ") if value[-1].isalpha() else float(value) for key, value in pairs}


FAILURES = {"fails": ModelFormatError(str(GOLDEN / "c_svc.model"), "no such luck"), "interrupted": KeyboardInterrupt()}


def attempt_of(text):
    """A name, seconds of a row or a failure; rows that `differ`, seconds that it `took`; parts of an Attempt."""
    name, seconds, *words = text.split()
    more = numbers(words)
    made = FAILURES.get(seconds) or Made(float(seconds), int(more.pop("differ", 0)))
    return name.replace("_", " "), made, more.pop("took", 0.1), more


def told(done):
    """The printed choice, and the outcome of each attempt."""
    choice = done.choice
    table = printed([choice_report.table(choice, False, 80)], 80)
    out = [line.rstrip() for line in table.splitlines()]
    assert max(map(len, out), default=0) <= 80 and "…" not in table
    out += [choice_report.reason(choice), *choice_report.commands(choice, "t", "m", None, "kept")]
    out += [choice_report.not_tried(choice) or "all tried", *choice_report.left_out(choice, [], False)]
    out += [f"{choice.rows} rows, {choice.limit:g} s at most{', interrupted' if choice.interrupted else ''}"]
    for each in (choice.exact, *choice.entrants):
        became = f"{'failed, ' if each.failed else ''}{each.why or 'compared'}"
        answers = f", {each.share:.4g} differ, at most {each.upper:.4g}" if each.changed else ""
        given = [f"--{option}" for option in done.given.get(each.name, [])]
        out.append(" ".join([f"  {each.name}: {became}{answers}, {len(each.timings)} runs", *given]))
    out += [f"  {name}: within: {within}" for name, within in done.results.items()]
    return "\n".join(out) + "\n"


def test_what_is_chosen_and_said(run, screen):
    """screens/choices.txt: after `$`, options of `run`, then attempts; then what is printed. To add a choice, write its
    line and run pytest --rewrite-screens."""
    found = []
    for line in (TESTS / "screens" / "choices.txt").read_text().splitlines():
        if line.startswith("# "):
            found.append(f"{line}\n")
        elif line.startswith("$ "):
            how, *attempts = line[2:].split("; ")
            done = run([attempt_of(each) for each in attempts], **numbers(how.split()[1:]))
            found[-1] += f"{line}\n{told(done)}"
    screen("choices", "\n".join(found))


def test_the_gain_counts_reading(run):
    done = run([("fast", Made(1e-6, 10)), ("slow", Made(8e-6))])
    gain, error = done.choice.gain(done.choice.picked)
    assert gain == pytest.approx((EXACT + 1e-6) / (1e-6 + 1e-6), rel=1e-6) and error == pytest.approx(0, abs=1e-9)
    assert done.choice.gain(done.choice.entrants[1])[1] == float("inf")
    assert done.choice.gain(done.choice.exact) == (1.0, 0.0)
    assert bound(13, COUNT) <= 0.005 < bound(14, COUNT)


def test_the_most_promising_attempt_comes_first(run):
    def search(model, setting):
        assert setting.budget.share == 0.005 and setting.rows == COUNT and setting.max_bytes == 1e6
        within = yield Attempt("second", {}, rank=2)
        yield Attempt("fourth" if within else "never", {}, rank=0)

    attempts = [(name, Made(5e-6, 0)) for name in ("second", "fourth", "never")]
    assert list(run(attempts, search=search).given) == ["second", "fourth"]


def test_each_class_can_be_asked_for(run, monkeypatch):
    """All labels that differ are of one class: 12 of its 2,000 rows."""
    monkeypatch.setattr(Rows, "differ", lambda self, numbers, count: (numbers % 2 == 1) & (numbers < 2 * count))
    attempts = [("one class", Made(1e-6, 12))]
    picked = [run(attempts, each_class=each_class).choice.picked.name for each_class in (False, True)]
    assert picked == ["one class", "exact model"]


def test_a_document_has_the_numbers_of_the_screen(run, screen):
    done = run([("fast", Made(1e-6, 10)), ("wrong", Made(1e-7, 400)), ("slow", Made(8e-6, 1))])
    machine = {"fastsvm": "1", "processor": "a processor", "kernels": "avx2"}
    found = choice_report.document(done.choice, machine, "t", "m", ["a command"])
    screen("choice-json", compact(rounded(found)))
