#!/usr/bin/env python3
"""Write tests/repository/surface.txt, the interface that other programs can rely on (Promises, in
fastsvm_cli/commands/README.md). Announce a change in CHANGELOG.md before.

    scripts/update_surface.py            write the file
    scripts/update_surface.py --check    write nothing, print differences; exit code 1 if there are any

Needs fastsvm installed.
"""

import importlib
import inspect
import re
import sys
from difflib import unified_diff
from pathlib import Path

import click

from fastsvm_cli.cli import COMMANDS, fastsvm

ROOT = Path(__file__).resolve().parent.parent
SURFACE = ROOT / "tests" / "repository" / "surface.txt"
MODULES = ("fastsvm_cli", "fastsvm_cli.sklearn", "fastsvm_cli.dask")


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
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            yield f"python {module_name}.{name}{_signature(thing)}"
            if inspect.isclass(thing) and thing.__module__.startswith("fastsvm_cli."):
                own = [] if thing.__module__.endswith("._native") else sorted(vars(thing))
                for part in own:
                    if not part.startswith("_") and not re.fullmatch("set_.*_request", part):  # scikit-learn's
                        yield f"python {module_name}.{name}.{part}{_signature(vars(thing)[part])}"


def _signature(thing) -> str:
    """Return the parameter names, with `=` after optional ones."""
    if not callable(thing):
        return ""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except ValueError:  # of the core, which the stubs describe
        return "(...)"
    return f"({', '.join(map(_parameter, parameters))})"


def _parameter(each: inspect.Parameter) -> str:
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    return stars + each.name + ("" if each.default is each.empty else "=")


def _json_keys():
    page = (ROOT / "fastsvm_cli" / "commands" / "README.md").read_text()
    for command, table in re.findall(r"^\| `([^`]* --json)` .*\n\|[ -|]*\n((?:\|.*\n)*)", page, re.M):
        for line in table.splitlines():
            for key in re.findall(r"`([^`]+)`", line.split("|")[1]):
                yield f"json {command} {key}"


def _exit_codes():
    page = (ROOT / "fastsvm_cli" / "commands" / "README.md").read_text()
    section = page.split("\n## Exit codes\n")[1].split("\n## ")[0]
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
        sys.exit(before != now)
    SURFACE.write_text(surface())
