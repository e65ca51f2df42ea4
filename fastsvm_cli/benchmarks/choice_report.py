"""A choice in words, a table, commands and JSON."""

import shlex
from math import inf, isfinite
from typing import Any

from rich.table import Table
from rich.text import Text

from fastsvm_cli.benchmarks.bench_run import END_TO_END, SCORING
from fastsvm_cli.benchmarks.chooser import Choice, Entrant
from fastsvm_cli.benchmarks.conclusion import class_record, label_text, scale_command, undominated
from fastsvm_cli.benchmarks.environment import short
from fastsvm_cli.benchmarks.timing import MEASURABLE, Timings
from fastsvm_cli.comparisons import CONFIDENCE, interval_95
from fastsvm_cli.console.terminal import printable
from fastsvm_cli.text import digits, finite, percent
from fastsvm_cli.text.scaling import Scaling

#: Rows of the table without --all.
_MOST_ROWS = 10
# Columns: of a name, at least; of a screen that has no room for all numbers.
_LEAST_NAME, _NARROW = 20, 70
_NOT_MEASURABLE = "not measurable on this machine now"


def not_tried(choice: Choice) -> "str | None":
    """Return a sentence about attempts without time, or None."""
    waiting = [printable(each.name) for each in choice.waiting]
    if not waiting:
        return None
    tried = sum(not each.failed for each in choice.entrants)
    needed = choice.seconds + 2 * sum(each.seconds for each in choice.waiting)
    enough = max(60.0, 30.0 * -(-needed // 30))
    if choice.limit >= choice.longest:
        more = ", the most for a model as fast as this"
    else:
        limit = _number(min(enough, choice.longest))
        more = f"; --time-limit {limit} tries {'more' if enough > choice.longest else 'them'}"
    names = ", ".join(waiting[:3]) + (f" and {len(waiting) - 3} more" if len(waiting) > 3 else "")
    spent = _number(choice.limit)
    return f"{len(waiting)} of {tried + len(waiting)} not tried in {spent} s of processor time ({names}){more}."


def _number(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 99.5 else f"{seconds:.0f}"


def reason(choice: Choice, name: "str | None" = None) -> str:
    """Say why the model was picked. name: None for its own."""
    picked, tried = choice.picked, sum(not each.failed for each in choice.entrants)
    within = f"within {percent(choice.budget.share)}"
    if picked is choice.exact:
        if not tried:
            return "Keep the exact model: no other was tried."
        return f"Keep the exact model: of {tried} tried, none is {within} and measurably faster."
    return (
        f"Fastest of {tried} tried {within}: {printable(name or picked.name)}: {_times(choice, picked)};"
        f" {_differ(picked)}."
    )


def _times(choice: Choice, entrant: Entrant) -> str:
    gain = choice.gain(entrant)
    assert gain is not None  # it was in the race
    if not gain[1] <= MEASURABLE * gain[0]:
        return f"faster than the exact model ({_NOT_MEASURABLE})"
    return f"{digits(gain[0], 3)} times as fast as the exact model"


def _differ(entrant: Entrant) -> str:
    changed = entrant.changed
    if changed is None:
        assert entrant.largest is not None  # a regression's
        return (
            f"its values differ by {percent(entrant.share)} of their standard deviation (root mean square; largest:"
            f" {percent(entrant.largest)})"
        )
    if entrant.upper == 0:
        return "no label differs, by proof"
    count = f"{changed.different:,} of {changed.rows:,} labels differ ({percent(entrant.share)})"
    if entrant.attempt is not None and entrant.attempt.calibrated:
        return f"{count}; by its own test on these rows, at most {percent(entrant.upper)} of rows like them"
    return f"{count}, at most {percent(entrant.upper)} of rows like them (Clopper-Pearson, {100 * CONFIDENCE:g} %)"


def commands(
    choice: Choice, test_file: str, exact_file: str, scaling: "Scaling | None", keep: "str | None"
) -> "list[str]":
    """Return the shell commands that compile the picked model, into `keep`, and predict with it."""
    picked, rows, out = choice.picked, test_file, []
    path = exact_file if picked is choice.exact else keep or "fast.model"
    if scaling is not None:  # fastsvm-predict scales no rows
        rows += ".scale"
        out.append(scale_command(scaling, test_file, rows))
    made_by = _made_by(picked, rows)
    if made_by is not None:
        out.append(shlex.join(["fastsvm", *made_by, exact_file, path]))
    exact = ["--exact", exact_file] if picked.exact else []
    return [*out, shlex.join(["fastsvm-predict", *exact, rows, path, "out"])]


def _made_by(entrant: Entrant, test_file: str) -> "list[str] | None":
    if entrant.attempt is None:
        return None
    return [*entrant.attempt.name.split(), *(["--data", test_file] if entrant.attempt.calibrated else [])]


def table(choice: Choice, everything: bool, width: int) -> Table:
    """Return the models, the fastest first, all if `everything`."""
    regression = choice.exact.changed is None
    out = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    differ = (
        ["RMS", "largest"] if regression else ["labels\ndiffer", f"at most\n{100 * CONFIDENCE:g} %", "worst\nclass"]
    )
    heads = ["times\nexact", *differ, "compile"]
    out.add_column(Text("model"), overflow="fold", vertical="bottom", min_width=_LEAST_NAME)
    if width < _NARROW:
        del heads[-2:]
    for head in heads:
        out.add_column(Text(head), justify="right", no_wrap=True)
    entrants = ordered(choice)
    shown = entrants if everything else _most_telling(choice, entrants)
    for each in shown:
        gain = choice.gain(each)
        speed = "" if gain is None else digits(gain[0], 3)
        cells = [
            speed,
            *_cells(each, regression),
            "" if each.compile_seconds is None else f"{each.compile_seconds:.2g} s",
        ]
        style = "bold green" if each is choice.picked else "" if each.within else "dim"
        out.add_row(Text(printable(each.name)), *map(Text, cells[: len(heads)]), style=style)
    return out


def _cells(entrant: Entrant, regression: bool) -> "list[str]":
    if regression:
        return [percent(entrant.share), "" if entrant.largest is None else percent(entrant.largest)]
    changed = entrant.changed or entrant.sample
    if changed is None:
        return ["", "", ""]
    worst = changed.worst
    upper = percent(entrant.upper) if entrant.within else "over"
    return [percent(entrant.share), upper, "" if worst is None else f"{label_text(worst)}: {percent(worst.share)}"]


def ordered(choice: Choice) -> "list[Entrant]":
    """Return the models compared, the fastest first, then those not timed, by labels."""

    def key(entrant: Entrant) -> "tuple[float, float]":
        gain = choice.gain(entrant)
        return (-gain[0] if gain is not None else inf, entrant.share)

    return sorted([choice.exact, *(each for each in choice.entrants if not each.failed)], key=key)


def _most_telling(choice: Choice, entrants: "list[Entrant]") -> "list[Entrant]":
    def key(entrant: Entrant) -> "tuple[bool, bool, float]":
        gain = choice.gain(entrant)
        return entrant not in (choice.picked, choice.exact), not entrant.within, -gain[0] if gain else entrant.share

    most = sorted(entrants, key=key)[:_MOST_ROWS]
    return [each for each in entrants if each in most]


def left_out(choice: Choice, whys: "list[tuple[str, str]]", everything: bool) -> "list[str]":
    """Say what the table lacks. whys: (method, reason against it)."""
    failed = [f"{printable(each.name)} ({printable(each.why or '')})" for each in choice.entrants if each.failed]
    if everything:
        out = [f"Not compared: {', '.join(failed)}."] if failed else []
        return out + [f"{method}: {printable(why)}." for method, why in whys]
    more = len(ordered(choice)) - _MOST_ROWS
    counts = [f"{more} more model{'s' * (more > 1)}"] if more > 0 else []
    counts += [f"{len(failed)} that failed"] if failed else []
    return [f"--all shows {' and '.join(counts)}."] if counts else []


def foot(choice: Choice, test_file: str, machine: "dict[str, Any]") -> str:
    """Return the sentence below the table."""
    return (
        f"{printable(test_file)}: {choice.rows:,} rows. Speed: rows a second of one thread, by processor time, reading"
        f" included ({1e6 * choice.reading:.2g} us a row; the exact model: {1e6 * choice.exact.seconds:.2g} us)."
        f" {short(machine)}; fastsvm {machine['fastsvm']}."
    )


def document(choice: Choice, machine: dict, test_file: str, exact_file: str, written: "list[str]") -> "dict[str, Any]":
    """Return a choice as plain values, for JSON and figures. written: the commands."""
    cases = [_record(choice, each, test_file) for each in (choice.exact, *choice.entrants)]
    assert choice.exact.model is not None
    found = {
        "fastsvm": machine["fastsvm"],
        "machine": machine,
        "test_file": test_file,
        "rows": choice.rows,
        "exact_model": exact_file,
        "total_sv": choice.exact.model.header.total_sv,
        "regression": choice.exact.changed is None,
        "budget": choice.budget.share,
        "each_class": choice.budget.each_class,
        "confidence": CONFIDENCE,
        "references": dict.fromkeys((END_TO_END, SCORING), "exact model"),
        "picked": choice.picked.name,
        "conclusion": reason(choice),
        "not_tried": [each.name for each in choice.waiting],
        "processor_seconds": choice.seconds,
        "commands": written,
        "front": {clock: _front(cases, key) for clock, key in ((END_TO_END, "end_to_end"), (SCORING, "scoring"))},
        "cases": cases,
    }
    return finite(found)


def _record(choice: Choice, entrant: Entrant, test_file: str) -> "dict[str, Any]":
    changed, gain = entrant.changed, choice.gain(entrant)
    known = isfinite(entrant.share) and (changed is not None or entrant.largest is not None or entrant is choice.exact)
    share = entrant.share if known else None
    return {
        "name": entrant.name,
        "role": "exact" if entrant is choice.exact else "compiled",
        "size": entrant.size,
        **entrant.facts,
        "with_exact": entrant.exact,
        "made_by": _made_by(entrant, test_file),
        "compile_seconds": entrant.compile_seconds,
        "failed": entrant.why if entrant.failed else None,
        "dropped": None if entrant.failed or entrant is choice.picked else entrant.why,
        "end_to_end": _timed(entrant, choice.reading, choice.rows),
        "scoring": _timed(entrant, 0.0, 1),
        "times_exact": None if gain is None else gain[0],
        "times_exact_error": None if gain is None else gain[1],
        "within": entrant.within,
        "disagreement": None if changed is None else share,
        "labels_that_differ": None if changed is None else changed.different,
        "disagreement_upper": None if changed is None else entrant.upper,
        "calibrated": entrant.attempt is not None and entrant.attempt.calibrated > 0,
        "classes": None if changed is None else [class_record(each) for each in changed.classes],
        "distance": share,
        "distance_95": None if changed is None or share is None else interval_95(changed.different, changed.rows),
        "largest_distance": entrant.largest,
        "rows_proven": entrant.proven,
    }


def _timed(entrant: Entrant, reading: float, rows: int) -> "dict[str, Any] | None":
    timings = entrant.timings if len(entrant.timings) else Timings([entrant.rough] * (entrant.rough < inf))
    if not len(timings):
        return None
    low, high = timings.interval_95
    median = rows * (reading + timings.median)
    return {
        "unit": "seconds" if rows > 1 else "seconds per row",
        "runs": [rows * (reading + each) for each in timings.seconds],
        "median": median,
        "interval_95": [rows * (reading + low), rows * (reading + high)],
        "rows_per_second": rows / median,
    }


def _front(cases: "list[dict[str, Any]]", clock: str) -> "list[str]":
    return undominated(
        [(case[clock]["median"], case["distance"] or 0.0, case["name"]) for case in cases if case[clock]]
    )
