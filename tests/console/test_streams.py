"""Standard streams that are closed, full, gone or unable to print a file name; outputs that are inputs."""

import itertools
import json
import os
import re
import subprocess
import sys

import pytest

from support import forked
from support.paths import FASTSVM
from support.processes import PATIENCE


class Ran:
    def __init__(self, words, code, out, err, directory):
        self.words, self.code, self.out, self.err, self.output = words, code, out, err, (directory / "out").read_text()

    def __repr__(self):
        printed = (
            f"--- standard output\n{self.out[:600]}\n--- standard error\n{self.err[:600]}\n--- out\n{self.output[:60]}"
        )
        return f"$ {self.words}\nexit code {self.code}\n{printed}"


def shell(directory, words, program=FASTSVM, **options):
    """words: may have shell redirections; standard input is empty."""
    if program == FASTSVM and not options and not set(words) & set("<>|&;$'\"*"):  # needs no shell
        done = forked.fastsvm(words.split(), cwd=directory, text=True)
    else:
        done = subprocess.run(
            f"exec {program} {words}",
            shell=True,
            executable="/bin/bash",
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            **options,
        )
    ran = Ran(words, done.returncode, done.stdout, done.stderr, directory)
    assert "Traceback" not in ran.err, ran
    assert not [name for name in os.listdir(directory) if name.endswith(".tmp")], ran
    return ran


CLOSED = [" ".join(each) for count in (1, 2, 3) for each in itertools.combinations(("<&-", ">&-", "2>&-"), count)]


@pytest.mark.full(few=2)
@pytest.mark.parametrize(
    "words, closed",
    [
        *(("predict rows m out", closed) for closed in CLOSED),
        ("predict -q rows fast out", ">&-"),
        ("predict --exact m rows fast out", "2>&-"),
        ("approx m out", ">&-"),
        ("order m out", "<&- >&- 2>&-"),
        ("reduce --vectors 5 --no-finish m out", "2>&-"),
        ("border --samples 5 m out", "<&- >&- 2>&-"),
    ],
)
def test_a_command_that_needs_no_standard_stream_does_its_work_without(directory, words, closed):
    before = shell(directory, words)
    assert before.code == 0 and before.output != "before\n", before
    (directory / "out").write_text("before\n")
    ran = shell(directory, f"{words} {closed}")
    assert ran.code == 0 and ran.output == before.output, ran
    # Open streams get their text; a trial's times differ.
    for stream, printed, expected in ((">&-", ran.out, before.out), ("2>&-", ran.err, before.err)):
        if stream in closed.split():
            assert printed == "", ran
        elif "times as fast" not in before.out:
            assert printed == expected, ran


#: (streams that are closed, error, command lines)
NEEDED = [
    (
        "<&-",
        "standard input: it is closed",
        "predict - m out|predict rows - out|approx - out|order - out|reduce --ratio 0.1 - out|"
        "reduce --ratio 0.1 --data - m out|border - out|bound -|bound m -",
    ),
    ("<&-", "/dev/stdin: it is closed", "predict /dev/stdin m out"),
    (
        ">&-",
        "standard output: it is closed",
        "predict -q rows m|predict rows m -|predict /dev/null m|predict --json rows m out|approx m -|order m -|"
        "reduce --ratio 0.1 m -|bound rows|bound --json m|bench rows m|--version|--help|predict --help",
    ),
    (">&-", "/dev/stdout: it is closed", "predict -q rows m /dev/stdout"),
    (">&-", "/dev/fd/1: it is closed", "border m /dev/fd/1"),
    ("2>&-", "", "predict rows m /dev/stderr"),
    ("<&- >&-", "standard output: it is closed", "predict -q rows m"),
    ("<&- >&- 2>&-", "", "predict - m out|predict rows m|approx m -|bound rows"),
]


@pytest.mark.full(few=3)
@pytest.mark.parametrize(
    "words, closed, why", [(words, closed, why) for closed, why, lines in NEEDED for words in lines.split("|")]
)
def test_a_closed_stream_that_is_needed_is_an_error_and_nothing_is_lost(directory, words, closed, why):
    files = sorted(os.listdir(directory))
    ran = shell(directory, f"{words} {closed}")
    assert ran.code == 1 and ran.output == "before\n" and sorted(os.listdir(directory)) == files, ran
    assert ran.out == "" and (ran.err.splitlines()[-1:] == [f"Error: {why}"] if why else ran.err == ""), ran


