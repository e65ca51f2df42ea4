"""--fit: the most accurate model of limited size."""

from typing import TYPE_CHECKING

from fastsvm_cli.errors import FastsvmError, ModelFormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from fastsvm_cli._native import Chunk
    from fastsvm_cli.methods.method import SourceModel
    from fastsvm_cli.models.base import Model

_TRIES = 8  # to find a number that fits


def fitted(
    source: "SourceModel",
    most: int,
    real_bytes: int,
    size_of: "Callable[[Model], int]",
    rows: "list[Chunk] | None",
    model_file: str,
    report: "TextIO | None",
) -> "Model":
    """Return the model of at most `most` bytes that changes the fewest labels of `rows` or support vectors.

    real_bytes: of a number. size_of: bytes of a model's tables. report: stream for a line per attempt, or None.
    """
    from fastsvm_cli.comparisons.agreement import agreement
    from fastsvm_cli.text.numbers import size_text

    exact = source.model
    best: tuple[float, Model] | None = None
    where = "the rows of --data" if rows else "the support vectors"
    for name, model, size in _tried(source, most, real_bytes, size_of, model_file):
        seen = agreement(model, exact, rows or [exact.vectors])
        if report is not None:
            print(f"{name}: {size_text(size)}, {seen.line(where)}", file=report)
        if best is None or seen.share < best[0]:
            best = seen.share, model
        if not seen.share:
            break
    if best is None:
        raise ModelFormatError(model_file, f"no compiled model fits into {size_text(most)} (--fit)")
    return best[1]


def _tried(
    source: "SourceModel", most: int, real_bytes: int, size_of: "Callable[[Model], int]", model_file: str
) -> "Iterator[tuple[str, Model, int]]":
    from fastsvm_cli._native import MAX_DEGREE
    from fastsvm_cli.methods.approx.expansion import coefficient_count

    exact = source.model
    if size_of(exact) <= most:
        yield "as it is", exact, size_of(exact)
        return
    d, pairs, numbers = len(exact.used_indices), exact.pairs, most // real_bytes
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
    for method, option, count in ways:
        if option == "rank" and whole:
            continue
        for _ in range(_TRIES):
            if count < 1:
                break
            model = _compiled(source, method, {option: count} if option else {}, model_file)
            if model is None:
                break
            model = getattr(model, "plain", lambda model=model: model)()  # of a reduced set
            size = size_of(model)
            if size <= most:
                whole |= option == "degree" and count >= 2
                yield f"{method} --{option} {count}" if option else method, model, size
                break
            if not option:
                break
            count = min(count - 1, int(count * most / size))


def _compiled(source: "SourceModel", name: str, given: "dict[str, int]", model_file: str) -> "Model | None":
    from fastsvm_cli.console.options import UsageError
    from fastsvm_cli.methods import find, silent
    from fastsvm_cli.methods.method import Run

    method, _ = find(name)
    try:
        options = method.read_options(given, None, model_file)
        options.check_model(source.model)
        return method.compile(Run(method, options, source), silent).model
    except (FastsvmError, UsageError):
        return None


def exact_source(text: bytes, fingerprint: str, path: str) -> "SourceModel":
    """Return the exact model of --fit, which must not be compiled."""
    from fastsvm_cli.methods.method import SourceModel
    from fastsvm_cli.models import parse_libsvm

    exact = parse_libsvm(text, path, "the exact one: --fit compiles it").plain()
    exact.embedded_scaling = None  # compared rows are scaled already
    return SourceModel(exact, len(text), fingerprint)
