"""bench: its output fits the screen."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter

import pytest
from fastsvm_cli.benchmarks.attempt_lines import TrialLines
from rich.cells import cell_len
from rich.console import Console

from fastsvm_cli.benchmarks import child_processes
from fastsvm_cli.benchmarks.bench_run import Bench
from fastsvm_cli.benchmarks.conclusion import conclusion
from fastsvm_cli.benchmarks.cross_validation import Split, as_table
from fastsvm_cli.benchmarks.report import COLUMNS, case_rows, class_columns, hidden, shown
from fastsvm_cli.benchmarks.table_row import END_TO_END, SCORING, Case
from fastsvm_cli.benchmarks.timing import Timed, seconds_left
from fastsvm_cli.methods.method import Attempt
from support.benching import ONE_THREAD, terminal_tables, train
from support.paths import FASTSVM
from support.processes import PATIENCE, default_signals, on_a_terminal, wait_until

MACHINE = {
    "processor": "A processor",
    "cores": 2,
    "threads": 0,
    "kernels": "avx2",
    "fastsvm": "1",
    "libsvm_official": "2",
    "python": "3",
    "svm_predict": "/somewhere/svm-predict",
}
WORST = COLUMNS.index("worst class")  # the tables of all cases have every class
LONG = "a-model-of-" + "many-words-" * 14 + "end"
WHY = f"{LONG}:1: this looks like a data file; the test file comes first, expected the header of a LIBSVM model"


def filled(directory, folder, rows, exact, models):
    """A bench with made-up timings of all magnitudes, no two equal."""
    bench = Bench(
        str(directory / rows),
        str(directory / exact),
        folder=str(folder),
        threads=0,
        fastsvm=["x"],
        svm_predict="svm-predict",
    )
    bench.add_references(libsvm=True)
    bench.add_model(str(directory / exact), name="exact model", role="exact")
    for path, name in models:
        for case in bench.add_model(str(directory / path), name=name):
            case.compile_seconds, case.made_by = 0.0123 * len(bench.cases) ** 2, ["approx", "--certify"]
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
def benches(directory, tmp_path_factory):
    folder = tmp_path_factory.mktemp("screens")
    classes = [("rings.cert", "approx --center origin --degree 4"), ("rings.red", LONG + ".red")]
    classes += [("rings.border", "b\nx"), ("other.approx", "日本" * 9)]
    return [
        filled(directory, folder, "rows", "rings.model", classes),
        filled(directory, folder, "waves.rows", "waves.model", [("waves.approx", "waves.approx")]),
    ]


def test_nothing_slower_than_what_the_user_has_is_advised(benches):
    bench = benches[0]
    exact = next(case for case in bench.cases if case.name == "exact model")
    seconds = exact.end_to_end.timings.seconds
    svm_predict = f"svm-predict {bench.test_file} {bench.exact_file} out"
    found = conclusion(bench, exact, 0.005, None)
    assert found.sentences[0].startswith(
        "Keep svm-predict: nothing within 0.5 % is faster on these rows (exact model: "
    )
    assert found.commands == [svm_predict] == conclusion(bench, None, None, None).commands
    try:
        exact.end_to_end.timings.seconds = [0.01] * 3
        for budget in (0.005, None):
            found = conclusion(bench, exact, budget, None)
            assert found.sentences[0].startswith("Keep the exact model: no compiled model within 0.5 % is measurably ")
            assert found.commands == [f"fastsvm predict {bench.test_file} {bench.exact_file} out"]
        program = bench.add_program(exact, "fastsvm-predict")
        program.end_to_end.timings.seconds = [0.001] * 3
        found = conclusion(bench, exact, 0.005, None)
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


@pytest.mark.full(few=4)
@pytest.mark.parametrize("width", [60, 80, 100, 140, 45])
@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("kind", ["classes", "regression"])
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
    assert len(green) == 3 and all("b\\nx" in line for line in green)


def test_in_a_pipe_there_are_three_tables(benches):
    times, answers, classes = terminal_tables(printed(shown(benches[0], MACHINE, None, 180, everything=True), 180))
    assert (len(times[0]), len(answers[0]), len(classes[0])) == (8, 7, 3)


@pytest.fixture
def attempts(benches, monkeypatch):
    """The first bench, as if --try had made its compiled models. One is the fastest in memory; others beat the rest."""
    bench = benches[0]
    for case in bench.cases:
        if case.role == "compiled" and case.failed is None:
            monkeypatch.setattr(case, "made_by", ["approx"])
    fastest = next(case for case in bench.cases if case.name == "b\nx")
    monkeypatch.setattr(fastest.scoring.timings, "seconds", [1e-9] * 3)
    return bench, fastest


@pytest.mark.parametrize("width", [60, 80, 100, 180])
def test_models_that_others_beat_are_counted_not_shown(attempts, width):
    bench, fastest = attempts
    lines = printed(shown(bench, MACHINE, None, width), width).split("\n")
    assert not [line for line in lines if cell_len(line) > width]
    rows = {re.split("[│┃]", line)[0].strip() for line in lines if "│" in line} - {""}
    assert rows == {"svm-predict", "libsvm, in process", "exact model", "b\\nx"}
    beaten = [case for case in bench.cases if case.made_by is not None and case is not fastest]
    displayed = " ".join(" ".join(lines).split())
    those = f"{len(beaten)} models that others equal or beat in both time and labels, 2 models that failed"
    assert f"The tables leave out {those}. --all shows them, and more columns." in displayed
    assert re.search(r"For an empty file svm-predict takes [\d.]+ s and fastsvm takes [\d.]+ s\.", displayed)
    assert hidden(bench, beaten[0])[2:] == [*beaten[1:], *bench.cases[-2:]]  # all but the one that --budget picks


def test_models_that_were_named_are_shown(benches, monkeypatch):
    bench = benches[0]
    for case in bench.cases:
        monkeypatch.setattr(case, "made_by", None)
        monkeypatch.setattr(case, "path", "named")
    assert {case.role for case in hidden(bench, None)} == {"start-up"}
    displayed = " ".join(printed(shown(bench, MACHINE, None, 80), 80).split())
    assert (
        "leave out" not in displayed
        and "--all shows more columns." in displayed
        and displayed.count("this looks like") == 2
    )


def test_nothing_but_reasons(directory, tmp_path):
    bench = Bench(
        str(directory / "rows"),
        str(directory / "rings.model"),
        folder=str(tmp_path),
        threads=0,
        fastsvm=[],
        svm_predict=None,
    )
    bench.add_model(str(directory / "rings.model"), name="exact model", role="exact")
    for case in bench.cases:
        case.failed = WHY
    text = printed(shown(bench, MACHINE, None, 80), 80)
    assert text.startswith("Not measured\n  exact model: ") and "this looks like" in text


@pytest.mark.parametrize("width", [45, 60, 80, 100])
def test_folds_fit_too(width):
    splits = [Split(1234, 23456, 0.98765, 0.9876, 0.00123), Split(1233, 23455, 0.91, 0.92, 0.5)]
    text = printed(as_table(LONG, splits, gamma=0.123456, cost=100.0, degree=3), width)
    assert all(len(line) <= width for line in text.split("\n")) and "…" not in text
    assert width < 80 or all(each in text for each in ("98.77 %", "92.00 %", "0.123 %", "23455", "2467"))


@pytest.mark.parametrize("budget", [None, 0.001])
def test_a_line_of_a_trial_tells_all_of_it(benches, budget):
    for bench in benches:
        trial = TrialLines(bench, [Attempt("approx", {"center": "origin", "degree": 4})], budget)
        left_out = Attempt("approx", {"degree": 3}, skipped="70 MB", limit="--max-size")
        late = Attempt("approx", {"certify": True}, skipped="about 99 s", limit="--patience")
        words = [line for line, _ in trial.beginning([left_out, late], 64.0, 30.0, 50.0)]
        assert "Left out by --max-size 64 MB: approx --degree 3 (70 MB)." in words
        assert "Left out by --patience 30 s: approx --certify (about 99 s)." in words
        for case in bench.cases:
            if case.role not in ("exact", "compiled"):
                continue
            displayed = " ".join(line for line, _ in trial.of(case))
            if case.failed is not None:
                assert WHY in displayed
                continue
            share = bench.disagreement(case)
            assert re.search(r"[\d.,]+x", displayed)
            if bench.model.header.regression:
                largest = 100 * case.quality.largest / bench.answers.spread
                assert f"{100 * bench.distance(case)[0]:.3g} % RMS, largest {largest:.3g} %" in displayed
                assert (", over" in displayed) == (budget is not None and bench.distance(case)[0] > budget)
            else:
                assert f"{100 * share:.3g} % differ" in displayed
                assert (", over" in displayed) == (budget is not None and share > budget)
                proven = case.quality.proven
                assert ("proven" in displayed) == (proven is not None and case.kind != "reduced")
                assert "proven" not in displayed or f"{100 * proven / bench.rows:.4g} % proven" in displayed
        best = min(
            (case.timings(END_TO_END).median, case.name)
            for case in bench.cases
            if case.failed is None
            and case.role in ("exact", "compiled")
            and (budget is None or bench.fits(case, budget))
        )[1]
        assert trial.best().partition(": ")[2].startswith(best.replace("\n", "\\n") + ", ")
        assert ("within 0.1 %" in trial.best()) == (budget is not None)


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
def linear(directory, tmp_path_factory):
    folder = tmp_path_factory.mktemp("linear")
    train(folder, "m", "rings.train", "-t 0 -c 1", 200)
    (folder / "rows").write_bytes((directory / "rows").read_bytes())
    return folder


TRIED = ["approx --certify", "border --samples 30", "border --samples 1000", "order --method geometry"]


@pytest.mark.full
def test_without_a_terminal_there_are_plain_lines(bench, linear):
    done = bench("--try", "--json", "--budget", "50%", linear / "rows", linear / "m")
    assert json.loads(done.out)["cases"]
    assert re.fullmatch(r"[ -~\n]*", done.err), done.err
    for name in TRIED:
        assert len(re.findall(rf"^{name} +[\d.,]+x  [\d.]+ % differ", done.err, re.M)) == 1, done.err
    assert re.search(r"^  with predict --exact +[\d.,]+x  0 % differ +[\d.]+ % proven$", done.err, re.M), done.err
    assert re.search(r"^Left out: reduce: a linear kernel found", done.err, re.M), done.err
    quiet = bench("-q", "--try", "--patience", 1e-6, linear / "rows", linear / "m")
    assert quiet.err == "" and terminal_tables(quiet.out)[0]


#: bench with a screen clock that advances by two seconds at each reading.
DRAWN = (
    "import itertools, sys\n"
    "from fastsvm_cli.commands.bench import screen as bench_screen\n"
    "bench_screen.monotonic = itertools.count(0, 2).__next__\n"
    "from fastsvm_cli.benchmarks import bench_run, environment\n"
    "from fastsvm_cli.methods import border\n"
    "border._SAMPLES, bench_run._LIBSVM_SECONDS = (30,), 0.01\n"
    f"environment.fastsvm_command = lambda: [{FASTSVM!r}]\n"
    "from fastsvm_cli.start import run\n"
    "sys.argv[0] = 'fastsvm'\n"
    "run()\n"
)


@pytest.mark.full
@pytest.mark.parametrize("columns, locale", [(80, "C.UTF-8"), (60, "C")])
def test_try_on_a_terminal(linear, columns, locale):
    files = [str(linear / "rows"), str(linear / "m")]
    options = ["--try", "--budget", "50%", "--runs", "1", "--patience", str(PATIENCE)]
    words = [sys.executable, "-I", "-c", DRAWN, "bench", *options, *files]
    code, displayed = on_a_terminal(words, columns, env={**ONE_THREAD, "LC_ALL": locale})
    text = displayed.decode("ascii" if locale == "C" else "utf-8")  # locale C: ASCII only
    assert code == 0, text
    assert "\x1b[?25l" in text and text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", text).replace("\r", "\n")
    for name in ("approx --certify", "border --samples 30", "order --method geometry"):
        assert re.search(rf"^{name}, \d+", plain, re.M) and re.search(rf"^{name}\s+[\d.,]+x\s", plain, re.M)
    assert re.search(r"\d+ %: 2 of 3 tried", plain) and "fastest so far within 50 %: " in plain
    assert re.search(r"in memory: (some seconds|about .*) left", plain)
    commands = [line for line in plain.split("\n") if re.match("  (fast)?svm", line)]
    assert re.match("  (fastsvm predict|fastsvm-predict|svm-predict) ", commands[-1]) and commands[-1].endswith(" out")
    assert files[0] in commands[-1]  # longer than the screen
    for line in plain.split("\n"):
        assert len(line) <= columns or line in commands, line
    assert "…" not in text and "?" not in plain


@pytest.mark.full
def test_ctrl_c_while_it_tries_prints_what_is_there(linear):
    with subprocess.Popen(
        [FASTSVM, "bench", "--try", "--runs", "1000000", "--max-seconds", "1e9", "rows", "m"],
        cwd=linear,
        env={**os.environ, **ONE_THREAD},
        stdout=subprocess.PIPE,
        stderr=open(linear / "printed", "w"),
        start_new_session=True,
        preexec_fn=default_signals,
    ) as process:
        try:
            wait_until(lambda: process.poll() is not None or "exact model" in (linear / "printed").read_text())
            os.killpg(process.pid, signal.SIGINT)
            out, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    displayed = (linear / "printed").read_text()
    assert process.returncode == 130 and "Traceback" not in displayed, displayed
    assert re.search(r"\nInterrupted: nothing was timed yet; fastest so far: .+, .+x, .+ % differ\.\n$", displayed), (
        displayed
    )
    assert b"exact model" in out and b"labels that differ" in out
    assert b"In memory: rows parsed, labels out.\n" in out.replace(b"\r", b""), "a sentence that is cut off"