@pytest.mark.full
def test_no_file_becomes_a_standard_stream(directory):
    """Files opened later do not get its descriptor."""
    code = (
        "import os, sys\n"
        "from fastsvm_cli import start, cli\n"
        "def main(error):\n"
        "    with open('rows') as rows, open('seen', 'w') as seen:\n"
        "        print(rows.fileno(), file=seen)\n"
        "        for descriptor in range(3):\n"
        "            print(os.readlink(f'/proc/self/fd/{descriptor}'), file=seen)\n"
        "    sys.exit(0)\n"
        "cli.main = main\n"
        "start.run()\n"
    )
    (directory / "code.py").write_text(code)
    for closed in CLOSED:
        subprocess.run(
            (
                f"exec {sys.executable} -P code.py {closed}"
                if sys.version_info >= (3, 11)
                else f"exec {sys.executable} code.py {closed}"
            ),
            shell=True,
            executable="/bin/bash",
            cwd=directory,
            check=True,
        )
        opened, *names = (directory / "seen").read_text().splitlines()
        assert int(opened) > 2 and not any("rows" in name or "seen" in name for name in names), closed


@pytest.mark.full
def test_a_child_of_the_command_finds_no_file_in_a_closed_stream_s_place(directory):
    """bench starts child processes."""
    ran = shell(directory, "bench -q --runs 1 --max-seconds 0.1 --json rows m fast <&- 2>&-")
    assert ran.code == 0 and [case["failed"] for case in json.loads(ran.out)["cases"]].count(None) >= 4, ran


@pytest.mark.full
def test_what_standard_error_cannot_take_is_lost_and_nothing_else(directory):
    expected = shell(directory, "predict rows m out").output
    (directory / "out").write_text("before\n")
    for words in ("predict rows m out 2>/dev/full", "predict --exact m rows fast out 2>/dev/full"):
        ran = shell(directory, words)
        assert ran.code == 0 and ran.output == expected, ran
    ran = shell(directory, "predict rows m 2>/dev/full")
    assert ran.code == 0 and ran.out == expected, ran
    assert shell(directory, "predict nowhere m out 2>/dev/full").code == 1


@pytest.mark.full(few=2)
@pytest.mark.parametrize(
    "program, words",
    [
        (FASTSVM, "predict rows m out"),
        (f"{FASTSVM}-predict", "rows m out"),
        (FASTSVM, "predict --exact m rows fast out"),
        (FASTSVM, "approx m out"),
        (FASTSVM, "order m out"),
        (FASTSVM, "reduce --vectors 5 --no-finish m out"),
        (FASTSVM, "border --samples 5 m out"),
        (FASTSVM, "export --to c m out.c"),
    ],
)
def test_a_summary_that_cannot_be_written_stops_nothing(directory, program, words):
    before = shell(directory, words, program)
    assert before.code == 0 and before.out, before
    for lost in (">/dev/full", ">/dev/full 2>&1", ">&-"):
        (directory / "out").write_text("before\n")
        ran = shell(directory, f"{words} {lost}", program)
        assert ran.code == 0 and ran.output == before.output, ran


@pytest.mark.full
def test_a_document_that_cannot_be_written_is_an_error_after_the_output_is_whole(directory):
    expected = shell(directory, "predict rows m out").output
    (directory / "out").write_text("before\n")
    ran = shell(directory, "predict --json rows m out >/dev/full")
    assert ran.code == 1 and ran.output == expected, ran
    assert ran.err == "Error: standard output: No space left on device\n"


