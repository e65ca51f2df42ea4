"""The README cannot drift from the program."""

import os
import re
import shlex
import subprocess

import click
import pytest

from fastsvm_cli.cli import COMMANDS
from fastsvm_cli.cli import fastsvm as group
from support.places import DATA, ROOT, SCRIPTS

README = (ROOT / "README.md").read_text()
CONTEXT = click.Context(group)


def _options(name):
    return {
        option
        for parameter in group.get_command(CONTEXT, name).params
        for option in parameter.opts
        if option.startswith("-")
    } | {"-h", "--help"}


def test_every_command_is_in_the_readme_with_its_own_usage():
    for name in COMMANDS:
        assert f"`fastsvm {name} [options]" in README


@pytest.mark.parametrize("line", sorted(set(re.findall(rf"fastsvm (?:{'|'.join(COMMANDS)})\b[^|`#\n]*", README))))
def test_every_option_in_the_readme_exists(line):
    words = shlex.split(line)
    for word in words[2:]:
        if word.startswith("-") and len(word) > 1:
            assert word in _options(words[1]), line


def test_every_long_option_is_explained_in_the_readme():
    for name in COMMANDS:
        for option in _options(name) - {"--help", "--quiet", "--probability", "--threads"}:
            assert not option.startswith("--") or option in README, f"{name} {option}"


def test_both_commands_of_the_readme_are_there():
    for script in ("./scripts/quickstart.sh", "./scripts/test.sh"):
        assert f"\n{script}\n" in README
        assert os.access(ROOT / script, os.X_OK)
        subprocess.run(["bash", "-n", ROOT / script], check=True)


def test_the_changelog_names_the_version():
    from fastsvm_cli import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_data_sets_are_what_their_script_makes(tmp_path):
    """Made again in a copy of the project, they are the same to the byte: any machine has the same data."""
    import shutil
    import sys

    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPTS / "make_data.py", tmp_path / "scripts")
    subprocess.run([sys.executable, tmp_path / "scripts" / "make_data.py"], check=True)
    made = {path.name: path.read_bytes() for path in (tmp_path / "data").iterdir()}
    assert made == {path.name: path.read_bytes() for path in DATA.iterdir() if path.name in made} and len(made) == 5


@pytest.mark.parametrize(
    "name, parameter",
    [
        ("order", "points"),
        ("order", "fold"),
        ("order", "lists"),
        ("reduce", "init"),
        ("border", "data_file"),
        ("border", "sampling"),
        ("border", "target"),
    ],
)
def test_limits_that_act_without_being_asked_for_are_told(name, parameter):
    """In --help, with the numbers that the code has."""
    from inspect import getsource, signature

    from fastsvm_cli.commands import order
    from fastsvm_cli.compilers import clusters
    from fastsvm_cli.compilers.border import compile as border
    from fastsvm_cli.compilers.border import sampler
    from fastsvm_cli.compilers.ordered import geometry
    from fastsvm_cli.compilers.reduced_set import placement

    features = border._CLOUD_CELLS // border._CLOUD_ROWS
    rounds = signature(placement._kernel_means).parameters["iterations"].default
    cost = re.search(r"-t 0 -c (\d+)", getsource(order)).group(1)
    said = {
        "points": [f"{geometry._MOST_POINTS:,} at most"],
        "fold": [f"(C = {cost})"],
        "lists": [f"k-means, {clusters.ROUNDS} rounds"],
        "init": [f"{rounds} rounds", f"on {placement._CLUSTERED:,} drawn support vectors"],
        "data_file": [
            "half of them for either",
            f"fewer than {border._HELD_OUT}",
            f"{border._CLOUD_ROWS:,} drawn rows at most, fewer beyond {features} features",
        ],
        "sampling": [f"the nearest of {sampler._NEAR:,} drawn ones"],
        "target": [f"{border.MOST_SAMPLES:,} at most"],
    }
    (option,) = [each for each in group.get_command(CONTEXT, name).params if each.name.startswith(parameter)]
    for words in said[parameter]:
        assert words in option.help, option.help
