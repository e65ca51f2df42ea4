"""Describe the machine and the programs of a measurement."""

import os
import platform
import shutil
import sys

from fastsvm_cli import __version__, _native
from fastsvm_cli.benchmarks.libsvm import version
from fastsvm_cli.system.platform import processor_name


def describe(threads: int) -> dict:
    """Return the machine, system and program versions of a measurement, as plain values by name.

    threads: number of threads that the measurement uses; 0 for all.
    """
    return {
        "processor": processor_name(),
        "cores": _native.usable_processors(),
        "threads": threads,
        "kernels": _native.instruction_set(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "fastsvm": __version__,
        "libsvm_official": version(),
        "svm_predict": shutil.which("svm-predict"),
    }


def short(machine: dict) -> str:
    """Return the processor and its instruction set in a few words."""
    return f"{machine['processor']}, {machine['kernels']}"


def native_program() -> "str | None":
    """Return the path of fastsvm-predict, beside this program or Python or on the PATH; None without it."""
    folders = [os.path.dirname(os.path.abspath(each)) for each in (sys.argv[0], sys.executable)]
    return shutil.which("fastsvm-predict", path=os.pathsep.join([*folders, os.environ.get("PATH", "")]))


def fastsvm_command() -> "list[str]":
    """Return the words that start this installation's command."""
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script) == "fastsvm" and os.access(script, os.X_OK):
        return [script]
    return [sys.executable, "-m", "fastsvm_cli"]
