"""Checks of file names before any work, and of the start of files."""

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

import click

#: Entry of a sparse row.
INDEX_VALUE = re.compile(r"-?\d+:\S+")
_START_BYTES = 4096  # text/read_rows.py's read_start reads at most these


def check_files(output_file: str, *inputs: "str | None") -> None:
    """Check the names of an output file, which must not be an input, and of input files, None if not given.

    A UsageError is raised if standard input is read twice.
    """
    from fastsvm_cli.text.output import check_output

    check_inputs(*inputs)
    check_output(output_file, inputs)


def check_outputs(output_files: "list[str]", *inputs: "str | None") -> None:
    """Check files as check_files does; outputs must differ."""
    from fastsvm_cli.text.output import check_apart

    for each in output_files:
        check_files(each, *inputs)
    check_apart(output_files)


def check_document(inputs: "Iterable[str | None]", output_files: "Sequence[str]" = ()) -> None:
    """Require a standard output, apart from inputs and outputs, that takes a document."""
    from fastsvm_cli.text.output import check_apart, check_output

    check_output("-", inputs)
    check_apart([*output_files, "-"])


def check_inputs(*inputs: "str | None") -> None:
    """Check input files as check_files does, without an output."""
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.system import is_closed

    if inputs.count("-") > 1:
        raise click.UsageError("only one of the files can be standard input.")
    for path in inputs:
        if path in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0") and is_closed(0):
            raise FileError(path, "it is closed")


def require_exists(path: str) -> None:
    """Require a file; - is standard input."""
    import os

    from fastsvm_cli.errors import FileError

    try:
        path == "-" or os.stat(path)
    except OSError as error:
        raise FileError(path, error) from None


def summary_stream(*output_files: "str | None") -> TextIO:
    """Return standard output, or standard error if an output takes it. Without either, a summary is lost."""
    from fastsvm_cli.system import summary_output
    from fastsvm_cli.text.output import is_standard_output

    return sys.stderr if any(is_standard_output(each) for each in output_files) else summary_output()


def leading_comments(lines: "list[str]") -> int:
    """Count the comment lines before the first row."""
    return next((at for at, line in enumerate(lines) if not line.lstrip().startswith("#")), len(lines))


def has_pairs(path: str) -> bool:
    """Return whether a file's first row has index:value pairs."""
    lines = first_lines(path) or []
    lines = lines[leading_comments(lines) :]
    return bool(lines) and any(map(INDEX_VALUE.fullmatch, lines[0].split()))


def check_model_output(path: str, *sources: "str | None") -> None:
    """Refuse to replace rows of data, or the source of a model, by the model."""
    from fastsvm_cli._native import fingerprint
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.text.read_rows import read_bytes

    what = "rows of data" if has_pairs(path) else None
    if any(sources) and is_model(path) and fingerprint(read_bytes(path)) in sources:
        what = "the source of the model"
    if what is not None:
        raise FileError(
            path, f"{what} found, which the model would replace; name another output file, or remove this one"
        )


def is_model(path: str, dense: bool = False) -> bool:
    """Return whether a file starts like a model. dense: it might hold --dense rows."""
    from fastsvm_cli.models import looks_like_model

    return looks_like_model(start_of(path) or b"", dense)


def is_compiled(path: str) -> bool:
    """Return whether a file starts like a compiled model."""
    lines = first_lines(path) or []
    return bool(lines) and lines[0].startswith("fastsvm_model ")


def first_lines(path: str) -> "list[str] | None":
    """Return a regular file's first lines, without a cut-off word."""
    start = start_of(path)
    if start is None:
        return None
    lines = start.decode("utf-8", "replace").splitlines()
    if lines and not start.endswith(b"\n"):
        lines[-1] = lines[-1] if len(start) < _START_BYTES else without_last_field(lines[-1])
    return lines


def start_of(path: str) -> "bytes | None":
    """Return a regular file's first bytes, decompressed, or None."""
    from os.path import isfile

    from fastsvm_cli.errors import FastsvmError
    from fastsvm_cli.text.read_rows import read_start

    if path == "-" or not isfile(path):
        return None
    try:
        return read_start(path)
    except FastsvmError:
        return None


def without_last_field(line: str) -> str:
    """Drop the last field, which may be cut off."""
    return re.sub(r"[,;|\s][^,;|\s]*$", "", line)
