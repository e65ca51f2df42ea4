"""Tables, sentences and JSON of measurements."""

import os
from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple, TypeAlias

from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fastsvm_cli._native import fingerprint
from fastsvm_cli.benchmarks.bench_run import CLOCKS, END_TO_END, SCORING, Bench, Case
from fastsvm_cli.benchmarks.conclusion import Conclusion, label_text, pareto, regression_cells, short, unbeaten
from fastsvm_cli.comparisons import ClassRows, upper_95
from fastsvm_cli.console.terminal import printable
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.prediction import summary_values
from fastsvm_cli.text.numbers import digits, finite, size_text
from fastsvm_cli.text.read_rows import read_bytes

#: Title and columns of a table.
Group: TypeAlias = tuple[str, Sequence[int]]
#: Columns of a case, after those of its name.
COLUMNS = (
    "model",
    "size",
    "end to end",
    "faster",
    "rows/s",
    "in memory, per row",
    "faster",
    "labels that differ",
    "at most, 95 %",
    "worst class",
    "score",
    "|f - f_exact|: largest",
    "mean",
    "rows proven",
    "RMS difference",
)
#: Tables of --all, then of the rest: title, and columns without the name.
_ALL: "tuple[Group, ...]" = (("Time", range(6)), ("Answers", (6, 7, 9, 13, 10, 11, 12)))
_SUMMARY: Group = ("Time and answers", (1, 2, 4, 6, 8, 9, 0))
_REGRESSION: Group = ("Time and answers", (1, 2, 4, 13, 10, 9, 0))
_LEAST_NAME = 20  # columns of names before a table is split


Row: TypeAlias = tuple[Case, tuple[str, ...]]


def case_rows(bench: Bench) -> "list[Row]":
    """Return the cells of COLUMNS for each case that did not fail."""
    return [
        (
            case,
            (
                case.name + (f" ({case.note})" if case.note else ""),
                size_text(case.size) if case.size is not None and case.role != "start-up" else "",
                *_clock(bench, case, END_TO_END),
                *_clock(bench, case, SCORING),
                *_answers(bench, case),
            ),
        )
        for case in bench.cases
        if case.failed is None
    ]


def _answers(bench: Bench, case: Case) -> "tuple[str, ...]":
    found, changed = case.quality, bench.changed(case)
    if found is None:
        return ("",) * 8
    values = summary_values(bench.model.header, found.score)
    if bench.model.header.regression:
        score = f"MSE {short(values['mean_squared_error'])}, r2 {short(values['squared_correlation'])}"
    else:
        score = "" if values["accuracy"] is None else f"{100 * values['accuracy']:.2f} %"
    differ = upper = worst = rms = ""
    largest = short(found.largest)
    if bench.model.header.regression:
        rms, largest = regression_cells(bench, case)
    if changed is not None:
        differ = f"{changed.different} ({100 * changed.share:.3g} %)"
        upper = f"{100 * upper_95(changed.different, changed.rows):.2g} %"
        worst = "" if changed.worst is None else f"{label_text(changed.worst)}: {100 * changed.worst.share:.3g} %"
    proven = "" if found.proven is None else f"{100 * found.proven / bench.rows:.4g} %"
    return differ, upper, worst, score, largest, short(found.mean), proven, rms


def record(bench: Bench, case: Case) -> dict:
    """Return the JSON object of one model."""
    out: dict[str, object] = {
        "name": case.name,
        "role": case.role,
        "model": case.path,
        "size": case.size,
        **case.facts,
        "fingerprint": _fingerprint(case.path),
        "with_exact": case.with_exact,
        "made_by": None,
        "failed": case.failed,
        "note": case.note,
    }
    for clock, key in ((END_TO_END, "end_to_end"), (SCORING, "scoring")):
        timings, faster = case.timings(clock), bench.speed_up(case, clock)
        if timings is None:
            out[key] = None
            continue
        rows = bench.rows if clock == END_TO_END else 1
        out[key] = {
            "unit": "seconds" if clock == END_TO_END else "seconds per row",
            "runs": timings.seconds,
            "median": timings.median,
            "spread": timings.spread,
            "interval_95": timings.interval_95,
            "rows_per_second": rows / timings.median if case.role != "start-up" else None,
            "speed_up": faster[0] if faster else None,
            "speed_up_error": faster[1] if faster else None,
        }
    found = case.quality
    changed = bench.changed(case)
    out["disagreement"] = None if changed is None else changed.share
    out["labels_that_differ"] = None if changed is None else changed.different
    out["largest_class_disagreement"] = None if changed is None else changed.largest_share
    out["classes"] = None if changed is None else [class_record(each) for each in changed.classes]
    distance = bench.distance(case) if case.failed is None and case.role != "start-up" else None
    out["distance"], out["distance_95"] = distance or (None, None)
    if found is not None:
        out["disagreement_upper_95"] = None if changed is None else upper_95(changed.different, changed.rows)
        out["largest_difference"], out["mean_difference"] = (
            None if each != each else each for each in (found.largest, found.mean)
        )
        if bench.model.header.regression and distance is not None:
            out["rms_difference"] = found.rms
            out["largest_distance"] = found.largest / bench.answers.spread
        out["rows_proven"] = found.proven
        out.update(summary_values(bench.model.header, found.score))
    return out


