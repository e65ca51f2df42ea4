"""Standard streams that are closed, full, gone or unable to print a file name; outputs that are inputs."""

import itertools
import json
import os
import re
import subprocess
import sys

import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from support import forked
from support.paths import DATA, FASTSVM
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
INPUT_IS_CLOSED = "standard input: it is closed"
OUTPUT_IS_CLOSED, ERROR_IS_CLOSED = "standard output: it is closed", "/dev/stderr: it is closed"


@pytest.mark.full
@pytest.mark.parametrize(
    "words, begins, closed",
    [
        *(("predict rows m out", ("-1\n", "1\n"), closed) for closed in CLOSED),
        *(
            (words, begins, closed)
            for closed in (">&-", "2>&-", "<&- >&- 2>&-")
            for words, begins in [
                ("predict -q rows fast out", ("-1\n", "1\n")),
                ("predict --exact m rows fast out", ("-1\n", "1\n")),
                ("approx m out", "fastsvm_model maclaurin"),
                ("order m out", "fastsvm_model geometry"),
                ("reduce --vectors 5 --no-finish m out", "svm_type c_svc"),
                ("border --samples 5 m out", "fastsvm_model border"),
            ]
        ),
    ],
)
def test_a_command_that_needs_no_standard_stream_does_its_work_without(directory, words, begins, closed):
    before = shell(directory, words)
    assert before.code == 0 and before.output.startswith(begins), before
    (directory / "out").write_text("before\n")
    ran = shell(directory, f"{words} {closed}")
    assert ran.code == 0 and ran.output == before.output, ran
    # Open streams get their text; a trial's times differ.
    for stream, printed, expected in ((">&-", ran.out, before.out), ("2>&-", ran.err, before.err)):
        if stream in closed.split():
            assert printed == "", ran
        elif "times as fast" not in before.out:
            assert printed == expected, ran


@pytest.mark.full(few=3)
@pytest.mark.parametrize(
    "words, stream, why, closed",
    [
        (words, stream, why, closed)
        for stream, why, all_words in [
            (
                "<&-",
                INPUT_IS_CLOSED,
                (
                    "predict - m out|predict rows - out|approx - out|order - out|reduce --ratio 0.1 - out|"
                    "reduce --ratio 0.1 --data - m out|border - out|bound -|bound m -"
                ).split("|"),
            ),
            ("<&-", "/dev/stdin: it is closed", ["predict /dev/stdin m out"]),
            (
                ">&-",
                OUTPUT_IS_CLOSED,
                (
                    "predict rows m|predict rows m -|predict /dev/null m|predict --json rows m out|approx m -|"
                    "order m -|reduce --ratio 0.1 m -|bound rows|bound --json m|bench rows m|--version|--help|"
                    "predict --help"
                ).split("|"),
            ),
            (">&-", "/dev/stdout: it is closed", ["predict rows m /dev/stdout"]),
            (">&-", "/dev/fd/1: it is closed", ["border m /dev/fd/1"]),
            ("2>&-", ERROR_IS_CLOSED, ["predict rows m /dev/stderr"]),
        ]
        for words in all_words
        for closed in (CLOSED if words.startswith("predict") else [stream, "<&- >&- 2>&-"])
        if stream in closed.split()
    ],
)
def test_a_closed_stream_that_is_needed_is_an_error_and_nothing_is_lost(directory, words, stream, why, closed):
    ran = shell(directory, f"{words} {closed}")
    assert ran.code == 1, ran
    assert (
        ran.output == "before\n" and ran.out == "" and sorted(os.listdir(directory)) == ["fast", "m", "out", "rows"]
    ), ran
    assert ran.err == ("" if "2>&-" in closed.split() else f"Error: {why}\n"), ran


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


@pytest.mark.full
def test_a_reader_of_standard_error_that_has_gone_stops_nothing(directory):
    """The message comes first, and must not end the work."""
    for name in ("rows", "m", "fast"):
        (directory / name).unlink()
    svm_save_model(str(directory / "m"), svm_train(*svm_read_problem(str(DATA / "colors.train")), "-q -g 0.02 -b 1"))
    assert shell(directory, "approx -q --certify m fast").code == 0
    words = [FASTSVM, "predict", "-b", "1", "--exact", "m", str(DATA / "colors.test"), "fast", "out"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        words, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer, text=True
    )
    os.close(writer)
    assert done.returncode == 0 and (directory / "out").read_text().startswith("labels "), done


