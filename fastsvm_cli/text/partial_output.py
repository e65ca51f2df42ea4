"""The output of a run that can be stopped and gone on with: what is finished of it is kept beside its place."""

import os
import stat
from time import monotonic

from fastsvm_cli.errors import FileError
from fastsvm_cli.text.durable import sync_folder_of

#: A checkpoint is due so many seconds after the last one, or later: at most that share of the time goes into them.
SECONDS = 5.0
SHARE = 0.05
_FIRST_LINE = "fastsvm_resume 1"
_TAIL_BYTES = 4096  # of the output, which a checkpoint knows by their sum


def can_be_kept(path: "str | None") -> bool:
    """Whether what is written to `path` is a regular file, under a name of its own."""
    if path is None or path == "-" or path.startswith(("/dev/", "/proc/")):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True  # not there yet; or it is said when it is opened


class PartialOutput:
    """A regular output file that comes into being in `<path>.partial`, and, at the end of the `with` block, is renamed.
    However the block is left, by the process's death too, that file and `<path>.partial.state` hold what a later one
    needs to go on from the last checkpoint: the state is replaced as a whole, and only when what it speaks of has
    reached the disk. Symbolic links are followed, a previous file's mode is kept.

    path: where to write; see can_be_kept. inputs: files that must not be one of the two.
    partial: that file's name. state: {key: words} of the last checkpoint, or None. whole: the run before
    this one was killed after it had renamed the file, and before it removed the state, which knows the file by its size
    and a sum. Raises FileError; also where another process is writing it.
    """

    def __init__(self, path: str, inputs: "list[str]"):
        self.path = path
        self.partial = (os.path.realpath(path) if os.path.islink(path) else path) + ".partial"
        self._target, self._state_file = self.partial.removesuffix(".partial"), f"{self.partial}.state"
        self._size = 0
        # Each (size of the output, the state that goes with it): of the last mark, of the last checkpoint, and, in a
        # run that begins, of the empty output.
        self._mark: tuple[int, dict] | None = None
        self._saved: tuple[int, dict] | None = None
        self._nothing: tuple[int, dict] | None = None
        self._due = 0.0
        self.whole = False
        try:
            mode = _mode(self._target)
            self._file = _open_locked(self.partial)
        except OSError as error:
            if os.path.islink(self.partial):
                why = "a symbolic link found, where the lines would be kept"
                raise FileError(self.partial, f"{why}; {self.remove(self.partial)}") from None
            raise FileError(path, error) from None
        try:
            self._refuse_inputs(inputs)
            self.state = self._read_state()
            if not os.fstat(self._file).st_size:
                if mode is not None:
                    os.fchmod(self._file, mode)
                if self.state is not None:
                    self.whole = self.state["finished"] == "yes" and mode is not None and self._is_ours(self._target)
                    if not self.whole:  # the lines are gone: nothing to go on from
                        self.state = None
            elif self.state is None:
                why = f"found without {self._state_file}, which says how far it came"
                raise FileError(self.partial, f"{why}; {self.remove(self.partial)}")
        except OSError as error:
            self._abandon()
            raise FileError(path, error) from None
        except FileError:
            self._abandon()
            raise

    @staticmethod
    def remove(*files: str) -> str:
        """What a message advises where a run cannot go on."""
        return f"remove {' and '.join(files)} to start from the beginning"

    def forget(self) -> None:
        """Begin anew: the run before this one was finished, and this is another run."""
        self.state, self.whole = None, False

    # ---- going on, writing

    def begin(self, state: dict) -> None:
        """Go on from where the last checkpoint was, or from nothing; what was written since is cut off. state: what
        goes with that."""
        size = int(self.state["output_bytes"]) if self.state is not None else 0
        try:
            found = os.fstat(self._file).st_size
            if found < size:
                why = f"{found} bytes found, expected the {size} that {self._state_file} speaks of"
                raise FileError(self.partial, f"{why}; {self.remove(self.partial, self._state_file)}")
            if size and not self._is_ours(self.partial):
                why = f"other lines found than those that {self._state_file} speaks of"
                raise FileError(self.partial, f"{why}; {self.remove(self.partial, self._state_file)}")
            os.ftruncate(self._file, size)
            os.lseek(self._file, size, os.SEEK_SET)
        except OSError as error:
            raise FileError(self.partial, error) from None
        self._size = size
        self._mark = (size, state)
        self._nothing = self._mark if self.state is None else None
        self.checkpoint()

    def write(self, data: bytes) -> None:
        """Write all of `data` behind what is there. Raises FileError."""
        left = memoryview(data)
        try:
            while left:
                written = os.write(self._file, left)
                self._size += written
                left = left[written:]
        except OSError as error:
            raise FileError(self.partial, error) from None

    def mark(self, state: dict) -> None:
        """All that was written so far goes with this state; a checkpoint, if one is due."""
        self._mark = (self._size, state)
        if monotonic() >= self._due:
            self.checkpoint()

    def checkpoint(self, finished: bool = False) -> None:
        """Write the last mark to the disk: the lines, then the state."""
        assert self._mark is not None  # there is one from begin() on
        start = monotonic()
        size, state = self._mark
        try:
            os.fsync(self._file)
            lines = {
                **state,
                "output_bytes": size,
                "output_tail": _sum(self._file, size),
                "finished": "yes" if finished else "no",
            }
            self._write_state(lines)
        except OSError as error:
            raise FileError(self.partial, error) from None
        self._saved = self._mark
        end = monotonic()
        self._due = end + max(SECONDS, (end - start) / SHARE)

    def __enter__(self) -> "PartialOutput":
        return self

    def __exit__(self, kind: "type[BaseException] | None", *_: object) -> None:
        try:
            if self.whole and kind is None:
                os.unlink(self.partial)
                os.unlink(self._state_file)
            elif kind is None:
                self.checkpoint(finished=True)
                os.replace(self.partial, self._target)
                sync_folder_of(self._target)
                os.unlink(self._state_file)
            elif self._mark is not None:
                try:
                    # A line may have been written in part; and a full disk has room for the state then.
                    os.ftruncate(self._file, self._mark[0])
                    if self._mark is self._nothing:
                        os.unlink(self._state_file)
                    elif self._mark is not self._saved:
                        self.checkpoint()
                except (OSError, FileError):
                    pass  # the checkpoint before stands
        except OSError as error:
            raise FileError(self.path, error) from None
        finally:
            self._abandon()

    def _abandon(self) -> None:
        """Let go of the files; of an empty one that nothing speaks of, without a trace."""
        try:
            empty = not os.fstat(self._file).st_size
            if empty and not os.path.exists(self._state_file) and _is_at(self._file, self.partial):
                os.unlink(self.partial)
        except OSError:
            pass
        os.close(self._file)

    # ---- the state

    def _refuse_inputs(self, inputs: "list[str]") -> None:
        own = [os.fstat(self._file)] + ([os.stat(self._state_file)] if os.path.exists(self._state_file) else [])
        for path in inputs:
            if path != "-" and os.path.exists(path) and any(os.path.samestat(os.stat(path), each) for each in own):
                why = f"it is where the lines of {self.path} are kept, and an input"
                raise FileError(path, f"{why}; nothing was written")

    def _read_state(self) -> "dict[str, str] | None":
        from zlib import crc32

        try:
            with open(self._state_file, "rb") as file:
                text = file.read(1 << 20)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise FileError(self._state_file, f"{error.strerror}; {self.remove(self._state_file)}") from None
        body, _, end = text.rpartition(b"end ")
        lines = body.decode("utf-8", "surrogateescape").split("\n")[:-1]
        if end != b"%08x\n" % crc32(body) or lines[:1] != [_FIRST_LINE]:
            why = "this is not what fastsvm wrote there"
            raise FileError(self._state_file, f"{why}; {self.remove(self._state_file, self.partial)}")
        return dict(line.partition(" ")[::2] for line in lines[1:])

    def _write_state(self, lines: dict) -> None:
        from zlib import crc32

        words = [_FIRST_LINE, *(f"{key} {value}" for key, value in lines.items())]
        body = "".join(f"{line}\n" for line in words).encode("utf-8", "surrogateescape")
        new = f"{self._state_file}.new"
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            left = memoryview(body + b"end %08x\n" % crc32(body))
            while left:
                left = left[os.write(file, left) :]
            os.fsync(file)
        except OSError:
            os.unlink(new)
            raise
        finally:
            os.close(file)
        os.replace(new, self._state_file)
        sync_folder_of(self._state_file)

    def _is_ours(self, path: str) -> bool:
        """Whether the file begins with the lines that the state speaks of: it is long enough (the finished one: as
        long), and what ends them there is the same."""
        assert self.state is not None
        size = int(self.state["output_bytes"])
        with open(path, "rb") as file:
            found = os.fstat(file.fileno()).st_size
            if found != size and (found < size or path != self.partial):
                return False
            return _sum(file.fileno(), size) == self.state["output_tail"]


def _sum(file: int, size: int) -> str:
    """Of the last bytes before `size`."""
    from zlib import crc32

    start = max(size - _TAIL_BYTES, 0)
    return f"{crc32(os.pread(file, size - start, start)):08x}"


def _mode(target: str) -> "int | None":
    """Of the previous file, or None; raises OSError where it cannot be replaced."""
    from errno import EACCES, EISDIR, ENOENT

    if not target:
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        if target.endswith("/"):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR)) from None
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if not os.access(target, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
    return stat.S_IMODE(mode)


def _open_locked(path: str) -> int:
    """The file, made if it was not there, and ours alone for as long as it is open."""
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
        os.close(file)  # whoever wrote it renamed it in between


def _is_at(file: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
