"""The interface of a compilation method."""

from collections.abc import Callable, Generator
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from fastsvm_cli.console.compiler_options import CompilerOptions
from fastsvm_cli.console.options import Option
from fastsvm_cli.errors import ModelFormatError, spelled

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.comparisons.budget import Budget
    from fastsvm_cli.console.compiler_options import SourceModel
    from fastsvm_cli.models.base import ExactModel, Model

#: gamma / gamma_MAX about the mean, up to which some models compile well by an expansion.
FEW_TIMES = 6.0
#: Receives the share done, and text.
Progress = Callable[..., None]


class MethodOptions(CompilerOptions):
    """Options of a method's command. Raises UsageError."""

    def check_model(self, model: "ExactModel") -> None:
        """Raise UsageError for options that conflict with the model."""

    def check_size(self, size: int) -> None:
        """Raise ModelFormatError for a compiled model of too many bytes."""


class Compiled(Protocol):
    """Result of a compilation."""

    @property
    def model(self) -> "Model":
        """The compiled model."""


class Made(NamedTuple):
    """A compiled model without further results."""

    model: Any


class Attempt(NamedTuple):
    """A method with options, to try on a model.

    options: by long name, _ for -; True for a flag. rank: place in the order of trying, the most promising first. gain:
    estimated limit of the exact model's time over the compiled one's. seconds: estimated processor time to compile.
    exact: whether the certified model is tried with --exact. calibrated: budget that the method keeps by its own test
    of the rows, which it receives; 0 for others. skipped: reason not to try it, or None.
    """

    command: str
    options: "dict[str, Any]"
    rank: int = 5
    gain: float = inf
    seconds: float = 0.0
    exact: bool = False
    calibrated: float = 0.0
    skipped: "str | None" = None

    @property
    def name(self) -> str:
        """The attempt as a command line without files."""
        options = (spelled(name, "" if value is True else str(value)) for name, value in self.options.items())
        return " ".join([self.command, *options])

    @property
    def arguments(self) -> "list[str]":
        """The words of `name`."""
        return self.name.split()


class Setting(NamedTuple):
    """Facts that a search for a model starts from.

    budget: the rule. ratio: gamma / gamma_MAX about the mean of the support vectors; 0 for kernels other than RBF.
    rows: number of rows to calibrate on. max_bytes: of a compiled model.
    """

    budget: "Budget"
    ratio: float
    rows: int
    max_bytes: float

    @property
    def promising(self) -> bool:
        """Whether an expansion often holds at this gamma (scripts/README.md, "What gamma says")."""
        return self.ratio <= FEW_TIMES


#: Yields attempts; receives whether the model was within the budget, or None if it was not tried.
Search = Generator[Attempt, "bool | None", None]


class Method:
    """A compilation method.

    To add one, write a module here whose METHOD is an instance of a subclass, and name it in METHODS.

    kinds: of its models. variants: Python names, with the options they imply. better: ways to improve agreement, in
    Python's words. command_only: options that Python lacks.
    """

    name: str
    kinds: "tuple[str, ...]"
    Options: "type[MethodOptions]"
    variants: ClassVar["dict[str, dict[str, str]]"] = {}
    better: str
    command_only = frozenset({"scale_file", "y_scale_file", "plot_file", "quiet"})

    @property
    def keywords(self) -> "dict[str, tuple[str, Option]]":
        """Options of fastsvm_cli.compile, by long name, _ for -: attribute of Options, record."""
        own = ((name, each) for name, each in self.Options.records().items() if isinstance(each, Option))
        return {word: (name, each) for name, each in own if name not in self.command_only for word in each.keywords}

    def read_options(self, given: "dict[str, Any]", variant: "str | None", model_file: str) -> Any:
        """Return the options record for Python's {name: value}. Raises TypeError for an unknown name, UsageError."""
        values: dict[str, Any] = self.variants.get(variant or "", {}).copy()
        for keyword, value in given.items():
            if keyword not in self.keywords:
                its = ", ".join(sorted(self.keywords))
                raise TypeError(f"{self.name} has no option {keyword!r}; its options are {its}")
            if value is not None:
                name, record = self.keywords[keyword]
                values[name] = record.read(keyword, value)
        return self.Options(frozenset(values), **{**self.Options.defaults(), **values, "model_file": model_file})

    def check_model(self, model: "ExactModel", options: Any) -> None:
        """Check before data is read. Raises UsageError or ModelFormatError."""
        options.check_model(model)

    def compile(
        self, source: "SourceModel", options: Any, progress: Progress, rows: "list[Chunk] | None" = None
    ) -> Compiled:
        """Compile a model; raise ModelFormatError or FileError. rows: of --data, or None."""
        raise NotImplementedError

    def reason_against(self, model: "ExactModel") -> "str | None":
        """Return why the method refuses the model, or None."""
        raise NotImplementedError

    def reasons_against(self, model: "ExactModel") -> "list[tuple[str, str]]":
        """Return (command, reason) for every variant that refuses the model."""
        why = self.reason_against(model)
        return [] if why is None else [(self.name, why)]

    def search(self, model: "ExactModel", setting: Setting) -> Search:
        """Look for the fastest model within a budget: yield an attempt, receive whether it is within, and so on."""
        raise NotImplementedError


def part_of(
    on_progress: "Callable[..., None] | None", begin: float, end: float, *words: str
) -> "Callable[[float], None] | None":
    """Return on_progress from share `begin` to `end`, with `words`."""
    if on_progress is None:
        return None
    return lambda share: on_progress(begin + (end - begin) * share, *words)


def require(path: str, reason_against: "str | None") -> None:
    """Raise ModelFormatError for a reason."""
    if reason_against is not None:
        raise ModelFormatError(path, reason_against)
