"""What the command makes of models, once for many tests."""

from support.forked import fastsvm


def compile_all(folder, *lines):
    """Command lines, without `fastsvm`, one after the other in a folder."""
    for line in lines:
        command, *words = line.split()
        fastsvm([command, "-q", *words], cwd=folder, check=True)
