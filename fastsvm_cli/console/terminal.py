"""Standard streams that are terminals, and tables in their width."""

import os
import re
import sys
from collections.abc import Sequence
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

#: Title and columns of a table.
Group: TypeAlias = tuple[str, Sequence[int]]

#: Width of tables off a terminal, unless COLUMNS says another.
PIPE_WIDTH = 180
_LEAST_NAME = 20  # columns of names before a table is split


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


class Row(NamedTuple):
    """Row of a table."""

    name: str
    cells: "Sequence[str]"
    style: str = ""  # rich's words


def tables(
    heads: "Sequence[str]",
    rows: "Sequence[Row]",
    groups: "Sequence[Group]",
    width: int,
    *,
    ascii_only: bool = False,
) -> "list[Text | Table]":
    """Return titled tables, one per group, without empty rows and columns, or several if wider than `width`.

    heads: on several lines where that saves a table. groups: titles, and numbers of cells.
    """
    from rich.cells import cell_len
    from rich.text import Text

    if not rows:
        return []
    rows = [row._replace(name=printable(row.name), cells=[printable(cell) for cell in row.cells]) for row in rows]
    cells = [max(cell_len(row.cells[at]) for row in rows) for at in range(len(heads) - 1)]
    width_left = width - 2 - min(_LEAST_NAME, max(cell_len(row.name) for row in rows))
    broken = [
        "\n".join(wrap(head, max(least, *map(len, head.split())), break_long_words=False, break_on_hyphens=False))
        for head, least in zip(heads[1:], cells)
    ]
    out: list[Text | Table] = []
    for title, columns in groups:
        choices = [
            (_parts([at for at in columns if cells[at]], cells, names, width_left), names)
            for names in (heads[1:], broken)
        ]
        parts, names = min(choices, key=lambda choice: len(choice[0]))
        for at, part in enumerate(parts):
            words = Text(printable(title) + ", continued" * (at > 0), "italic")
            out += [words, _table(part, [heads[0], *names], rows, ascii_only)]
    return out


def _parts(
    columns: "Sequence[int]", cells: "Sequence[int]", names: "Sequence[str]", width_left: int
) -> "list[list[int]]":
    # cells, names: widths of cells, heads. width_left: beside the row's name.
    from rich.cells import cell_len

    parts: list[list[int]] = []
    left = 0
    for at in columns:
        needed = 3 + max(cells[at], *map(cell_len, names[at].split("\n")))
        if not parts or needed > left:
            parts.append([])
            left = width_left
        parts[-1].append(at)
        left -= needed
    return parts


def _table(columns: "Sequence[int]", heads: "Sequence[str]", rows: "Sequence[Row]", ascii_only: bool) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.ASCII2 if ascii_only else box.HEAVY_HEAD, show_edge=False)
    table.add_column(Text(heads[0]), overflow="fold")
    for at in columns:
        table.add_column(Text(heads[1 + at]), justify="right", overflow="fold", no_wrap=True)
    for row in rows:
        if any(row.cells[at] for at in columns):
            table.add_row(Text(row.name), *(Text(row.cells[at]) for at in columns), style=row.style)
    return table


def printable(text: str) -> str:
    """Escape unprintable characters; undecodable bytes stay."""
    return "".join(
        c if c.isprintable() or "\udc80" <= c <= "\udcff" else c.encode("unicode_escape").decode() for c in text
    )
