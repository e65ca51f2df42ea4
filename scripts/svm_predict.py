"""Builds of svm-predict, with version and package: they differ in speed by half. `libsvm_version` is in the program, or
in a distribution's libsvm.so. Needs binutils' objdump."""

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path


def add_option(parser):
    about = (
        "the svm-predict to measure against (default: the one on the PATH); where a script takes several, the fastest"
    )
    parser.add_argument("--svm-predict", action="append", metavar="PATH", help=about)


class Build:
    """name: `LIBSVM 3.37`, or with its Debian package, `LIBSVM 3.24 (libsvm-tools 3.24+ds-6)`."""

    def __init__(self, path):
        found = shutil.which(path)
        if found is None:
            sys.exit(f"Error: {path}: no such program (Debian: libsvm-tools; LIBSVM's own source: make)")
        self.path = str(Path(found).resolve())
        version, package = version_of(self.path), package_of(self.path)
        self.name = f"LIBSVM {version / 100:.2f}" if version else "LIBSVM of unknown version"
        if package:
            self.name += f" ({package})"

    def __str__(self):
        return f"{self.name}, {self.path}"


def chosen(options):
    builds = {build.path: build for build in map(Build, options.svm_predict or ["svm-predict"])}
    for build in builds.values():
        print(f"svm-predict: {build}")
    if len({build.name for build in builds.values()}) < len(builds):
        for build in builds.values():
            build.name = str(build)
    print(flush=True)
    return list(builds.values())


def version_of(path):
    """Return 337 for LIBSVM 3.37; None if unknown."""
    symbol = re.search(r"^([0-9a-f]+) .*\blibsvm_version$", _output_of("objdump", "-t", path), re.MULTILINE)
    if symbol:
        start = int(symbol[1], 16)
        bytes_there = _output_of("objdump", "-s", f"--start-address={start}", f"--stop-address={start + 4}", path)
        dump = re.search(r"^ [0-9a-f]+ ([0-9a-f]{8}) ", bytes_there, re.MULTILINE)
        return int.from_bytes(bytes.fromhex(dump[1]), sys.byteorder) if dump else None
    library = re.search(r"libsvm\.so\S* => (\S+)", _output_of("ldd", path))
    try:
        return ctypes.c_int.in_dll(ctypes.CDLL(library[1]), "libsvm_version").value if library else None
    except (OSError, ValueError):
        return None


def package_of(path):
    """Return the Debian package, as `libsvm-tools 3.24+ds-6`, or None."""
    owner = _output_of("dpkg-query", "-S", path).split(":")[0].strip()
    return _output_of("dpkg-query", "-W", "-f", "${Package} ${Version}", owner).strip() or None if owner else None


def _output_of(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""
