"""Content and layout of --help pages; content of man pages."""

from typing import NamedTuple

import click

#: Blank without a line break.
HARD_BLANK = "\xa0"
#: Maximum columns: longer lines are hard to read.
WIDEST = 100


class Page(NamedTuple):
    """Content of a help page."""

    usage: str
    paragraphs: "list[str | list[str]]"  #: a paragraph, or verbatim lines
    options: "dict[str, list[tuple[str, str]]]"  #: of each group, Options first: spelling, description
    commands: "list[tuple[str, str]]"  #: of a group: name, sentence

    @property
    def summary(self) -> str:
        """The first paragraph."""
        return str(self.paragraphs[0]) if self.paragraphs else ""


def content(command: click.Command, context: click.Context) -> Page:
    """Return the content of a command's help page."""
    commands = []
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            each = command.get_command(context, name)
            assert each is not None
            commands.append((name, str(_paragraphs(each.help or "")[0])))
    return Page(
        " ".join([context.command_path, *command.collect_usage_pieces(context)]),
        _paragraphs(command.help or ""),
        grouped(command.get_params(context)),
        commands,
    )


def grouped(parameters: "list[click.Parameter]") -> "dict[str, list[tuple[str, str]]]":
    """Return {heading: [(spelling, description)]}, options without a group first."""
    groups: dict[str, list[tuple[str, str]]] = {"Options": []}
    for each in parameters:
        if isinstance(each, click.Option):
            groups.setdefault(getattr(each, "group", "") or "Options", []).append(option_words(each))
    return groups


def option_words(option: click.Option) -> "tuple[str, str]":
    """Return an option's spelling, and its description with default and limits, short ones on one line."""
    written = ", ".join(sorted(option.opts, key=lambda word: word.startswith("--")))
    if not option.is_flag:
        written += f" {value_name(option)}"
    limits = "; ".join(filter(None, (_default(option), _range(option))))
    if len(limits) <= 22:
        limits = limits.replace(" ", HARD_BLANK)
    return written, f"{option.help or ''}{f' [{limits}]' if limits else ''}"


def help_page(command: click.Command, context: click.Context) -> str:
    """Return a command's help page in the terminal's width."""
    from shutil import get_terminal_size

    return text(content(command, context), get_terminal_size().columns)


def text(page: Page, columns: int) -> str:
    """Return a page for a terminal of so many columns; examples are not wrapped."""
    width = max(min(columns, WIDEST) - 1, 40)
    lines = _wrapped(page.usage, width, "Usage: ", " " * 7)
    for paragraph in page.paragraphs:
        lines.append("")
        if isinstance(paragraph, list):
            lines += [f"    {line}" for line in paragraph]
        else:
            lines += _wrapped(paragraph, width, "  ", "  ")
    for title, entries in (("Commands", page.commands), *page.options.items()):
        if entries:
            lines += ["", f"{title}:", *_table(entries, width)]
    return "\n".join(lines)


def _paragraphs(words: str) -> "list[str | list[str]]":
    r"""Split a docstring in click's form; \b marks lines not to wrap."""
    from inspect import cleandoc
    from textwrap import dedent

    found: list[str | list[str]] = []
    for block in cleandoc(words).split("\n\n"):
        lines = [line.rstrip() for line in block.split("\n")]
        found.append(
            dedent("\n".join(lines[1:])).split("\n") if lines[0] == "\b" else " ".join(" ".join(lines).split())
        )
    return found


def value_name(option: click.Option) -> str:
    """Return the name of an option's value in help pages."""
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return option.metavar or ""


def _default(option: click.Option) -> str:
    shown = option.show_default
    if shown is True and not option.is_flag:
        shown = f"{option.default:,g}" if isinstance(option.default, (int, float)) else str(option.default)
    return f"default: {shown}" if isinstance(shown, str) else ""


def _range(option: click.Option) -> str:
    limits, name = option.type, option.metavar or ""
    if not isinstance(limits, (click.IntRange, click.FloatRange)) or limits.max is None or "|" in name:
        return ""
    return f"{'above ' if limits.min_open else ''}{limits.min or 0:,g} to {limits.max:,g}"


def _wrapped(words: str, width: int, first: str, others: str) -> "list[str]":
    from textwrap import wrap

    lines = wrap(
        words, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False, break_long_words=False
    )
    return [line.replace(HARD_BLANK, " ") for line in lines]


def _table(entries: "list[tuple[str, str]]", width: int) -> "list[str]":
    most = 26 if width >= 72 else 18
    column = max(len(left) for left, _ in entries if len(left) <= most) + 4
    lines = []
    for left, right in entries:
        beside = _wrapped(right, width, " " * column, " " * column) or [""]
        if len(left) <= most:
            beside[0] = f"  {left}".ljust(column) + beside[0][column:]
        else:
            lines.append(f"  {left}")
        lines += [line.rstrip() for line in beside]
    return lines
