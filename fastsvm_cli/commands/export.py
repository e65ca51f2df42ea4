"""The command ``fastsvm export``."""

import re
from os.path import splitext
from typing import TYPE_CHECKING

import click

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.files import check_outputs, read_range, summary_stream
from fastsvm_cli.console.options import Integer, Words, option
from fastsvm_cli.errors import DataFormatError, FastsvmError, ModelFormatError, RowError
from fastsvm_cli.export import TARGETS, is_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastsvm_cli._native import Chunk
    from fastsvm_cli.export import Export
    from fastsvm_cli.export.check import Comparison
    from fastsvm_cli.export.description import Description
    from fastsvm_cli.methods.method import SourceModel
    from fastsvm_cli.models import Model


#: Single-precision error worth a warning.
_DOUBTFUL = 0.01
_TRIES = 8  # of --fit, to find a number that fits


def _bytes(value: "str | int") -> "int | None":
    found = re.fullmatch(r"([1-9][0-9]{0,11})([kKmM]?)", str(value))
    return None if found is None else int(found[1]) << {"": 0, "k": 10, "m": 20}[found[2].lower()]


#: Number of bytes: 32768, 32K or 1M; K is 1,024.
BYTES = Words("bytes", _bytes, "found, expected a number of bytes, as 32768 or 32K.")


class ExportOptions(shared.Options):
    """Options of ``fastsvm export``."""

    target: str = option("--to", "Form of the result.", click.Choice(TARGETS), shown="the ending of OUTPUT_FILE")
    precision: str = option(
        "--precision", "Precision of rows, tables and sums.", click.Choice(["single", "double"]), default="single"
    )
    features: "int | None" = option(
        "--features N",
        "Number of features of a row.",
        Integer(1),
        shown="the model's last",
        group=shared.ROWS,
    )
    scale_file: "str | None" = shared.scale(f"{shared.SCALED} The result takes raw rows.")
    y_scale_file: "str | None" = shared.y_scale()
    test_file: "str | None" = option(
        "--test DATA_FILE",
        "Rows to try the result on here, and to compare with fastsvm predict. For C, also writes a main function that"
        " reads such rows.",
        group=shared.CHECKS,
    )
    radius: bool = option(
        "--no-radius",
        "Omit the radii of a certified model, for a smaller result.",
        bool,
        default=True,
        group="Size",
    )
    fit: "int | None" = option(
        "--fit BYTES",
        "Maximum size of the result's tables, in bytes (32K is 32,768). An exact model is compiled to what fits, by"
        " degree, rank or number of vectors; the result is the one with the fewest labels that differ.",
        BYTES,
        group="Size",
    )
    data_file: "str | None" = option(
        "--data DATA_FILE",
        "Rows on which --fit compares labels.",
        shown="the support vectors",
        group="Size",
    )
    size: bool = option("--size", "Print the sizes of the result, and write nothing.", bool, group="Size")
    prefix: "str | None" = option(
        "--prefix NAME", "First part of every name in C.", shown="the output's name", group="C source"
    )
    progmem: bool = option("--progmem", "Tables in the flash memory of an AVR (C).", bool, group="C source")
    quiet: bool = shared.quiet()
    model_file: str = shared.argument()
    output_file: "str | None" = shared.argument(required=False)

    def check(self) -> None:
        """Refuse options that conflict."""
        if "target" not in self.given:
            self.target = splitext(self.output_file or "")[1].removeprefix(".")
            if self.target not in TARGETS:
                found = "no OUTPUT_FILE" if self.output_file is None else f"'{self.output_file}'"
                raise click.UsageError(f"{found} found, expected --to, or a name that ends in .onnx or .c.")
        shared.check_y_scale(self.scale_file, self.y_scale_file)
        for name, given in (("--prefix", self.prefix is not None), ("--progmem", self.progmem)):
            if given and self.target != "c":
                raise click.UsageError(f"{name} is of C: it goes with --to c.")
        if self.data_file is not None and self.fit is None:
            raise click.UsageError("--data goes with --fit: it says on which rows labels are compared.")
        if self.progmem and self.test_file is not None:
            raise click.UsageError("--progmem is for avr-gcc, and --test compiles here: give one of them.")
        if self.prefix is not None and not is_prefix(self.prefix):
            raise click.UsageError(f"--prefix: '{self.prefix}' found, expected a name of C: letters, digits and _.")
        if self.target == "c" and self.output_file is not None and not self.output_file.endswith(".c"):
            raise click.UsageError(
                f"'{self.output_file}' found, expected a name that ends in .c: its header ends in .h."
            )

    def output(self) -> str:
        """Return the path of the result."""
        from os.path import basename

        name = "model" if self.model_file == "-" else basename(self.model_file)
        return self.output_file or f"{name}.{self.target}"


