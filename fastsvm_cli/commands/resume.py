"""Output of `predict --resume`: finished lines and a checkpoint."""

import os
import stat
from time import monotonic
from typing import Any, Protocol
from zlib import crc32

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError, FileError
from fastsvm_cli.prediction import still_hold
from fastsvm_cli.system import raising

#: Minimum seconds between checkpoints, and largest share of time for them.
SECONDS = 5.0
SHARE = 0.05
_FIRST_LINE = b"fastsvm_resume 3 %08x"  # checksum of the rest
_TAIL_BYTES = 4096  # end of the output whose checksum is stored


def can_be_stored(path: "str | None") -> bool:
    """Return whether `path` is, or can become, a regular file."""
    if path is None or path == "-" or path.startswith(("/dev/fd/", "/dev/std", "/proc/")):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True  # missing, or opening it reports the error


class ResumeOptions(Protocol):
    """The options of `predict` that a resumable output needs."""

    test_file: str
    on_bad_row: str
    max_line: int

    @property
    def output(self) -> str:
        """Name of the output file."""

    @property
    def inputs(self) -> "list[str]":
        """All files that the run reads."""

    def note(self, line: str) -> None:
        """Print a line, unless quiet."""


class ResumableOutput:
    """A regular output file that grows in `<path>.partial` and is renamed at the end of the `with` block.

    If the block ends early, the same command continues from the checkpoint in `<path>.partial.state`, replaced
    atomically once its lines are on the disk. Symbolic links are followed; a previous file's mode is kept.

    All that the lines depend on must be equal when a run continues; `on_bad_row` and `max_line` may change as
    still_hold permits. prediction: set to where the previous run stopped. begun: anything was written before.

    Raises FileError, also if another process writes the file or the previous run differed.
    """

    def __init__(self, options: ResumeOptions, prediction: _native.Prediction):
        self._path, self._prediction, self._say = options.output, prediction, options.note
        path, status = self._path, os.stat(options.test_file)
        self._made_with = {
            **dict(prediction.made_with()),
            "instructions": repr(_native.instruction_set()),
            "TEST_FILE's bytes": str(status.st_size),
            "TEST_FILE's time": str(status.st_mtime_ns),
        }
        self._about_bad_rows: dict[str, Any] = {"on_bad_row": options.on_bad_row, "max_line": options.max_line}
        self._target = os.path.realpath(path) if os.path.islink(path) else path
        self.partial, self._state_file = f"{self._target}.partial", f"{self._target}.partial.state"
        self.begun = False
        self._size, self._due = 0, 0.0
        # (size of the output, state) at the last chunk and checkpoint.
        self._mark: tuple[int, dict[str, Any]] | None = None
        self._saved: tuple[int, dict[str, Any]] | None = None
        self._stop_signals = raising()  # a stop signal ends the block like an error, which keeps finished lines
        try:
            mode = _mode(self._target)
            self._file = _open_locked(self.partial)
        except OSError as error:
            if os.path.islink(self.partial):
                why = "a symbolic link found, where the lines would be kept"
                raise self._resume_error(why) from None
            raise FileError(path, error) from None
        try:
            self._refuse_inputs(options.inputs)
            empty = not os.fstat(self._file).st_size
            self._state = self._read_state(empty)
            self._whole = empty and self._state is not None
            if empty and mode is not None:
                os.fchmod(self._file, mode)
        except OSError as error:
            self._abandon()
            raise FileError(path, error) from None

    def __enter__(self) -> "ResumableOutput":
        self._stop_signals.__enter__()
        try:
            if self._state is not None:
                self._go_on(self._state)
            if not self._whole:
                os.ftruncate(self._file, self._size)  # drop lines after the checkpoint
                os.lseek(self._file, self._size, os.SEEK_SET)
                self._mark = (self._size, self._now())
                self._checkpoint()
        except BaseException as error:
            self._stop_signals.__exit__(type(error), error, None)
            self._abandon()
            if isinstance(error, OSError):
                raise FileError(self.partial, error) from None
            raise
        return self

    def write(self, data: bytes) -> None:
        """Write bytes after those of the partial file."""
        try:
            _write_all(self._file, data)
        except OSError as error:
            raise FileError(self.partial, error) from None
        self._size += len(data)

    def on_chunk(self) -> None:
        """Mark where a later run can continue, unless more rows were read."""
        position, bad_rows = self._prediction.position, self._prediction.bad_rows
        answered = self._prediction.run_counts.rows + (bad_rows.count if bad_rows else 0)
        if not self._whole and position.lines - position.comments == answered:
            self._mark = (self._size, self._now())
            if monotonic() >= self._due:
                self._checkpoint()

    def __exit__(self, kind: "type[BaseException] | None", *rest: object) -> None:
        self._stop_signals.__exit__(kind, *rest)
        try:
            if kind is None and self._whole:
                os.unlink(self.partial)
                os.unlink(self._state_file)
            elif kind is None:
                self._mark = (self._size, self._now())
                self._checkpoint()
                os.replace(self.partial, self._target)
                _sync_folder_of(self._target)
                os.unlink(self._state_file)
            elif self._mark is not None:
                self._keep(*self._mark)
        except OSError as error:
            raise FileError(self._path, error) from None
        finally:
            self._abandon()
        if kind is not None and self._saved is not None and self._saved[1]["tally"]["rows"]:
            rows = self._saved[1]["tally"]["rows"]
            how = "with --on-bad-row skip or nan, " if issubclass(kind, DataFormatError) else ""
            self._say(f"{rows} rows are kept in {self.partial}: {how}the same command continues after them.")

    # ---- the state

    def _now(self) -> "dict[str, Any]":
        position, bad_rows = self._prediction.position, self._prediction.bad_rows
        return {
            "made_with": self._made_with,
            **self._about_bad_rows,
            "bad_rows": bad_rows.count if bad_rows else 0,
            "named": list(bad_rows.named) if bad_rows else [],
            "place": [position.offset, position.lines, position.fields],
            "tally": self._prediction.run_counts.values(),
        }

    def _go_on(self, state: "dict[str, Any]") -> None:
        then = state["made_with"]
        for key, now in self._made_with.items():
            if then.get(key) != now:
                words = f"begun with {key} {then.get(key)}, and this command has {now}"
                raise self._resume_error(words)
        if not still_hold(state, **self._about_bad_rows):
            how = [
                f"--on-bad-row {each['on_bad_row']} and --max-line {each['max_line'] / 1e6:g}"
                for each in (state, self._about_bad_rows)
            ]
            raise self._resume_error(
                f"begun with {how[0]}, which met {state['bad_rows']} bad rows, and this command has {how[1]}"
            )
        size, found = state["size"], os.fstat(self._file).st_size
        if not self._whole and (found < size or _sum(self._file, size) != state["tail"]):
            why = f"{found} bytes found, expected the {size}" if found < size else "other lines found than those"
            raise self._resume_error(f"{why} that {self._state_file} speaks of", self._state_file)
        self._size, self.begun, position = size, size > 0, self._prediction.position
        position.offset, position.lines, position.fields = state["place"]
        self._prediction.run_counts.add_values(state["tally"])
        rows = self._prediction.run_counts.rows + state["bad_rows"]
        position.comments = position.lines - rows
        if rows:
            self._say(f"Continuing after row {rows}, from {self.partial}.")
        if self._prediction.bad_rows is not None:
            self._prediction.bad_rows.restore(state["bad_rows"], [(line, why) for line, why in state["named"]])

    def _checkpoint(self) -> None:
        """Flush lines, then state."""
        import json

        assert self._mark is not None
        start = monotonic()
        size, state = self._mark
        try:
            os.fsync(self._file)
            body = json.dumps({**state, "size": size, "tail": _sum(self._file, size)}).encode()
            self.write_state(_FIRST_LINE % crc32(body) + b"\n" + body)
        except OSError as error:
            raise FileError(self.partial, error) from None
        self._saved = self._mark
        end = monotonic()
        self._due = end + max(SECONDS, (end - start) / SHARE)

    def _keep(self, size: int, state: "dict[str, Any]") -> None:
        try:
            os.ftruncate(self._file, size)  # drops a partial line, and frees disk space
            if not state["place"][0]:
                os.unlink(self._state_file)
            elif self._mark is not self._saved:
                self._checkpoint()
        except OSError:
            pass  # the previous checkpoint holds

    def _read_state(self, empty: bool) -> "dict[str, Any] | None":
        import json

        try:
            with open(self._state_file, "rb") as file:
                head, _, body = file.read(1 << 20).partition(b"\n")
        except FileNotFoundError:
            if empty:
                return None
            raise self._resume_error(f"found without {self._state_file}, which says how far it came") from None
        except OSError as error:
            raise FileError(self._state_file, f"{error.strerror}; {_remove(self._state_file)}") from None
        if head != _FIRST_LINE % crc32(body):
            why = "this is not what fastsvm wrote there"
            raise FileError(self._state_file, f"{why}; {_remove(self._state_file, self.partial)}")
        state = json.loads(body)
        return state if not empty or self._is_whole(state) else None

    def _is_whole(self, state: "dict[str, Any]") -> bool:
        """Return whether the run was killed between the rename and the removal of its state."""
        if state["made_with"] != self._made_with or not still_hold(state, **self._about_bad_rows):
            return False
        try:
            with open(self._target, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                return size == state["size"] and _sum(file.fileno(), size) == state["tail"]
        except FileNotFoundError:
            return False

    def write_state(self, text: bytes) -> None:
        """Replace the state file."""
        new = f"{self._state_file}.new"
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            _write_all(file, text)
            os.fsync(file)
        except OSError:
            os.unlink(new)
            raise
        finally:
            os.close(file)
        os.replace(new, self._state_file)
        _sync_folder_of(self._state_file)

    # ---- refusing, letting go

    def _resume_error(self, why: str, *others: str) -> FileError:
        return FileError(self.partial, f"{why}; {_remove(self.partial, *others)}")

    def _refuse_inputs(self, inputs: "list[str]") -> None:
        own = [os.fstat(self._file)] + ([os.stat(self._state_file)] if os.path.exists(self._state_file) else [])
        for path in inputs:
            if path != "-" and os.path.exists(path) and any(os.path.samestat(os.stat(path), each) for each in own):
                why = f"it is where the lines of {self._path} are kept, and an input"
                raise FileError(path, f"{why}; nothing was written")

    def _abandon(self) -> None:
        try:
            empty = not os.fstat(self._file).st_size
            if empty and not os.path.exists(self._state_file) and _is_at(self._file, self.partial):
                os.unlink(self.partial)
        except OSError:
            pass
        os.close(self._file)


def _remove(*files: str) -> str:
    return f"remove {' and '.join(files)} to start from the beginning"


def _write_all(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _sum(file: int, size: int) -> str:
    start = max(size - _TAIL_BYTES, 0)
    return f"{crc32(os.pread(file, size - start, start)):08x}"


def _mode(target: str) -> "int | None":
    """Return the file's mode, or None. Raises PermissionError; other reasons not to write it are found before a run."""
    from errno import EACCES

    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
    return stat.S_IMODE(mode)


def _open_locked(path: str) -> int:
    from fcntl import LOCK_EX, LOCK_NB, flock

    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise FileError(path, "another fastsvm is writing it") from None
        if _is_at(file, path):
            return file
        os.close(file)  # another process renamed it


def _is_at(file: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _sync_folder_of(path: str) -> None:
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
