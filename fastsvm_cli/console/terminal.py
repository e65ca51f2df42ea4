"""Terminals: how wide they are, what they can show, and what is printed on them in style."""

import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, RenderableType

    from fastsvm_cli.benchmarks.tables import Line

#: Columns of tables where standard output is no terminal, whatever the machine.
PIPE_WIDTH = 180
_NARROW = 20  # nothing is laid out for less


def can_be_drawn_on(stream: TextIO) -> bool:
    """Whether it is a terminal where lines can be drawn again in the place of others."""
    return stream.isatty() and not _is_dumb()


def width_of(stream: TextIO) -> "int | None":
    """Columns of the terminal; None where the stream is none."""
    return max(_NARROW, new_console(stream).width) if stream.isatty() else None


def ascii_only(stream: TextIO) -> bool:
    """Whether it is better to print nothing but ASCII: by the stream's encoding and, of a terminal, by the locale's
    (the interpreter takes the locale C for UTF-8)."""
    import locale

    encodings = [stream.encoding or ""] + ([locale.nl_langinfo(locale.CODESET)] if stream.isatty() else [])
    return not all(encoding.lower().startswith("utf") for encoding in encodings)


def print_lines(lines: "list[Line]") -> None:
    """Lines of a result on standard output, in their styles where that is a terminal."""
    from rich.text import Text

    print_with(new_console(sys.stdout), (Text(line, style) for line, style in lines), soft_wrap=True)


def print_with(console: "Console", shown: "Iterable[RenderableType]", **how: Any) -> None:
    """What rich can show, on standard output. how: of Console.print."""
    with console.capture() as printed:  # rich ends the process itself when a reader has gone
        for each in shown:
            console.print(each, **how)
    print(printed.get(), end="")


def new_console(stream: TextIO, *, soft_wrap: bool = False) -> "Console":
    """rich's, of a stream. soft_wrap: no line is broken."""
    from rich.console import Console

    console = Console(file=stream, highlight=False, soft_wrap=soft_wrap)
    if _is_dumb() and stream.isatty():  # rich takes each of these for one of 80 columns
        given = os.environ.get("COLUMNS", "")
        columns = int(given) if given.isdigit() else os.get_terminal_size(stream.fileno()).columns
        console.size = (columns or console.width, console.height)
    return console


def _is_dumb() -> bool:
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")
