"""Standard streams that are terminals: text in their width, and progress bars."""

import os
import re
import sys
from collections.abc import Callable, Iterable
from textwrap import fill
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO, cast

from fastsvm_cli import system

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress as Bar

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


def printable(text: str) -> str:
    """Escape unprintable characters; undecodable bytes stay."""
    return "".join(
        c if c.isprintable() or "\udc80" <= c <= "\udcff" else c.encode("unicode_escape").decode() for c in text
    )


_LONG = 60.0  # seconds; longer work is announced


class Progress:
    """Progress bar on a terminal.

    Call it with the share done (0 to 1), and optional words, at any rate. announced: without a terminal, print a long
    remaining time once. rows: show rows per second, by calls of `count`.
    """

    def __init__(self, label: str, *, quiet: bool = False, announced: bool = False, rows: bool = False):
        self._label = self._words = label
        self._requested = not quiet and can_be_drawn_on(sys.stderr)
        self._announced = announced and not quiet and not self._requested
        self._start = monotonic()
        self._begun: tuple[float, float] | None = None  # of the first call: time, share
        self._next = self._start + 1.0
        self._share: float | None = None
        self._rows = 0 if rows else None
        self._bar: Bar | None = None

    def __call__(self, share: float, words: str = "") -> None:
        """Show the share done, and words after the label."""
        if self._announced and share > 0:
            self._announce(share)
        self._share, self._words = min(share, 1.0), f"{self._label} {words}".strip()
        self.draw()

    def count(self, rows: int) -> None:
        """Show a number of rows."""
        self._rows = rows
        self.draw()

    def draw(self) -> None:
        """Draw again, at most ten times a second."""
        now = monotonic()
        if not self._requested or now < self._next:
            return
        done = "" if self._rows is None else rows_line(self._rows, now - self._start, short=self._share is not None)
        if self._bar is None:
            self._bar = self._new_bar()
            # rich types a task's first `completed` as int, and later ones as float.
            self._task = self._bar.add_task(
                self._words, total=1.0, completed=cast("int", self._share or 0.0), rows=done
            )
            system.add_undo(show_cursor)
            self._bar.start()
        self._bar.update(self._task, completed=self._share or 0.0, description=self._words, rows=done, refresh=True)
        self._next = now + 0.1

    def _new_bar(self) -> "Bar":
        from rich.console import Console
        from rich.progress import BarColumn, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        columns: list[ProgressColumn] = [TextColumn("{task.description}", markup=False)]
        if self._share is not None:
            # Leave room for rows.
            width = 40 if self._rows is None else max(5, min(40, console.width - 50))
            columns += [BarColumn(width), TaskProgressColumn(), TimeRemainingColumn()]
        if self._rows is not None:
            columns.append(TextColumn("{task.fields[rows]}", markup=False))
        # No auto_refresh: not every machine can start its thread.
        return Bar(*columns, console=console, transient=True, auto_refresh=False)

    def _announce(self, share: float) -> None:
        # Time before the first share, such as imports, predicts nothing.
        now = monotonic()
        if self._begun is None:
            self._begun = (now, share)
        taken, done = now - self._begun[0], share - self._begun[1]
        if taken < 1.0 or done <= 0:
            return
        self._announced = False
        left = taken / done * (1 - share)
        if left >= _LONG:
            from fastsvm_cli.text import digits

            amount = f"{digits(left / 3600, 2)} hours" if left > 7200 else f"{digits(left / 60, 2)} minutes"
            print(f"{self._label}: about {amount} to go.", file=sys.stderr, flush=True)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            system.remove_undo(show_cursor)


def rows_line(rows: int, seconds: float, *, short: bool) -> str:
    """Return "12,345,678 rows, 1.23 M rows/s, 0:00:10"; short: "12.3 M rows, 1.23 M/s"."""
    rate = _rounded(rows / seconds)
    if short:
        return f"{_rounded(rows)} rows, {rate}/s"
    minutes, whole = divmod(int(seconds), 60)
    return f"{rows:,} rows, {rate} rows/s, {minutes // 60}:{minutes % 60:02}:{whole:02}"


def _rounded(number: float) -> str:
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= 0.9995 * size:  # below, it would round to 1,000 smaller units
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


def show_cursor() -> None:
    """Show the cursor, which rich hides, and clear the bar's line."""
    os.write(2, b"\r\x1b[K\x1b[?25h")


def bytes_read(path: str, progress: Progress) -> "Callable[[int], None] | None":
    """Return a callback for on_read that shows the share read; None for an unknown size."""
    try:
        size = os.stat(path if path != "-" else 0).st_size  # standard input may be a file
    except OSError:
        size = 0
    return (lambda taken: progress(taken / size)) if size else None
