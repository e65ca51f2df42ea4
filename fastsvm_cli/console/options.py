"""Options as records, from which click's parameters and Python's keyword arguments are made."""

import sys
import warnings
from collections.abc import Callable
from math import inf, isfinite, isnan, nan
from typing import Any, NamedTuple

import click
from click import Choice as Choice
from click import UsageError as UsageError

from fastsvm_cli.errors import DataFormatError, FastsvmError, FastsvmWarning, FileError, ModelFormatError, spelled


class FileCommand(click.Command):
    """Command with fastsvm's help page, and hints in errors about files."""

    def get_help_option_names(self, context: click.Context) -> "list[str]":
        """Also ``-h``."""
        return ["-h", "--help"]  # in any group

    def get_help(self, context: click.Context) -> str:
        """Return the help page."""
        from fastsvm_cli.console.help_page import help_page

        return help_page(self, context)

    def parse_args(self, context: click.Context, args: "list[str]") -> "list[str]":
        """Parse the words, with a hint for an unknown option."""
        line = list(args)  # the parser changes args
        try:
            return super().parse_args(context, args)
        except click.NoSuchOption as error:
            from fastsvm_cli.console.hints import about_option

            raise click.NoSuchOption(
                error.option_name, about_option(error.option_name, context, line), ctx=context
            ) from None

    def invoke(self, context: click.Context) -> object:
        """Run the command; end with exit code 1 and one line for an error in a file."""
        try:
            if context.obj is not None:  # the core's run ended so (__main__.py)
                raise context.obj
            return super().invoke(context)
        except UsageError as error:
            error.ctx = error.ctx or context
            raise
        except (DataFormatError, FileError, ModelFormatError) as error:
            from fastsvm_cli.console.hints import hint

            words = hint(error, self.name or "", context.params)
            if words is None:
                raise
            raise FastsvmError(f"{error}; {words}") from None


class _Range(click.ParamType):
    """Range whose errors name what was found and expected."""

    kind: str
    min: Any
    max: Any
    min_open: bool

    def convert(self, value: Any, parameter: "click.Parameter | None", context: "click.Context | None") -> Any:
        try:
            return super().convert(value, parameter, context)
        except click.BadParameter:
            self.fail(f"{value!r} found, expected {self._expected()}.", parameter, context)

    def _expected(self) -> str:
        if self.max is not None:
            return f"a {self.kind} from {self.min:g} to {self.max:g}"
        return f"a {self.kind} above {self.min:g}" if self.min_open else f"a {self.kind} of {self.min:g} or more"


class Integer(_Range, click.IntRange):
    """Whole number in a range, whose ends belong to it."""

    kind = "whole number"


class Number(_Range, click.FloatRange):
    """Number of at least or, with min_open, above `least`. endless: infinity is allowed."""

    kind = "number"

    def __init__(self, least: float, *, min_open: bool = False, endless: bool = False) -> None:
        super().__init__(least, None, min_open)
        self._endless = endless

    def convert(self, value: Any, parameter: "click.Parameter | None", context: "click.Context | None") -> float:
        """Return the number, or fail."""
        number = float(super().convert(value, parameter, context))
        if isnan(number) or not (self._endless or isfinite(number)):
            self.fail(f"'{value}' found, expected a finite number.", parameter, context)
        return number


#: A number above 0.
POSITIVE = Number(0, min_open=True)
#: A limit above 0; inf for none.
LIMIT = Number(0, min_open=True, endless=True)


class Count(Integer):
    """Count, capped at the core's largest."""

    _MOST = 2**31 - 1

    def convert(self, value: Any, parameter: "click.Parameter | None", context: "click.Context | None") -> int:
        """Return the number, or the core's largest, 2^31 - 1."""
        return min(int(super().convert(value, parameter, context)), self._MOST)


class ZeroOrOne(click.IntRange):
    """0 or 1, as svm-predict's ``-b``."""

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(self, value: Any, parameter: "click.Parameter | None", context: "click.Context | None") -> int:
        """Return 0 or 1, or fail, with a hint if the value is a file."""
        from os.path import exists

        if value not in (0, 1, "0", "1"):
            option = min(parameter.opts, key=len) if parameter is not None else ""
            where = f" in front of the file: {option} 1 {value}" if exists(value) else "."
            self.fail(f"'{value}' found, expected 0 or 1{where}", parameter, context)
        return int(value)


class Words(click.ParamType):
    """Words that `read` turns into a value, or None. refused: what a message says of others."""

    def __init__(self, name: str, read: "Callable[[Any], Any]", refused: str) -> None:
        self.name, self._read, self._refused = name, read, refused

    def convert(self, value: Any, parameter: "click.Parameter | None", context: "click.Context | None") -> Any:
        """Return the value, or fail."""
        found = self._read(value)
        if found is None:
            self.fail(f"'{value}' {self._refused}", parameter, context)
        return found


class Share(Words):
    """Share, as 0.005 or 0.5%. expected: its name in messages; holds: whether a number is one."""

    def __init__(
        self,
        expected: str = "a share, as 0.005 or 0.5%",
        holds: "Callable[[float], bool]" = lambda share: 0 <= share <= 1,
        name: str = "share",
    ) -> None:
        def read(value: "str | float") -> "float | None":
            share = number(value)
            return share if holds(share) else None

        super().__init__(name, read, f"found, expected {expected}.")


