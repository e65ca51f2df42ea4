"""Models that the command compiles once for many tests, and links to them."""

from support.forked import fastsvm


def compile_all(folder, *lines):
    """lines: command lines without `fastsvm`."""
    for line in lines:
        command, *words = line.split()
        fastsvm([command, "-q", *words], cwd=folder, check=True)


def linked(files, folder):
    """The folder, with links to all of `files`, a folder that several tests use."""
    for path in files.iterdir():
        (folder / path.name).symlink_to(path)
    return folder
