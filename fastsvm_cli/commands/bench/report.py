"""Tables, sentences and JSON of models measured side by side."""

import os
from collections.abc import Sequence
from textwrap import wrap
from typing import TypeAlias

from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fastsvm_cli._native import fingerprint
from fastsvm_cli.benchmarks.bench_run import CLOCKS, END_TO_END, SCORING, Bench, Case
from fastsvm_cli.benchmarks.conclusion import (
    Conclusion,
    class_record,
    label_text,
    pareto,
    regression_cells,
    short,
    unbeaten,
)
from fastsvm_cli.comparisons import interval_95
from fastsvm_cli.console.terminal import printable
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.prediction import summary_values
from fastsvm_cli.text import digits, finite, size_text
from fastsvm_cli.text.read_rows import read_bytes

#: Title and columns of a table.
Group: TypeAlias = tuple[str, Sequence[int]]
#: Columns of a case.
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
#: Tables of --all, then of the rest: title, and columns beside the name.
_ALL: "tuple[Group, ...]" = (("Time", range(1, 7)), ("Answers", (7, 8, 10, 14, 11, 12, 13)))
_SUMMARY: Group = ("Time and answers", (2, 3, 5, 7, 9, 10, 1))
_REGRESSION: Group = ("Time and answers", (2, 3, 5, 14, 11, 10, 1))
_LEAST_NAME = 20  # columns of names before a table is split
#: Cells of COLUMNS, and rich's words of their style.
Row: TypeAlias = "tuple[list[str], str]"


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
    front, beyond = unbeaten(bench), set() if everything else set(hidden(bench, picked))
    rows: list[Row] = []
    for case in bench.cases:
        if case.failed is None and case not in beyond:
            name = case.name + (f" ({case.note})" if case.note else "")
            # Without --all, a model's size is shown once, in the row of its answers.
            sized = case.size is not None and case.role != "start-up" and (everything or case.quality)
            cells = [name, size_text(case.size or 0) if sized else "", *_clock(bench, case, END_TO_END)]
            cells += [_rows_per_second(bench, case), *_clock(bench, case, SCORING), *_answers(bench, case)]
            rows.append((cells, "bold green" if case is picked else "bold" if everything and case in front else ""))
    out = tables(
        rows, _ALL if everything else (_REGRESSION if bench.model.header.regression else _SUMMARY,), width, ascii_only
    )
    failed = [case for case in bench.cases if case.failed is not None and case not in beyond]
    if failed:
        reasons = [Text(f"  {printable(_reason(case.name, case.failed or ''))}") for case in failed]
        out += [Text("Not measured", "italic"), *reasons, ""]
    return [*out, *([] if everything else [Text(_about_hidden(bench))]), Text(heading(bench, machine))]


def tables(rows: "Sequence[Row]", groups: "Sequence[Group]", width: int, ascii_only: bool) -> "list[RenderableType]":
    """Return titled tables of COLUMNS, one per group, without empty rows and columns, or several if wider than `width`.

    Heads are on several lines where that saves a table. groups: titles, and numbers of columns.
    """
    if not rows:
        return []
    rows = [([printable(cell) for cell in cells], style) for cells, style in rows]
    widths = [max(cell_len(cells[at]) for cells, _ in rows) for at in range(len(COLUMNS))]
    width_left = width - 2 - min(_LEAST_NAME, widths[0])
    broken = [
        "\n".join(wrap(head, max(least, *map(len, head.split())), break_long_words=False, break_on_hyphens=False))
        for head, least in zip(COLUMNS, widths)
    ]
    out: list[RenderableType] = []
    for title, columns in groups:
        choices = [
            (_parts([at for at in columns if widths[at]], widths, heads, width_left), heads)
            for heads in (COLUMNS, broken)
        ]
        parts, heads = min(choices, key=lambda choice: len(choice[0]))
        for at, part in enumerate(parts):
            words = Text(title + ", continued" * (at > 0), "italic")
            out += [words, _table(part, heads, rows, ascii_only), ""]
    return out


def _parts(
    columns: "Sequence[int]", widths: "Sequence[int]", heads: "Sequence[str]", width_left: int
) -> "list[list[int]]":
    # widths: of cells. width_left: beside the row's name.
    parts: list[list[int]] = []
    left = 0
    for at in columns:
        needed = 3 + max(widths[at], *map(cell_len, heads[at].split("\n")))
        if not parts or needed > left:
            parts.append([])
            left = width_left
        parts[-1].append(at)
        left -= needed
    return parts


def _table(columns: "Sequence[int]", heads: "Sequence[str]", rows: "Sequence[Row]", ascii_only: bool) -> Table:
    table = Table(box=box.ASCII2 if ascii_only else box.HEAVY_HEAD, show_edge=False)
    table.add_column(Text(heads[0]), overflow="fold")
    for at in columns:
        table.add_column(Text(heads[at]), justify="right", overflow="fold", no_wrap=True)
    for cells, style in rows:
        if any(cells[at] for at in columns):
            table.add_row(*(Text(cells[at]) for at in (0, *columns)), style=style)
    return table


def _clock(bench: Bench, case: Case, clock: str) -> "tuple[str, str]":
    # Median time, speed against the reference.
    timings, faster = case.timings(clock), bench.speed_up(case, clock)
    if timings is None:
        return "", ""
    time = f"{timings.median:.3g} +- {timings.spread:.1g} s"
    if clock == SCORING:
        time = f"{digits(1e6 * timings.median, 3)} +- {digits(1e6 * timings.spread, 1)} us"
    ratio = "" if faster is None else f"{digits(faster[0], 3)} +- {digits(faster[1], 2)}"
    return time, "1" if case is bench.reference(clock) else ratio


def _rows_per_second(bench: Bench, case: Case) -> str:
    timings = case.timings(END_TO_END)
    return "" if timings is None or case.role == "start-up" else f"{bench.rows / timings.median:,.0f}"


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
        upper = f"{100 * interval_95(changed.different, changed.rows)[1]:.2g} %"
        worst = "" if changed.worst is None else f"{label_text(changed.worst)}: {100 * changed.worst.share:.3g} %"
    proven = "" if found.proven is None else f"{100 * found.proven / bench.rows:.4g} %"
    return differ, upper, worst, score, largest, short(found.mean), proven, rms


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


def _reason(name: str, why: str) -> str:
    return why if why.startswith(f"{name}:") else f"{name}: {why}"


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
        out["disagreement_upper_95"] = None if changed is None else interval_95(changed.different, changed.rows)[1]
        out["largest_difference"], out["mean_difference"] = found.largest, found.mean
        if bench.model.header.regression and distance is not None:
            out["rms_difference"] = found.rms
            out["largest_distance"] = found.largest / bench.answers.spread
        out["rows_proven"] = found.proven
        out.update(summary_values(bench.model.header, found.score))
    return out


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
