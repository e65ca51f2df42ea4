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
    """style: in rich's words."""

    name: str
    cells: "Sequence[str]"
    style: str = ""


def tables(
    heads: "Sequence[str]",
    rows: "Sequence[Row]",
    groupings: "Sequence[Sequence[Group]]",
    width: int,
    *,
    ascii_only: bool = False,
) -> "list[Text | Table]":
    """Return the rows in the fewest titled tables that fit `width` screen columns, without empty rows and columns.
    heads: of name and cells; of several lines where space lacks. groupings: each table's columns, fewest tables first.
    """
    if not rows:
        return []
    rows = [row._replace(name=printable(row.name), cells=[printable(cell) for cell in row.cells]) for row in rows]
    cells = [max(cell_len(row.cells[at]) for row in rows) for at in range(len(heads) - 1)]
    groupings = [
        [(title, kept) for title, columns in grouping for kept in [[at for at in columns if cells[at]]] if kept]
        for grouping in groupings
    ]
    name = min(_LEAST_NAME, max(cell_len(row.name) for row in rows))
    parted = [
        wrap(head, max(least, *map(len, head.split())), break_long_words=False, break_on_hyphens=False)
        for head, least in zip(heads[1:], cells)
    ]

    def fits(grouping: "Sequence[Group]", parted: "Sequence[Sequence[str]]") -> bool:
        widths = [max(least, *map(cell_len, lines)) + 3 for least, lines in zip(cells, parted)]
        return all(name + 2 + sum(widths[at] for at in columns) <= width for _, columns in grouping)

    choices = [(grouping, lines) for grouping in groupings for lines in ([[head] for head in heads[1:]], parted)]
    grouping, lines = next((choice for choice in choices if fits(*choice)), choices[-1])
    titles = [heads[0], *map("\n".join, lines)]
    return [
        each
        for title, columns in grouping
        for each in (Text(printable(title), "italic"), _table(columns, titles, rows, ascii_only))
    ]


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
