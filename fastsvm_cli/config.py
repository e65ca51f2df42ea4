"""`fastsvm-config`: compiler options for programs that use libfastsvm."""

import os
import sys

from fastsvm_cli import __version__

HELP = """Usage: fastsvm-config [--cflags] [--libs] [--libsvm] [--version]

Print what a C compiler needs to build a program on libfastsvm.

  --cflags   Folder of fastsvm.h.
  --libsvm   The same, and the folder of an svm.h for programs that call LIBSVM.
  --libs     The library, and where the loader finds it.
  --version  Version of fastsvm.

  cc $(fastsvm-config --cflags) -o labels labels.c $(fastsvm-config --libs)
  c++ $(fastsvm-config --libsvm) -o server server.cpp $(fastsvm-config --libs)
"""


def words(option: str) -> "list[str]":
    """Return the words of one of the options ``--cflags``, ``--libs``, ...."""
    folder = os.path.dirname(os.path.abspath(__file__))
    lib, include = os.path.join(folder, "lib"), os.path.join(folder, "include")
    name = "libfastsvm.0.dylib" if sys.platform == "darwin" else "libfastsvm.so.0"
    return {
        "--cflags": [f"-I{include}"],
        "--libsvm": [f"-I{include}", f"-I{os.path.join(include, 'libsvm-on-fastsvm')}"],
        "--libs": [os.path.join(lib, name), f"-Wl,-rpath,{lib}"],
        "--version": [__version__],
    }[option]


def main() -> None:
    """Run ``fastsvm-config``: print the compiler's words for libfastsvm."""
    options = sys.argv[1:]
    if not options or "--help" in options:
        print(HELP, end="")
        sys.exit(0 if options else 2)
    try:
        print(" ".join(word for option in options for word in words(option)))
    except KeyError as unknown:
        sys.exit(f"Error: no such option: {unknown.args[0]}; see fastsvm-config --help")
