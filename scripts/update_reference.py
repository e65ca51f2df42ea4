#!/usr/bin/env python3
"""Write the option lists of the reference, fastsvm_cli/commands/README.md, and the help of fastsvm-predict.

    scripts/update_reference.py            write them
    scripts/update_reference.py --check    write nothing; exit code 1 if one is not up to date

Each list is between two comments. Needs click, but not the compiled core.
"""

import re
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from textwrap import wrap

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fastsvm_cli.cli import COMMANDS, fastsvm
from fastsvm_cli.console.help_page import HARD_BLANK, grouped, help_page

PACKAGE = Path(__file__).resolve().parent.parent / "fastsvm_cli"
PAGE = PACKAGE / "commands" / "README.md"
PROGRAM = PACKAGE / "native" / "program" / "main.cpp"
_LIST = re.compile(r"(<!-- options of (\w+), [^>]*-->\n).*?(<!-- end of options -->)", re.S)
#: Name of the list of shared options.
_SEVERAL = "several"


def updated(page: str) -> str:
    """Return the page with current lists. Raise ValueError if a list is missing or repeated."""
    named = [name for _, name, _ in _LIST.findall(page)]
    if sorted(named) != sorted([*COMMANDS, _SEVERAL]):
        raise ValueError(f"option lists of {', '.join(named)} found, expected one of each command and of {_SEVERAL}")
    lists = _lists()
    return _LIST.sub(lambda found: f"{found[1]}\n{lists[found[2]]}\n\n{found[3]}", page)


def _lists() -> "dict[str, str]":
    groups = {name: _groups(name) for name in COMMANDS}
    options = {name: list(chain(*of.values())) for name, of in groups.items()}
    having = {each: [name for name in COMMANDS if each in options[name]] for each in chain(*options.values())}
    lists = {_SEVERAL: [_entry(*each, names) for each, names in having.items() if len(names) > 1]}
    for name, own in options.items():
        lists[name] = []
        for group, entries in groups[name].items():
            alone = [_entry(*each) for each in entries if len(having[each]) == 1]
            lists[name] += [f"\n{group}:\n"] * bool(alone and group != "Options") + alone
        several = [re.findall(r"--[\w-]+", each[0])[0] for each in own if len(having[each]) > 1]
        shared = ", ".join(f"`{name}`" for name in several)
        lists[name] += ["", *_wrapped(f"[Shared](#options-of-several-commands): {shared}.")]
    return {name: "\n".join(lines).lstrip("\n") for name, lines in lists.items()}


def _groups(name: str) -> "dict[str, list[tuple[str, str]]]":
    command = fastsvm.get_command(click.Context(fastsvm), name)
    assert command is not None
    return grouped(command.params)


def _entry(written: str, words: str, names: "Sequence[str]" = ()) -> str:
    # At the start of a line, Markdown reads "#", "-" or "1." as a heading or list.
    words = re.sub(r" (?=([-+*#>]|\d+[.)]) )", HARD_BLANK, words)
    commands = f" ({', '.join(names)})" if names else ""
    return "\n".join(_wrapped(f"- `{written}`{commands}: {words}"))


def _wrapped(item: str) -> "list[str]":
    indent = "  " * item.startswith("- ")
    lines = wrap(item, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace(HARD_BLANK, " ") for line in lines]


def program_help(source: str) -> str:
    """Return the source with the current help of fastsvm-predict: that of predict without what needs Python."""
    command = fastsvm.get_command(click.Context(fastsvm), "predict")
    assert command is not None
    context = click.Context(command, info_name="predict", terminal_width=80)
    options = help_page(command, context).partition("Options:\n")[2].partition("\nLong jobs:\n")[0]
    options = re.sub(r"(?m)^(.*)Show this message and exit\.$", _with_version, options)
    text = f"""Usage: fastsvm-predict [options] test_file model_file [output_file]

Predict rows with any model file, exact or compiled, as svm-predict does.
A - as file is standard input, or standard output, which is also the default.

Options:
{options}
Long jobs and clusters are fastsvm predict's, of the Python package.
"""
    return re.sub(r'R"\(.*?\)"', lambda _: f'R"({text})"', source, flags=re.S)


def _with_version(shown: "re.Match[str]") -> str:
    return f"{shown[0]}\n{'  --version':{len(shown[1])}}Show the version and exit."


def main() -> None:
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: scripts/update_reference.py [--check]")
    for path, renewed in ((PAGE, updated), (PROGRAM, program_help)):
        old = path.read_text()
        try:
            new = renewed(old)
        except ValueError as error:
            sys.exit(f"{path}: {error}")
        if new != old and sys.argv[1:]:
            sys.exit(f"{path}: not up to date; run scripts/update_reference.py")
        if new != old:
            path.write_text(new)


if __name__ == "__main__":
    main()
