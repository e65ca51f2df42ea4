"""Rows that are written otherwise: the error says what to type instead, and that works. Others are in messages.txt."""

import re
import shlex
import subprocess

import pytest

import fastsvm_cli
from fastsvm_cli.errors import DataFormatError
from support.forked import fastsvm
from support.messages import cases, table, unescaped


def error(directory, words, input=None):
    done = fastsvm(words, cwd=directory, input=input, text=True)
    assert done.returncode == 1 and done.stderr.count("Error: ") == 1, done
    return done.stderr.splitlines()[-1].removeprefix("Error: ")


@pytest.mark.full(few=5)
@pytest.mark.parametrize("text, words, message", table("messages.txt", "rows that are written otherwise"))
def test_rows_that_are_written_otherwise(directory, text, words, message):
    """The text is the file `odd`, and standard input."""
    (directory / "odd").write_text(unescaped(text))
    printed = error(directory, words.split(), unescaped(text))
    assert printed == message
    if "writes plain numbers" in printed and "--scale" not in words:
        command = re.search("found: (t[^:]*) writes", printed)[1]
        plain = subprocess.run(command, shell=True, cwd=directory, capture_output=True, check=True).stdout
        (directory / "plain").write_bytes(plain)
        typed = re.search(r"for (--dense.*)", printed)
        options = shlex.split(typed[1]) if typed else words.split()[1:-2]
        fastsvm(["predict", "-q", *options, "plain", "m"], cwd=directory, check=True)


def test_the_hint_is_for_the_command_line_alone(directory):
    """Exceptions of the library name only the error."""
    (directory / "n.csv").write_text("1,0.25\n")
    with pytest.raises(DataFormatError) as caught:
        list(fastsvm_cli.read_chunks(str(directory / "n.csv")))
    assert "--dense" not in str(caught.value)


@pytest.mark.parametrize("name", ["m", "rows"])
@pytest.mark.parametrize("encoding, advice", cases("texts of Windows"))
def test_text_as_programs_of_windows_write_it(directory, name, encoding, advice):
    text = (directory / name).read_text()
    (directory / "the file").write_text(text, encoding=encoding)
    printed = error(directory, ["predict", *("the file" if each == name else each for each in ("rows", "m"))])
    assert printed.startswith("the file:1: ") and printed.endswith(f"; {advice}")
    command = re.search(", which (.*'the file')", advice)[1]
    assert subprocess.run(command, shell=True, cwd=directory, capture_output=True).stdout.decode() == text
