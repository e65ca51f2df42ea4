"""Where results are written: whole or not at all."""

import fcntl
import os
import stat
from collections.abc import Iterable
from errno import EACCES, EBADF, EBUSY, EEXIST, EINVAL, EIO, EISDIR, ENOENT, ENOSYS, ENOTSUP, EPERM, EROFS, ETXTBSY
from time import monotonic

from fastsvm_cli import interruption
from fastsvm_cli.errors import FileError, display

#: A result that took longer than this is on the disk, not only on its way there, when the command ends. Seconds.
_SYNC_SECONDS = 1.0
_NAMES = 8  # temporary names that are looked at for what a dead process left
_COPY_BYTES = 1 << 20


class Output:
    """A file to write. A regular file is written under a temporary name beside it and takes its place at the end of
    the `with` block, so that a failed run leaves the previous file as it was; symbolic links are followed; mode,
    owner and group are kept. Devices, FIFOs and standard output (`-`, /dev/stdout) are written directly.

    Where a rename would make another file of it, the finished content is copied into the previous file: another
    user's, one with further names (hard links) or with access control lists, a mount point. Where the folder cannot
    be written, the file is written directly, as svm-predict does: a failed run then leaves what it has written.

    path: where to write, or "-". Raises FileError; BrokenPipeError when a reader has gone.
    """

    def __init__(self, path: str):
        self.path = path
        self._start = monotonic()
        self._file: int | None = None  # what is written: the temporary file, or the file itself
        self._temporary: bytes | None = None
        self._previous: int | None = None  # the previous file, open, where it is not replaced but written
        self._in_place = False  # it is written directly
        try:
            self._file = self._open(path)
        except OSError as error:
            self._discard()
            raise _fault(self.path, error) from None

    def _open(self, path: str) -> int:
        descriptor = _standard_descriptor(path)
        if descriptor is not None:
            _demand_writable(path, descriptor)
            return os.dup(descriptor)
        previous = _status(path)
        if previous is not None and not stat.S_ISREG(previous.st_mode):
            return os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        if not path:
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
        if os.path.basename(path) in ("", ".", ".."):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        self._target = os.fsencode(os.path.realpath(path))
        if previous is None:
            return self._create_temporary(0o666)
        # A rename asks nobody: what svm-predict could not open is not written here either.
        self._previous = os.open(self._target, os.O_WRONLY | os.O_CLOEXEC)
        try:
            file = self._create_temporary(0o600)
        except OSError as error:
            if error.errno not in (EACCES, EPERM, EROFS):
                raise
            self._in_place = True
            return self._previous
        if _liken(file, self._previous, previous):
            os.close(self._previous)
            self._previous = None
        return file

    def write(self, data: bytes) -> None:
        """Write all of `data`. Raises FileError and BrokenPipeError."""
        assert self._file is not None  # open until the block ends
        left = memoryview(data)
        try:
            if self._in_place:
                self._empty()
            while left:
                try:
                    left = left[os.write(self._file, left) :]
                except BlockingIOError:  # a pipe that another program told not to wait
                    _wait_for_room(self._file)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _fault(self.path, error) from None

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, kind: "type[BaseException] | None", *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as error:
            raise _fault(self.path, error) from None
        finally:
            self._discard()

    def _finish(self) -> None:
        assert self._file is not None
        if self._in_place:
            self._empty()
        long = monotonic() - self._start > _SYNC_SECONDS
        if self._temporary is None:
            if long and self._in_place:
                sync(self._file)
            file, self._file = self._file, None
            os.close(file)  # where a network's file system tells that the disk is full
            return
        if long or self._previous is not None or _holds_something(self._target):
            sync(self._file)
        # The lock is the open file's: it stays until the file has its name.
        file, self._file = self._file, os.dup(self._file)
        os.close(file)
        with interruption.held():
            if self._previous is None and not self._rename():
                self._previous = os.open(self._target, os.O_WRONLY | os.O_CLOEXEC)
            if self._previous is not None:
                self._copy_over()
        if long:
            try:
                sync_folder_of(self._target)
            except OSError:  # a folder may be one that can be written and not read
                pass

    def _rename(self) -> bool:
        """False: the previous file cannot be replaced after all, as a mount point."""
        assert self._temporary is not None
        try:
            os.replace(self._temporary, self._target)
        except OSError as error:
            if error.errno in (EACCES, EBUSY, EPERM) and os.path.isfile(self._target):
                return False
            raise
        self._forget_temporary()
        return True

    def _copy_over(self) -> None:
        """The content of the temporary file into the previous one. What can fail for want of room fails before
        anything of the latter is lost."""
        assert self._file is not None and self._previous is not None and self._temporary is not None
        size, before = os.fstat(self._file).st_size, os.fstat(self._previous).st_size
        try:
            if size:
                os.posix_fallocate(self._previous, 0, size)
        except OSError as error:
            # EBADF: the C library's own way wants to read the file.
            if error.errno not in (EBADF, EINVAL, ENOSYS, ENOTSUP):
                os.ftruncate(self._previous, before)
                raise
        at = 0
        try:
            while at < size:
                piece = os.pread(self._file, _COPY_BYTES, at)
                if not piece:
                    raise OSError(EIO, os.strerror(EIO))
                at += os.pwrite(self._previous, piece, at)
            os.ftruncate(self._previous, size)
            sync(self._previous)
        except OSError as error:
            # The result is whole there, and nowhere else.
            kept = os.fsdecode(self._temporary)
            self._forget_temporary()
            raise FileError(self.path, f"{error.strerror}; the result is in {kept}") from None

    def _create_temporary(self, mode: int) -> int:
        """A new file in the target's folder, locked. What a process left there that was killed goes; whatever else
        stands there is left alone."""
        folder, name = os.path.split(self._target)
        file, attempt = None, 0
        while file is None or attempt < _NAMES:
            if attempt == 1000:
                raise FileExistsError(EEXIST, os.strerror(EEXIST))
            temporary = os.path.join(folder, b".%s.fastsvm-%d.tmp" % (name[:200], attempt))
            remove_if_dead(temporary)
            if file is None:
                with interruption.held():
                    file = _create_locked(temporary, mode)
                    if file is not None:
                        self._file, self._temporary = file, temporary
                        interruption.add_undo(self._unlink)
            attempt += 1
        return file

    def _empty(self) -> None:
        """The previous content goes only when there is something to put in its place."""
        if self._previous is not None:
            os.ftruncate(self._previous, 0)
            self._previous = None

    def _unlink(self) -> None:
        if self._temporary is not None:
            os.unlink(self._temporary)

    def _forget_temporary(self) -> None:
        interruption.remove_undo(self._unlink)
        self._temporary = None

    def _discard(self) -> None:
        try:
            self._unlink()
        except OSError:
            pass
        self._forget_temporary()
        for file in {file for file in (self._file, self._previous) if file is not None}:
            try:
                os.close(file)
            except OSError:
                pass
        self._file = self._previous = None


