"""When a file is on the disk, and not only on its way there. Both functions are strict: who can do without says so
where it calls them."""

import os
from errno import EINVAL, ENOSYS, ENOTSUP


def sync(file: int) -> None:
    """The content of an open file, as far as its file system knows how. Raises OSError."""
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (EINVAL, ENOSYS, ENOTSUP):  # not every file system knows how
            raise


def sync_folder_of(path: "str | bytes") -> None:
    """The name of a file: it is on the disk when its folder is. Raises OSError, where the file system does not know
    how, too."""
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
