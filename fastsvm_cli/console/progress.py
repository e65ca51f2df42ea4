"""A progress bar on stderr, for work of more than a second, on a terminal only."""

import sys
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from fastsvm_cli import interruption

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


_LONG = 60.0  # seconds that are told beforehand


class Progress:
    """Call it with the share done (0 to 1), and a few words if they tell more, as often as is handy. The bar is
    drawn from the second second on, by rich.

    announced: where there is no terminal to draw on, a line says once how long it will take, if that is long."""

    def __init__(self, label: str, *, quiet: bool = False, announced: bool = False):
        self._label = label
        self._wanted = not quiet and sys.stderr.isatty()
        self._announced = announced and not quiet and not self._wanted
        self._start = monotonic()
        self._next = self._start + 1.0
        self._bar: Bar | None = None

    def __call__(self, share: float, words: str = "") -> None:
        if self._announced and share > 0:
            self._announce(share)
        if not self._wanted or monotonic() < self._next:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                auto_refresh=False,  # which would be a thread's work, and not every machine lets one start
            )
            self._task = self._bar.add_task(self._label, total=1.0)
            interruption.add_undo(show_cursor)
            self._bar.start()
        self._bar.update(
            self._task, completed=min(share, 1.0), description=f"{self._label} {words}".strip(), refresh=True
        )
        self._next = monotonic() + 0.1

    def _announce(self, share: float) -> None:
        """From the second second on, when the share done tells."""
        taken = monotonic() - self._start
        if taken < 1.0:
            return
        self._announced = False
        left = taken / share - taken
        if left >= _LONG:
            amount = f"{left / 3600:.2g} hours" if left > 7200 else f"{left / 60:.2g} minutes"
            print(f"{self._label}: about {amount} to go.", file=sys.stderr, flush=True)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            interruption.remove_undo(show_cursor)


def show_cursor() -> None:
    """rich hides it while a bar stands; the bar's line goes too."""
    import os

    os.write(2, b"\r\x1b[K\x1b[?25h")


def bytes_read(path: str, progress: Progress) -> "Callable[[int], None] | None":
    """A callback for data.read_chunks that turns bytes read into a share, or None where the size is unknown."""
    import os

    try:
        size = os.stat(path).st_size if path != "-" else 0
    except OSError:
        size = 0
    return (lambda taken: progress(taken / size)) if size else None
