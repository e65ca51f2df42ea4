"""Choice among measured models: the fastest inside a budget, those that nothing beats, and a benchmark's conclusion."""

import shlex
from collections.abc import Callable, Sequence
from math import isnan, nan, sqrt
from statistics import median
from typing import Any, NamedTuple

from fastsvm_cli.benchmarks.bench_run import CLOCKS, END_TO_END, SCORING, Bench, Case
from fastsvm_cli.benchmarks.timing import Timings
from fastsvm_cli.comparisons import DEFAULT_BUDGET, Budget, ClassRows, interval_95
from fastsvm_cli.console.terminal import printable
from fastsvm_cli.text import digits, percent
from fastsvm_cli.text.scaling import Scaling

#: Medians closer than this share of their sum are equal, however small their spread.
_LEAST_NOISE = 0.02
_HALF_WIDTH = 2.46  # times spread / sqrt(runs)
_FINALISTS = 4  # for a budget, by time in memory
_MOST_NAMED = 5  # classes in a sentence
#: A model that is faster than the exact one by this factor end to end needs no other evidence.
_EVIDENT = 1.05


class Candidate(NamedTuple):
    """A measured model to pick from."""

    model: Any
    changed: float  # share of labels; regression: relative error
    timings: "Sequence[Timings | None]"  # by clock, the deciding one first
    exact: bool


def pick(candidates: "Sequence[Candidate]") -> Any:
    """Return the fastest model; among equals, the one that changes fewest labels.

    The exact model wins unless another is measurably faster; a later clock decides within the noise.
    """
    clocks = min((len(each.timings) for each in candidates), default=0)
    noises = [_noise([each.timings[clock] for each in candidates]) for clock in range(clocks)]

    def gain(one: Candidate, other: Candidate, clock: int) -> int:
        a, b = one.timings[clock], other.timings[clock]
        if a is None or b is None or abs(b.median - a.median) <= noises[clock](a) + noises[clock](b):
            return 0
        return 1 if a.median < b.median else -1

    def faster(one: Candidate, other: Candidate) -> bool:
        gains = (gain(one, other, clock) for clock in range(clocks))
        return next(filter(None, gains), 0) > 0

    level = [each for each in candidates if not any(other.exact and not faster(each, other) for other in candidates)]
    if not level:
        return next((each.model for each in candidates if each.exact), None)
    for clock in range(clocks):
        best = min(level, key=lambda each: _median(each.timings[clock]))
        level = [each for each in level if gain(best, each, clock) <= 0 and each.timings[clock] is not None] or level
    return min(level, key=lambda each: (each.changed, *map(_median, reversed(each.timings)))).model


def within(bench: Bench, budget: Budget) -> "Case | None":
    """Return the timed model that `pick` chooses among those within the budget.

    In-memory times come second: start-up dominates end-to-end times of small files.
    """
    timed = _timed(bench, END_TO_END, ("exact", "compiled"))
    finals = [(case.of, timings) for case, timings in _timed(bench, END_TO_END, ("program",)) if case.of is not None]
    return pick(
        [
            Candidate(case, distance, (timings, case.timings(SCORING)), case.role == "exact")
            for case, timings, distance in _with_distance(bench, finals or timed)
            if bench.fits(case, budget)
        ]
    )


def finalists(bench: Bench, budgets: "Sequence[Budget]") -> "list[Case]":
    """Return the models to time by fastsvm-predict: the exact one and, per budget, the fastest.

    There, Python's start hides no difference.
    """
    found = [case for case, _ in _timed(bench, END_TO_END, ("exact",))]
    for budget in budgets:
        inside = [case for case, _ in _timed(bench, END_TO_END, ("compiled",)) if bench.fits(case, budget)]
        for clock, most in ((SCORING, _FINALISTS), (END_TO_END, 2)):
            found += sorted(inside, key=lambda case: _median(case.timings(clock)))[:most]
    return list(dict.fromkeys(found))


