"""bench: its output fits the screen."""

import os
import re
from copy import copy

import pytest
from rich.cells import cell_len

from fastsvm_cli.benchmarks.bench_run import END_TO_END, Bench, Case
from fastsvm_cli.benchmarks.conclusion import conclusion
from fastsvm_cli.benchmarks.environment import run_process
from fastsvm_cli.benchmarks.timing import Timed, seconds_left
from fastsvm_cli.commands.bench.report import hidden, shown
from fastsvm_cli.comparisons import Budget
from support.benching import MACHINE, first_rows, printed, train
from support.paths import FASTSVM, GOLDEN
from support.processes import on_a_terminal

LONG = "a-model-of-" + "many-words-" * 14 + "end"
WHY = f"{LONG}:1: this looks like a data file; the test file comes first, expected the header of a LIBSVM model"


ROWS = "1 1:0.5 2:-0.25\n1 1:-1 4:0.5\n-1 4:1 8:-0.75\n" * 40


def filled(folder, exact, models):
    """A bench with made-up timings of all magnitudes, no two equal. models: {golden file: name}."""
    bench = Bench(
        str(folder / "rows"),
        str(GOLDEN / exact),
        folder=str(folder),
        threads=0,
        fastsvm=["x"],
        svm_predict="svm-predict",
    )
    bench.add_references(libsvm=True)
    bench.add_model(str(GOLDEN / exact), name="exact model", role="exact")
    for path, name in models.items():
        bench.add_model(str(GOLDEN / path), name=name)
    for at, case in enumerate(bench.cases):
        case.rows_file = "rows"
        for clock, timed in case.timed.items():
            scale = 1.0 if clock == END_TO_END else 1e-6
            timed.timings.seconds = [scale * (1 + at) ** 2.3 * (0.0317 + 0.0011 * run) for run in range(3)]
    for name in ("missing", LONG):
        case = Case(name, "compiled")
        case.failed = WHY
        bench.cases.append(case)
    bench.test_file, bench.exact_file = "rows", "m"  # as printed
    return bench


@pytest.fixture(scope="module")
def benches(tmp_path_factory):
    folder = tmp_path_factory.mktemp("screens")
    (folder / "rows").write_text(ROWS)
    classes = {
        "version2/c_svc-certified.approx": "approx --center origin --degree 4",
        "version2/c_svc.reduced": f"{LONG}.red",
        "version2/c_svc.border": "b\nx",
        "version2/c_svc.approx": "日本" * 9,
    }
    return [
        filled(folder, "c_svc.model", classes),
        filled(folder, "epsilon_svr.model", {"version2/epsilon_svr.approx": "waves.approx"}),
    ]


def said(found):
    return "\n".join([*found.sentences, *found.commands, "", ""])


def test_nothing_slower_than_what_the_user_has_is_advised(benches, screen):
    bench = benches[0]
    exact = next(case for case in bench.cases if case.name == "exact model")
    before, budgets = exact.timed[END_TO_END].timings.seconds, (Budget(0.005), None)
    text = "".join(said(conclusion(bench, exact, budget)) for budget in budgets)
    exact.timed[END_TO_END].timings.seconds = [0.01] * 3
    text += "".join(said(conclusion(bench, exact, budget)) for budget in budgets)
    bench.add_program(exact, "fastsvm-predict").timed[END_TO_END].timings.seconds = [0.001] * 3
    text += said(conclusion(bench, exact, Budget(0.005)))
    exact.timed[END_TO_END].timings.seconds, bench.cases = before, bench.cases[:-1]
    screen("bench-advice", text.replace(f"{GOLDEN}/", ""))


