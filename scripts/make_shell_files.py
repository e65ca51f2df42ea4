#!/usr/bin/env python3
"""Write fastsvm's man pages and shell completions, from its --help, into a system's folders.

    scripts/make_shell_files.py share        share/man/man1/fastsvm.1, share/fish/vendor_completions.d/fastsvm.fish, ...

The build runs it. Needs click, but not the compiled core. TAB starts no Python.
"""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click

if __name__ == "__main__":  # the build has no installed package
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from man_page import man_pages

from fastsvm_cli.cli import COMPLETIONS, fastsvm
from fastsvm_cli.console.help_page import content, value_name


class Value(NamedTuple):
    """Value of an option or argument."""

    name: str  # in --help
    words: "tuple[str, ...]" = ()  # choices
    file: bool = False  # whether it names a file


class Completed(NamedTuple):
    """A command as shells complete it."""

    name: str
    sentence: str
    options: "list[tuple[list[str], Value | None, str]]"  # spellings, value (None for a flag) and sentence
    arguments: "list[Value]"
    required: int  # arguments, the first ones
    repeated: bool  # the last argument


def script(group: click.Group, shell: str) -> str:
    """Return the completion script of a shell."""
    context = click.Context(group, info_name="fastsvm", help_option_names=["-h", "--help"])
    commands = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        commands.append(_completed(command, click.Context(command, context, name)))
    return SHELLS[shell](_completed(group, context), commands)


def taken(option: click.Option) -> "Value | None":
    """Return an option's value; None for a flag."""
    if option.is_flag:
        return None
    name = value_name(option)
    words = tuple(word for word in name.split("|") if not word.isupper()) if "|" in name else ()
    return Value(name, words, re.search("FILE|MODEL|PATH", name) is not None)


def _completed(command: click.Command, context: click.Context) -> Completed:
    parameters = command.get_params(context)
    options = [
        (sorted(each.opts, key=lambda word: word.startswith("--")), taken(each), _gist(each.help or ""))
        for each in parameters
        if isinstance(each, click.Option)
    ]
    arguments = [each for each in parameters if isinstance(each, click.Argument)]
    return Completed(
        context.info_name or "",
        content(command, context).summary.removesuffix("."),
        options,
        [Value(each.human_readable_name.removesuffix("..."), file=True) for each in arguments],
        sum(each.required for each in arguments),
        any(each.nargs < 0 for each in arguments),
    )


def _gist(words: str) -> str:
    sentence = re.split(r"(?<!\.)\.(?= [A-Z-]|$)", words, maxsplit=1)[0]
    beginning = re.split(r"[:;]| \(", sentence, maxsplit=1)[0]
    return beginning if len(sentence) > 70 and len(beginning) >= 20 else sentence


def _bash(group: Completed, commands: "list[Completed]") -> str:
    def cases() -> Iterator[str]:
        outcomes: dict[str, list[str]] = {}
        for command in commands:
            for spellings, value, _ in command.options:
                if value is not None:
                    what = f'words="{" ".join(value.words)}"' if value.words else "return"
                    outcomes.setdefault("_fastsvm_files; return" if value.file else what, []).extend(
                        f"{command.name},{word}" for word in spellings
                    )
        for outcome, after in outcomes.items():
            yield f"        {'|'.join(after)}) {outcome} ;;"

    def options(command: Completed) -> str:
        return " ".join(word for spellings, _, _ in command.options for word in spellings)

    lines = [
        "# Completion of fastsvm in bash.",
        "_fastsvm_files() {",
        "    compopt -o default -o bashdefault",
        "}",
        "_fastsvm() {",
        '    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=""',
        "    COMPREPLY=()",
        "    if [[ $previous == = ]]; then  # --option=value is three words",
        "        previous=${COMP_WORDS[COMP_CWORD - 2]}",
        "    elif [[ $current == = ]]; then",
        '        current=""',
        "    fi",
        "    case ${COMP_WORDS[1]},$previous in",
        *cases(),
        "    esac",
        "    if [[ -z $words && $COMP_CWORD == 1 && $current == -* ]]; then",
        f'        words="{options(group)}"',
        "    elif [[ $COMP_CWORD == 1 ]]; then",
        f'        words="{" ".join(command.name for command in commands)}"',
        '    elif [[ -z $words && $current == -* && " ${COMP_WORDS[*]:0:COMP_CWORD} " != *" -- "* ]]; then',
        "        case ${COMP_WORDS[1]} in",
        *(f'            {command.name}) words="{options(command)}" ;;' for command in commands),
        "        esac",
        "    fi",
        "    if [[ -n $words ]]; then",
        '        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")',
        "    else",
        "        _fastsvm_files",
        "    fi",
        "}",
        "# bash before 4.4 cannot keep the order.",
        "complete -o nosort -F _fastsvm fastsvm 2>/dev/null || complete -F _fastsvm fastsvm",
    ]
    return "\n".join(lines) + "\n"