def class_record(each: ClassRows) -> dict:
    """Return the JSON object of a class's labels."""
    return {
        "label": each.label,
        "rows": each.rows,
        "labels_that_differ": each.different,
        "disagreement": each.share if each.rows else None,
        "disagreement_upper_95": upper_95(each.different, each.rows),
    }


def _fingerprint(path: "str | None") -> "str | None":
    try:
        return None if path is None else fingerprint(read_bytes(path))
    except FastsvmError:
        return None


def document(bench: Bench, machine: dict, picked: "Case | None", concluded: Conclusion) -> dict:
    """Return a benchmark as plain values, for JSON and figures."""
    found = {
        "fastsvm": machine["fastsvm"],
        "machine": machine,
        "test_file": bench.test_file,
        "rows": bench.rows,
        "exact_model": bench.exact_file,
        "total_sv": bench.model.header.total_sv,
        "regression": bench.model.header.regression,
        "references": {clock: case.name if case else None for clock, case in _references(bench)},
        "picked": picked.name if picked else None,
        "conclusion": " ".join(concluded.sentences),
        "commands": concluded.commands,
        "front": {clock: [case.name for case in pareto(bench, clock)] for clock in (END_TO_END, SCORING)},
        "cases": [record(bench, case) for case in bench.cases],
    }
    return finite(found)


def shown(
    bench: Bench,
    machine: dict,
    picked: "Case | None",
    width: int,
    *,
    everything: bool = False,
    ascii_only: bool = False,
) -> "list[RenderableType]":
    """Return the tables and sentences about a benchmark, for rich; `everything`: all columns, and `hidden` cases."""
    front, rows, beyond = unbeaten(bench), case_rows(bench), set() if everything else set(hidden(bench, picked))
    out: list[RenderableType] = []
    if everything:
        groups = _ALL
    else:
        rows = [(case, cells if case.quality else (cells[0], "", *cells[2:])) for case, cells in rows]  # size once
        groups = (_REGRESSION if bench.model.header.regression else _SUMMARY,)
    styled = [
        TableRow(
            cells[0], cells[1:], "bold green" if case is picked else "bold" if everything and case in front else ""
        )
        for case, cells in rows
        if case not in beyond
    ]
    for each in tables(styled, groups, width, ascii_only=ascii_only):
        out.extend([each] if isinstance(each, Text) else [each, ""])
    failed = [case for case in bench.cases if case.failed is not None and case not in beyond]
    if failed:
        reasons = [Text(f"  {printable(_reason(case.name, case.failed or ''))}") for case in failed]
        out += [Text("Not measured", "italic"), *reasons, ""]
    return [*out, *([] if everything else [Text(_about_hidden(bench))]), Text(heading(bench, machine))]


class TableRow(NamedTuple):
    """Row of a table."""

    name: str
    cells: "Sequence[str]"
    style: str = ""  # rich's words


def tables(
    rows: "Sequence[TableRow]", groups: "Sequence[Group]", width: int, *, ascii_only: bool = False
) -> "list[Text | Table]":
    """Return titled tables of COLUMNS, one per group, without empty rows and columns, or several if wider than `width`.

    Heads are on several lines where that saves a table. groups: titles, and numbers of cells.
    """
    if not rows:
        return []
    rows = [row._replace(name=printable(row.name), cells=[printable(cell) for cell in row.cells]) for row in rows]
    cells = [max(cell_len(row.cells[at]) for row in rows) for at in range(len(COLUMNS) - 1)]
    width_left = width - 2 - min(_LEAST_NAME, max(cell_len(row.name) for row in rows))
    broken = [
        "\n".join(wrap(head, max(least, *map(len, head.split())), break_long_words=False, break_on_hyphens=False))
        for head, least in zip(COLUMNS[1:], cells)
    ]
    out: list[Text | Table] = []
    for title, columns in groups:
        choices = [
            (_parts([at for at in columns if cells[at]], cells, names, width_left), names)
            for names in (COLUMNS[1:], broken)
        ]
        parts, names = min(choices, key=lambda choice: len(choice[0]))
        for at, part in enumerate(parts):
            words = Text(title + ", continued" * (at > 0), "italic")
            out += [words, _table(part, [COLUMNS[0], *names], rows, ascii_only)]
    return out