def pareto(bench: Bench, clock: str) -> "list[Case]":
    """Return the models that none beats in both time and distance from the exact one."""
    timed = _timed(bench, clock, ("exact", "compiled", "reference"))
    return undominated([(timings.median, distance, case) for case, timings, distance in _with_distance(bench, timed)])


def undominated(points: "Sequence[tuple[float, float, Any]]") -> list:
    """Return the models of points (seconds, distance, model) that none beats in both."""
    return [
        model
        for seconds, share, model in points
        if not any((s <= seconds and d <= share and (s, d) != (seconds, share)) for s, d, _ in points)
    ]


def unbeaten(bench: Bench) -> "list[Case]":
    """Return the cases that nothing beats in both time and labels, by either clock."""
    return [case for clock in CLOCKS for case in pareto(bench, clock)]


def _timed(bench: Bench, clock: str, roles: "tuple[str, ...]") -> "list[tuple[Case, Timings]]":
    found = [(case, case.timings(clock)) for case in bench.cases if case.role in roles and case.failed is None]
    return [(case, timings) for case, timings in found if timings is not None]


def _with_distance(bench: Bench, timed: "list[tuple[Case, Timings]]") -> "list[tuple[Case, Timings, float]]":
    # Leaves out cases whose distance from the exact model is unknown.
    found = [(case, timings, bench.distance(case)) for case, timings in timed]
    return [(case, timings, distance[0]) for case, timings, distance in found if distance is not None]


def _median(timings: "Timings | None") -> float:
    return timings.median if timings is not None else float("inf")


def _noise(timings: "Sequence[Timings | None]") -> "Callable[[Timings], float]":
    # The noise of a median is the spread of few runs, of many half the median's 95 % interval if they are normal, and
    # at least the cases' usual share: few runs may agree by chance.
    shares = [each.spread / each.median for each in timings if each is not None and each.median > 0]
    share = max(_LEAST_NOISE, median(shares) if shares else 0.0)
    return lambda own: max(own.spread, share * own.median) * min(1.0, _HALF_WIDTH / sqrt(len(own)))


class Conclusion(NamedTuple):
    """A benchmark's answer and remarks, and shell commands that predict with the picked model."""

    sentences: "list[str]"
    commands: "list[str]"


def conclusion(bench: Bench, picked: "Case | None", budget: "Budget | None") -> Conclusion:
    """Conclude; without a budget, on the fastest that change no label and at most DEFAULT_BUDGET."""
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
    reference, faster = bench.reference(END_TO_END), bench.speed_up(bench.by_program(picked), END_TO_END)
    return reference is not None and reference.role == "reference" and faster is not None and faster[0] < 1


def _times_exact(bench: Bench, case: Case, exact: Case, clock: str) -> float:
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
    """Return a warning if classes are too small to show a limit."""
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
    """Say how many labels of a class differ."""
    return f"{each.different} of the {each.rows} labels of class {label_text(each)} ({100 * each.share:.3g} %)"


def class_record(each: ClassRows) -> dict:
    """Return the JSON object of a class's labels."""
    return {
        "label": each.label,
        "rows": each.rows,
        "labels_that_differ": each.different,
        "disagreement": each.share if each.rows else None,
        "disagreement_upper_95": interval_95(each.different, each.rows)[1],
    }


def label_text(each: ClassRows) -> str:
    """Return a class's label as in the model file."""
    return f"{each.label:.10g}" if isinstance(each.label, float) else str(each.label)


def regression_cells(bench: Bench, case: Case) -> "tuple[str, str]":
    """Return the root mean square and the largest difference, with shares of the standard deviation."""
    found, distance = case.quality, bench.distance(case)
    if found is None or distance is None:
        return "", ""
    shares = distance[0], found.largest / bench.answers.spread
    rms, largest = (f"{short(value)} ({percent(share)})" for value, share in zip((found.rms, found.largest), shares))
    return rms, largest


def short(value: "float | None") -> str:
    """Return three digits; "" for None and NaN."""
    return "" if value is None or isnan(value) else f"{value:.3g}"