@click.command("export", cls=shared.FileCommand, params=ExportOptions.parameters())
def command(**parsed):
    """Write a model as a graph of ONNX, or as C99.

    Takes models of every kind but precomputed kernels and density estimates. The result answers alone, without fastsvm:
    labels, decision values, probabilities. C comes with a header file. The default OUTPUT_FILE is
    MODEL_FILE.onnx or MODEL_FILE.c in the current directory.

    Single precision may change the label of a row near the border; --test counts these.

    \b
      fastsvm export --to c --test test.txt train.model.approx
      fastsvm export train.model train.onnx
    """
    from fastsvm_cli.export import Options as TargetOptions
    from fastsvm_cli.export import export
    from fastsvm_cli.export.description import describe
    from fastsvm_cli.export.rounding import largest_move
    from fastsvm_cli.text.files import write_output

    options = ExportOptions(**parsed)
    output = options.output()
    stem = output.removesuffix(f".{options.target}")
    names = [output] + ([f"{stem}.h", f"{stem}_main.c"] if options.target == "c" else [])
    inputs = [options.model_file, options.scale_file, options.y_scale_file, options.test_file, options.data_file]
    check_outputs(names[: 2 + (options.test_file is not None)] if not options.size else [], *inputs)
    model, text, fingerprint = _model(options)
    target = TargetOptions(single=options.precision == "single", prefix=options.prefix, progmem=options.progmem)

    def described(model: "Model") -> "Description":
        return describe(model, options.model_file, fingerprint, options.features or 0, options.radius)

    report = summary_stream(output)
    if options.fit is not None:
        model = _fitted(
            options, model, text, fingerprint, lambda one: export(described(one), options.target, output, target).nbytes
        )
    description = described(model)
    made = export(description, options.target, output, target)
    moved = largest_move(description, target.single)
    if moved > _DOUBTFUL:
        options.note(
            f"Warning: coefficients cancel, and single precision may move values by {moved:.2g}: --precision double."
        )
    if not options.quiet or options.size:
        print(f"{options.precision} precision: {made.sizes}", file=report)
    if options.size:
        return
    longest = _longest_row(options.test_file) if options.test_file is not None else 0
    found = None if options.test_file is None else _test(model, description, made, options, longest)
    texts: dict[str, bytes] = {**made.texts, **(made.main(longest) if longest else {})}
    for ending, text in texts.items():
        write_output(output if ending == f".{options.target}" else stem + ending, text)
    if not options.quiet:
        written = ", ".join([output, *(stem + each for each in texts if each != f".{options.target}")])
        print(f"written: {'standard output' if output == '-' else written}", file=report)
        for line in found.lines(options.test_file or "") if found is not None else ():
            print(line, file=report)


def _model(options: ExportOptions) -> "tuple[Model, bytes, str]":
    from fastsvm_cli._native import fingerprint
    from fastsvm_cli.models import parse_model, read_model_text
    from fastsvm_cli.text.scaling import EmbeddedScaling

    text = read_model_text(options.model_file)
    model = parse_model(text, options.model_file)
    scaling = read_range(options.scale_file, options.y_scale_file, model, options.model_file)
    if scaling is not None:
        model.embedded_scaling = EmbeddedScaling(scaling, options.model_file)
    return model, text, fingerprint(text)


