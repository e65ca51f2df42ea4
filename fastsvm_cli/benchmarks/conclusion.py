"""The conclusion of a bench, in a sentence and commands."""

import shlex
from math import isnan, nan
from typing import NamedTuple

from fastsvm_cli.benchmarks.bench_run import Bench
from fastsvm_cli.benchmarks.choice import DEFAULT_BUDGET, within, within_of_all
from fastsvm_cli.benchmarks.table_row import END_TO_END, SCORING, Case
from fastsvm_cli.benchmarks.tables import printable
from fastsvm_cli.comparisons.changed import ClassRows
from fastsvm_cli.text.numbers import digits

_MOST_NAMED = 5  # classes in a sentence
#: A model that is faster than the exact one by this factor end to end needs no other evidence.
_EVIDENT = 1.05


class Conclusion(NamedTuple):
    """Conclusion of a benchmark.

    sentences: the answer, then remarks. commands: shell commands that compile the picked model and predict with it.
    """

    sentences: "list[str]"
    commands: "list[str]"


def conclusion(bench: Bench, picked: "Case | None", budget: "float | None", keep: "str | None") -> Conclusion:
    """Conclude from all measurements.

    picked: fastest case within the budget, or None. budget: share of labels that may differ. Without a budget, compare
    the fastest ones that change no label and at most DEFAULT_BUDGET. keep: file name of the picked model; None for a
    default.
    """
    if budget is not None:
        if picked is None:
            nothing = f"Nothing measured stays within {percent(budget)}."
            return Conclusion([nothing, *_about_classes(bench, picked, budget)], [])
        answer = _answer(bench, picked, f"within {percent(budget)}")
        return Conclusion([f"{answer}.", *_about_classes(bench, picked, budget)], _commands(bench, picked, keep))
    same, other = within(bench, 0.0), within(bench, DEFAULT_BUDGET)
    if same is None or other is None:
        return Conclusion(["Nothing was measured to the end."], [])
    what = "value" if bench.model.header.regression else "label"
    if same is other or _keeps_libsvm(bench, other):
        answer = _answer(bench, other, f"within {percent(DEFAULT_BUDGET)}")
        if same is other and same.role != "exact" and not _keeps_libsvm(bench, same):
            answer += f", and without a changed {what}"
        return Conclusion([f"{answer}.", *_about_others(bench)], _commands(bench, other, keep))
    answers = [
        _answer(bench, same, f"without a changed {what}"),
        _answer(bench, other, f"within {percent(DEFAULT_BUDGET)}"),
    ]
    commands = [command for case in (same, other) for command in _commands(bench, case, keep)]
    return Conclusion([f"{answers[0]}. {answers[1]}."], list(dict.fromkeys(commands)))


def percent(share: float) -> str:
    """Return a share in percent, as words."""
    return f"{100 * share:.3g} %"


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


def _about_others(bench: Bench) -> "list[str]":
    """Return a sentence that says how far the compiled models are beyond the default budget, if all are."""
    changed = [
        found.share
        for case in bench.cases
        for found in [bench.changed(case) or case.look]
        if case.role == "compiled" and case.failed is None and not case.with_exact and found is not None
    ]
    if not changed or min(changed) <= DEFAULT_BUDGET:
        return []
    return [f"The compiled models change {percent(min(changed))} of the labels or more."]


def _commands(bench: Bench, picked: Case, keep: "str | None") -> "list[str]":
    """Return the commands to compile the model, if it is one of --try, and to predict with it."""
    rows, commands = bench.test_file, []
    by_fastsvm = bench.by_program(picked) is picked and not _keeps_libsvm(bench, picked)
    words = ["fastsvm", "predict"] if by_fastsvm else ["fastsvm-predict"]
    if bench.scaling is not None and not picked.raw_rows:
        if by_fastsvm:
            words += ["--scale", bench.scaling.path]
        else:  # fastsvm-predict scales no rows
            rows += ".scale"
            commands.append(
                f"{shlex.join(['svm-scale', '-r', bench.scaling.path, bench.test_file])} > {shlex.quote(rows)}"
            )
    if _keeps_libsvm(bench, picked):
        return [*commands, shlex.join(["svm-predict", rows, bench.exact_file, "out"])]
    path = keep or (bench.exact_file if picked.role == "exact" else "fast.model")
    if picked.made_by:
        commands.insert(0, shlex.join(["fastsvm", *picked.made_by, bench.exact_file, path]))
    elif picked.role == "compiled":
        assert picked.path is not None  # the user named it
        path = picked.path
    words += ["--exact", bench.exact_file] if picked.with_exact else []
    return [*commands, shlex.join([*words, rows, path, "out"])]


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


def _about_classes(bench: Bench, picked: "Case | None", budget: float) -> "list[str]":
    out = []
    changed = bench.changed(picked) if picked is not None else None
    if changed is not None and changed.worst is not None:
        out.append(f"Most of a class: {class_words(changed.worst)}.")
    other = within_of_all(bench, budget)
    changed = bench.changed(other) if other is not None else None
    if other is not None and other is not picked and changed is not None and changed.worst is not None:
        out.append(
            f"By all labels alone it would be {printable(other.name)}, which changes {100 * changed.share:.3g} % of"
            f" them, but {class_words(changed.worst)}."
        )
    return out + small_class_sentences(bench, budget)


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
