"""--help of every command, at every width."""

import re

import click
import pytest

from fastsvm_cli.cli import COMMANDS
from fastsvm_cli.cli import fastsvm as group
from fastsvm_cli.console.help_page import content, option_words, text
from support import example_command


def page(name, columns, program=group):
    context = click.Context(program, info_name="fastsvm", help_option_names=["-h", "--help"])
    if name is None:
        return text(content(program, context), columns)
    command = program.get_command(context, name)
    return text(content(command, click.Context(command, context, name)), columns)


def examples(shown):
    return [line for line in shown.split("\n") if re.match(r"    (\S+ \| |)(fastsvm|svm-\w+|zcat) ", line)]


def test_a_page_shows_options_of_every_form(screen):
    """Values, defaults and limits; verbatim lines; long words."""
    pages = [page(name, columns, example_command.fastsvm) for name in (None, "one") for columns in (50, 80)]
    screen("help", "\n\n".join(pages) + "\n")


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_a_page_fits_its_terminal_and_says_what_is_meant(name):
    widest = page(name, 300)
    wide, words = examples(widest), " ".join(widest.split())
    assert wide and max(map(len, wide)) <= 80, wide  # fits most terminals
    for columns in (50, 60, 80, 120, 300):
        shown = page(name, columns)
        assert wide == examples(shown)  # commands to copy are whole
        for line in set(shown.split("\n")) - set(wide):
            assert len(line) < min(columns, 101) and line == line.rstrip(), line
        assert " ".join(shown.split()) == words  # nothing is cut
    assert not re.search(r"RANGE\b(?!_FILE)|INTEGER|FLOAT|TEXT|x>|<=x|\(default|\x08|\xa0", widest)
    # Brackets are for defaults and limits, and in fastsvm[plot].
    for bracket in re.findall(r"(?<!fastsvm)\[([^]|]*)\]", words.partition("Options:")[2]):
        assert re.match(r"default: |(above )?[\d,]+ to [\d,]+$", bracket), bracket


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_under_one_heading(name):
    """The everyday options come first; the others are grouped under headings."""
    command = group.get_command(click.Context(group), name)
    groups = content(command, click.Context(command, info_name=name)).options
    assert next(iter(groups)) == "Options" and 2 <= len(groups["Options"]) <= 9
    written = [each[0] for options in groups.values() for each in options]
    with click.Context(command, info_name=name) as context:
        options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    assert sorted(written) == sorted(option_words(each)[0] for each in options)
    shown = page(name, 80)
    positions = [shown.index(f"\n\n{heading}:\n") for heading in groups]
    assert positions == sorted(positions)


def test_letters_are_those_of_libsvm():
    """Options that mean the same as in svm-train have its letters."""
    theirs = {"gamma": "-g", "coef0": "-r", "probability": "-b", "quiet": "-q"}
    context, found = click.Context(group), set()
    for name in COMMANDS:
        for option in group.get_command(context, name).params:
            if option.name in theirs:
                assert option.opts == [theirs[option.name], f"--{option.name}"], f"{name} {option.opts}"
                found.add(option.name)
            if "-d" in option.opts:
                assert name == "order" and option.name == "degree"  # the kernel's; other commands have an expansion's
    assert found == set(theirs)


def test_the_terminal_decides_how_wide_a_page_is(fastsvm):
    for columns in (60, 80):
        assert fastsvm("border", "--help", env={"COLUMNS": str(columns)}).out == page("border", columns) + "\n"
    assert fastsvm("--help", env={"COLUMNS": "80"}).out == page(None, 80) + "\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_default_is_shown(name):
    """The description itself does not mention the default."""
    command = group.get_command(click.Context(group), name)
    unasked = command.make_context(name, [], resilient_parsing=True).params
    for option in command.params:
        if isinstance(option, click.Option) and not option.is_flag:
            assert unasked[option.name] is None or option.show_default, f"{name} {option.name}"
            assert "default" not in option.help, option.help
