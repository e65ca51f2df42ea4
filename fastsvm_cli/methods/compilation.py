"""Sources of compile runs, and the run of Python's `compile`; commands/compile_run.py is that of a command."""

from typing import TYPE_CHECKING, Any, NamedTuple

from fastsvm_cli.methods.method import Run
from fastsvm_cli.methods.method import SourceModel as SourceModel

if TYPE_CHECKING:
    from fastsvm_cli.methods.method import Progress
    from fastsvm_cli.models.base import Model


def read_source(model_file: str, warn: bool = True) -> SourceModel:
    """Read a LIBSVM model, which must not be compiled."""
    from fastsvm_cli._native import fingerprint
    from fastsvm_cli.models import parse_libsvm, read_model_text

    text = read_model_text(model_file)
    return SourceModel(parse_libsvm(text, model_file, warn=warn), len(text), fingerprint(text))


def silent(share: float, words: str = "") -> None:
    """Do nothing with a progress report."""


class CompiledModel(NamedTuple):
    """A compiled model, read back from its text."""

    model: "Model"
    size: int
    target: float  # the option, or 0
    warning: "str | None"
    of_rows: "tuple[str, ...]" = ()  # svm-scale's warnings


def compile_source(
    name: str, source: SourceModel, given: "dict[str, Any]", on_progress: "Progress" = silent
) -> CompiledModel:
    """Compile an exact model. `data`, of the options `given` by long name, may be a list of chunks.

    An unknown option is a TypeError, a conflict a ValueError.
    """
    from fastsvm_cli.console.options import UsageError
    from fastsvm_cli.methods import find
    from fastsvm_cli.methods.parallel import threads_here

    method, variant = find(name)
    rows, given = None, dict(given)
    if isinstance(given.get("data"), list):
        rows, given["data"] = given["data"], "data"
    try:
        options = method.read_options(given, variant, source.model.path)
        run = Run(method, options, source, rows)
        with threads_here(options.threads or None):
            run.check()
            method.check_model(source.model, options)
            if rows is None and given.get("data") is not None:
                run.read_rows(None)
            if run.rows is not None and not sum(chunk.rows for chunk in run.rows):
                raise UsageError("data without a row found, expected some")
            run.made = method.compile(run, on_progress)
        _, model = run.text(run.made.model)
    except UsageError as error:
        raise ValueError(f"{method.name}: {error.format_message()}") from None
    of_rows = tuple(line.removeprefix("Warning: ") for scaling in run.applied for line in scaling.warnings())
    return CompiledModel(model, run.size, options.target or 0.0, run.made.warning, of_rows)
