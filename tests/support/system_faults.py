"""Outputs written by a process whose system calls fail in a given way."""

import os
from pathlib import Path

from support.building import require, run
from support.outputs import in_new_process

SOURCE = Path(__file__).with_suffix(".c")
WRITE_PIECES = (
    "from fastsvm_cli.errors import FileError\n"
    "try:\n"
    "    with Output(sys.argv[1]) as output:\n"
    "        for name in sys.argv[2:]:\n"
    "            output.write(open(name, 'rb').read())\n"
    "except FileError as error:\n"
    "    sys.exit(str(error))\n"
)


class Errors:
    """write(path, *pieces, call=error, ...) -> standard error. log: actions on files, in order."""

    def __init__(self, folder):
        self._folder, self._library = folder, folder / "faults.so"
        require("cc")
        run("cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", self._library, SOURCE, "-ldl")

    def write(self, path, *buffers, **errors):
        names = []
        for number, buffer in enumerate(buffers):
            names.append(self._folder / f"piece-{number}")
            names[-1].write_bytes(buffer)
        log = self._folder / "log"
        log.unlink(missing_ok=True)
        words = ",".join(f"{call}={error}" for call, error in errors.items())
        env = {**os.environ, "LD_PRELOAD": str(self._library), "FAULTS": words, "FAULTS_LOG": str(log)}
        done = in_new_process(WRITE_PIECES, path, *names, env=env)
        self.log = log.read_text().splitlines() if log.exists() else []
        assert done.returncode == (1 if done.stderr else 0)
        return done.stderr.removesuffix("\n")