@pytest.mark.full
def test_standard_input_is_read_once(directory):
    for words in ("bound - -", "reduce --ratio 0.1 --data - -", "border --data - -", "order --fold - -", "predict - -"):
        assert shell(directory, words).code == 2


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
@pytest.mark.parametrize("link", ["same", "symbolic", "hard"])
@pytest.mark.parametrize("words", INPUTS.split("|"))
def test_no_input_is_written_over(directory, words, link):
    given, words = re.search(r"{(.*)}", words)[1], re.sub("[{}]", "", words)
    name = {"same": given, "symbolic": "link", "hard": "link"}[link]
    if link == "symbolic":
        (directory / "link").symlink_to(given)
    elif link == "hard":
        os.link(directory / given, directory / "link")
    before = {each: (directory / each).read_bytes() for each in os.listdir(directory)}
    ran = shell(directory, words.replace("OUT", name))
    assert ran.code == 1 and ran.err.startswith(f"Error: {name}: the output would replace "), ran
    assert ran.err.endswith("; name another output file\n") and ran.err.count("\n") == 1, ran
    assert {each: (directory / each).read_bytes() for each in os.listdir(directory)} == before


def test_an_output_named_for_us_is_not_an_input_either(directory):
    (directory / "m.approx").symlink_to("m")
    ran = shell(directory, "approx m")
    assert (
        ran.code == 1
        and ran.err == "Error: m.approx: the output would replace m, which is the same file; name another output file\n"
    ), ran


def test_rows_are_not_appended_to_what_they_are_read_from(directory):
    before = (directory / "rows").read_bytes()
    ran = shell(directory, "predict rows m >> rows")
    assert ran.code == 1 and (directory / "rows").read_bytes() == before, ran


def test_devices_are_inputs_and_outputs(directory):
    assert shell(directory, "predict /dev/null m /dev/null").code == 0


def test_an_empty_output_name_is_not_standard_output(directory):
    ran = shell(directory, "predict rows m ''")
    assert ran.code == 1 and ran.out == "" and ran.err == "Error: '': No such file or directory\n", ran


@pytest.mark.full
def test_an_output_that_cannot_be_written_is_told_before_any_work(directory):
    """The malformed model is not read."""
    (directory / "m").write_text("nonsense\n")
    for words in (
        "approx m nowhere/out",
        "order m nowhere/out",
        "reduce --ratio 0.1 m nowhere/out",
        "border m nowhere/out",
        "predict rows m nowhere/out",
        "bench --try --budget 1 --keep nowhere/out rows m",
    ):
        why = "No such file or directory: the output's directory must exist"
        assert shell(directory, words).err == f"Error: nowhere/out: {why}\n"


@pytest.mark.full
def test_bench_writes_no_two_results_to_one_file(directory):
    ran = shell(directory, "bench --try --budget 1 --plot new.svg --keep ./new.svg rows m")
    assert ran.code == 1 and "two outputs would be written to it" in ran.err, ran


# ---- file names that are not text


LOCALES = [
    {"PYTHONIOENCODING": "utf-8:strict"},
    {"PYTHONIOENCODING": "ascii:strict"},
    {"PYTHONIOENCODING": "latin-1:strict"},
    {"LC_ALL": "C.UTF-8"},
    {"LC_ALL": "C"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.full
@pytest.mark.parametrize(
    "locale, name",
    [
        *((locale, name) for locale in LOCALES for name in (b"caf\xe9 \xff", "é".encode())),
        *((LOCALES[0], name) for name in (b"[/x]", b"[bold]", b"two\nlines")),
    ],
    ids=repr,
)
def test_any_file_name_can_be_told(directory, locale, name):
    os.mkdir(directory / "[")  # rich takes [/x] for the end of a style
    folder = os.fsencode(directory)
    os.link(directory / "m", os.path.join(folder, name))
    os.link(directory / "rows", os.path.join(folder, name + b".rows"))

    def run(*words, code=0):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHON"))}
        done = subprocess.run(
            [FASTSVM, *words],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**environment, **locale},
            timeout=PATIENCE,
        )
        assert done.returncode == code and b"Traceback" not in done.stderr, (words, done)
        return done

    rows = name + b".rows"
    run("approx", name, name + b".fast")
    run("predict", rows, name, name + b".out")
    run("bound", rows, name, name + b".fast")
    run("predict", name, rows, code=1)
    run("approx", name, name, code=1)
    run(name, code=2)
    run("predict", b"--" + name, rows, name, code=2)


def test_a_name_that_is_not_utf_8_is_printed_as_it_is(directory):
    os.rename(directory / "m", os.fsencode(directory) + b"/caf\xe9")
    done = subprocess.run(
        [FASTSVM, "approx", b"caf\xe9"],
        cwd=directory,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
    )
    assert done.returncode == 0 and b": caf\xe9.approx\n" in done.stdout, done


@pytest.mark.full
def test_bench_tells_such_names_too(directory):
    name = os.fsencode(directory) + b"/caf\xe9[/x]".replace(b"/", b"_")
    os.rename(directory / "m", name)
    for options in ([], ["--json"]):
        done = subprocess.run(
            [FASTSVM, *"bench -q --runs 1 --max-seconds 0.1 --plot p.svg".split(), *options, "rows", name, "fast"],
            cwd=directory,
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
        )
        assert done.returncode == 0 and b"Traceback" not in done.stderr and b"codec" not in done.stdout, done
        assert (directory / "p.svg").stat().st_size
