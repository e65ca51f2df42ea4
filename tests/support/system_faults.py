"""Processes whose system calls fail in a given way."""

import os
from pathlib import Path

from support.building import require, run

SOURCE = Path(__file__).with_suffix(".c")


class SystemFaults:
    """environment(call=error, ...) is that of such a process. log: its actions on files, in order."""

    def __init__(self, folder):
        self._folder, self._library = folder, folder / "faults.so"
        require("cc")
        run("cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", self._library, SOURCE, "-ldl")

    def environment(self, **errors):
        self._log.unlink(missing_ok=True)
        words = ",".join(f"{call}={error}" for call, error in errors.items())
        return {**os.environ, "LD_PRELOAD": str(self._library), "FAULTS": words, "FAULTS_LOG": str(self._log)}

    @property
    def _log(self):
        return self._folder / "log"

    @property
    def log(self):
        return self._log.read_text().splitlines() if self._log.exists() else []
