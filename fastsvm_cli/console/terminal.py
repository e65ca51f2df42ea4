"""Properties of standard streams that are terminals."""

import os
import re
import sys
from textwrap import fill
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, RenderableType

#: Width of tables off a terminal, unless COLUMNS says another.
PIPE_WIDTH = 180


def can_be_drawn_on(stream: TextIO) -> bool:
    """Return whether a stream is a terminal with a movable cursor."""
    return stream.isatty() and not _is_dumb()


def ascii_only(stream: TextIO) -> bool:
    """Return whether a stream takes only ASCII; a terminal's locale counts: Python takes locale C for UTF-8."""
    import locale

    encodings = [stream.encoding or ""] + ([locale.nl_langinfo(locale.CODESET)] if stream.isatty() else [])
    return not all(encoding.lower().startswith("utf") for encoding in encodings)


def show(shown: "Iterable[RenderableType]", **how: Any) -> None:
    """Print rich renderables. how: of Console.print."""
    console = new_console(sys.stdout)
    # rich would end the process with code 1 on a closed pipe. It writes nothing here, but flushes.
    sys.stdout.flush()
    with console.capture() as printed:
        for each in shown:
            console.print(each, **how)
    text = printed.get()
    print(text if console.is_terminal else re.sub(r" +$", "", text, flags=re.MULTILINE), end="")


def print_sentence(words: str, stream: TextIO) -> None:
    """Print words, wrapped to the terminal's columns or COLUMNS, else on one line."""
    if not stream.isatty():
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdigit() and int(columns) else sys.maxsize
        print(fill(words, width, break_long_words=False, break_on_hyphens=False), file=stream, flush=True)
        return
    from rich.text import Text

    new_console(stream).print(Text(words))


def new_console(stream: TextIO) -> "Console":
    """Return rich's console for a stream, as wide as COLUMNS says."""
    from rich.console import Console

    given = os.environ.get("COLUMNS", "")
    given_width = int(given) if given.isdigit() else 0
    console = Console(file=stream, highlight=False, width=None if stream.isatty() else given_width or PIPE_WIDTH)
    if _is_dumb() and stream.isatty():  # rich assumes 80 columns for these
        columns = given_width or os.get_terminal_size(stream.fileno()).columns
        console.size = (columns or console.width, console.height)
    return console


def _is_dumb() -> bool:
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")
