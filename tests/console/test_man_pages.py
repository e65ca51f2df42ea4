"""The installed man pages."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fastsvm_cli import __version__
from fastsvm_cli.cli import COMMANDS
from support import example_command
from support.building import require
from support.paths import PROGRAM, SCRIPTS
from support.processes import outcome

sys.path.append(str(SCRIPTS))

from man_page import man_pages

#: The page of a command. The native program has the name of one.
PAGES = {name: f"fastsvm-{name}" + "-command" * (name == "predict") for name in COMMANDS}
FOLDER = Path(sys.prefix, "share", "man", "man1")


@pytest.fixture
def groff():
    """Formats a page as text, as man does; warnings are failures."""
    require("groff")

    def run(path):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", path], capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_its_sections(groff, name):
    shown = groff(FOLDER / f"{PAGES[name]}.1")
    heads = re.findall(r"^[A-Z ]+$", shown, re.M)
    assert heads == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"]
    assert re.search(rf"NAME\n +{PAGES[name]} - [a-z]", shown)
    assert re.search(rf"^ +fastsvm {name} \[options\]", shown, re.M)
    assert not re.search(r"[\u2010\u2212\u2018\u2019]", shown)  # text copied from the page can be run
    others = re.findall(r"(fastsvm[-a-z]*)\(1\)", " ".join(shown.split()).partition("SEE ALSO")[2])
    assert set(others) >= {"fastsvm", "fastsvm-predict", *PAGES.values()} - {PAGES[name]}


def test_the_page_of_the_native_program_has_its_options(groff):
    shown = groff(FOLDER / "fastsvm-predict.1")
    assert re.search(r"NAME\n +fastsvm-predict - [a-z]", shown) and "fastsvm-predict [options] test_file" in shown
    helped = outcome([PROGRAM, "--help"]).stdout

    def spellings(text, indent):
        lines = re.findall(rf"^ {{{indent}}}(-.*)$", text, re.M)
        return {word for line in lines for word in re.findall(r"(?<!\S)--[a-z-]+", line)}

    listed = shown.partition("OPTIONS")[2].partition("EXIT STATUS")[0]
    assert spellings(listed, 7) == spellings(helped, 2) and "--exact" in listed


def test_what_is_special_to_roff_is_text(groff, tmp_path, screen):
    pages = man_pages(example_command.fastsvm)
    screen("man", "\n".join(f"--- {name}\n{text}" for name, text in pages.items()).replace(__version__, "VERSION"))
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
        assert groff(tmp_path / name)


def test_the_script_of_the_build_makes_what_is_installed(tmp_path):
    subprocess.run([sys.executable, SCRIPTS / "make_shell_files.py", tmp_path / "share"], check=True)
    made = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(made) == len(COMMANDS) + 5
    for path, text in made.items():
        assert text == Path(sys.prefix, path).read_text(), path
    done = outcome([sys.executable, SCRIPTS / "make_shell_files.py"])
    assert (done.returncode, done.stderr) == (1, "usage: scripts/make_shell_files.py FOLDER\n")