def _zsh(group: Completed, commands: "list[Completed]") -> str:
    def quoted(words: str) -> str:
        return "'" + words.replace("'", "'\\''") + "'"

    def escaped(words: str, special: str) -> str:
        return "".join(f"\\{each}" if each in special else each for each in words)

    def action(value: Value) -> str:
        what = "_files" if value.file else f"({' '.join(value.words)})" if value.words else " "
        return f":{escaped(value.name, ':')}:{what}"

    def specifications(command: Completed) -> Iterator[str]:
        for spellings, value, sentence in command.options:
            words = "[" + escaped(sentence, "[]\\") + "]" + (action(value) if value is not None else "")
            for spelling in spellings:
                joined = "" if value is None else "=" if spelling.startswith("--") else "+"
                others = f"({' '.join(spellings)})"
                yield quoted(f"{others}{spelling}{joined}{words}")
        for number, value in enumerate(command.arguments, 1):
            if command.repeated and number == len(command.arguments):
                yield quoted(f"*{action(value)}")
            else:
                yield quoted(f"{number}{':' * (number > command.required)}{action(value)}")

    lines = [
        "#compdef fastsvm",
        "# Completion of fastsvm in zsh.",
        "_fastsvm() {",
        "    local context state state_descr line ret=1",
        "    typeset -A opt_args",
        "    local -a commands",
        "    commands=(",
        *(f"        {quoted(f'{each.name}:{each.sentence}')}" for each in commands),
        "    )",
        "    _arguments -C \\",
        *(f"        {each} \\" for each in specifications(group)),
        "        '1: :->command' '*:: :->arguments' && ret=0",
        "    case $state in",
        "        command) _describe -V -t commands command commands && ret=0 ;;",
        "        arguments)",
        "            case $line[1] in",
    ]
    for command in commands:
        lines += [
            f"                {command.name})",
            "                    _arguments -S \\",
            *(f"                        {each} \\" for each in specifications(command)),
            "                        && ret=0 ;;",
        ]
    lines += [
        "            esac ;;",
        "    esac",
        "    return ret",
        "}",
        "# Loaded from $fpath it is the completion itself; sourced, it has to be made known.",
        "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then",
        '    _fastsvm "$@"',
        "else",
        "    compdef _fastsvm fastsvm",
        "fi",
    ]
    return "\n".join(lines) + "\n"


def _fish(group: Completed, commands: "list[Completed]") -> str:
    def quoted(words: str) -> str:
        return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def options(command: Completed, condition: str) -> Iterator[str]:
        for spellings, value, sentence in command.options:
            names = " ".join(f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}" for each in spellings)
            takes = ""
            if value is not None:
                takes = " -r -F" if value.file else f" -x -a {quoted(' '.join(value.words))}" if value.words else " -x"
            yield f"complete -c fastsvm -n {condition} {names}{takes} -d {quoted(sentence)}"

    lines = [
        "# Completion of fastsvm in fish.",
        "function __fastsvm_runs  # the command whose name is given; none: no command yet",
        "    set -l words (commandline -opc)",
        "    if set -q argv[1]",
        '        test (count $words) -gt 1; and test "$words[2]" = "$argv[1]"',
        "    else",
        "        test (count $words) -eq 1",
        "    end",
        "end",
        "function __fastsvm_commands",
        *(f"    printf '%s\\t%s\\n' {each.name} {quoted(each.sentence)}" for each in commands),
        "end",
        "complete -c fastsvm -e",
        "complete -c fastsvm -n __fastsvm_runs -f",
        "complete -c fastsvm -n __fastsvm_runs -k -a '(__fastsvm_commands)'",
        *options(group, "__fastsvm_runs"),
    ]
    for command in commands:
        lines += options(command, quoted(f"__fastsvm_runs {command.name}"))
    return "\n".join(lines) + "\n"


SHELLS: "dict[str, Callable[[Completed, list[Completed]], str]]" = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: scripts/make_shell_files.py FOLDER")
    files = {f"man/man1/{name}": text for name, text in man_pages(fastsvm).items()}
    files |= {path: script(fastsvm, shell) for shell, path in COMPLETIONS.items()}
    for path, text in files.items():
        file = Path(sys.argv[1], path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main()
