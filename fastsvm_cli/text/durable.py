"""When a file is on the disk, and not only on its way there. Both functions are strict: who can do without says so
where it calls them."""

import os
from errno import EINVAL, ENOSYS, ENOTSUP


def sync(file: int) -> None:
    """Return when the content of an open file is on the disk, as far as its file system knows how. Raises OSError."""
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