FRACTION = Share("a share above 0 and below 1, as 0.005 or 0.5%", lambda share: 0 < share < 1)
RATIO = Share("a share above 0, up to 1, as 0.05 or 5%", lambda share: 0 < share <= 1)
#: Of --target: a share, except for regression.
TARGET = Share("a number above 0, as 0.005 or 0.5%", lambda share: 0 < share < inf, "target")


def _bandwidth(value: str) -> "str | float | None":
    if value == "adaptive":
        return value
    width = nan if value.endswith("%") else number(value)
    return width if 1e-100 <= width <= 1e100 else None


#: The word ``adaptive``, or a bandwidth.
BANDWIDTH = Words("bandwidth", _bandwidth, "is neither 'adaptive' nor a number from 1e-100 to 1e100.")


def number(value: "str | float") -> float:
    """Return a share; nan for other words."""
    if not isinstance(value, str):
        return float(value)
    try:
        return float(value[:-1]) / 100 if value.endswith("%") else float(value)
    except ValueError:
        return nan


def one_character(context: click.Context, parameter: click.Parameter, value: str) -> str:
    r"""Convert \t, tab, space or a character to a delimiter."""
    from fastsvm_cli._native import may_delimit

    value = {"\\t": "\t", "tab": "\t", "space": " "}.get(value, value)
    if not may_delimit(value):
        raise click.BadParameter("expected one character that cannot be part of a number (or \\t)")
    return value


#: Groups of options that several commands have.
OUTPUT, ROWS, LONG, CHECKS, CLUSTERS = "Output", "Rows and scaling", "Long jobs", "Checks", "Clusters"


class Option(NamedTuple):
    """An option, from which click's and Python's keyword arguments are made."""

    words: str  # spellings, and a name of the value
    help: str
    type: Any = str  # one of click's, or bool for a flag, which sets the opposite of the default
    default: Any = None
    shown: "str | None" = None  # the default in --help
    callback: Any = None
    required: bool = False
    group: str = ""  # its heading in --help; '' is the first, Options

    @property
    def spellings(self) -> "list[str]":
        """Its words on the command line."""
        return [word for word in self.words.split() if word.startswith("-")]

    @property
    def keywords(self) -> "list[str]":
        """Spellings as Python's keyword arguments."""
        return [word.lstrip("-").replace("-", "_") for word in self.spellings]

    @property
    def value(self) -> Any:
        """Return the value if not given."""
        return bool(self.default) if self.type is bool else self.default

    def parameter(self, name: str) -> click.Parameter:
        """Return click's parameter."""
        more = {**self._asdict(), "default": self.value}
        del more["words"], more["shown"], more["group"]
        if self.required:
            del more["default"]  # to click, None is one
        more["metavar"] = " ".join(word for word in self.words.split() if not word.startswith("-")) or None
        if self.type is bool:
            more.update(type=None, is_flag=True, flag_value=not self.value)
        made: Any = click.Option([*self.spellings, name], show_default=self.shown or self.default is not None, **more)
        made.group = self.group  # for help_page
        return made

    def read(self, keyword: str, value: Any) -> Any:
        """Return a keyword argument's checked value."""
        if self.type is bool:
            if type(value).__name__ not in ("bool", "bool_"):
                raise click.UsageError(f"{keyword}={value!r} found, expected True or False")
            return bool(value) != bool(self.default)
        if isinstance(value, (list, tuple, dict, bool)) or getattr(value, "shape", None):
            raise click.UsageError(f"{keyword} of type {type(value).__name__} found, expected one value")
        try:
            return self.type(value) if self.type is str else self.type.convert(str(value), None, None)
        except click.BadParameter as error:
            raise click.UsageError(f"Invalid value for '{keyword}': {error.message}") from None


class Argument(NamedTuple):
    """A positional argument of a command."""

    required: bool = True
    nargs: int = 1
    metavar: "str | None" = None

    def parameter(self, name: str) -> click.Parameter:
        """Return click's parameter."""
        return click.Argument([name], **self._asdict())


#: For attributes of Options; Any, as an attribute is annotated with its value's type.
option: Any = Option
argument: Any = Argument