def check_output(path: str, inputs: "Iterable[str | None]") -> None:
    """Before any work: raises FileError if `path` cannot be written, or is one of the files that are read, by
    whatever name (None: no file). Devices may be both."""
    descriptor = _standard_descriptor(path)
    try:
        if descriptor is not None:
            _demand_writable(path, descriptor)
        found = _status(path) if descriptor is None else os.fstat(descriptor)
        if found is not None and stat.S_ISREG(found.st_mode):
            for each in inputs:
                if each is not None and _is_input(found, each):
                    what = (
                        "the output would replace the input"
                        if each == path
                        else f"the output would replace {display(each)}, which is the same file"
                    )
                    raise FileError(_name(path), f"{what}; name another output file")
        elif found is not None:
            # Not opened: to open a FIFO is to wait for its reader, and to close it ends what that reads.
            if descriptor is None and not os.access(path, os.W_OK):
                raise PermissionError(EACCES, os.strerror(EACCES))
            if not stat.S_ISDIR(found.st_mode):
                return
        if descriptor is None:
            Output(path)._discard()
    except OSError as error:
        raise _fault(path, error) from None


def check_apart(paths: "Iterable[str]") -> None:
    """Before any work: raises FileError if two of the outputs are one file, by whatever name, or one pipe; devices may
    be written twice, /dev/null say."""
    seen: dict[object, str] = {}  # of the outputs so far: what tells a file from others -> its name
    for path in paths:
        descriptor = _standard_descriptor(path)
        try:
            found = _status(path) if descriptor is None else os.fstat(descriptor)
        except OSError as error:
            raise _fault(path, error) from None
        device = found is not None and stat.S_ISCHR(found.st_mode)
        keys: list[object] = [] if descriptor is None else [descriptor]
        if found is None:
            keys.append(os.path.realpath(path))
        elif not device:
            keys.append((found.st_dev, found.st_ino))
        for key in keys:
            if key in seen:
                also = "" if seen[key] == path else f" (it is {_name(seen[key])} too)"
                why = f"two outputs would be written to it{also}; name another file for one of them"
                raise FileError(_name(path), why)
        seen.update((key, path) for key in keys)