def _fitted(
    options: ExportOptions, model: "Model", text: bytes, fingerprint: str, size_of: "Callable[[Model], int]"
) -> "Model":
    # The model of at most --fit bytes that changes the fewest labels of --data or support vectors.
    from fastsvm_cli.comparisons import agreement
    from fastsvm_cli.methods.method import SourceModel
    from fastsvm_cli.models import parse_libsvm
    from fastsvm_cli.text import size_text
    from fastsvm_cli.text.read_rows import read_chunks

    embedded_scaling, most = model.embedded_scaling, options.fit or 0
    exact = parse_libsvm(text, options.model_file, "the exact one: --fit compiles it").plain()
    exact.embedded_scaling = None  # compared rows are scaled already
    rows, where = [exact.vectors], "the support vectors"
    if options.data_file is not None:
        scaling = None if embedded_scaling is None else embedded_scaling.scaling()
        found = list(read_chunks(options.data_file, scaling=scaling))
        rows, where = (found, "the rows of --data") if found else (rows, where)
    source, best = SourceModel(exact, len(text), fingerprint), None
    numbers = most // (4 if options.precision == "single" else 8)
    for name, tried, size in _attempts(source, most, numbers, size_of):
        seen = agreement(tried, exact, rows)
        if not options.quiet:
            print(f"{name}: {size_text(size)}, {seen.line(where)}", file=summary_stream(options.output()))
        if best is None or seen.share < best[0]:
            best = seen.share, tried
        if not seen.share:
            break
    if best is None:
        raise ModelFormatError(options.model_file, f"no compiled model fits into {size_text(most)} (--fit)")
    best[1].embedded_scaling = embedded_scaling
    return best[1]


def _attempts(
    source: "SourceModel", most: int, numbers: int, size_of: "Callable[[Model], int]"
) -> "Iterator[tuple[str, Model, int]]":
    # Models of at most so many bytes, each with its name and size. numbers: as many fit.
    from fastsvm_cli._native import MAX_DEGREE
    from fastsvm_cli.methods.approx.expansion import coefficient_count
    from fastsvm_cli.methods.method import compile_source

    exact = source.model
    if size_of(exact) <= most:
        yield "as it is", exact, size_of(exact)
        return
    d, pairs = len(exact.used_indices), exact.pairs
    ways: list[tuple[str, str, int]] = []  # method, option, its largest value
    if exact.header.kernel_type == "rbf":
        degrees = [p for p in range(1, MAX_DEGREE + 1) if coefficient_count(d, p) * pairs <= numbers]
        ways += [("approx", "degree", max(degrees))] if degrees else []
        ways += [("approx", "rank", min(d, (numbers // pairs - 1 - d) // (1 + d)))]
        columns = max(exact.header.nr_class - 1, 1) if exact.header.classification else 1
        ways += [("reduce", "vectors", min(exact.header.total_sv - 1, numbers // (d + columns)))]
    else:
        ways += [("approx", "", 1)]
    whole = False  # whether degree 2 fits without compression
    for method, name, count in ways:
        if name == "rank" and whole:
            continue
        for _ in range(_TRIES):
            if count < 1:
                break
            try:
                model = compile_source(method, source, {name: count} if name else {}).model
            except (FastsvmError, ValueError):
                break
            model = getattr(model, "plain", lambda model=model: model)()  # of a reduced set
            size = size_of(model)
            if size <= most:
                whole |= name == "degree" and count >= 2
                yield f"{method} --{name} {count}" if name else method, model, size
                break
            if not name:
                break
            count = min(count - 1, int(count * most / size))


def _longest_row(path: str) -> int:
    from fastsvm_cli.text.read_rows import read_chunks

    rows = (row for chunk in read_chunks(path) for row in zip(chunk.indptr, chunk.indptr[1:]))
    return max((end - start for start, end in rows), default=0) or 1


def _test(
    model: "Model", description: "Description", made: "Export", options: ExportOptions, longest: int
) -> "Comparison":
    from fastsvm_cli.export.check import compare
    from fastsvm_cli.text.read_rows import read_chunks, smaller_chunks

    assert options.test_file is not None
    seen: list[Chunk] = []

    def chunks() -> "Iterator[Chunk]":
        for chunk in smaller_chunks(read_chunks(str(options.test_file)), model.pairs):
            seen[:] = [chunk]
            yield chunk

    try:
        return compare(model, description, options.precision == "single", made.answers(longest), chunks())
    except RowError as error:
        line = seen[0].line_numbers([error.row])[0]
        raise DataFormatError(options.test_file, line, error.why) from None
