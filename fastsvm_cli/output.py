"""Where results are written: whole or not at all."""

import os
import stat
from errno import EEXIST, EISDIR, ENOENT

from fastsvm_cli.errors import FileError


class Output:
    """A file to write. A regular file is written under a temporary name beside it and renamed at the end of the `with` block, so that
    a failed run leaves the previous file as it was; symbolic links are followed, the mode is kept. Devices, FIFOs and standard
    output (`-`, /dev/stdout) are written directly.

    path: where to write, or "-". Raises FileError; BrokenPipeError when a reader has gone.
    """

    def __init__(self, path: str):
        self.path = path
        self._temporary = None
        descriptor = _standard_descriptor(path)
        try:
            if descriptor is not None:
                self._file = os.dup(descriptor)
                return
            try:
                mode = os.stat(path).st_mode
            except FileNotFoundError:
                mode = None
            if mode is not None and not stat.S_ISREG(mode):
                self._file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
                return
            if not path:
                raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
            if os.path.basename(path) in ("", ".", ".."):
                raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
            self._target = os.fsencode(os.path.realpath(path))
            self._file, self._temporary = _create_beside(self._target)
            if mode is not None:
                os.fchmod(self._file, stat.S_IMODE(mode))
        except OSError as error:
            raise FileError("standard output" if path == "-" else path, error) from None

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FileError("standard output" if self.path == "-" else self.path, error) from None

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, kind, *_) -> None:
        try:
            os.close(self._file)
            if self._temporary is not None and kind is None:
                os.replace(self._temporary, self._target)
                self._temporary = None
        except OSError as error:
            raise FileError("standard output" if self.path == "-" else self.path, error) from None
        finally:
            if self._temporary is not None:
                try:
                    os.unlink(self._temporary)
                except OSError:
                    pass


def _create_beside(target: bytes) -> "tuple[int, bytes]":
    """A new file in the target's folder: (descriptor, its name). Whatever stands there already is left alone."""
    folder, name = os.path.split(target)
    for attempt in range(1000):
        temporary = os.path.join(folder, b".%s.%d.%d.tmp" % (name[:200], os.getpid(), attempt))
        try:
            return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), temporary
        except FileExistsError:
            continue
    raise FileExistsError(EEXIST, os.strerror(EEXIST))


def is_standard_output(path: "str | None") -> bool:
    """Rows written to `path` go where the shell reads standard output."""
    return path is None or _standard_descriptor(path) == 1


def _standard_descriptor(path: str) -> "int | None":
    if path in ("-", "/dev/stdout"):
        return 1
    if path == "/dev/stderr":
        return 2
    for folder in ("/dev/fd/", "/proc/self/fd/"):
        if path.startswith(folder) and path[len(folder) :].isdigit():
            return int(path[len(folder) :])
    return None
