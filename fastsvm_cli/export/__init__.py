"""Export of models as C99 or ONNX (README.md)."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from fastsvm_cli.errors import FileError

if TYPE_CHECKING:
    from fastsvm_cli.export.check import Answers
    from fastsvm_cli.export.description import Description


#: Values of --to, and file endings.
TARGETS = ("onnx", "c")


class Options:
    """Options of an export. progmem: tables in an AVR's flash memory."""

    def __init__(self, *, single: bool = True, prefix: "str | None" = None, progmem: bool = False):
        self.single, self.prefix, self.progmem = single, prefix, progmem


class Export(NamedTuple):
    """Result of an export."""

    texts: "dict[str, bytes]"  # by file ending, the output's own first
    sizes: str  # a line for the user
    answers: "Callable[[int], Answers]"  # runs the model here, for rows of so many entries
    main: "Callable[[int], dict[str, bytes]]"  # {ending: content} of a program that reads rows
    nbytes: int  # of the model


def export(description: "Description", target: str, output: str, options: Options) -> Export:
    """Export to `target`."""
    return {"onnx": _onnx, "c": _c}[target](description, output, options)


def _onnx(description: "Description", output: str, options: Options) -> Export:
    from fastsvm_cli.export.onnx import OPSET, answers, model_of
    from fastsvm_cli.text import size_text

    proto = model_of(description, options.single)
    text = proto.SerializeToString()
    words = f"{size_text(len(text))}, {len(proto.graph.node)} nodes of opset {OPSET}"
    return Export(
        {".onnx": text},
        words,
        lambda longest_row: answers(text, description, options.single),
        lambda row: {},
        len(text),
    )


def _c(description: "Description", output: str, options: Options) -> Export:
    from os.path import basename

    from fastsvm_cli.export.c import Program
    from fastsvm_cli.text import size_text

    stem = basename(output).removesuffix(".c")
    prefix = _identifier(stem) if options.prefix is None else options.prefix
    program = Program(description, single=options.single, prefix=prefix, file=stem, progmem=options.progmem)
    words = f"{size_text(program.table_bytes)} of tables, {size_text(program.stack_bytes)} of arrays on the stack"

    def answers(longest_row: int) -> "Answers":
        from shutil import which

        from fastsvm_cli.export.check import c_answers

        compiler = next((each for each in ("cc", "gcc", "clang") if which(each)), None)
        if compiler is None:
            raise FileError("cc", "it is not installed, and --test compiles what was written")
        if options.progmem:
            raise FileError(
                description.path, "--progmem is for avr-gcc: --test tries it without, or use the main there"
            )
        return c_answers(program, longest_row, compiler)

    return Export(
        {".c": program.source().encode(), ".h": program.header().encode()},
        f"{words}, {program.operations:,} operations a row",
        answers,
        lambda longest_row: {"_main.c": program.main(longest_row).encode()},
        program.table_bytes,
    )


def is_prefix(name: str) -> bool:
    """Return whether a name begins a C identifier."""
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None


def _identifier(words: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_]", "_", words)
    return name if name[:1].isalpha() else f"svm_{name}"
