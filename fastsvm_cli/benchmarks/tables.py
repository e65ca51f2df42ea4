"""Tables as lines of text, none of them wider than the screen, with every cell whole.

Where the columns do not fit side by side they become several tables, and a name that is longer than its column stands
on a line of its own above its numbers. Widths are those of the characters on a terminal."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len, chop_cells

#: A line, and the style it is shown in (rich's words).
Line: TypeAlias = tuple[str, str]
#: The columns that stand in one table, and its title.
Group: TypeAlias = tuple[str, Sequence[int]]

# That so many of the names fit in their column is enough where columns are not ruled: the others take a line of their
# own.
_FITTING = 0.75
_INDENT = 2  # of numbers under a name, at least
_LEAST_REASON = 40  # columns that a reason takes beside a name; with fewer, it stands under it


class Row(NamedTuple):
    """name: in the first column. cells: one for each other column. style: of its lines. why: why there are no numbers,
    or None."""

    name: str
    cells: "Sequence[str]"
    style: str = ""
    why: "str | None" = None


class _Look(NamedTuple):
    """How columns are set apart."""

    edge: str
    between_heads: str
    between: str
    rule: str
    crossing: str


_RULED, _RULED_ASCII = _Look(" ", " ┃ ", " │ ", "━", "━╇━"), _Look(" ", " | ", " | ", "-", "-+-")
_OPEN, _OPEN_ASCII = _Look("", "  ", "  ", "─", "──"), _Look("", "  ", "  ", "-", "--")


def lines(
    name_head: str,
    heads: "Sequence[str]",
    rows: "Sequence[Row]",
    groupings: "Sequence[Sequence[Group]]",
    width: int,
    *,
    ascii_only: bool = False,
    blanks: bool = False,
) -> "list[Line]":
    """The rows in as few tables as fit.

    groupings: which columns may stand together, the fewest tables first. blanks: for a pipe: always the first grouping,
    with its columns ruled, heads in one line, and columns without any number. Behind every table is an empty line."""
    if not rows:
        return []
    rows = [row._replace(name=printable(row.name), cells=[printable(cell) for cell in row.cells]) for row in rows]
    ruled, opened = (_RULED_ASCII, _OPEN_ASCII) if ascii_only else (_RULED, _OPEN)

    def tables(grouping: "Sequence[Group]") -> "list[_Table]":
        return [
            _Table(title, columns, name_head, heads, rows, blanks, first=at == 0)
            for at, (title, columns) in enumerate(grouping)
        ]

    if blanks:
        return [line for table in tables(groupings[0]) for line in table.lines(width, ruled)]
    numbered = {at for row in rows if row.why is None for at, cell in enumerate(row.cells) if cell}
    groupings = [
        [(title, left) for title, columns in each for left in [[at for at in columns if at in numbered]] if left]
        or [("", [])]  # nothing but reasons
        for each in groupings
    ]
    last = groupings[-1]
    apart = [(f"{title}: {heads[at]}", [at]) for title, columns in last for at in columns]
    candidates = [
        (each, look, share)
        for each in groupings
        for look, share in [(ruled, 1.0)] * (len(each) == 1) + [(opened, _FITTING)]
    ]
    for grouping, look, share in [*candidates, (last, opened, 0.0)]:
        if all(table.fits(width, look, share) for table in tables(grouping)):
            break
    else:
        grouping = apart or last
    return [line for table in tables(grouping) for line in table.lines(width, look)]


class _Table:
    """Some of the columns, with the rows that have a number in them; rows that say why they have none stand in the
    first table."""

    def __init__(
        self,
        title: str,
        columns: "Sequence[int]",
        name_head: str,
        heads: "Sequence[str]",
        rows: "Sequence[Row]",
        blanks: bool,
        first: bool,
    ):
        self.title, self.name_head, self._blanks = title, name_head, blanks
        self.heads = [heads[at] for at in columns]
        self.rows = [
            row._replace(cells=[row.cells[at] for at in columns])
            for row in rows
            if (first if row.why is not None else blanks or any(row.cells[at] for at in columns))
        ]
        self.widths = [
            max([cell_len(row.cells[at]) for row in self.rows if row.why is None], default=0)
            for at in range(len(columns))
        ]

    def _laid_out(self, width: int, look: _Look) -> "tuple[list[list[str]], list[int], int]":
        """(the lines of each column's head, the widths of the columns, the columns left for names). Heads are broken
        where a name fits that would not fit beside whole ones."""
        edges = 2 * cell_len(look.edge) + cell_len(look.between) * len(self.heads)
        names = [cell_len(self.name_head), *(cell_len(row.name) for row in self.rows if row.why is None)]
        whole = [[head] for head in self.heads]
        if not self._blanks:
            narrow = [max([least, *map(cell_len, head.split(" "))]) for head, least in zip(self.heads, self.widths)]
            room = width - edges - sum(narrow)
            longest = max((name for name in names if name <= room), default=room)
            if longest > width - edges - sum(map(max, self.widths, map(cell_len, self.heads))):
                return [wrapped(head, w) for head, w in zip(self.heads, narrow)], narrow, longest
        widths = list(map(max, self.widths, map(cell_len, self.heads)))
        room = width - edges - sum(widths)
        return whole, widths, max((name for name in names if name <= room), default=room)

    def fits(self, width: int, look: _Look, share: float) -> bool:
        """Whether the numbers have room, and so large a share of the names beside them."""
        _, _, room = self._laid_out(width, look)
        names = [row.name for row in self.rows if row.why is None]
        fitting = sum(cell_len(name) <= room for name in names)
        return room >= (cell_len(self.name_head) if share else _INDENT) and fitting >= share * len(names)

    def lines(self, width: int, look: _Look) -> "Iterator[Line]":
        heads, widths, room = self._laid_out(width, look)
        room = max(room, _INDENT)
        for line in wrapped(self.title, width):
            yield line, "italic"
        head_lines = max(map(len, heads), default=1)
        name = [""] * (head_lines - 1) + [self.name_head if cell_len(self.name_head) <= room else ""]
        for at in range(head_lines):
            words = [_right(([""] * (head_lines - len(head)) + head)[at], w) for head, w in zip(heads, widths)]
            line = look.between_heads.join([_left(name[at], room), *words])
            yield (look.edge + line).rstrip().replace("\xa0", " "), "bold"
        edge = look.rule * cell_len(look.edge)
        yield edge + look.crossing.join(look.rule * w for w in [room, *widths]) + edge, ""
        for row in self.rows:
            if row.why is not None:
                for line in _reason(row.name, row.why, room, width, look):
                    yield line, row.style
                continue
            name_cell = row.name
            if cell_len(name_cell) > room:
                for line in wrapped(row.name, width - cell_len(look.edge)):
                    yield look.edge + line, row.style
                name_cell = ""
            words = [_right(cell, w) for cell, w in zip(row.cells, widths)]
            yield (look.edge + look.between.join([_left(name_cell, room), *words])).rstrip(), row.style
        yield "", ""


def _reason(name: str, why: str, room: int, width: int, look: _Look) -> "Iterator[str]":
    """A name, and why it has no numbers: where they would stand, or below it."""
    start = 2 * cell_len(look.edge) + room + cell_len(look.between)
    if cell_len(name) <= room and width - start >= min(_LEAST_REASON, cell_len(why)):
        for at, line in enumerate(wrapped(why, width - start)):
            yield look.edge + _left("" if at else name, room) + look.between + line
        return
    yield from (look.edge + line for line in wrapped(name, width - cell_len(look.edge)))
    yield from ("    " + line for line in wrapped(why, width - 4))


def printable(text: str) -> str:
    """In one line, whatever a file's name holds; bytes that are no text stay as they are."""
    return "".join(
        c if c.isprintable() or c == "\xa0" or "\udc80" <= c <= "\udcff" else c.encode("unicode_escape").decode()
        for c in text
    )


def wrapped(text: str, width: int) -> "list[str]":
    """Lines of whole words, and parts of words that are longer than a line."""
    out, line = [], ""
    for word in printable(text).split(" "):
        longer = f"{line} {word}" if line else word
        if cell_len(longer) <= width:
            line = longer
            continue
        if line:
            out.append(line)
        *full, line = chop_cells(word, width) or [""]
        out += full
    return [*out, line]


def _left(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text
