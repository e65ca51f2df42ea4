"""What the command makes of models, once for many tests."""

import os
import subprocess

from support.benching import ONE_THREAD
from support.places import FASTSVM


def compile_all(folder, *lines):
    """Command lines, without `fastsvm`, one after the other in a folder."""
    for line in lines:
        command, *words = line.split()
        subprocess.run([FASTSVM, command, "-q", *words], cwd=folder, env={**os.environ, **ONE_THREAD}, check=True)
