import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import click

from fastsvm_cli.console.values import POSITIVE, Count, one_character
from fastsvm_cli.errors import DataFormatError, FastsvmError, FastsvmWarning, FileError, ModelFormatError, option


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
    """A subclass annotates options and arguments, under click's names. given: names of those that were; None: click
    knows. Raises UsageError."""

    def __init__(self, given: "frozenset[str] | None" = None, **parsed: object):
        vars(self).update(parsed)
        if given is None:
            source = click.get_current_context().get_parameter_source
            given = frozenset(name for name in parsed if getattr(source(name), "name", "") == "COMMANDLINE")
        self.given = given
        if parsed.get("quiet"):
            warnings.simplefilter("ignore", FastsvmWarning)
        self.check()

    def check(self) -> None:
        """Raise UsageError for conflicts known before a file is read."""

    def first_given(self, *names: str) -> "str | None":
        """Return the spelling of the first given option."""
        return next((option(name.removesuffix("_file")) for name in names if name in self.given), None)


class Option(NamedTuple):
    """An option, from which click's option and Python's keyword arguments are made.

    words: spellings. type: click's; bool: a flag, which sets the opposite of the default. default: shown by --help,
    unless `shown` is. field: of Options, by default the last word."""

    words: str
    help: str
    type: Any = str
    metavar: "str | None" = None
    default: Any = None
    shown: "str | None" = None
    field: str = ""
    callback: Any = None
    required: bool = False

    @property
    def keywords(self) -> "list[str]":
        return [word.lstrip("-").replace("-", "_") for word in self.words.split()]

    @property
    def name(self) -> str:
        return self.field or self.keywords[-1]

    @property
    def parameter(self) -> click.Option:
        more = self._asdict()
        for name in ("words", "shown", "field"):
            del more[name]
        if self.type is bool:
            more.update(type=None, is_flag=True, flag_value=not self.default, default=bool(self.default))
        return click.Option(
            [*self.words.split(), self.name], show_default=self.shown or self.default is not None, **more
        )

    def __call__(self, command: "Callable[..., object]") -> "Callable[..., object]":
        """Decorate a command's function."""
        return click.option(*self.words.split(), self.name, cls=lambda *_, **__: self.parameter)(command)

    def read(self, keyword: str, value: Any) -> Any:
        """Return the checked value of a keyword argument. Raise UsageError."""
        if self.type is bool:
            if type(value).__name__ not in ("bool", "bool_"):
                raise click.UsageError(f"{keyword}={value!r} found, expected True or False")
            return bool(value) != bool(self.default)
        if isinstance(value, (list, tuple, dict, bool)) or getattr(value, "shape", None):
            raise click.UsageError(f"{keyword} of type {type(value).__name__} found, expected one value")
        try:
            return self.type(value) if self.type is str else self.type.convert(str(value), None, None)
        except click.BadParameter as fault:
            raise click.UsageError(f"Invalid value for '{keyword}': {fault.message}") from None


def scale_option(words: str) -> Option:
    return Option("--scale", words, metavar="RANGE_FILE", field="scale_file")


_SCALED = "Range file of svm-scale (or scale file of R's e1071) of the model's training rows."


def carry_option(name: str, words: str = "") -> Option:
    said = " The compiled model carries it, takes raw rows, and scales them as predict --scale does."
    field = "scale_file" if name == "--scale" else "carry_file"
    return Option(name, f"{_SCALED}{said}{words}", metavar="RANGE_FILE", field=field)


def fold_option(words: str) -> Option:
    return scale_option(f"{_SCALED} The result is a LIBSVM model of raw rows, without svm-scale's rounding.{words}")


def y_scale_option(words: str, other: str = "--scale") -> Option:
    said = f"The y scale file that R's write.svm wrote beside that of {other}, for regression. {words}"
    return Option("--y-scale", said, metavar="FILE", field="y_scale_file")


def check_y_scale(scale_file: "str | None", y_scale_file: "str | None", other: str = "--scale") -> None:
    if y_scale_file is not None and scale_file is None:
        raise click.UsageError(f"--y-scale goes with {other}: write.svm writes both files.")


def megabytes_option(name: str, words: str) -> Option:
    """Return an option in MB, with its value in bytes."""
    return Option(
        name, words, POSITIVE, "MB", 256.0, callback=lambda context, parameter, value: max(int(value * 1e6), 1)
    )


DATA_OPTIONS = (
    Option(
        "--dense",
        "Read delimited numbers: a label, then the values of features 1, 2, ... or, if the model has a feature 0, of"
        " 0, 1, ...",
        bool,
    ),
    Option(
        "--delim",
        "Delimiter of --dense. A blank matches any run of blanks; \\t is a tab.",
        metavar="C",
        default=",",
        field="delimiter",
        callback=one_character,
    ),
    Option("--unlabelled", "Read rows without labels.", bool),
    megabytes_option(
        "--max-line", "Maximum length of a line; a longer one is malformed. Takes a few times as much memory."
    ),
    scale_option(
        "Range file of svm-scale, or scale file of write.svm (R's e1071). Rows are scaled while they are read; with a"
        " range file, to the same bytes as svm-scale -r."
    ),
)


def data_options(command: "Callable") -> "Callable":
    for each in reversed(DATA_OPTIONS):
        command = each(command)
    return command


def check_data_options(options: Any) -> None:
    if not options.dense and "delimiter" in options.given:
        raise click.UsageError("--delim goes with --dense: other rows are index:value pairs with blanks between them.")


threads_option = Option("--threads", "Number of threads, 0 for all.", Count(0), "N", 0, "all available processors")


def dask_option(words: str, more: str = "") -> Option:
    where = "tcp://HOST:8786, or local:N for N processes on this machine"
    return Option("--dask", f"{words}: {where}.{more} Needs pip install 'fastsvm[dask]'.", metavar="ADDRESS")


def check_dask(address: "str | None") -> None:
    if address is None:
        return
    from fastsvm_cli.cluster.scheduler import Address

    try:
        Address(address)
    except ValueError as error:
        raise click.UsageError(f"{option('dask')}: {error}.") from None


def quiet_option(words: str = "Print no summary, warnings or progress bar.") -> Option:
    return Option("-q --quiet", words, bool)


def seed_option(words: str) -> Option:
    return Option("--seed", words, click.IntRange(0), "S", 0)


def json_option(words: str) -> Option:
    return Option("--json", words, bool, field="as_json")


def model_arguments(command: "Callable") -> "Callable":
    return click.argument("model_file")(click.argument("output_file", required=False)(command))
