"""The conclusion of a bench, in a sentence and commands."""

import shlex
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from fastsvm_cli.benchmarks.bench_run import Bench
from fastsvm_cli.benchmarks.choice import within
from fastsvm_cli.benchmarks.table_row import END_TO_END, SCORING, Case
from fastsvm_cli.benchmarks.tables import printable
from fastsvm_cli.comparisons.budget import DEFAULT_BUDGET, Budget
from fastsvm_cli.comparisons.changed import ClassRows
from fastsvm_cli.text.numbers import digits, percent

if TYPE_CHECKING:
    from fastsvm_cli.text.scaling import Scaling

_MOST_NAMED = 5  # classes in a sentence
#: A model that is faster than the exact one by this factor end to end needs no other evidence.
_EVIDENT = 1.05


class Conclusion(NamedTuple):
    """Conclusion of a benchmark.

    sentences: the answer, then remarks. commands: shell commands that predict with the picked model.
    """

    sentences: "list[str]"
    commands: "list[str]"


def conclusion(bench: Bench, picked: "Case | None", budget: "Budget | None") -> Conclusion:
    """Conclude from all measurements.

    picked: fastest case within the budget, or None. Without a budget, compare the fastest ones that change no label and
    at most DEFAULT_BUDGET.
    """
    if budget is not None:
        where = f"within {percent(budget.share)}"
        if picked is None:
            return Conclusion([f"Nothing measured stays {where}.", *_about_classes(bench, picked, budget)], [])
        answer = _answer(bench, picked, where)
        return Conclusion([f"{answer}.", *_about_classes(bench, picked, budget)], _commands(bench, picked))
    same, other = within(bench, Budget(0.0)), within(bench, Budget(DEFAULT_BUDGET))
    if same is None or other is None:
        return Conclusion(["Nothing was measured to the end."], [])
    what = "value" if bench.model.header.regression else "label"
    if same is other or _keeps_libsvm(bench, other):
        answer = _answer(bench, other, f"within {percent(DEFAULT_BUDGET)}")
        if same is other and same.role != "exact" and not _keeps_libsvm(bench, same):
            answer += f", and without a changed {what}"
        return Conclusion([f"{answer}."], _commands(bench, other))
    answers = [
        _answer(bench, same, f"without a changed {what}"),
        _answer(bench, other, f"within {percent(DEFAULT_BUDGET)}"),
    ]
    commands = [command for case in (same, other) for command in _commands(bench, case)]
    return Conclusion([f"{answers[0]}. {answers[1]}."], list(dict.fromkeys(commands)))


def _times(bench: Bench, case: Case) -> str:
    faster, reference = bench.speed_up(case, END_TO_END), bench.reference(END_TO_END)
    assert faster is not None and reference is not None
    return f"{digits(faster[0], 3)} +- {digits(faster[1], 2)} times as fast as {reference.name}"


def _keeps_libsvm(bench: Bench, picked: Case) -> bool:
    """Return whether svm-predict takes less time than the case, by any program."""
    reference, faster = bench.reference(END_TO_END), bench.speed_up(bench.by_program(picked), END_TO_END)
    return reference is not None and reference.role == "reference" and faster is not None and faster[0] < 1


def _times_exact(bench: Bench, case: Case, exact: Case, clock: str) -> float:
    """Return the exact model's median time over the case's, nan if one is unknown."""
    if clock == END_TO_END:
        case, exact = bench.by_program(case), bench.by_program(exact)
    mine, its = case.timings(clock), exact.timings(clock)
    return nan if mine is None or its is None else its.median / mine.median


def _answer(bench: Bench, picked: Case, where: str) -> str:
    program, reference = bench.by_program(picked), bench.reference(END_TO_END)
    by = " with fastsvm-predict" if program is not picked else ""
    if _keeps_libsvm(bench, picked):
        assert reference is not None
        return (
            f"Keep {reference.name}: nothing {where} is faster on these rows ({printable(picked.name)}{by}:"
            f" {_times(bench, program)})"
        )
    if picked.role == "exact":
        times = "" if reference is picked else f"; it is {_times(bench, program)}{by}"
        return f"Keep the exact model: no compiled model {where} is measurably faster{times}"
    exact = next((case for case in bench.cases if case.role == "exact"), None)
    faster = bench.speed_up(bench.by_program(exact), END_TO_END) if exact is not None else None
    of_exact = f" (the exact model: {digits(faster[0], 3)})" if faster is not None and reference is not exact else ""
    if exact is not None and _times_exact(bench, picked, exact, END_TO_END) <= _EVIDENT:
        in_memory = _times_exact(bench, picked, exact, SCORING)
        if in_memory > 1:
            of_exact += f"; in memory, {digits(in_memory, 3)} times as fast as the exact model"
    return (
        f"Fastest {where}: {printable(picked.name)}{by}, {_times(bench, program)}{of_exact};"
        f" {_difference(bench, picked)}"
    )


