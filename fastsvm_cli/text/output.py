"""Output files, written whole or not at all."""

from collections.abc import Iterable

from fastsvm_cli import _native, system


class Output:
    """A file to write (native/files/output.h).

    A regular file is renamed from a temporary name at the end of the `with` block: a failed run keeps the previous
    file. Others are written directly. A closed pipe raises BrokenPipeError.
    """

    def __init__(self, path: str):
        self.path = path
        self._file = _native.OutputFile()
        self._undo = self._file.abandon
        system.add_undo(self._undo)
        try:
            self._file.open(path)
        except BaseException:
            self._close()
            raise

    def write(self, data: "bytes | bytearray | memoryview") -> None:
        """Write bytes."""
        self._file.write(data)

    def __enter__(self) -> "Output":
        return self

    def __exit__(self, kind: "type[BaseException] | None", *_: object) -> None:
        try:
            if kind is None:
                self._file.finish()
        finally:
            self._close()

    def _close(self) -> None:
        self._file.close()
        system.remove_undo(self._undo)


def write_output(path: str, data: bytes) -> None:
    """Write a file, whole or not at all."""
    with Output(path) as output:
        output.write(data)


def check_output(path: str, inputs: "Iterable[str | None]") -> None:
    """Raise FileError if `path` cannot be written or, unless a device, is an input under any name."""
    _native.check_output(path, [each for each in inputs if each is not None])


def check_apart(paths: "Iterable[str]") -> None:
    """Raise FileError if two outputs are one file or pipe under any name. Devices may repeat."""
    _native.check_apart(list(paths))


def is_standard_output(path: "str | None") -> bool:
    """Return whether a path means standard output."""
    return path is None or _native.standard_descriptor(path) == 1
