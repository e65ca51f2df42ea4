"""bench: its output fits the screen."""

import io
import os
import re
import signal
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from fastsvm_cli.benchmarks import child_processes, choice_report
from fastsvm_cli.benchmarks.bench_run import Bench
from fastsvm_cli.benchmarks.chooser import Choice, Entrant
from fastsvm_cli.benchmarks.conclusion import conclusion
from fastsvm_cli.benchmarks.cross_validation import Split, as_table
from fastsvm_cli.benchmarks.report import COLUMNS, case_rows, class_columns, hidden, shown
from fastsvm_cli.benchmarks.table_row import SCORING, Case
from fastsvm_cli.benchmarks.timing import Timed, seconds_left
from fastsvm_cli.comparisons.budget import Budget
from fastsvm_cli.comparisons.changed import Changed
from fastsvm_cli.methods.method import Attempt
from fastsvm_cli.models import load_model
from support.benching import MACHINE, ONE_THREAD, first_rows, train
from support.paths import DATA, FASTSVM, GOLDEN
from support.processes import PATIENCE, default_signals, on_a_terminal, wait_until

WORST = COLUMNS.index("worst class")  # the tables of all cases have every class
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
        for timed, scale in ((case.end_to_end, 1.0), (case.scoring, 1e-6)):
            if timed is not None:
                timed.timings.seconds = [scale * (1 + at) ** 2.3 * (0.0317 + 0.0011 * run) for run in range(3)]
    for name in ("missing", LONG):
        case = Case(name, "compiled")
        case.failed = WHY
        bench.cases.append(case)
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


def test_nothing_slower_than_what_the_user_has_is_advised(benches):
    bench = benches[0]
    exact = next(case for case in bench.cases if case.name == "exact model")
    seconds = exact.end_to_end.timings.seconds
    svm_predict = f"svm-predict {bench.test_file} {bench.exact_file} out"
    found = conclusion(bench, exact, Budget(0.005))
    assert found.sentences[0].startswith(
        "Keep svm-predict: nothing within 0.5 % is faster on these rows (exact model: "
    )
    assert found.commands == [svm_predict] == conclusion(bench, None, None).commands
    try:
        exact.end_to_end.timings.seconds = [0.01] * 3
        for budget in (Budget(0.005), None):
            found = conclusion(bench, exact, budget)
            assert found.sentences[0].startswith("Keep the exact model: no compiled model within 0.5 % is measurably ")
            assert found.commands == [f"fastsvm predict {bench.test_file} {bench.exact_file} out"]
        program = bench.add_program(exact, "fastsvm-predict")
        program.end_to_end.timings.seconds = [0.001] * 3
        found = conclusion(bench, exact, Budget(0.005))
        assert "times as fast as svm-predict with fastsvm-predict." in found.sentences[0]
        assert found.commands == [f"fastsvm-predict {bench.test_file} {bench.exact_file} out"]
    finally:
        exact.end_to_end.timings.seconds = seconds
        bench.cases = [case for case in bench.cases if case.role != "program"]


def printed(shown, width, **how):
    console = Console(file=io.StringIO(), width=width, **how)
    for each in shown:
        console.print(each)
    return console.file.getvalue()


@pytest.mark.parametrize(
    "kind, width, ascii_only",
    [
        ("classes", 45, False),
        ("classes", 60, True),
        ("classes", 80, False),
        ("classes", 140, True),
        ("regression", 60, False),
        ("regression", 100, True),
    ],
)
def test_no_line_is_wider_and_every_number_is_there(benches, kind, width, ascii_only):
    """Long names and sentences are wrapped."""
    bench = benches[kind == "regression"]
    text = printed(shown(bench, MACHINE, bench.cases[-4], width, everything=True, ascii_only=ascii_only), width)
    assert not [line for line in text.split("\n") if cell_len(line) > width] and "…" not in text
    assert not ascii_only or re.sub("[日本]", "", text).isascii()
    cells = [cell for _, cells in case_rows(bench) for at, cell in enumerate(cells) if cell and at not in (0, WORST)]
    numbers = Counter(cells + [cell for _, cells in class_columns(bench)[2] for cell in cells[1:] if cell])
    found = Counter(cell.strip() for line in text.split("\n") for cell in re.split("[│|]", line)[1:])
    assert sum(numbers.values()) > 25 and all(found[cell] >= count for cell, count in numbers.items()), numbers - found
    letters = re.sub(r"[\s│|]", "", text)
    assert letters.count(WHY.replace(" ", "")) == 2
    assert all(LONG[:20] in text for case in bench.cases if case.name.startswith(LONG))
    assert kind == "regression" or ("b\\nx" in text and "日" in text)