def test_tables_fit_any_width(benches, screen):
    """Long names and sentences are wrapped; models that were named are shown, failed ones with the reason."""
    classes, regression = benches
    assert {case.role for case in hidden(classes, None)} == {"start-up"}
    alone = copy(classes)
    alone.cases = [Case("exact model", "exact")]
    alone.cases[0].failed, text = WHY, ""
    for bench, width, ascii_only, everything in (
        (classes, 45, False, True),
        (classes, 80, False, False),
        (regression, 140, True, True),
        (alone, 80, False, False),
    ):
        picked = bench.cases[-4] if everything else None
        table = printed(shown(bench, MACHINE, picked, width, everything=everything, ascii_only=ascii_only), width)
        assert not [line for line in table.split("\n") if cell_len(line) > width] and "…" not in table
        assert not ascii_only or re.sub("[日本]", "", table).isascii()
        text += f"--- {width} columns\n{table}"
    screen("bench-widths", "".join(line.rstrip() + "\n" for line in text.splitlines()))


def test_the_picked_case_is_green(benches):
    bench = benches[0]
    picked = bench.cases[-4]
    text = printed(
        shown(bench, MACHINE, picked, 180, everything=True), 180, force_terminal=True, color_system="standard"
    )
    green = [line for line in text.split("\n") if "\x1b[1;32m" in line]
    assert len(green) == 2 and all("b\\nx" in line for line in green)


def test_what_is_left_is_known_once_every_case_was_timed():
    a, b, failed = (Timed(name, lambda: 1) for name in "abc")
    failed.failed, a.warm_up, a.first, b.warm_up, b.first = "why", 2.0, 2.0, 300.0, 30.0  # b: seconds per row
    assert seconds_left([a, b, failed], 5, 100) is None
    a.timings.seconds, b.timings.seconds = [1.5, 1.0], [30.0]
    assert seconds_left([a, b, failed], 5, 1000) == 3 * 1 + 2 * 300  # three runs at least


def test_who_waits_for_a_process_is_called_while_it_runs(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    calls = []

    def on_wait():
        calls.append(1)
        if len(calls) == 1:
            (tmp_path / "fifo").write_text("now\n")

    words = ["sh", "-c", f"read word < {tmp_path}/fifo; echo $word >&2; exit 3"]
    assert run_process(words, on_wait=on_wait) == (3, "now\n") and calls


@pytest.fixture(scope="module")
def linear(tmp_path_factory):
    folder = tmp_path_factory.mktemp("linear")
    train(folder, "m", "rings.train", "-t 0 -c 1", 200)
    first_rows(folder, "rows", "rings.test", 120)
    return folder


@pytest.mark.full
def test_the_screen_of_try(bench, linear):
    """At most 80 columns and 25 lines, plain, without a terminal."""
    files = linear / "rows", linear / "m"
    done = bench("--try --budget 50%", *files, env={"COLUMNS": ""})
    lines = done.out.splitlines()
    assert done.err == "" and len(lines) <= 25, done.out
    assert max(len(line) for line in lines if "fastsvm" not in line) <= 80, done.out
    assert re.fullmatch(r"[ -~\n]*", done.out) and re.match("(Fastest of|Keep the exact model: of) ", lines[0])
    assert re.search(r"^exact model +1 +0 % +0 %$", done.out, re.M)
    assert re.search(r"^approx +[\d.]+ +0 % ", done.out, re.M)
    everything = bench("--try --all --budget 50%", *files).out
    assert "reduce: a linear kernel found" in everything and "order --method geometry" in everything


@pytest.mark.full
@pytest.mark.parametrize("columns, locale", [(80, "C.UTF-8"), (60, "C")])
def test_try_on_a_terminal(linear, columns, locale):
    files = [str(linear / "rows"), str(linear / "m")]
    words = [FASTSVM, "bench", "-q", "--try", "--budget", "50%", *files]  # a slow machine would draw a bar
    code, displayed = on_a_terminal(words, columns, env={"LC_ALL": locale})
    text = displayed.decode("ascii" if locale == "C" else "utf-8")  # locale C: ASCII only
    assert code == 0, text
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text).replace("\r", "\n")
    commands = [line for line in plain.split("\n") if re.match("  fastsvm", line)]
    assert commands[-1].startswith("  fastsvm-predict ") and commands[-1].endswith(" out")
    assert files[0] in commands[-1]  # longer than the screen
    for line in plain.split("\n"):
        assert len(line) <= columns or line in (*commands, f"{files[0]}:"), line
    assert "…" not in text and "?" not in plain
