"""The run that is common to all commands which compile an exact model."""

from typing import TYPE_CHECKING

from fastsvm_cli.console.options import Options, argument

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastsvm_cli.comparisons.agreement import Comparison
    from fastsvm_cli.models.base import ExactModel, Model


class CompilerOptions(Options):
    """Options of every command that compiles a model."""

    threads: int
    quiet: bool
    model_file: str = argument()
    #: path of the result after `begin`; before, perhaps None
    output_file: str = argument(required=False)

    def begin(self, suffix: str, *inputs: "str | None") -> None:
        """Check files and set threads.

        suffix: of the default output name. inputs: other files to read. Raises FileError and UsageError like
        check_files, and FileError if the model would replace rows (`approx model test`, typed after `bound model
        test`).
        """
        from fastsvm_cli import _native
        from fastsvm_cli.console.file_checks import check_files
        from fastsvm_cli.console.hints import has_pairs
        from fastsvm_cli.errors import FileError

        self.output_file = output_name(self.output_file, self.model_file, suffix)
        check_files(self.output_file, self.model_file, *inputs)
        if has_pairs(self.output_file):
            why = "rows of data found, which the model would replace; name another output file, or remove this one"
            raise FileError(self.output_file, why)
        _native.set_threads(self.threads)


class SourceModel:
    """LIBSVM model to compile. size: bytes of its file, decompressed. fingerprint: first 32 digits of their SHA-256."""

    def __init__(self, model: "ExactModel", size: int, fingerprint: str):
        self.model, self.size, self.fingerprint = model, size, fingerprint


def read_exact_model(model_file: str) -> SourceModel:
    """Read a model to compile. Raises FileError, and ModelFormatError, also for a model that cannot be compiled."""
    from fastsvm_cli.models import warn_of

    source = read_source(model_file, warn=False)
    require_compilable(source.model)
    warn_of(source.model, model_file, 3)
    return source


def require_compilable(model: "ExactModel") -> None:
    """Raise ModelFormatError for a model that no method can compile."""
    from fastsvm_cli.errors import ModelFormatError

    if model.uncompilable is not None:
        raise ModelFormatError(model.path, model.uncompilable)


def read_source(model_file: str, warn: bool = True) -> SourceModel:
    """Read a LIBSVM model. Raises FileError, and ModelFormatError, also for a compiled model."""
    from fastsvm_cli.models import check_start, parse_libsvm
    from fastsvm_cli.text.fingerprint import fingerprint
    from fastsvm_cli.text.read_rows import read_bytes

    text = read_bytes(model_file, lambda start: check_start(start, model_file))
    return SourceModel(parse_libsvm(text, model_file, warn=warn), len(text), fingerprint(text))


def text_to_write(model: "Model", model_file: str) -> bytes:
    """Return a compiled model's file content, checked by the parser.

    Raises ModelFormatError about model_file, the source.
    """
    return read_back(model, model_file)[0]


def read_back(model: "Model", model_file: str) -> "tuple[bytes, Model]":
    """Return what text_to_write returns, and the model with the file's digits only."""
    from fastsvm_cli.errors import ModelFormatError
    from fastsvm_cli.models import parse_model

    text = model.to_text()
    try:
        return text, parse_model(text, model_file)
    except ModelFormatError as error:
        why = f"the compiled model could not be read back ({error.why}), and is not written: do its numbers overflow?"
        raise ModelFormatError(model_file, f"{why} Scale the data") from None


def write_model(
    model: "Model", options: CompilerOptions, check_size: "Callable[[int], None]" = lambda size: None
) -> int:
    """Write a compiled model, checked by text_to_write; return its bytes.

    check_size: receives their number before the file is written. Raises ModelFormatError and FileError.
    """
    from fastsvm_cli.text.output import Output

    text = text_to_write(model, options.model_file)
    check_size(len(text))
    with Output(options.output_file) as output:
        output.write(text)
    return len(text)


def output_name(output_file: "str | None", model_file: str, suffix: str) -> str:
    """Return the output path.

    By default, as svm-train does, it is the model's name with the suffix, in the current directory; "-" for standard
    input.
    """
    from os.path import basename

    if output_file is not None:
        return output_file
    return "-" if model_file == "-" else basename(model_file) + suffix


def size_line(before: "int | None", after: int, output_file: str) -> str:
    """Return the sizes before and after, with the result's path."""
    from fastsvm_cli.text.numbers import size_text

    return (
        f"{'' if before is None else size_text(before) + ' -> '}{size_text(after)}:"
        f" {'standard output' if output_file == '-' else output_file}"
    )


def agreement_line(seen: "Comparison", where: str) -> str:
    """Return how far two models agree on these rows, in words."""
    if seen.regression:
        return (
            f"root mean square difference on {where}: {seen.difference:.3g} ({100 * seen.share:.3g} % of the spread of"
            " the values)"
        )
    return f"labels that differ on {where}: {seen.different} of {seen.rows} ({100 * seen.disagreement:.3g} %)"


def warn_of_disagreement(seen: "Comparison", ways_out: str, limit: float = 0.0) -> None:
    """Warn of a disagreement beyond both the default limit and `limit`. ways_out: options that do better."""
    import sys

    from fastsvm_cli.comparisons.support_vector_trial import DOUBTFUL

    if seen.share <= max(DOUBTFUL, limit):
        return
    what = (
        f"values are off by {100 * seen.share:.3g} % of their spread"
        if seen.regression
        else f"{100 * seen.share:.3g} % of these labels are not the exact model's"
    )
    cascade = "" if seen.regression else ", fastsvm cascade --data ROWS"
    print(
        f"Warning: {what}; try {ways_out}{cascade}, or the exact model as it is (fastsvm bench --try measures them"
        " all).",
        file=sys.stderr,
    )
