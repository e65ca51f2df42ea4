"""The contract of a method of compiling."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import click

from fastsvm_cli.console.exact_model import CompilerOptions
from fastsvm_cli.errors import ModelFormatError

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.console.exact_model import SourceModel
    from fastsvm_cli.models.base import Model
    from fastsvm_cli.models.exact import ExactModel

#: Called with the share done, and words.
Progress = Callable[..., None]


class MethodOptions(CompilerOptions):
    """The options of a method, as its command parses them. Raises UsageError for a conflict between them."""

    def check_model(self, model: "ExactModel") -> None:
        """Raises UsageError for options that conflict with the model."""

    def check_size(self, size: int) -> None:
        """Raises ModelFormatError for a compiled model of so many bytes."""


class Compiled(Protocol):
    """Result of a compilation: the model, and what the method's command says of it."""

    @property
    def model(self) -> "Model": ...


class Made(NamedTuple):
    """A compiled model of which there is no more to say than it says itself."""

    model: Any


class Attempt:
    """A method with options, to be tried on a model.

    command: name of the method's command. options: by their long names, with _ for -; a flag is True. exact: whether
    the result is to be tried with --exact as well. skipped: why it is not tried, or None; limit: the option that says
    so. refused: why the method would refuse the model, or None."""

    def __init__(
        self,
        command: str,
        options: "dict[str, Any]",
        *,
        exact: bool = False,
        skipped: "str | None" = None,
        limit: "str | None" = None,
        refused: "str | None" = None,
    ):
        self.command, self.options, self.exact = command, options, exact
        self.skipped, self.limit, self.refused = skipped, limit, refused

    @property
    def arguments(self) -> "list[str]":
        """The words of the command line, without files."""
        words = [self.command]
        for name, value in self.options.items():
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
        return words

    @property
    def name(self) -> str:
        """The command as tables show it."""
        return " ".join(self.arguments)

    @property
    def reduces(self) -> bool:
        """A larger reduced set takes longer to compile than a smaller one."""
        return self.command == "reduce"


class Method:
    """One method of compiling. To add one, write a module here with an instance of a subclass named METHOD, and its
    name in METHODS.

    name: of its command, and of compile(method=). kinds: the kinds of model that it makes. parameters: of its command,
    in the order of its help page. variants: further names in Python, each with the options that it means. better: what
    brings its labels nearer to the exact model's, in Python's words. command_only: options that Python does not have.
    """

    name: str
    kinds: "tuple[str, ...]"
    Options: "type[MethodOptions]"
    parameters: "list[click.Parameter]"
    variants: ClassVar["dict[str, dict[str, str]]"] = {}
    better: str
    command_only = frozenset({"scale_file", "y_scale_file", "plot_file", "quiet"})

    @property
    def python_options(self) -> "dict[str, click.Option]":
        """The options of fastsvm_cli.compile, {name: option}: long names of the command's, with _ for -."""
        return {
            word.lstrip("-").replace("-", "_"): each
            for each in self.parameters
            if isinstance(each, click.Option) and each.name not in self.command_only
            for word in each.opts
        }

    def read_options(self, given: "dict[str, Any]", variant: "str | None", model_file: str) -> Any:
        """The record of options that Python gives: {name: value}, converted and checked as words are. None: not given.
        variant: one of `variants`, or None.

        Raises TypeError for an unknown name, ValueError for a value of the wrong type, click.UsageError."""
        values: dict[str, Any] = dict(self.variants[variant]) if variant is not None else {}
        for name, value in given.items():
            option = self.python_options.get(name)
            if option is None:
                its = ", ".join(sorted(self.python_options))
                raise TypeError(f"{self.name} has no option {name!r}; its options are {its}")
            if value is not None:
                values[str(option.name)] = self._value(name, option, value)
        command = click.Command(self.name, params=self.parameters)
        with command.make_context(self.name, ["--", model_file], default_map=values) as context:
            return self.Options(**context.params)

    def _value(self, name: str, option: click.Option, value: Any) -> Any:
        """What click's parser makes of it."""
        if option.is_flag:
            if type(value).__name__ not in ("bool", "bool_"):
                raise ValueError(f"{self.name}: {name}={value!r} found, expected True or False")
            return bool(value) != (option.flag_value is False)  # --no-finish sets False
        if isinstance(value, (list, tuple, dict, bool)) or getattr(value, "shape", None):
            raise ValueError(f"{self.name}: {name} of type {type(value).__name__} found, expected one value")
        return str(value)

    def check_model(self, model: "ExactModel", options: Any) -> None:
        """Before the data is read, which may be long. Raises UsageError and ModelFormatError."""
        options.check_model(model)

    def compile(
        self, source: "SourceModel", options: Any, progress: Progress, rows: "list[Chunk] | None" = None
    ) -> Compiled:
        """Compile a model that `check_model` has passed. rows: of the option data. Raises ModelFormatError,
        FileError."""
        raise NotImplementedError

    def refusal(self, model: "ExactModel") -> "str | None":
        """Why the method refuses a model, for its kernel or type, without further options; None if it does not."""
        raise NotImplementedError

    def refusals(self, model: "ExactModel") -> "list[tuple[str, str]]":
        """(command, reason) of each command of this method that refuses the model."""
        why = self.refusal(model)
        return [] if why is None else [(self.name, why)]

    def attempts(self, model: "ExactModel", max_bytes: float, patience: float) -> "list[Attempt]":
        """The attempts of `bench --try` on a model that has support vectors and is not refused. max_bytes: limit of a
        compiled model's size. patience: limit of a compilation's seconds, as far as they are known beforehand."""
        raise NotImplementedError


def listed(*decorators: "Callable[[Any], Any]") -> "list[click.Parameter]":
    """The parameters that click's decorators add, in their order."""

    def carrier() -> None: ...

    for decorate in reversed(decorators):
        decorate(carrier)
    return list(reversed(carrier.__click_params__))  # type: ignore[attr-defined]


def part_of(
    on_progress: "Callable[..., None] | None", begin: float, end: float, *words: str
) -> "Callable[[float], None] | None":
    """The on_progress of a step during which the share of the whole goes from `begin` to `end`; None for None. words:
    said with every share."""
    if on_progress is None:
        return None
    return lambda share: on_progress(begin + (end - begin) * share, *words)


def demand(path: str, refusal: "str | None") -> None:
    """Raises ModelFormatError for the model in the file `path`, where there is a refusal."""
    if refusal is not None:
        raise ModelFormatError(path, refusal)
