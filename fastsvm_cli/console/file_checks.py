"""Check the names of inputs and outputs before any work."""

import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

import click


def check_files(output_file: str, *inputs: "str | None") -> None:
    """Check the names of an output file and of input files; None for one that is not given.

    Raises FileError if standard input is read but closed, or if the output cannot be written or is an input; UsageError
    if standard input is read twice.
    """
    from fastsvm_cli.text.output import check_output

    check_inputs(*inputs)
    check_output(output_file, inputs)


def check_outputs(output_files: "list[str]", *inputs: "str | None") -> None:
    """Check files as check_files does; also raise FileError if two outputs are the same."""
    from fastsvm_cli.text.output import check_apart

    for each in output_files:
        check_files(each, *inputs)
    check_apart(output_files)


def check_document(inputs: "Iterable[str | None]", output_files: "Sequence[str]" = ()) -> None:
    """Raise FileError if standard output cannot take a document: it is an input or an output."""
    from fastsvm_cli.text.output import check_apart, check_output

    check_output("-", inputs)
    check_apart([*output_files, "-"])


def check_inputs(*inputs: "str | None") -> None:
    """Check input files as check_files does, without an output."""
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.system.streams import is_closed

    if inputs.count("-") > 1:
        raise click.UsageError("only one of the files can be standard input.")
    for path in inputs:
        if path in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0") and is_closed(0):
            raise FileError(path, "it is closed")


def require_exists(path: str) -> None:
    """Raise FileError if there is no such file; - is standard input."""
    import os

    from fastsvm_cli.errors import FileError

    try:
        path == "-" or os.stat(path)
    except OSError as error:
        raise FileError(path, error) from None


def summary_stream(*output_files: "str | None") -> TextIO:
    """Return standard output; standard error if an output takes it. A summary that it cannot take is lost."""
    from fastsvm_cli.system.streams import summary_output
    from fastsvm_cli.text.output import is_standard_output

    return sys.stderr if any(is_standard_output(each) for each in output_files) else summary_output()