def _difference(bench: Bench, case: Case) -> str:
    changed = bench.changed(case)
    if changed is not None or case.quality is None:
        return f"{percent(changed.share if changed is not None else 0.0)} of the labels differ"
    rms, largest = regression_cells(bench, case)
    return f"root mean square difference {rms}, largest {largest}, in percent of the values' standard deviation"


def _commands(bench: Bench, picked: Case) -> "list[str]":
    """Return the commands to predict with the model."""
    rows, commands = bench.test_file, []
    by_fastsvm = bench.by_program(picked) is picked and not _keeps_libsvm(bench, picked)
    words = ["fastsvm", "predict"] if by_fastsvm else ["fastsvm-predict"]
    if bench.scaling is not None and (_keeps_libsvm(bench, picked) or not picked.raw_rows):
        if by_fastsvm:
            words += ["--scale", bench.scaling.path]
        else:  # fastsvm-predict scales no rows
            rows += ".scale"
            commands.append(scale_command(bench.scaling, bench.test_file, rows))
    if _keeps_libsvm(bench, picked):
        return [*commands, shlex.join(["svm-predict", rows, bench.exact_file, "out"])]
    assert picked.path is not None
    words += ["--exact", bench.exact_file] if picked.with_exact else []
    return [*commands, shlex.join([*words, rows, picked.path, "out"])]


def scale_command(scaling: "Scaling", rows: str, scaled: str) -> str:
    """Return the command that writes scaled rows."""
    return f"{shlex.join(['svm-scale', '-r', scaling.path, rows])} > {shlex.quote(scaled)}"


def small_class_sentences(bench: Bench, limit: float) -> "list[str]":
    """Return a warning if classes have too few rows to show a limit."""
    small = next((changed.too_small(limit) for case in bench.cases for changed in [bench.changed(case)] if changed), [])
    if not small:
        return []
    named = ", ".join(
        f"class {label_text(each)} ({each.rows} row{'s' * (each.rows != 1)})" for each in small[:_MOST_NAMED]
    )
    more = f" and {len(small) - _MOST_NAMED} more classes" if len(small) > _MOST_NAMED else ""
    return [
        f"Too small to measure {100 * limit:.3g} %: {named}{more}. One changed label there is more than that, so none"
        " may change."
    ]


def _about_classes(bench: Bench, picked: "Case | None", budget: Budget) -> "list[str]":
    out = []
    changed = bench.changed(picked) if picked is not None else None
    if changed is not None and changed.worst is not None:
        out.append(f"Most of a class: {class_words(changed.worst)}.")
    for case in bench.cases:
        changed = bench.changed(case) if case.role == "compiled" else None
        over = budget.class_over(changed) if changed is not None else None
        if over is not None and changed is not None and changed.share <= budget.share:
            out.append(
                f"{printable(case.name)} changes {percent(changed.share)} of all labels, but {class_words(over)}."
            )
    return out + (small_class_sentences(bench, budget.share) if budget.each_class else [])


def class_words(each: ClassRows) -> str:
    """Return how many labels of a class differ, in words."""
    return f"{each.different} of the {each.rows} labels of class {label_text(each)} ({100 * each.share:.3g} %)"


def label_text(each: ClassRows) -> str:
    """Return a class's label as the model file has it."""
    return f"{each.label:.10g}" if isinstance(each.label, float) else str(each.label)


def regression_cells(bench: Bench, case: Case) -> "tuple[str, str]":
    """Return the root mean square and the largest difference, each with its share of the standard deviation."""
    found, distance = case.quality, bench.distance(case)
    if found is None or distance is None:
        return "", ""
    shares = distance[0], found.largest / bench.answers.spread
    rms, largest = (f"{short(value)} ({percent(share)})" for value, share in zip((found.rms, found.largest), shares))
    return rms, largest


def short(value: "float | None") -> str:
    """Return a number in three digits; an empty text for None and NaN."""
    return "" if value is None or isnan(value) else f"{value:.3g}"
