"""Handling of SIGINT (Ctrl-C), SIGTERM and SIGHUP.

The handler ends the process, because an exception may get lost in an import, a destructor or a library. Commands that
need exceptions use `raising`.
"""

# Importing `signal` takes a millisecond, in which Ctrl-C would print a traceback.
import _signal
import os
import sys

TYPE_CHECKING = False  # typing's, which is not loaded this early
if TYPE_CHECKING:
    from collections.abc import Callable

SIGNALS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)

_undo: "list[Callable[[], object]]" = []
_holds = 0
_waiting: "int | None" = None
_raises = 0
_raised: "int | None" = None


def install() -> None:
    """Make the signals end the process with 128 + their number.

    SIGINT also prints a line on standard error, unless -q is among the command's words. Ignored signals (nohup) stay
    ignored.
    """
    for number in SIGNALS:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, stop)


def add_undo(action: "Callable[[], object]") -> None:
    """Call `action`, and ignore its exceptions, if a signal arrives before remove_undo(action)."""
    _undo.append(action)


def remove_undo(action: "Callable[[], object]") -> None:
    """Remove an action from those that an interrupt runs."""
    if action in _undo:
        _undo.remove(action)


class held:
    """Context manager that delays signals until its block ends."""

    def __enter__(self) -> None:
        global _holds
        _holds += 1

    def __exit__(self, *_: object) -> None:
        global _holds, _waiting
        _holds -= 1
        if _holds == 0 and _waiting is not None:
            number, _waiting = _waiting, None
            stop(number, None)


class raising:
    """Context manager in which signals raise KeyboardInterrupt (SIGINT) or SystemExit.

    If a library swallows the exception, the process ends after the block.
    """

    def __enter__(self) -> None:
        global _raises
        _raises += 1

    def __exit__(self, kind: "type[BaseException] | None", *_: object) -> None:
        global _raises, _raised
        _raises -= 1
        number, _raised = _raised, None
        if number is not None and kind is None:
            stop(number, None)


class temporary_folder:
    """Context manager for a temporary folder in `raising`, removed also if a signal arrives during its creation."""

    def __init__(self, *, dir: "str | None" = None, prefix: "str | None" = None):
        self._dir, self._prefix = dir, prefix
        self._remove: Callable[[], None] | None = None

    def __enter__(self) -> str:
        from tempfile import TemporaryDirectory

        try:
            with held():
                folder = TemporaryDirectory(dir=self._dir, prefix=self._prefix, ignore_cleanup_errors=True)
                self._remove = folder.cleanup
            return folder.name
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        with held():
            if self._remove is not None:
                self._remove()


def stop(number: int, _: object) -> None:
    """Handle a signal: undo, then end the process; inside `raising`, raise KeyboardInterrupt or SystemExit."""
    global _waiting, _raised
    if _holds:
        _waiting = number
        return
    if _raises:
        _raised = number
        raise KeyboardInterrupt if number == _signal.SIGINT else SystemExit(128 + number)
    for action in reversed(_undo):
        try:
            action()
        except Exception:
            pass
    if number == _signal.SIGINT and not {"-q", "--quiet"}.intersection(sys.argv):
        try:
            os.write(2, b"Interrupted.\n")
        except OSError:  # it is closed
            pass
    os._exit(128 + number)
