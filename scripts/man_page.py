"""Man pages: --help in man(7) format."""

import re

import click

from fastsvm_cli import __version__
from fastsvm_cli.console.help_page import HARD_BLANK, Page, content

EXIT_STATUS = (
    ("0", "Done; also where the reader of a pipe has what it wanted."),
    ("1", "Bad data or a bad model: one line on standard error says where, what was found and what was expected."),
    ("2", "Wrong usage."),
    ("3", "The limit of --max-disagreement (bench, predict) is exceeded."),
    ("128 + N", "Stopped by signal N: 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP."),
)


#: Native program with the name of a command's page, its own options, and groups of options that it lacks.
PROGRAM = "fastsvm-predict"
_OWN = [("--version", "Show the version and exit."), ("--help", "Show the options and exit.")]
_OF_PYTHON = ("Long jobs", "Clusters")
_ABOUT = (
    f"{PROGRAM} is a native program, which starts faster than fastsvm predict and writes the same lines. It reads gzip,"
    " and no other compressed files. Under the name svm-predict (a link), it has the usage, options and exit codes of"
    f" svm-predict. Long jobs and clusters are options of the command fastsvm predict: {PROGRAM}-command(1)."
)


def man_pages(group: click.Group) -> "dict[str, str]":
    """Return {file name: text}, for each command and the native program."""
    context = click.Context(group, info_name="fastsvm", help_option_names=["-h", "--help"])
    pages = {"fastsvm": content(group, context)}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        page = content(command, click.Context(command, context, name))
        pages[_page_name(name)] = page
        if f"fastsvm-{name}" == PROGRAM:
            pages[PROGRAM] = _program_page(page)
    others = {name: [each for each in pages if each != name] for name in pages}
    return {f"{name}.1": _page(name, page, others[name]) for name, page in pages.items()}


def _page_name(command: str) -> str:
    return f"fastsvm-{command}{'-command' if f'fastsvm-{command}' == PROGRAM else ''}"


def _program_page(command: Page) -> Page:
    """Return the native program's page, from that of the command."""
    groups = {name: each for name, each in command.options.items() if name not in _OF_PYTHON}
    groups["Options"] = [*(each for each in groups["Options"] if "--help" not in each[0]), *_OWN]
    return command._replace(
        usage=command.usage.replace("fastsvm predict", PROGRAM),
        paragraphs=[command.summary, _ABOUT],
        options=groups,
    )


def _page(name: str, page: Page, others: "list[str]") -> str:
    program, _, synopsis = page.usage.partition(" [OPTIONS]")
    lines = [
        f'.TH {name.upper()} 1 "" "fastsvm {__version__}" "fastsvm"',
        # No hyphenation: words are options and file names.
        ".nh",
        ".ad l",
        ".SH NAME",
        # whatis and apropos look for \- as the dash.
        f"{_text(name)} \\- {_text(page.summary[0].lower() + page.summary[1:].removesuffix('.'))}",
        ".SH SYNOPSIS",
        f"\\fB{_text(program)}\\fR [\\fIoptions\\fR]{_arguments(synopsis)}",
        ".SH DESCRIPTION",
    ]
    first = True
    for paragraph in [page.summary, *page.paragraphs[1:]]:
        if isinstance(paragraph, list):
            lines += [".PP", ".RS 4", ".nf", *map(_line, paragraph), ".fi", ".RE"]
        else:
            lines += [".PP"] * (not first) + [_line(paragraph)]
        first = False
    if page.commands:
        lines.append(".SH COMMANDS")
        for command, sentence in page.commands:
            lines += [".TP", f"\\fB{_text(_page_name(command))}\\fR(1)", _line(sentence)]
    for group, options in page.options.items():
        lines.append(".SH OPTIONS" if group == "Options" else f".SS {_text(group)}")
        for written, words_ in options:
            lines += [".TP", _spelled(written), _line(words_)]
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_STATUS:
        lines += [".TP", f"\\fB{_text(code)}\\fR", _line(meaning)]
    lines += [".SH SEE ALSO", ",\n".join(f"\\fB{_text(each)}\\fR(1)" for each in [*others, "svm-predict", "svm-train"])]
    return "\n".join(lines) + "\n"


def _text(words: str) -> str:
    r"""Escape text for roff: - must be a minus, and quotes must stay ASCII."""
    for character, written in (
        ("\\", "\\e"),
        ("-", "\\-"),
        ("'", "\\(aq"),
        ("`", "\\(ga"),
        ("^", "\\(ha"),
        ("~", "\\(ti"),
        (HARD_BLANK, "\\ "),
    ):
        words = words.replace(character, written)
    assert words.isascii(), words
    return words


def _line(words: str) -> str:
    r"""Escape an initial dot, which would be a request."""
    escaped = _text(words)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _spelled(written: str) -> str:
    *others, last = written.split(", ")
    spelling, _, value = last.partition(" ")
    bold = ", ".join(f"\\fB{_text(each)}\\fR" for each in [*others, spelling])
    return f"{bold} \\fI{_text(value)}\\fR" if value else bold


def _arguments(synopsis: str) -> str:
    return re.sub(r"[A-Z_]+", lambda name: f"\\fI{name[0].lower()}\\fR", _text(synopsis))
