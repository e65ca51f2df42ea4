"""Plain mistakes: the error says what to type instead, and that works. Most are in messages.txt."""

import re
import shlex
import subprocess

import pytest

import fastsvm_cli
from fastsvm_cli.errors import DataFormatError
from support.forked import fastsvm
from support.messages import ADD_DENSE, DATA_FILE, SKIPPED
from support.paths import GOLDEN


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "m").write_bytes((GOLDEN / "three_classes.model").read_bytes())
    (tmp_path / "rows").write_text("1 1:0.5 2:-0.25\n-1 2:0.3 7:-0.6\n")
    return tmp_path


def error(directory, *words, input=None):
    done = fastsvm(words, cwd=directory, input=input, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done
    return done.stderr


COMMAS = "decimal commas found: tr , . < {} writes plain numbers"
QUOTES = "quoted cells found: tr -d '\"' < {} writes plain numbers, for --dense"
BOTH = "quoted cells and decimal commas found: tr -d '\"' < {} | tr , . writes plain numbers, for --dense --delim ';'"
HEADING = "quoted cells and a heading found: tr -d '\"' < {} | tail -n +2 writes plain numbers, for --dense"


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "text, options, message",
    [
        ("1 1:0.5\n1 1:0,5\n", "", f":2: '1:0,5' found, expected index:value; {COMMAS}"),
        ("1;2\n1;0,5\n", "--dense --delim ;", f":2: '0,5' found, expected a number; {COMMAS}"),
        ("1;0,5\n", "", f":1: '1;0,5' found, expected a label; {COMMAS}, for --dense --delim ';'"),
        ("1;0,5\n", "--dense", f":1: '1;0' found, expected a label; {COMMAS}, for --dense --delim ';'"),
        ("1\t0,5\n", "", rf":1: '0,5' found, expected index:value; {COMMAS}, for --dense --delim '\t'"),
        ("1 0,5e3\n", "", f":1: '0,5e3' found, expected index:value; {COMMAS}, for --dense --delim ' '"),
        ('"1","0.5"\n', "", f""":1: '"1","0.5"' found, expected a label; {QUOTES}"""),
        ('"1","0.5"\n', "--dense", f""":1: '"1"' found, expected a label; {QUOTES}"""),
        ('"1";"0,5"\n', "--dense", f""":1: '"1";"0' found, expected a label; {BOTH}"""),
        ('"y","a"\n"1","0.5"\n', "--dense", f""":1: '"y"' found, expected a label; {HEADING}"""),
        # A filter cannot tell the commas apart.
        ('"1","0,5"\n', "--dense", f""":1: '"1"' found, expected a label{SKIPPED}"""),
    ],
)
def test_numbers_that_are_written_otherwise(directory, text, options, message):
    (directory / "odd").write_text(text)
    printed = error(directory, "predict", *options.split(), "odd", "m", "/dev/null")
    assert printed == f"Error: odd{message.format('odd')}\n"
    if "writes plain numbers" in printed:  # the advice works
        command = re.search("found: (t[^:]*) writes", printed)[1]
        plain = subprocess.run(command, shell=True, cwd=directory, capture_output=True, check=True).stdout
        (directory / "plain").write_bytes(plain)
        typed = re.search(r"for (--dense.*)\n", printed)
        options = shlex.split(typed[1]) if typed else options.split()
        fastsvm(["predict", "-q", *options, "plain", "m"], cwd=directory, check=True)


@pytest.mark.parametrize("text", ["x\n-1 1\n1 0,5 1,5\n", "x\n-1,0 1,0\n1 0.5 1.5\n", "1 0.5 1,5e-1\n"])
def test_decimal_commas_of_a_range_file(directory, text):
    (directory / "odd").write_text(text)
    printed = error(directory, "predict", "--scale", "odd", "rows", "m", "/dev/null")
    assert printed.endswith(f"; {COMMAS.format('odd')}\n")


def test_a_pipe_is_not_read_again(directory):
    found = "Error: standard input:1: '1,0.25' found, expected a label"
    assert error(directory, "predict", "-", "m", input="1,0.25\n") == f"{found}; {ADD_DENSE}\n"
    wide = (",".join(["1"] + ["0.12345"] * 2000) + "\n") * 2  # too long to examine
    assert error(directory, "predict", "-", "m", input=wide).endswith(f"; {ADD_DENSE}\n")
    printed = error(directory, "predict", "m", "-", "out", input="1 1:0.5\n")
    where = "the test file comes before the model: fastsvm predict - m out"
    assert printed == f"Error: standard input:1: {DATA_FILE}; {where}\n"
    assert "the test file" not in error(directory, "predict", "-", "rows", input="1 1:0.5\n")


@pytest.mark.parametrize(
    "text, words",
    [
        ("1 1:0.5\n2,3\n", "predict"),
        ("1 1:0.5 2\n", "predict"),
        ("x 1:2\n", "predict"),
        ("\n1,2\n", "predict"),
        ("1 0x1:5\n", "predict"),
        ("a b\nc d\n", "predict --dense"),
        ("1,2\n1,2,3\n", "predict --dense"),
        ("1,x\n1,2\n", "predict --dense"),
    ],
)
def test_what_is_not_plain_gets_no_other_advice(directory, text, words):
    (directory / "odd").write_text(text)
    printed = error(directory, *words.split(), "odd", "m", "/dev/null")
    assert printed.endswith(f"{SKIPPED}\n")
    assert not any(word in printed.removesuffix(f"{SKIPPED}\n") for word in (";", "add", "leave", "tail"))


def test_the_hint_is_for_the_command_line_alone(directory):
    """Exceptions of the library name only the error."""
    (directory / "n.csv").write_text("1,0.25\n")
    with pytest.raises(DataFormatError) as caught:
        list(fastsvm_cli.read_chunks(str(directory / "n.csv")))
    assert "--dense" not in str(caught.value)


@pytest.mark.parametrize("name", ["m", "rows"])
@pytest.mark.parametrize(
    "encoding, advice",
    [
        ("utf-8-sig", "it begins with a byte order mark, which tail -c +4 'the file' leaves out\n"),
        ("utf-16", "it is UTF-16, which iconv -f UTF-16 -t ASCII 'the file' turns into text that is read\n"),
    ],
)
def test_text_as_programs_of_windows_write_it(directory, name, encoding, advice):
    text = (directory / name).read_text()
    (directory / "the file").write_text(text, encoding=encoding)
    printed = error(directory, "predict", *("the file" if each == name else each for each in ("rows", "m")))
    assert printed.startswith("Error: the file:1: ") and printed.endswith(f"; {advice}")
    command = re.search(", which (.*'the file')", advice)[1]
    assert subprocess.run(command, shell=True, cwd=directory, capture_output=True).stdout.decode() == text
