"""What a command's --help page holds, and how it is laid out. Its man page is made of the same content."""

from typing import NamedTuple

import click

#: Where no line ends.
HARD_BLANK = "\xa0"
#: The widest that a page gets, in columns: longer lines are hard to read.
WIDEST = 100


class Page(NamedTuple):
    """What there is to say of a command."""

    usage: str
    paragraphs: "list[str | list[str]]"  #: a paragraph, or lines that stay as they are
    options: "list[tuple[str, str]]"  #: how an option is written, and what it does
    commands: "list[tuple[str, str]]"  #: of a group: their names, and a sentence on each

    @property
    def summary(self) -> str:
        """The first sentence."""
        return str(self.paragraphs[0]) if self.paragraphs else ""


def content(command: click.Command, context: click.Context) -> Page:
    """Of a command or a group of them."""
    commands = []
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            each = command.get_command(context, name)
            assert each is not None
            commands.append((name, str(_paragraphs(each.help or "")[0])))
    return Page(
        " ".join([context.command_path, *command.collect_usage_pieces(context)]),
        _paragraphs(command.help or ""),
        [option_words(each) for each in command.get_params(context) if isinstance(each, click.Option)],
        commands,
    )


def option_words(option: click.Option) -> "tuple[str, str]":
    """How it is written, with the name of its value, and what it does, with its default and its limits behind. What is
    short among these stays on one line: its blanks are hard ones."""
    written = ", ".join(sorted(option.opts, key=lambda word: word.startswith("--")))
    if not option.is_flag:
        written += f" {value_name(option)}"
    limits = "; ".join(filter(None, (_default(option), _range(option))))
    if len(limits) <= 22:
        limits = limits.replace(" ", HARD_BLANK)
    return written, f"{option.help or ''}{f' [{limits}]' if limits else ''}"


def help_page(command: click.Command, context: click.Context) -> str:
    """For the terminal that it is printed on."""
    from shutil import get_terminal_size

    return text(content(command, context), get_terminal_size().columns)


def text(page: Page, columns: int) -> str:
    """For so many columns. Lines of examples are as long as they are."""
    width = max(min(columns, WIDEST) - 1, 40)
    lines = _wrapped(page.usage, width, "Usage: ", " " * 7)
    for paragraph in page.paragraphs:
        lines.append("")
        if isinstance(paragraph, list):
            lines += [f"    {line}" for line in paragraph]
        else:
            lines += _wrapped(paragraph, width, "  ", "  ")
    for title, entries in (("Commands", page.commands), ("Options", page.options)):
        if entries:
            lines += ["", f"{title}:", *_table(entries, width)]
    return "\n".join(lines)


def _paragraphs(words: str) -> "list[str | list[str]]":
    r"""Of a docstring in click's form: what follows a line of \b is not to be wrapped."""
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
    """What stands for the value: N, MB, TRAIN_FILE; choices are words between bars."""
    if option.metavar is not None:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    if isinstance(option.type, (click.types.IntParamType, click.types.FloatParamType)):
        return "N" if isinstance(option.type, click.types.IntParamType) else "X"
    return option.type.name.upper()


def _default(option: click.Option) -> str:
    """What holds where an option is not given: of show_default, True (its default) or words."""
    shown = option.show_default
    if shown is True and not option.is_flag:
        shown = f"{option.default:,g}" if isinstance(option.default, (int, float)) else str(option.default)
    return f"default: {shown}" if isinstance(shown, str) else ""


def _range(option: click.Option) -> str:
    """The numbers between which the value must lie. That a number of things is above 0 goes without saying."""
    limits, name = option.type, option.metavar or ""
    if not isinstance(limits, (click.IntRange, click.FloatRange)) or limits.max is None or "|" in name:
        return ""
    return f"{'above ' if limits.min_open else ''}{limits.min or 0:,g} to {limits.max:,g}"


def _wrapped(words: str, width: int, first: str, others: str) -> "list[str]":
    from textwrap import wrap

    # svm-predict and --max-size stay in one piece.
    lines = wrap(
        words, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False, break_long_words=False
    )
    return [line.replace(HARD_BLANK, " ") for line in lines]


def _table(entries: "list[tuple[str, str]]", width: int) -> "list[str]":
    """Two columns; what is too long for the first has a line of its own."""
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
