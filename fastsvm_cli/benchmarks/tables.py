"""Lay out tables for a terminal's width."""

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple, TypeAlias

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

#: Title and columns of a table.
Group: TypeAlias = tuple[str, Sequence[int]]

_LEAST_NAME = 20  # columns of names before a table is split


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


def _table(columns: "Sequence[int]", heads: "Sequence[str]", rows: "Sequence[Row]", ascii_only: bool) -> Table:
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
