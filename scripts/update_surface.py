#!/usr/bin/env python3
"""Write tests/repository/surface.txt, the interface that other programs can rely on (Promises, in
fastsvm_cli/commands/INTERFACE.md). Announce a change in CHANGELOG.md before.

    scripts/update_surface.py            write the file
    scripts/update_surface.py --check    write nothing, print differences; exit code 1 if there are any

scripts/lint.sh checks it, with click and griffe, but without the compiled core.
"""

import re
import sys
from difflib import unified_diff
from pathlib import Path

import click
import griffe

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import fastsvm_cli
from fastsvm_cli.cli import COMMANDS, fastsvm

ROOT = Path(__file__).resolve().parent.parent
SURFACE = ROOT / "tests" / "repository" / "surface.txt"
PAGE = (ROOT / "fastsvm_cli" / "commands" / "INTERFACE.md").read_text()


def surface() -> str:
    return "\n".join([*_commands(), *_python(), *_json_keys(), *_exit_codes(), *_c()]) + "\n"


def _commands():
    context = click.Context(fastsvm)
    for name in sorted(COMMANDS):
        command = fastsvm.get_command(context, name)
        assert command is not None
        for each in command.params:
            if isinstance(each, click.Argument):
                yield f"command {name} {each.make_metavar(context)}"
            else:
                value = "" if each.is_flag else f" {each.make_metavar(context)}"
                yield f"command {name} {', '.join([*each.opts, *each.secondary_opts])}{value}"


def _python():
    package = griffe.load("fastsvm_cli", search_paths=[ROOT])
    for module in (package, package["sklearn"], package["dask"]):
        for name in sorted(fastsvm_cli.__all__ if module is package else map(str, module.exports)):
            yield from _of_a_name(f"python {module.path}.{name}", module[name])


def _of_a_name(path, thing):
    try:
        thing = thing.final_target if thing.is_alias else thing
    except griffe.AliasResolutionError:  # of the core, which has no Python source
        yield path
        return
    if thing.is_class or thing.is_function:
        yield f"{path}({', '.join(_parameter(each) for each in thing.parameters if each.name != 'self')})"
    else:
        yield path
    if thing.is_class:
        for name, part in sorted(thing.all_members.items()):
            if not name.startswith("_"):
                yield from _of_a_name(f"{path}.{name}", part)


def _parameter(each: griffe.Parameter) -> str:
    stars = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(each.kind, "")
    return stars + each.name + ("" if stars or each.default is None else f"={each.default}")


def _json_keys():
    for command, keys in re.findall(r"^### `([^`]* --json)`\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S):
        for item in re.split(r"^- ", keys, flags=re.M):
            for key in re.findall(r"`([^`]+)`", re.split(r"(?<=`):\s", item)[0]):
                yield f"json {command} {key}"


def _exit_codes():
    section = PAGE.split("\n## Exit codes\n")[1].split("\n## ")[0]
    for line in re.findall(r"^\| *([0-9+a-z ]+?) *\|", section, re.M):
        if line[0].isdigit():
            yield f"exit code {line}"


def _c():
    for name in ("fastsvm.h", "fastsvm_libsvm.h"):
        text = (ROOT / "fastsvm_cli" / "native" / "capi" / name).read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for declaration in re.findall(r"^[a-z][^;{}#]*\([^;{}]*\);", text, re.M):
            yield f"c {name} {' '.join(declaration.split())}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        before, now = SURFACE.read_text().splitlines(), surface().splitlines()
        print(*unified_diff(before, now, "announced", "found", lineterm="", n=0), sep="\n")
        sys.exit(f"announce it in CHANGELOG.md, then run {sys.argv[0]}" if before != now else 0)
    SURFACE.write_text(surface())