def test_a_reader_of_standard_error_that_has_gone_stops_nothing(directory):
    """The message comes first, and must not end the work."""
    (directory / "odd").write_text("x\n1 1:0.5\n")
    words = [FASTSVM, "predict", "-q", "--on-bad-row", "skip", "odd", "m", "out"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(words, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer)
    os.close(writer)
    assert done.returncode == 0 and (directory / "out").read_text() in ("1\n", "-1\n"), done


# ---- outputs that are inputs


#: The input that is the output is in braces.
INPUTS = (
    "approx {m} OUT|order {m} OUT|order --fold {rows} m OUT|"
    "order --kernel exponential --gamma 1 --vectors {rows} m OUT|reduce --ratio 0.1 {m} OUT|"
    "reduce --ratio 0.1 --data {rows} m OUT|border {m} OUT|border --data {rows} m OUT|"
    "border --bandwidth 1 {rows} OUT|predict {rows} m OUT|predict rows {m} OUT|"
    "predict --exact {m} rows fast OUT|predict --exact m rows {fast} OUT|predict - m OUT < {rows}|"
    "approx - OUT < {m}|bench --try --budget 1 --keep OUT {rows} m|"
    "bench --try --budget 1 --keep OUT rows {m}"
)


@pytest.mark.full(few=3)
@pytest.mark.parametrize("words, link", list(zip(INPUTS.split("|"), itertools.cycle(["same", "symbolic", "hard"]))))
def test_no_input_is_written_over(directory, words, link):
    given, words = re.search(r"{(.*)}", words)[1], re.sub("[{}]", "", words)
    if link == "symbolic":
        (directory / "link").symlink_to(given)
    elif link == "hard":
        os.link(directory / given, directory / "link")
    name = given if link == "same" else "link"
    before = {each: (directory / each).read_bytes() for each in os.listdir(directory)}
    ran = shell(directory, words.replace("OUT", name))
    assert ran.code == 1 and ran.err.splitlines()[-1].startswith(f"Error: {name}: the output would replace "), ran
    assert {each: (directory / each).read_bytes() for each in os.listdir(directory)} == before


def test_rows_are_not_appended_to_what_they_are_read_from(directory):
    before = (directory / "rows").read_bytes()
    ran = shell(directory, "predict rows m >> rows")
    assert ran.code == 1 and (directory / "rows").read_bytes() == before, ran


def test_devices_are_inputs_and_outputs(directory):
    assert shell(directory, "predict /dev/null m /dev/null").code == 0


# ---- file names that are not text


LOCALES = [
    {"PYTHONIOENCODING": "utf-8:strict"},
    {"PYTHONIOENCODING": "ascii:strict"},
    {"PYTHONIOENCODING": "latin-1:strict"},
    {"LC_ALL": "C.UTF-8"},
    {"LC_ALL": "C"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


def told(directory, words, *, locale=None, code=0):
    """Standard output. words: bytes."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHON"))}
    done = subprocess.run(
        [FASTSVM.encode(), *words],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**environment, **(locale or LOCALES[0])},
        timeout=PATIENCE,
    )
    assert done.returncode == code and b"Traceback" not in done.stderr and b"codec" not in done.stdout, (words, done)
    return done.stdout


@pytest.mark.full
@pytest.mark.parametrize(
    "locale, name",
    [
        *zip(LOCALES, itertools.cycle([b"caf\xe9 \xff", "é".encode()])),
        (LOCALES[1], "é".encode()),
        (LOCALES[5], b"caf\xe9 \xff"),
        *((LOCALES[0], name) for name in (b"[/x]", b"[bold]", b"two\nlines")),
    ],
    ids=repr,
)
def test_any_file_name_can_be_told(directory, locale, name):
    os.mkdir(directory / "[")  # rich takes [/x] for the end of a style
    rows = name + b".rows"
    for source, linked in (("m", name), ("rows", rows)):
        os.link(directory / source, os.path.join(os.fsencode(directory), linked))
    for code, *words in (
        (0, b"approx", name, name + b".fast"),
        (0, b"predict", rows, name, name + b".out"),
        (0, b"bound", rows, name, name + b".fast"),
        (1, b"predict", name, rows),
        (1, b"approx", name, name),
        (2, name),
        (2, b"predict", b"--" + name, rows, name),
    ):
        told(directory, words, locale=locale, code=code)


@pytest.mark.full
def test_a_name_that_is_not_utf_8_is_printed_as_it_is(directory):
    """Also by bench, in its tables, JSON and figures."""
    os.rename(directory / "m", os.fsencode(directory) + b"/caf\xe9[_x]")
    assert b": caf\xe9[_x].approx\n" in told(directory, [b"approx", b"caf\xe9[_x]"])
    for options in (b"", b" --json"):
        words = b"bench -q --runs 1 --max-seconds 0.1 --plot p.svg%s rows caf\xe9[_x] fast" % options
        told(directory, words.split())
        assert (directory / "p.svg").stat().st_size
