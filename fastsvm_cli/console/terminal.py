"""Terminals: how wide they are, what they can show, and what is printed on them in style."""

import os
import re
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, RenderableType

#: Columns of tables where standard output is no terminal, whatever the machine.
PIPE_WIDTH = 180


def can_be_drawn_on(stream: TextIO) -> bool:
    """Whether it is a terminal where lines can be drawn again in the place of others."""
    return stream.isatty() and not _is_dumb()


def ascii_only(stream: TextIO) -> bool:
    """Whether it is better to print nothing but ASCII: by the stream's encoding and, of a terminal, by the locale's
    (the interpreter takes the locale C for UTF-8)."""
    import locale

    encodings = [stream.encoding or ""] + ([locale.nl_langinfo(locale.CODESET)] if stream.isatty() else [])
    return not all(encoding.lower().startswith("utf") for encoding in encodings)


def show(shown: "Iterable[RenderableType]", **how: Any) -> None:
    """Print what rich can show on standard output, in PIPE_WIDTH columns where that is no terminal. how: of
    Console.print."""
    console = new_console(sys.stdout)
    with console.capture() as printed:  # rich ends the process itself when a reader has gone
        for each in shown:
            console.print(each, **how)
    text = printed.get()
    print(text if console.is_terminal else re.sub(r" +$", "", text, flags=re.MULTILINE), end="")


def print_sentence(words: str, stream: TextIO) -> None:
    """In one line; on a terminal, broken between words."""
    if not stream.isatty():
        print(words, file=stream)
        return
    from rich.text import Text

    new_console(stream).print(Text(words))


def new_console(stream: TextIO) -> "Console":
    """rich's, of a stream."""
    from rich.console import Console

    console = Console(file=stream, highlight=False, width=None if stream.isatty() else PIPE_WIDTH)
    if _is_dumb() and stream.isatty():  # rich takes each of these for one of 80 columns
        given = os.environ.get("COLUMNS", "")
        columns = int(given) if given.isdigit() else os.get_terminal_size(stream.fileno()).columns
        console.size = (columns or console.width, console.height)
    return console


def _is_dumb() -> bool:
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")
