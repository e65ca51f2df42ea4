#!/usr/bin/env python3
"""Write the option lists of the reference, fastsvm_cli/commands/README.md.

    scripts/update_reference.py            write the lists
    scripts/update_reference.py --check    write nothing; exit code 1 if a list is not up to date

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
from fastsvm_cli.console.help_page import HARD_BLANK, grouped

PAGE = Path(__file__).resolve().parent.parent / "fastsvm_cli" / "commands" / "README.md"
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


def main() -> None:
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: scripts/update_reference.py [--check]")
    page = PAGE.read_text()
    try:
        new = updated(page)
    except ValueError as error:
        sys.exit(f"{PAGE}: {error}")
    if new == page:
        return
    if sys.argv[1:]:
        sys.exit(f"{PAGE}: option lists are not up to date; run scripts/update_reference.py")
    PAGE.write_text(new)


if __name__ == "__main__":
    main()
