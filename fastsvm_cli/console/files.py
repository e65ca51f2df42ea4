"""Files of options: checks of names before any work, the start of files, range files, figures."""

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

import click

from fastsvm_cli import system
from fastsvm_cli.errors import FastsvmError, FileError

if TYPE_CHECKING:
    from fastsvm_cli.models import Model
    from fastsvm_cli.text.scaling import Scaling

#: Entry of a sparse row.
INDEX_VALUE = re.compile(r"-?\d+:\S+")
_START_BYTES = 4096  # text/read_rows.py's read_start reads at most these
_KINDS = ("svg", "png", "pdf")  # of figures


def check_outputs(output_files: "list[str]", *inputs: "str | None") -> None:
    """Check the names of output files, which must differ and not be inputs, and of input files, None if not given.

    A UsageError is raised if standard input is read twice.
    """
    from fastsvm_cli.text.files import check_apart, check_output

    if output_files:
        check_inputs(*inputs)
    for each in output_files:
        check_output(each, inputs)
    check_apart(output_files)


def check_document(inputs: "Iterable[str | None]", output_files: "Sequence[str]" = ()) -> None:
    """Require a standard output, apart from inputs and outputs, that takes a document."""
    from fastsvm_cli.text.files import check_apart, check_output

    check_output("-", inputs)
    check_apart([*output_files, "-"])


def check_inputs(*inputs: "str | None") -> None:
    """Check input files as check_outputs does, without an output."""
    if inputs.count("-") > 1:
        raise click.UsageError("only one of the files can be standard input.")
    for path in inputs:
        if path in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0") and system.is_closed(0):
            raise FileError(path, "it is closed")


def summary_stream(*output_files: "str | None") -> TextIO:
    """Return standard output, or standard error if an output takes it. Without either, a summary is lost."""
    from fastsvm_cli.text.files import is_standard_output

    return sys.stderr if any(is_standard_output(each) for each in output_files) else system.summary_output()


def leading_comments(lines: "list[str]") -> int:
    """Count the comment lines before the first row."""
    return next((at for at, line in enumerate(lines) if not line.lstrip().startswith("#")), len(lines))


def first_row(path: str) -> str:
    """Return a file's first row, after comment lines; "" without one."""
    lines = first_lines(path) or []
    return next(iter(lines[leading_comments(lines) :]), "")


def has_pairs(path: str) -> bool:
    """Return whether a file's first row has index:value pairs."""
    return any(map(INDEX_VALUE.fullmatch, first_row(path).split()))


def check_model_output(path: str, *sources: "str | None") -> None:
    """Refuse to replace rows of data, or the source of a model, by the model."""
    from fastsvm_cli._native import fingerprint
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
    return (first_lines(path) or [""])[0].startswith("fastsvm_model ")


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


def read_scale_file(path: "str | None", labels_path: "str | None" = None) -> "Scaling | None":
    """Read the files of --scale and --y-scale."""
    if path is None:
        return None
    from fastsvm_cli.text.read_rows import read_bytes
    from fastsvm_cli.text.scaling import parse_scaling, with_labels

    scaling = parse_scaling(read_bytes(path), path)
    return scaling if labels_path is None else with_labels(scaling, read_bytes(labels_path), labels_path)


def warn_of_scaling(scaling: "Scaling | None", quiet: bool) -> None:
    """Print svm-scale's warnings, after all rows."""
    if scaling is not None and not quiet:
        for line in scaling.warnings():
            print(line, file=sys.stderr)


def read_range(
    path: "str | None", labels_path: "str | None", model: "Model | None", model_file: str
) -> "Scaling | None":
    """Read a range file that must fit the model (None: a density estimate)."""
    scaling = read_scale_file(path, labels_path)
    if scaling is not None:
        from fastsvm_cli.text.scaling import check_embedding

        check_embedding(scaling, model, model_file)
    return scaling


def refuse_twice(scale_file: "str | None", model: "Model", model_file: str) -> None:
    """Refuse --scale with a model of raw rows."""
    if scale_file is None or model.raw_rows is None:
        return
    raise click.UsageError(f"{model_file} takes raw rows, {model.raw_rows}: give it no --scale.")


def check_plot(plot_file: "str | None") -> None:
    """Load matplotlib, and require a known file type."""
    if plot_file is None:
        return
    if not plot_file.endswith(tuple(f".{kind}" for kind in _KINDS)):
        raise click.UsageError(f"--plot writes .svg, .png or .pdf, and '{plot_file}' is none of them.")
    try:
        _load_matplotlib()
    except Exception:
        raise click.ClickException("--plot needs matplotlib: pip install 'fastsvm[plot]'") from None


def _load_matplotlib() -> None:
    import logging
    import os

    # It reports an unwritable home directory, and its search for fonts.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    before = os.environ.get("MPLCONFIGDIR")
    import matplotlib  # noqa: F401

    made = os.environ.get("MPLCONFIGDIR")
    if made is None or made == before:
        return
    # A temporary folder, as the home directory is unwritable. matplotlib removes it at interpreter shutdown, which
    # __main__.py skips.
    from functools import partial
    from shutil import rmtree

    remove = partial(rmtree, made, ignore_errors=True)
    system.add_undo(remove)
    click.get_current_context().call_on_close(remove)
