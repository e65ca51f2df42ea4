import warnings
from collections.abc import Callable

import click

from fastsvm_cli.console.values import POSITIVE, Count, one_character
from fastsvm_cli.errors import DataFormatError, FastsvmError, FastsvmWarning, FileError, ModelFormatError


class FileCommand(click.Command):
    """Command with fastsvm's help page, and hints in errors about files."""

    def get_help_option_names(self, context: click.Context) -> "list[str]":
        return ["-h", "--help"]  # in any group

    def get_help(self, context: click.Context) -> str:
        from fastsvm_cli.console.help_page import help_page

        return help_page(self, context)

    def parse_args(self, context: click.Context, args: "list[str]") -> "list[str]":
        line = list(args)  # the parser changes args
        try:
            return super().parse_args(context, args)
        except click.NoSuchOption as fault:
            from fastsvm_cli.console.hints import about_option

            raise click.NoSuchOption(
                fault.option_name, about_option(fault.option_name, context, line), ctx=context
            ) from None

    def invoke(self, context: click.Context) -> object:
        try:
            if context.obj is not None:  # the core's run ended so (start.py)
                raise context.obj
            return super().invoke(context)
        except (DataFormatError, FileError, ModelFormatError) as error:
            from fastsvm_cli.console.hints import hint

            words = hint(error, self.name or "", context.params)
            if words is None:
                raise
            raise FastsvmError(f"{error}; {words}") from None


class Options:
    """A subclass annotates options and arguments, under click's names. Raises UsageError."""

    def __init__(self, **parsed: object):
        vars(self).update(parsed)
        if parsed.get("quiet"):
            warnings.simplefilter("ignore", FastsvmWarning)
        self.check()

    def check(self) -> None:
        """Raise UsageError for conflicts known before a file is read."""


def was_given(name: str) -> bool:
    """Return whether a parameter was given, on the command line or from Python."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not None and source.name in ("COMMANDLINE", "DEFAULT_MAP")


def first_given(*names: str) -> "str | None":
    """Return the spelling of the first given option."""
    spelled = {each.name: max(each.opts, key=len) for each in click.get_current_context().command.params}
    return next((spelled[name] for name in names if was_given(name)), None)


def scale_option(words: str) -> "Callable":
    return click.option("--scale", "scale_file", metavar="RANGE_FILE", help=words)


_SCALED = "Range file of svm-scale (or scale file of R's e1071) of the model's training rows."


def carry_option(name: str, words: str = "") -> "Callable":
    said = " The compiled model carries it, takes raw rows, and scales them as predict --scale does."
    return click.option(
        name, "scale_file" if name == "--scale" else "carry_file", metavar="RANGE_FILE", help=f"{_SCALED}{said}{words}"
    )


def fold_option(words: str) -> "Callable":
    return scale_option(f"{_SCALED} The result is a LIBSVM model of raw rows, without svm-scale's rounding.{words}")


def y_scale_option(words: str, option: str = "--scale") -> "Callable":
    return click.option(
        "--y-scale",
        "y_scale_file",
        metavar="FILE",
        help=f"The y scale file that R's write.svm wrote beside that of {option}, for regression. {words}",
    )


def check_y_scale(scale_file: "str | None", y_scale_file: "str | None", option: str = "--scale") -> None:
    if y_scale_file is not None and scale_file is None:
        raise click.UsageError(f"--y-scale goes with {option}: write.svm writes both files.")


def megabytes_option(name: str, words: str) -> "Callable":
    """Return an option in MB, with its value in bytes."""
    return click.option(
        name,
        type=POSITIVE,
        default=256.0,
        show_default=True,
        metavar="MB",
        callback=lambda context, parameter, value: max(int(value * 1e6), 1),
        help=words,
    )


def data_options(command: "Callable") -> "Callable":
    for option in (
        scale_option(
            "Range file of svm-scale, or scale file of write.svm (R's e1071). Rows are scaled while they are read; with"
            " a range file, to the same bytes as svm-scale -r."
        ),
        megabytes_option(
            "--max-line",
            ("Maximum length of a line; a longer one is malformed. Takes a few times as much memory."),
        ),
        click.option("--unlabelled", is_flag=True, help="Read rows without labels."),
        click.option(
            "--delim",
            "delimiter",
            default=",",
            show_default=True,
            metavar="C",
            callback=one_character,
            help="Delimiter of --dense. A blank matches any run of blanks; \\t is a tab.",
        ),
        click.option(
            "--dense",
            is_flag=True,
            help=(
                "Read delimited numbers: a label, then the values of features 1, 2, ... or, if the model has a feature"
                " 0, of 0, 1, ..."
            ),
        ),
    ):
        command = option(command)
    return command


def check_data_options(dense: bool) -> None:
    if not dense and was_given("delimiter"):
        raise click.UsageError("--delim goes with --dense: other rows are index:value pairs with blanks between them.")


threads_option = click.option(
    "--threads",
    type=Count(0),
    default=0,
    show_default="all available processors",
    metavar="N",
    help="Number of threads, 0 for all.",
)


def dask_option(words: str, more: str = "") -> "Callable":
    where = "tcp://HOST:8786, or local:N for N processes on this machine"
    return click.option("--dask", metavar="ADDRESS", help=f"{words}: {where}.{more} Needs pip install 'fastsvm[dask]'.")


def check_dask(address: "str | None") -> None:
    if address is None:
        return
    from fastsvm_cli.cluster.scheduler import Address

    try:
        Address(address)
    except ValueError as error:
        raise click.UsageError(f"--dask: {error}.") from None


def quiet_option(words: str = "Print no summary, warnings or progress bar.") -> "Callable":
    return click.option("-q", "--quiet", is_flag=True, help=words)


def seed_option(words: str) -> "Callable":
    return click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="S", help=words)


def json_option(words: str) -> "Callable":
    return click.option("--json", "as_json", is_flag=True, help=words)


def model_arguments(command: "Callable") -> "Callable":
    return click.argument("model_file")(click.argument("output_file", required=False)(command))
