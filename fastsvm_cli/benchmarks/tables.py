from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

#: Title and columns of a table.
Group: TypeAlias = tuple[str, Sequence[int]]

_LEAST_NAME = 24  # columns of names before a table is split


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
    """Return the rows in the fewest titled tables that fit `width` screen columns. heads: of name and cells. groupings:
    each table's columns, fewest tables first."""
    rows = [row._replace(name=printable(row.name), cells=[printable(cell) for cell in row.cells]) for row in rows]
    widths = [max(cell_len(head), *(cell_len(row.cells[at]) for row in rows)) for at, head in enumerate(heads[1:])]
    name = min(_LEAST_NAME, max(cell_len(row.name) for row in rows))

    def fits(grouping: "Sequence[Group]") -> bool:
        return all(name + 2 + sum(widths[at] + 3 for at in columns) <= width for _, columns in grouping)

    grouping = next(filter(fits, groupings), groupings[-1])
    return [
        each
        for title, columns in grouping
        for each in (Text(printable(title), "italic"), _table(columns, heads, rows, ascii_only))
    ]


def _table(columns: "Sequence[int]", heads: "Sequence[str]", rows: "Sequence[Row]", ascii_only: bool) -> Table:
    table = Table(box=box.ASCII2 if ascii_only else box.HEAVY_HEAD, show_edge=False)
    table.add_column(Text(heads[0]), overflow="fold")
    for at in columns:
        table.add_column(Text(heads[1 + at]), justify="right", overflow="fold", no_wrap=True)
    for row in rows:
        table.add_row(Text(row.name), *(Text(row.cells[at]) for at in columns), style=row.style)
    return table


def printable(text: str) -> str:
    """Escape unprintable characters; undecodable bytes stay."""
    return "".join(
        c if c.isprintable() or "\udc80" <= c <= "\udcff" else c.encode("unicode_escape").decode() for c in text
    )
