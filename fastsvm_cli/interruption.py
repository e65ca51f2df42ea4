"""Being told to stop: what SIGINT (Ctrl-C), SIGTERM and SIGHUP do to the process, at any moment of its life.

The handler ends the process itself. An exception would have to find its way out of whatever runs just then (an
import, a destructor, a library that catches too much), and it does not always. What must not stay behind is
registered here while it exists. A command that has more to do when it is told to stop (child processes, a summary of
what was measured) asks for exceptions with `raising`."""

# The builtin module. `signal` wraps it in three enumerations, which takes a millisecond, in which Ctrl-C would still be
# answered by a traceback.
import _signal
import os

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
    """From here on, being told to stop ends the process with 128 + the signal's number. What the parent ignores
    (nohup, a shell's background job) stays ignored."""
    for number in SIGNALS:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, stop)


def add_undo(action: "Callable[[], object]") -> None:
    """Call `action` if the process is told to stop before remove_undo(action). Errors that it raises are dropped: the
    process ends in any case."""
    _undo.append(action)


def remove_undo(action: "Callable[[], object]") -> None:
    """What `action` would undo is done, or is undone already."""
    if action in _undo:
        _undo.remove(action)


class held:
    """In this block, being told to stop waits for its end: for steps that must not be parted."""

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
    """In this block, being told to stop raises KeyboardInterrupt (SIGINT) or SystemExit, with the exit code, as
    Python programs are used to. Where that got lost on its way (some libraries catch everything around an import),
    the process ends with the block."""

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
    """A new folder in this block, which is given its path; removed at its end, also where being told to stop comes
    while the folder is made. For blocks in `raising`. dir, prefix: of tempfile."""

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
    os._exit(128 + number)
