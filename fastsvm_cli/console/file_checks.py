"""The files of a command, before any work: what it reads, what it writes, and where its summary goes."""

import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

import click


def check_files(output_file: str, *inputs: "str | None") -> None:
    """inputs: the files that are read (None: an option that was not given). Raises FileError where standard input is
    read and closed, where the output cannot be written or is one of the inputs; UsageError where standard input would
    be read twice."""
    from fastsvm_cli.text.output import check_output

    check_inputs(*inputs)
    check_output(output_file, inputs)


def check_outputs(output_files: "list[str]", *inputs: "str | None") -> None:
    """As check_files, for a command that writes several; raises FileError where two of them are one."""
    from fastsvm_cli.text.output import check_apart

    for each in output_files:
        check_files(each, *inputs)
    check_apart(output_files)


def check_document(inputs: "Iterable[str | None]", output_files: "Sequence[str]" = ()) -> None:
    """As check_files, for a document that goes to standard output, of --json say. output_files: what else is
    written."""
    from fastsvm_cli.text.output import check_apart, check_output

    check_output("-", inputs)
    check_apart([*output_files, "-"])


def check_inputs(*inputs: "str | None") -> None:
    """As check_files, for a command that writes no file."""
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.streams import is_closed

    if inputs.count("-") > 1:
        raise click.UsageError("only one of the files can be standard input.")
    for path in inputs:
        if path in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0") and is_closed(0):
            raise FileError(path, "it is closed")


def summary_stream(*output_files: "str | None") -> TextIO:
    """Standard error if the rows, or the model, go to standard output. A summary that nobody can read is no fault."""
    from fastsvm_cli.streams import is_closed
    from fastsvm_cli.text.output import is_standard_output

    if any(is_standard_output(each) for each in output_files):
        return sys.stderr
    return open("/dev/null", "w") if is_closed(1) else sys.stdout
