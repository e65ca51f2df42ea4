"""The process: signals, standard streams, differences between systems (native/system/platform.h).

The handler of SIGINT (Ctrl-C), SIGTERM and SIGHUP ends the process, because an exception may get lost in an import, a
destructor or a library. Commands that need exceptions use `raising`. Standard streams may be inherited closed, or
unable to print a file's name.
"""

# Importing `signal` takes a millisecond, in which Ctrl-C would print a traceback.
import _signal
import codecs
import io
import os
import sys

TYPE_CHECKING = False  # typing's, which is not loaded this early
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, TextIO

LINUX = sys.platform == "linux"
SIGNALS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)

_undo: "list[Callable[[], object]]" = []
_holds = 0
_waiting: "int | None" = None
_raises = 0
_raised: "int | None" = None


def handle_signals() -> None:
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


_closed: "set[int]" = set()
_prepared: "TextIO | None" = None


def prepare_streams() -> None:
    """Prepare the standard streams, once, before any file is opened.

    A closed descriptor gets a placeholder, whose use raises EBADF, so that no opened file becomes a standard stream.
    Standard output prints undecodable file names as their bytes. Standard error ignores its own errors.
    """
    global _prepared
    for descriptor, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            _hold_place(descriptor)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)
    codecs.register_error("fastsvm-file-name", _bytes_of_name)
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(errors="fastsvm-file-name")
    _prepared = sys.stdout
    sys.stderr = _forgiving(2, "utf-8" if sys.stderr is None else sys.stderr.encoding, "backslashreplace")


def summary_output() -> "TextIO":
    """Return a text stream to standard output that ignores errors of writing; sys.stdout if a caller replaced it."""
    if _prepared is None or sys.stdout is not _prepared:
        return sys.stdout
    return _forgiving(1, sys.stdout.encoding, sys.stdout.errors or "strict")


def is_closed(descriptor: int) -> bool:
    """Return whether the descriptor was closed when the process began."""
    return descriptor in _closed


def _forgiving(descriptor: int, encoding: str, errors: str) -> "TextIO":
    raw: io.RawIOBase = _Forgiving(descriptor, "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=True)


class _Forgiving(io.FileIO):
    def write(self, data: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]  # typeshed: any Buffer
        try:
            written = super().write(data)
        except OSError:
            written = None
        return len(data) if written is None else written  # None: a full non-blocking pipe


def _hold_place(descriptor: int) -> None:
    _closed.add(descriptor)
    try:
        opened = open_nothing(descriptor)
        if opened != descriptor:  # already taken by the interpreter
            os.close(opened)
        else:
            os.set_inheritable(opened, True)  # so that no child opens a file as a standard stream
    except OSError:
        pass


def _bytes_of_name(error: UnicodeError) -> "tuple[str | bytes, int]":
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.backslashreplace_errors(error)


def open_nothing(descriptor: int) -> int:
    """Return a new descriptor to replace 0, 1 or 2, unusable in that role."""
    if LINUX:
        return os.open(os.devnull, os.O_PATH)
    return os.open(os.devnull, os.O_RDONLY if descriptor else os.O_WRONLY)


def name_of(file: "IO[bytes]") -> str:
    """Return a path by which this process can reopen an open file."""
    return f"{'/proc/self/fd' if LINUX else '/dev/fd'}/{file.fileno()}"


def processor_name() -> str:
    """Return the processor's name."""
    if LINUX:
        try:
            with open("/proc/cpuinfo") as file:
                for line in file:
                    if line.startswith("model name"):
                        return line.partition(":")[2].strip()
        except OSError:
            pass
    import platform

    return platform.processor() or platform.machine()
