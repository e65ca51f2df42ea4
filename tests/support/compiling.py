"""Models that the command compiles once for many tests."""

from support.forked import fastsvm


def compile_all(folder, *lines):
    """lines: command lines without `fastsvm`."""
    for line in lines:
        command, *words = line.split()
        fastsvm([command, "-q", *words], cwd=folder, check=True)