def _parts(
    columns: "Sequence[int]", cells: "Sequence[int]", names: "Sequence[str]", width_left: int
) -> "list[list[int]]":
    # cells, names: widths of cells, heads. width_left: beside the row's name.
    parts: list[list[int]] = []
    left = 0
    for at in columns:
        needed = 3 + max(cells[at], *map(cell_len, names[at].split("\n")))
        if not parts or needed > left:
            parts.append([])
            left = width_left
        parts[-1].append(at)
        left -= needed
    return parts


def _table(columns: "Sequence[int]", heads: "Sequence[str]", rows: "Sequence[TableRow]", ascii_only: bool) -> Table:
    table = Table(box=box.ASCII2 if ascii_only else box.HEAVY_HEAD, show_edge=False)
    table.add_column(Text(heads[0]), overflow="fold")
    for at in columns:
        table.add_column(Text(heads[1 + at]), justify="right", overflow="fold", no_wrap=True)
    for row in rows:
        if any(row.cells[at] for at in columns):
            table.add_row(Text(row.name), *(Text(row.cells[at]) for at in columns), style=row.style)
    return table


def hidden(bench: Bench, picked: "Case | None") -> "list[Case]":
    """Return the cases that only --all shows: start-ups, and fastsvm-predict with models not picked."""
    return [
        case
        for case in bench.cases
        if case.role == "start-up" or (case.of is not None and case.of is not picked and case.of.role != "exact")
    ]


def _about_hidden(bench: Bench) -> str:
    starts = [
        f"{case.name.removesuffix(', empty file')} takes {timings.median:.3g} s"
        for case in bench.cases
        for timings in [case.timings(END_TO_END)]
        if case.role == "start-up" and timings is not None
    ]
    return "--all shows more columns." + (f" For an empty file {' and '.join(starts)}." if starts else "")


def heading(bench: Bench, machine: dict) -> str:
    """Return the sentences about data, clocks and machine."""
    of = " and ".join(f"{case.name} ({CLOCKS[clock]})" for clock, case in _references(bench) if case is not None)
    faster = f" Speeds are relative to {of}." if of else ""  # after an early interrupt
    libsvm = f" libsvm-official {machine['libsvm_official']}," if machine["libsvm_official"] else ""
    return (
        f"{bench.test_file}, {bench.rows} rows. Medians +- spread (standard deviation, outliers damped)."
        f"{' Differences: in percent of the standard deviation of the exact values.' * bench.model.header.regression}"
        " End to end: a new process, file to file. In memory: rows parsed, labels out."
        f"{faster}\n{machine['processor']}, {machine['cores']} cores, {machine['threads'] or machine['cores']} threads,"
        f" {machine['kernels']}; fastsvm {machine['fastsvm']},{libsvm} Python {machine['python']}."
        + (f" svm-predict is {os.path.realpath(machine['svm_predict'])}." if machine["svm_predict"] else "")
    )


def _references(bench: Bench) -> "list[tuple[str, Case | None]]":
    return [(clock, bench.reference(clock)) for clock in (END_TO_END, SCORING)]


def _clock(bench: Bench, case: Case, clock: str) -> "tuple[str, ...]":
    timings, faster = case.timings(clock), bench.speed_up(case, clock)
    reference = bench.reference(clock)
    ratio = "" if faster is None else "1" if case is reference else f"{digits(faster[0], 3)} +- {digits(faster[1], 2)}"
    if clock == SCORING:
        return (
            ("", "")
            if timings is None
            else (f"{digits(1e6 * timings.median, 3)} +- {digits(1e6 * timings.spread, 1)} us", ratio)
        )
    if timings is None:
        return ("", "", "")
    speed = f"{bench.rows / timings.median:,.0f}" if case.role != "start-up" else ""
    return (f"{timings.median:.3g} +- {timings.spread:.1g} s", ratio, speed)


def _reason(name: str, why: str) -> str:
    return why if why.startswith(f"{name}:") else f"{name}: {why}"