class Options:
    """Values of a command's parameters.

    A subclass annotates each, and assigns its Option or Argument; --help has this order, then that of base classes.
    given: names of the parameters that the user gave; None: click knows them.
    """

    quiet: bool

    def __init__(self, given: "frozenset[str] | None" = None, **parsed: object):
        vars(self).update(parsed)
        if given is None:
            source = click.get_current_context().get_parameter_source
            given = frozenset(name for name in parsed if getattr(source(name), "name", "") == "COMMANDLINE")
        self.given = given
        if parsed.get("quiet"):
            warnings.simplefilter("ignore", FastsvmWarning)
        self.check()

    @classmethod
    def records(cls) -> "dict[str, Option | Argument]":
        """Return every option and argument by its attribute's name."""
        named = (each for kind in cls.__mro__ for each in vars(kind).items())
        return {name: each for name, each in named if isinstance(each, (Option, Argument))}

    @classmethod
    def parameters(cls) -> "list[click.Parameter]":
        """Return click's parameters, arguments last."""
        every = [each.parameter(name) for name, each in cls.records().items()]
        return sorted(every, key=lambda each: isinstance(each, click.Argument))

    @classmethod
    def defaults(cls) -> "dict[str, Any]":
        """Return the default values by the attributes' names."""
        return {name: None if isinstance(each, Argument) else each.value for name, each in cls.records().items()}

    def check(self) -> None:
        """Refuse conflicts known before a file is read: UsageError."""

    def note(self, words: str) -> None:
        """Print a line on standard error, unless quiet."""
        if not self.quiet:
            print(words, file=sys.stderr)

    def refuse_given(self, words: str, *names: str) -> None:
        """Raise UsageError if one of these is given; {} in its words is the first one's spelling."""
        for name in names:
            if name in self.given:
                raise UsageError(words.format(spelled(name.removesuffix("_file"))))


def scale(words: str) -> Any:
    """Return an option ``--scale RANGE_FILE``."""
    return Option("--scale RANGE_FILE", words, group=ROWS)


#: Begins the help of range files of training rows.
SCALED = "Range file of svm-scale (or scale file of R's e1071) of the training rows."


def embed(name: str) -> Any:
    """Return the option of a range file that the compiled model embeds."""
    return Option(f"{name} RANGE_FILE", f"{SCALED} The compiled model embeds it. All rows are then raw.", group=ROWS)


def fold(words: str) -> Any:
    """Return the option of a range file that is folded into a LIBSVM model."""
    return scale(f"{SCALED} The result is a LIBSVM model of raw rows, without svm-scale's rounding.{words}")


def y_scale(words: str = "The result then predicts unscaled y, as with a range file of y.") -> Any:
    """Return an option ``--y-scale FILE``."""
    words_ = f"The y scale file that R's write.svm wrote beside the scale file, for regression. {words}"
    return Option("--y-scale FILE", words_, group=ROWS)


def check_y_scale(scale_file: "str | None", y_scale_file: "str | None", other: str = "--scale") -> None:
    """Refuse ``--y-scale`` without its range file."""
    if y_scale_file is not None and scale_file is None:
        raise click.UsageError(f"--y-scale goes with {other}: write.svm writes both files.")


def megabytes(name: str, words: str, group: str) -> Any:
    """Return an option in MB, with its value in bytes."""

    def as_bytes(context: click.Context, parameter: click.Parameter, value: float) -> int:
        return max(int(value * 1e6), 1)

    return Option(f"{name} MB", words, POSITIVE, 256.0, callback=as_bytes, group=group)


class DataOptions(Options):
    """Options of commands that read rows."""

    scale_file: "str | None" = scale(
        "Range file of svm-scale, or scale file of write.svm (R's e1071). Rows are scaled while they are read; with a"
        " range file, to the same bytes as svm-scale -r."
    )
    dense: bool = option(
        "--dense",
        "Read delimited numbers: a label, then the values of features 1, 2, ... or, if the model has a feature 0, of"
        " 0, 1, ...",
        bool,
        group=ROWS,
    )
    delimiter: str = option(
        "--delim C",
        "Delimiter of --dense. A blank matches any run of blanks; \\t is a tab.",
        default=",",
        callback=one_character,
        group=ROWS,
    )
    unlabelled: bool = option("--unlabelled", "Read rows without labels.", bool, group=ROWS)
    #: bytes
    max_line: int = megabytes(
        "--max-line", "Maximum length of a line; a longer one is malformed. Takes a few times as much memory.", ROWS
    )

    def check(self) -> None:
        """Refuse options that conflict."""
        if not self.dense and "delimiter" in self.given:
            why = "other rows are index:value pairs with blanks between them"
            raise click.UsageError(f"--delim goes with --dense: {why}.")


threads: Any = Option("--threads N", "Number of threads, 0 for all.", Count(0), 0, "all available processors")


def dask(words: str, more: str = "") -> Any:
    """Return an option ``--dask ADDRESS``."""
    where = "tcp://HOST:8786, or local:N for N processes on this machine"
    return Option("--dask ADDRESS", f"{words}: {where}.{more} Needs pip install 'fastsvm[dask]'.", group=CLUSTERS)


def check_dask(address: "str | None") -> None:
    """Require the address of a scheduler."""
    if address is None:
        return
    from fastsvm_cli.cluster.scheduler import local_workers

    try:
        local_workers(address)
    except ValueError as error:
        raise click.UsageError(f"{spelled('dask')}: {error}.") from None


def quiet(words: str = "Print no summary, warnings or progress bar.") -> Any:
    """Return an option ``--quiet``."""
    return Option("-q --quiet", words, bool)


def seed(words: str, group: str = "") -> Any:
    """Return an option ``--seed``."""
    return Option("--seed S", words, Integer(0), 0, group=group)


def json(words: str) -> Any:
    """Return an option ``--json``."""
    return Option("--json", words, bool, group=OUTPUT)