def test_the_picked_case_is_green(benches):
    bench = benches[0]
    picked = bench.cases[-4]
    text = printed(
        shown(bench, MACHINE, picked, 180, everything=True), 180, force_terminal=True, color_system="standard"
    )
    green = [line for line in text.split("\n") if "\x1b[1;32m" in line]
    assert len(green) == 2 and all("b\\nx" in line for line in green)


def test_models_that_were_named_are_shown(benches):
    bench = benches[0]
    assert {case.role for case in hidden(bench, None)} == {"start-up"}
    displayed = " ".join(printed(shown(bench, MACHINE, None, 80), 80).split())
    assert (
        "leave out" not in displayed
        and "--all shows more columns." in displayed
        and displayed.count("this looks like") == 2
    )


def test_nothing_but_reasons(tmp_path):
    rows = tmp_path / "rows"
    rows.write_text(ROWS)
    bench = Bench(str(rows), str(GOLDEN / "c_svc.model"), folder=str(tmp_path), threads=0, fastsvm=[], svm_predict=None)
    bench.cases = [Case("exact model", "exact")]
    bench.cases[0].failed = WHY
    text = printed(shown(bench, MACHINE, None, 80), 80)
    assert text.startswith("Not measured\n  exact model: ") and "this looks like" in text


@pytest.mark.parametrize("width", [45, 60, 80, 100])
def test_folds_fit_too(width):
    splits = [Split(1234, 23456, 0.98765, 0.9876, 0.00123), Split(1233, 23455, 0.91, 0.92, 0.5)]
    text = printed(as_table(LONG, splits, gamma=0.123456, cost=100.0, degree=3), width)
    assert all(len(line) <= width for line in text.split("\n")) and "…" not in text
    assert width < 80 or all(each in text for each in ("98.77 %", "92.00 %", "0.123 %", "23455", "2467"))


def test_what_is_left_is_known_once_every_case_was_timed():
    a, b, failed = Timed("a", SCORING, lambda: 1), Timed("b", SCORING, lambda: 1), Timed("c", SCORING, lambda: 1)
    failed.failed, a.warm_up, a.first, b.warm_up, b.first = "why", 2.0, 2.0, 300.0, 30.0  # b: seconds per row
    assert seconds_left([a, b, failed], 5, 100) is None
    a.timings.seconds, b.timings.seconds = [1.5, 1.0], [30.0]
    assert seconds_left([a, b, failed], 5, 1000) == 3 * 1 + 2 * 300  # three runs at least
    b.dropped = True
    assert seconds_left([a, b, failed], 5, 1000) == 3 * 1


def test_who_waits_for_a_process_is_called_while_it_runs(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    calls = []

    def on_wait():
        calls.append(1)
        if len(calls) == 1:
            (tmp_path / "fifo").write_text("now\n")

    words = ["sh", "-c", f"read word < {tmp_path}/fifo; echo $word >&2; exit 3"]
    assert child_processes.run(words, on_wait=on_wait) == (3, "now\n") and calls
    with pytest.raises(subprocess.TimeoutExpired):
        child_processes.run(["sleep", "1000"], timeout=0.01, on_wait=lambda: None)


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
    done = bench("--try", "--budget", "50%", *files, env={"COLUMNS": ""})
    lines = done.out.splitlines()
    assert done.err == "" and len(lines) <= 25, done.out
    assert max(len(line) for line in lines if "fastsvm" not in line) <= 80, done.out
    assert re.fullmatch(r"[ -~\n]*", done.out) and re.match("(Fastest of|Keep the exact model: of) ", lines[0])
    (head,) = (line for line in lines if line.startswith("model "))
    assert head.split() == ["model", "exact", "differ", "90", "%", "class", "compile"]
    assert re.search(r"^exact model +1 +0 % +0 %$", done.out, re.M) and re.search(
        r"^approx +[\d.]+ +0 % ", done.out, re.M
    )
    assert "rows: 120 rows. Speed: rows a second of one thread, by processor time" in " ".join(lines)
    everything = bench("--try", "--all", "--budget", "50%", *files).out
    assert "reduce: a linear kernel found" in everything and "order --method geometry" in everything
    assert bench("-q", "--try", "--json", *files).err == ""


@pytest.mark.full
@pytest.mark.parametrize("columns, locale", [(80, "C.UTF-8"), (60, "C")])
def test_try_on_a_terminal(linear, columns, locale):
    files = [str(linear / "rows"), str(linear / "m")]
    words = [FASTSVM, "bench", "-q", "--try", "--budget", "50%", *files]  # a slow machine would draw a bar
    code, displayed = on_a_terminal(words, columns, env={**ONE_THREAD, "LC_ALL": locale})
    text = displayed.decode("ascii" if locale == "C" else "utf-8")  # locale C: ASCII only
    assert code == 0, text
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text).replace("\r", "\n")
    commands = [line for line in plain.split("\n") if re.match("  fastsvm", line)]
    assert commands[-1].startswith("  fastsvm-predict ") and commands[-1].endswith(" out")
    assert files[0] in commands[-1]  # longer than the screen
    for line in plain.split("\n"):
        assert len(line) <= columns or line in commands, line
    assert "…" not in text and "?" not in plain


