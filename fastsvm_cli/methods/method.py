"""The interface of a compilation method, and a run of one; commands/compile.py runs it."""

from collections.abc import Generator
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from fastsvm_cli.console.options import Option, Options, UsageError, argument
from fastsvm_cli.errors import FileError, ModelFormatError, spelled
from fastsvm_cli.methods import Progress, find, silent

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.comparisons import Budget
    from fastsvm_cli.methods.folded_scaling import ScalingToFold
    from fastsvm_cli.models import ExactModel, Model
    from fastsvm_cli.text.scaling import Scaling

#: gamma / gamma_MAX about the mean, up to which some models compile well by an expansion.
FEW_TIMES = 6.0


class MethodOptions(Options):
    """Options of a method's command, and defaults for what a run asks of them."""

    #: of the default output name
    suffix = ""
    #: whether MODEL_FILE is a model, not rows
    of_model = True
    data_file: "str | None" = None
    y_scale_file: "str | None" = None
    target: "float | None" = None
    unlabelled: bool = False
    threads: int
    quiet: bool
    model_file: str = argument()
    #: path of the result after `begin`; before, perhaps None
    output_file: str = argument(required=False)

    def begin(self) -> None:
        """Check files, also for a model that would replace rows (a mistyped `approx model test`), and set threads."""
        from os.path import basename

        from fastsvm_cli import _native
        from fastsvm_cli.console.files import check_model_output, check_outputs

        if self.output_file is None:  # as svm-train does, in the current directory
            self.output_file = "-" if self.model_file == "-" else basename(self.model_file) + self.suffix
        check_outputs([self.output_file], self.model_file, *self.inputs)
        check_model_output(self.output_file)
        _native.set_threads(self.threads)

    @property
    def inputs(self) -> "list[str | None]":
        """Files to read beside the model."""
        names = (name for name, each in self.records().items() if isinstance(each, Option))
        return [getattr(self, name) for name in names if name.endswith("_file")]

    def chosen(self, *names: str) -> "dict[str, Any]":
        """Return these options as keyword arguments."""
        return {name: getattr(self, name) for name in names}

    @property
    def rows_file(self) -> "str | None":
        """File of the rows to compile from."""
        return self.data_file

    def check_model(self, model: "ExactModel") -> None:
        """Refuse options that conflict with the model, before data is read."""

    def check_size(self, size: int) -> None:
        """Refuse a compiled model of too many bytes."""


class Made(NamedTuple):
    """A compiled model without further results."""

    model: Any
    warning: None = None


class SourceModel:
    """LIBSVM model to compile; size and fingerprint are of its file, decompressed."""

    def __init__(self, model: "ExactModel", size: int, fingerprint: str):
        self.model, self.size, self.fingerprint = model, size, fingerprint


class Run:
    """A compilation, and what its steps have found. Without a source, rows alone are compiled."""

    made: Any
    size: int

    def __init__(
        self, method: "Method", options: Any, source: "SourceModel | None" = None, rows: "list[Chunk] | None" = None
    ):
        self.method, self.options, self.source, self.rows = method, options, source, rows
        self.scaling: Scaling | None = None  # of the range file
        self.folding: ScalingToFold | None = None  # the same, if it goes into the model's numbers
        self.applied: list[Scaling] = []  # to rows: their warnings are due

    @property
    def exact(self) -> "ExactModel":
        """The exact model, where there is one."""
        assert self.source is not None
        return self.source.model

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the exact model's file."""
        assert self.source is not None
        return self.source.fingerprint

    def check(self) -> None:
        """Refuse a model that no method can compile."""
        if self.exact.uncompilable is not None:
            raise ModelFormatError(self.exact.path, self.exact.uncompilable)

    def read_range(self) -> None:
        """Read --scale and --y-scale."""
        from fastsvm_cli.console.files import read_range

        model = None if self.source is None else self.exact
        self.scaling = read_range(self.options.scale_file, self.options.y_scale_file, model, self.options.model_file)

    def read_rows(self, scaling: "Scaling | None", purpose: "str | None" = None) -> None:
        """Read the rows of --data. purpose: why there must be some, or None."""
        from fastsvm_cli.text.read_rows import read_chunks

        path = self.options.rows_file
        if path is None:
            return
        self.rows = list(read_chunks(path, labelled=not self.options.unlabelled, scaling=scaling))
        if purpose is not None and not sum(chunk.rows for chunk in self.rows):
            raise FileError(path, f"no rows found, expected some to {purpose}")
        if scaling is not None:
            self.applied.append(scaling)

    def text(self, model: "Model") -> "tuple[bytes, Model]":
        """Return a compiled model's file content, and the model read back, with the file's digits only."""
        from fastsvm_cli.models import parse_model

        path, text = self.options.model_file, model.to_text()
        try:
            found = parse_model(text, path)
        except ModelFormatError as error:
            why = f"the compiled model could not be read back ({error.why}), and is not written: do its numbers"
            raise ModelFormatError(path, f"{why} overflow? Scale the data") from None
        self.size = len(text)
        self.options.check_size(self.size)
        return text, found

    def embedded(self) -> "Model":
        """Return the compiled model with the range file to embed."""
        if self.scaling is not None and self.folding is None:
            from fastsvm_cli.text.scaling import EmbeddedScaling

            self.made.model.embedded_scaling = EmbeddedScaling(self.scaling, self.options.model_file)
        return self.made.model


