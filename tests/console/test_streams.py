"""Standard streams that are closed, full, gone or unable to print a file name; outputs that are inputs."""

import json
import os
import re
import subprocess
import sys

import pytest

from support import forked
from support.messages import table
from support.paths import FASTSVM
from support.processes import PATIENCE, Finished, outcome


def shell(directory, words):
    """words: may have redirections of bash; standard input is empty. Nothing temporary is left."""
    if not set(words) & set("<>"):
        done = forked.fastsvm(words.split(), cwd=directory, text=True)
    else:
        command = ["bash", "-c", f"exec {FASTSVM} {words}"]
        done = outcome(command, cwd=directory, stdin=subprocess.DEVNULL)
    ran = Finished([words], done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in ran.err, str(ran)
    assert not [name for name in os.listdir(directory) if name.endswith(".tmp")], str(ran)
    return ran


def files(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.full(few=3)
@pytest.mark.parametrize("words, lost, error", table("messages.txt", "streams that are lost"))
def test_a_stream_that_is_lost_stops_nothing(directory, words, lost, error):
    """Other streams get their text. Only a document must be printed."""
    before = shell(directory, words)
    expected = files(directory)
    (directory / "out").write_text("before\n")
    ran = shell(directory, f"{words} {lost}")
    assert before.code == 0 and ran.code == (error != "-") and files(directory) == expected, str(ran)
    if error != "-":
        assert ran.err == f"Error: {error}\n"
        return
    # A trial's times differ.
    for stream, printed, plain in (("2>", ran.err, before.err), (">", ran.out, before.out)):
        if stream in lost:
            assert printed == "", str(ran)
            lost = lost.replace("2>", "")
        elif "times as fast" not in before.out:
            assert printed == plain, str(ran)


@pytest.mark.full(few=4)
@pytest.mark.parametrize("words, why", table("messages.txt", "streams that are closed"))
def test_a_closed_stream_that_is_needed_is_an_error_and_nothing_is_lost(directory, words, why):
    before = files(directory)
    ran = shell(directory, words)
    assert ran.code == 1 and files(directory) == before and ran.out == "", str(ran)
    assert ran.err.splitlines()[-1:] == [f"Error: {why}"] if why != "-" else ran.err == "", str(ran)


@pytest.mark.full
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_no_file_becomes_a_standard_stream(directory, closed):
    """Files opened later do not get its descriptor."""
    code = (
        "import os; from fastsvm_cli import __main__ as start, cli\n"
        "cli.main = lambda error: os._exit(7 if open('rows').fileno() > 2 else 1)\n"
        "start.run()"
    )
    done = outcome(["bash", "-c", f'exec {sys.executable} -I -c "$0" {closed}', code], cwd=directory)
    assert done.returncode == 7, done.stderr


@pytest.mark.full
def test_a_child_of_the_command_finds_no_file_in_a_closed_stream_s_place(directory):
    """bench starts child processes."""
    ran = shell(directory, "bench -q --runs 1 --max-seconds 0.1 --json rows m fast <&- 2>&-")
    assert ran.code == 0 and [case["failed"] for case in json.loads(ran.out)["cases"]].count(None) >= 4, str(ran)


def test_a_reader_of_standard_error_that_has_gone_stops_nothing(directory):
    """The message comes first, and must not end the work."""
    (directory / "odd").write_text("x\n1 1:0.5\n")
    words = [FASTSVM, "predict", "-q", "--on-bad-row", "skip", "odd", "m", "out"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(words, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer)
    os.close(writer)
    assert done.returncode == 0 and (directory / "out").read_text() in ("1\n", "-1\n"), done


@pytest.mark.full(few=3)
@pytest.mark.parametrize("words, given", table("messages.txt", "outputs that are inputs"))
def test_no_input_is_written_over(directory, words, given):
    """The output, or standard output, is `given`, or a link to it."""
    (directory / "symbolic").symlink_to(given)
    os.link(directory / given, directory / "hard")
    before = files(directory)
    ran = shell(directory, words)
    named = rf"(would replace|it is) (the input|standard input|{given})\b.*\n\Z"
    assert ran.code == 1 and re.search(named, ran.err), str(ran)
    assert files(directory) == before


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
        *((locale, b"caf\xe9 \xff") for locale in (LOCALES[0], LOCALES[2], *LOCALES[4:])),
        *((locale, "é".encode()) for locale in LOCALES[1::2]),
        *((LOCALES[0], name) for name in (b"[/x]", b"two\nlines")),
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
