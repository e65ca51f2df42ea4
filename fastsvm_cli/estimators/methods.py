"""The commands that compile a model, called from Python: their options, under their names, by their own parsers."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click
import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.console.exact_model import CompilerOptions, Source, read_back
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.base import Model
from fastsvm_cli.text.data import read_chunks

#: Commands that make a model of another.
METHODS = {"approx": "ApproxOptions", "reduce": "ReduceOptions", "order": "OrderOptions", "border": "BorderOptions"}
#: `order` has an option --method: its values are methods of their own here.
ORDERED = ("geometry", "triangle")
_ELSEWHERE = ("model_file", "output_file", "plot_file", "quiet", "help", "method")
#: Of `border`: what makes a border without a model.
_WITHOUT_MODEL = ("bandwidth", "weight", "density")


def compile_source(
    method: str, source: Source, given: "dict[str, Any]", on_progress: "Callable[..., None] | None" = None
) -> "tuple[Model, float]":
    """What `fastsvm <method>` makes of an exact model, as read back from its file's content, and the share of labels
    that its option target lets it change (0 without one).

    method: one of METHODS, or of ORDERED, which are `order --method <method>`. given: options, {name: value}, under the
    long names of the command, with _ for -; a flag is True. `data` of reduce and border may be a list of chunks. None:
    not given. on_progress: called with the share done, and words.

    Raises TypeError for an option that the command does not have, ValueError for what does not go together,
    ModelFormatError for a model that the method refuses, FileError. Their messages name options as `given` does.
    """
    given, chunks = dict(given), None
    if isinstance(given.get("data"), list):
        chunks = given.pop("data")
    command = ["order", f"--method={method}"] if method in ORDERED else [method]
    return compile_words([*command, *option_words(command[0], given)], source, chunks, on_progress)


def compile_words(
    words: "list[str]",
    source: Source,
    chunks: "list[_native.Chunk] | None" = None,
    on_progress: "Callable[..., None] | None" = None,
) -> "tuple[Model, float]":
    """Likewise, by the words of a command line: a method and its options. chunks: in place of the file --data."""
    method = words[0]
    command = import_module(f"fastsvm_cli.commands.{method}")
    try:
        with command.command.make_context(method, [*words[1:], "--", source.model.path]) as context:
            if chunks is not None:
                context.params["data_file"] = "data"
            options = getattr(command, METHODS[method])(**context.params)
            with _threads(options.threads):
                compiled = _compile(method, command, source, options, chunks, on_progress or silent)
        text, model = read_back(compiled, source.model.path)
        if method == "approx":
            options.check_size(len(text))
    except click.ClickException as fault:
        raise ValueError(f"{method}: {in_python(fault.format_message())}") from None
    except ModelFormatError as fault:
        raise type(fault)(fault.path, in_python(fault.why), fault.line) from None
    return model, getattr(options, "target", None) or 0.0


def in_python(message: str) -> str:
    """A command's message about its options, in the words of fastsvm_cli.compile: --max-size is max_size, --vectors L
    is vectors=L, --method blocks and fastsvm reduce are method="blocks" and method="reduce"."""
    message = re.sub(r"--method ([a-z]+)|fastsvm (approx|border|order|reduce)\b", r'method="\1\2"', message)

    def name(found: "re.Match[str]") -> str:
        value = f"={found[2]}" if found[2] else ""
        return found[1].replace("-", "_") + value

    return re.sub(r"(?<![^\s'(])--([a-z][a-z-]*)(?: ([A-Z][A-Z_]*)\b)?", name, message)


def _compile(
    method: str,
    command: Any,
    source: Source,
    options: CompilerOptions,
    chunks: "list[_native.Chunk] | None",
    progress: "Callable[..., None]",
) -> Model:
    if method == "border":
        from fastsvm_cli.compilers.border.compile import refusal
        from fastsvm_cli.compilers.refusals import demand

        demand(source.model.path, refusal(source.model))
    if method != "reduce":
        options.check_model(source.model)  # type: ignore[attr-defined]
    if method == "approx":
        return command.compile_source(source, options, progress)
    if method == "order":
        model = command.with_own_kernel(source.model, options)
        return command.compile_source(model, source.fingerprint, options, progress)
    if chunks is None and options.data_file is not None:  # type: ignore[attr-defined]
        chunks = list(read_chunks(options.data_file))  # type: ignore[attr-defined]
    if chunks is not None and not sum(chunk.rows for chunk in chunks):
        raise ValueError(f"{method}: data without a row found, expected some")
    return command.compile_source(source, chunks, options, progress).model


def option_words(method: str, given: "dict[str, Any]") -> "list[str]":
    """The options as words of a command line. Raises TypeError for one that the command does not have."""
    command = import_module(f"fastsvm_cli.commands.{method}").command
    known: dict[str, click.Option] = {}
    for each in command.params:
        if isinstance(each, click.Option) and each.name not in _ELSEWHERE:
            for name in each.opts:
                known[name.lstrip("-").replace("-", "_")] = each
    if method != "order":  # what --scale folds in is a scaler in front of the model, from Python
        for name in ("scale", "y_scale"):
            known.pop(name, None)
    if method == "border":
        known = {name: each for name, each in known.items() if each.name not in _WITHOUT_MODEL}
    out: list[str] = []
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"{method} has no option {name!r}; its options are {', '.join(sorted(known))}")
        if value is None:
            continue
        option = max(known[name].opts, key=len)
        if known[name].is_flag:
            if not isinstance(value, (bool, np.bool_)):
                raise ValueError(f"{method}: {name}={value!r} found, expected True or False")
            out += [option] * bool(value)
        elif isinstance(value, (list, tuple, dict, bool)) or getattr(value, "shape", None):
            raise ValueError(f"{method}: {name} of type {type(value).__name__} found, expected one value")
        else:
            out.append(f"{option}={value}")
    return out


def words_to_options(words: "list[str]") -> "dict[str, Any]":
    """A method and its options, as they are given to fastsvm_cli.compile, of the words of a command line."""
    out: dict[str, Any] = {"method": words[0]}
    command = import_module(f"fastsvm_cli.commands.{words[0]}").command
    with command.make_context(words[0], [*words[1:], "model"]) as context:
        for option in command.params:
            source = context.get_parameter_source(option.name)
            if source is not None and source.name == "COMMANDLINE" and isinstance(option, click.Option):
                out[max(option.opts, key=len).lstrip("-").replace("-", "_")] = context.params[option.name]
    return out


@contextmanager
def _threads(count: int) -> "Iterator[None]":
    """So many in this thread's native calls; 0: as they are."""
    if not count:
        yield
        return
    before = _native.set_threads_here(count)
    try:
        yield
    finally:
        _native.set_threads_here(before)


def silent(share: float, words: str = "") -> None:
    pass