def choice_of(names, budget=0.005):
    """A made-up choice: a model of each name, every one slower than the one before."""
    model = load_model(str(GOLDEN / "c_svc.model"))

    def entrant(name, seconds, differ):
        out = Entrant(name, model, Attempt(name, {}))
        out.timings.seconds, out.rough = [seconds] * 5, seconds
        out.changed = Changed(np.arange(4000) % 2, np.arange(4000) < differ)
        out.share, out.upper, out.compile_seconds, out.size = differ / 4000, 0.0123, 12.3, 99
        out.within = differ < 10
        return out

    exact = entrant("exact model", 1e-3, 0)
    entrants = [entrant(name, 1e-6 * 1.3**at, at) for at, name in enumerate(names)]
    waiting = [Attempt(f"{name} not tried", {}) for name in names]
    return Choice(exact, entrants, entrants[0], waiting, Budget(budget), 4000, 1e-6, 12.0, 30.0)


def test_a_table_of_try_fits_80_columns(screen):
    """Few and many models, the fastest first, and long names."""
    text = ""
    for names in (["a", "b"], [f"approx --degree {at} --certify, --exact" for at in range(20)], [LONG] * 3):
        choice = choice_of(names)
        text += printed([choice_report.table(choice, False, 80)], 80)
        text += "\n".join([choice_report.not_tried(choice), *choice_report.left_out(choice, [], False), "", ""])
    screen("try", "".join(line.rstrip() + "\n" for line in text.splitlines()))
    tables = [line for line in text.splitlines() if "not tried" not in line]
    assert max(cell_len(line.rstrip()) for line in tables) <= 80


@pytest.mark.full
def test_ctrl_c_while_it_tries_prints_what_is_there(tmp_path):
    train(tmp_path, "m", "rings.train", "-g 1 -c 1", 3000)
    (tmp_path / "rows").write_bytes((DATA / "rings.test").read_bytes())
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, "bench", "--try", "rows", "m"],
        cwd=tmp_path,
        env={**os.environ, **ONE_THREAD},
        stdout=subprocess.PIPE,
        stderr=open(tmp_path / "printed", "w"),
        start_new_session=True,
        preexec_fn=default_signals,
    ) as process:
        try:
            wait_until(lambda: process.poll() is not None or (tmp_path / "waiting").exists())
            os.killpg(process.pid, signal.SIGINT)
            out, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    printed = (tmp_path / "printed").read_text()
    assert process.returncode == 130 and printed == "Interrupted: the models compared until then are shown.\n", printed
    assert b"exact model" in out and b"approx --degree 2" in out


#: bench whose cascade waits for an interrupt.
SLOW = """
import sys, time
from fastsvm_cli.benchmarks import chooser
compile_source = chooser.compile_source
def compiled(command, *given):
    if command == "cascade":
        open("waiting", "w").close()
        time.sleep(1000)
    return compile_source(command, *given)
chooser.compile_source = compiled
from fastsvm_cli.start import run
sys.argv[0] = "fastsvm"
run()
"""