def is_standard_output(path: "str | None") -> bool:
    """Rows written to `path` go where the shell reads standard output."""
    return path is None or _standard_descriptor(path) == 1


def _create_locked(path: bytes, mode: int) -> "int | None":
    """A new file that is locked for as long as it is open; None if the name is taken."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:  # another process takes it for a dead one's
        os.close(file)
        return None
    except OSError:  # a file system without locks: nobody removes what is there
        return file
    if os.fstat(file).st_nlink == 0:
        os.close(file)
        return None
    return file


def remove_if_dead(path: bytes) -> None:
    """Unlink a temporary file whose process has ended: nobody holds its lock."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        found = os.fstat(file)
        if stat.S_ISREG(found.st_mode):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(found, os.lstat(path)):
                os.unlink(path)
    except OSError:
        pass
    finally:
        os.close(file)


def _liken(file: int, other: int, previous: os.stat_result) -> bool:
    """Give a new file the owner, group and mode of the previous one. False: it cannot stand for it."""
    if previous.st_nlink > 1:
        return False
    try:
        mine = os.fstat(file)
        if (mine.st_uid, mine.st_gid) != (previous.st_uid, previous.st_gid):
            os.fchown(file, previous.st_uid, previous.st_gid)
        os.fchmod(file, stat.S_IMODE(previous.st_mode))
        return _attributes(file) == _attributes(other)
    except OSError:
        return False


def _attributes(file: int) -> dict:
    """Extended attributes, access control lists among them."""
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError as error:
        if error.errno in (ENOSYS, ENOTSUP):
            return {}
        raise


def _holds_something(path: bytes) -> bool:
    try:
        return os.stat(path).st_size > 0
    except OSError:
        return False


def _wait_for_room(file: int) -> None:
    import select

    poll = select.poll()
    poll.register(file, select.POLLOUT)
    poll.poll()


def _status(path: str) -> "os.stat_result | None":
    """Of the file that writing to `path` would reach; None if there is none."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _is_input(found: os.stat_result, path: str) -> bool:
    try:
        return os.path.samestat(found, os.fstat(0) if path == "-" else os.stat(path))
    except OSError:  # whoever reads it will say so
        return False


def _demand_writable(path: str, descriptor: int) -> None:
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    if flags & os.O_PATH:  # what streams.py puts in the place of a closed one
        raise OSError(EBADF, os.strerror(EBADF))
    if not flags & (os.O_WRONLY | os.O_RDWR):
        raise FileError(_name(path), "it is open for reading only")


def _name(path: str) -> str:
    return "standard output" if path == "-" else display(path)


def _fault(path: str, error: OSError) -> FileError:
    return FileError(
        _name(path), f"cannot write: {error.strerror}" if error.errno in (EACCES, EPERM, EROFS, ETXTBSY) else error
    )


def _standard_descriptor(path: str) -> "int | None":
    if path in ("-", "/dev/stdout"):
        return 1
    if path == "/dev/stderr":
        return 2
    for folder in ("/dev/fd/", "/proc/self/fd/"):
        digits = path[len(folder) :]
        # More of them are the number of no file: a name that is not there.
        if path.startswith(folder) and digits.isascii() and digits.isdigit() and len(digits) < 10:
            return int(digits)
    return None


def sync(file: int) -> None:
    """Return when the content of an open file is on the disk, as far as its file system knows how. Raises OSError:
    a caller who can do without catches it, here and below."""
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (EINVAL, ENOSYS, ENOTSUP):  # not every file system knows how
            raise


def sync_folder_of(path: "str | bytes") -> None:
    """Return when the name of a file is on the disk, which it is when its folder is. Raises OSError, also where the
    file system does not know how."""
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
