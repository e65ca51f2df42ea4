"""Completion by TAB, in real shells."""

import os
import sys
from pathlib import Path

import pytest

from fastsvm_cli.cli import COMMANDS, COMPLETIONS, fastsvm
from support import example_command
from support.building import require
from support.messages import cases
from support.paths import FASTSVM, SCRIPTS
from support.processes import outcome
from support.shells import completed, listed

sys.path.append(str(SCRIPTS))

from make_shell_files import script

#: Installed folder of the shells' completion files.
SHARE = Path(sys.prefix, "share")


@pytest.fixture(params=COMPLETIONS)
def shell(request):
    require(request.param)
    return request.param


@pytest.fixture
def folder(tmp_path):
    for name in ("a9a.t", "b.model", "two words.model", "range.txt"):
        (tmp_path / name).touch()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "inner.model").touch()
    return tmp_path


#: Typed text -> line after TAB.
LINES = dict(cases("completed lines"))


@pytest.mark.full(few=1)
def test_a_tab_completes_commands_options_choices_and_files(shell, folder):
    found, screen = completed(shell, SHARE, LINES, folder)
    for (typed, expected), line in zip(LINES.items(), found, strict=True):
        # zsh inserts = between an option and its value.
        assert line.rstrip("=") == expected, f"{typed!r}\n{screen}"


@pytest.mark.full(few=1)
def test_a_tab_lists_what_there_is(shell, folder):
    shown = listed(shell, SHARE, "fastsvm \t\t", COMMANDS, folder).partition("fastsvm ")[2]
    assert sorted(COMMANDS, key=shown.index) == list(COMMANDS), shown  # in the order of --help
    methods = ("geometry", "triangle")
    assert "a9a.t" not in listed(shell, SHARE, "fastsvm order --method \t\t", methods, folder)
    listed(shell, SHARE, "fastsvm predict \t\t", ("a9a.t", "b.model", "deep"), folder)
    assert "--on-bad-row" not in listed(shell, SHARE, "fastsvm order --\t\t", ("--fold", "--coef0"), folder)


@pytest.mark.full(few=1)
def test_a_shell_can_ask_the_command_for_its_script(shell, folder):
    """As for every click program."""
    requested = f"env _FASTSVM_COMPLETE={shell}_source fastsvm"
    source = f"{requested} | source" if shell == "fish" else f"source <({requested})"
    typed = ["fastsvm predict a9\t", "fastsvm order --method tri\t"]
    found, screen = completed(shell, folder / "nothing", typed, folder, source=source)
    assert found == ["fastsvm predict a9a.t", "fastsvm order --method triangle"], screen


@pytest.mark.parametrize("name", COMPLETIONS)
def test_the_installed_scripts_are_those_of_the_commands(name):
    text = (SHARE / COMPLETIONS[name]).read_text()
    assert text == script(fastsvm, name)
    for command in ([FASTSVM], [sys.executable, "-m", "fastsvm_cli"]):
        done = outcome(command, env={**os.environ, "_FASTSVM_COMPLETE": f"{name}_source"})
        assert (done.returncode, done.stdout, done.stderr) == (0, text, "")


@pytest.mark.parametrize("name", COMPLETIONS)
def test_what_a_script_holds_of_a_command(name, screen):
    """Literal words are offered, placeholders are not; options take nothing, a value or a file."""
    screen(f"completion.{name}", script(example_command.fastsvm, name))


def test_a_shell_that_is_none_of_these_is_told():
    for wish in ("tcsh_source", "bash_complete", ""):
        done = outcome([FASTSVM], env={**os.environ, "_FASTSVM_COMPLETE": wish})
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"Error: _FASTSVM_COMPLETE is '{wish}', expected one of bash_source, zsh_source, fish_source.\n"
        )