class Attempt(NamedTuple):
    """A method with options, to try on a model."""

    command: str
    options: "dict[str, Any]"  # by long name, with _ for -; True for a flag
    rank: int = 5  # in the order of trying
    gain: float = inf  # estimated limit of the exact model's time over the compiled one's
    seconds: float = 0.0  # estimated, to compile
    exact: bool = False  # as with --exact
    calibrated: float = 0.0  # budget that the method keeps by its own test of the rows
    skipped: "str | None" = None  # the reason

    @property
    def name(self) -> str:
        """The attempt as a command line without files."""
        options = (spelled(name, "" if value is True else str(value)) for name, value in self.options.items())
        return " ".join([self.command, *options])


class Setting(NamedTuple):
    """Facts that a search starts from."""

    budget: "Budget"
    ratio: float  # gamma / gamma_MAX about the support vectors' mean; 0 for kernels other than RBF
    rows: int  # to calibrate on
    max_bytes: float  # of a compiled model

    @property
    def promising(self) -> bool:
        """Whether an expansion often holds at this gamma (scripts/README.md, "Grades of gamma")."""
        return self.ratio <= FEW_TIMES


#: Yields attempts; receives whether the model was within the budget, or None if it was not tried.
Search = Generator[Attempt, "bool | None", None]


class Method:
    """A compilation method.

    A new one is a module here whose METHOD is an instance of a subclass, and a name in METHODS.
    """

    name: str
    kinds: "tuple[str, ...]"  # of its models
    Options: "type[MethodOptions]"
    variants: ClassVar["dict[str, dict[str, str]]"] = {}  # Python names, with the options they imply
    better: str  # ways to improve agreement, in Python's words
    command_only = frozenset({"scale_file", "y_scale_file", "quiet"})

    @property
    def keywords(self) -> "dict[str, tuple[str, Option]]":
        """Options of fastsvm_cli.compile, by long name, _ for -: attribute of Options, record."""
        own = ((name, each) for name, each in self.Options.records().items() if isinstance(each, Option))
        return {word: (name, each) for name, each in own if name not in self.command_only for word in each.keywords}

    def read_options(self, given: "dict[str, Any]", variant: "str | None", model_file: str) -> Any:
        """Return the record of Python's {name: value}."""
        values: dict[str, Any] = self.variants.get(variant or "", {}).copy()
        for keyword, value in given.items():
            if keyword not in self.keywords:
                its = ", ".join(sorted(self.keywords))
                raise TypeError(f"{self.name} has no option {keyword!r}; its options are {its}")
            if value is not None:
                name, record = self.keywords[keyword]
                values[name] = record.read(keyword, value)
        return self.Options(frozenset(values), **{**self.Options.defaults(), **values, "model_file": model_file})

    def prepare(self, run: "Run") -> None:
        """Read range files and rows of a command."""
        run.read_range()
        run.read_rows(run.scaling)

    def compile(self, run: "Run", progress: Progress) -> Any:
        """Return `Made`, or an object with its attributes and others. warning: why a target or guarantee is missed."""
        raise NotImplementedError

    def written(self, run: "Run") -> "Model":
        """Return the model that a command writes."""
        return run.embedded()

    def reason_against(self, model: "ExactModel") -> "str | None":
        """Return why the method refuses the model, or None."""
        raise NotImplementedError

    def reasons_against(self, model: "ExactModel") -> "list[tuple[str, str]]":
        """Return (command, reason) for every variant that refuses the model."""
        why = self.reason_against(model)
        return [] if why is None else [(self.name, why)]

    def search(self, model: "ExactModel", setting: Setting) -> Search:
        """Look for the fastest model within a budget: yield attempts, receive whether each was within."""
        raise NotImplementedError


def require(path: str, reason_against: "str | None") -> None:
    """Raise ModelFormatError for a reason."""
    if reason_against is not None:
        raise ModelFormatError(path, reason_against)


def read_source(model_file: str, warn: bool = True) -> SourceModel:
    """Read a LIBSVM model, which must not be compiled."""
    from fastsvm_cli._native import fingerprint
    from fastsvm_cli.models import parse_libsvm, read_model_text

    text = read_model_text(model_file)
    return SourceModel(parse_libsvm(text, model_file, warn=warn), len(text), fingerprint(text))


class CompiledModel(NamedTuple):
    """A compiled model, read back from its text."""

    model: "Model"
    size: int
    target: float  # the option, or 0
    warning: "str | None"
    of_rows: "tuple[str, ...]" = ()  # svm-scale's warnings


def compile_source(
    name: str, source: SourceModel, given: "dict[str, Any]", on_progress: Progress = silent
) -> CompiledModel:
    """Compile an exact model. `data`, of the options `given` by long name, may be a list of chunks.

    An unknown option is a TypeError, a conflict a ValueError.
    """
    from fastsvm_cli.prediction import threads_here

    method, variant = find(name)
    rows, given = None, dict(given)
    if isinstance(given.get("data"), list):
        rows, given["data"] = given["data"], "data"
    try:
        options = method.read_options(given, variant, source.model.path)
        run = Run(method, options, source, rows)
        with threads_here(options.threads or None):
            run.check()
            options.check_model(source.model)
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
