"""Runs of `bench`: what they print, as tables, sentences and JSON."""

import os
import sys
from collections.abc import Sequence
from textwrap import fill, wrap
from time import monotonic
from typing import TextIO, TypeAlias

import click
from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fastsvm_cli._native import fingerprint
from fastsvm_cli.benchmarks import bench_run, choice_report, chooser
from fastsvm_cli.benchmarks.bench_run import CLOCKS, END_TO_END, SCORING, Bench, Case
from fastsvm_cli.benchmarks.conclusion import (
    Conclusion,
    class_record,
    class_words,
    conclusion,
    finalists,
    label_text,
    pareto,
    regression_cells,
    short,
    small_class_sentences,
    unbeaten,
    within,
)
from fastsvm_cli.benchmarks.timing import Timed, interleave, seconds_left
from fastsvm_cli.commands.bench import BenchOptions
from fastsvm_cli.comparisons import DEFAULT_BUDGET, Budget, interval_95
from fastsvm_cli.console.files import read_scale_file, warn_of_scaling
from fastsvm_cli.console.terminal import Progress, ascii_only, new_console, print_sentence, printable, show
from fastsvm_cli.errors import FastsvmError, MissingPackageError
from fastsvm_cli.methods import reasons_against
from fastsvm_cli.methods.method import SourceModel, read_source
from fastsvm_cli.methods.training import load_libsvm
from fastsvm_cli.prediction import summary_values
from fastsvm_cli.system import raising, temporary_folder
from fastsvm_cli.text import digits, finite, json_document, size_text
from fastsvm_cli.text.files import write_output
from fastsvm_cli.text.read_rows import read_bytes

#: Columns of the screen of --try, unless COLUMNS or the terminal says another.
_WIDTH = 80


def compare(options: BenchOptions) -> None:
    """Time models and programs side by side, print what was measured, and exit with 3 or 1 if a model fails."""
    scaling = read_scale_file(options.scale_file)
    machine = bench_run.describe_machine(options.threads)
    libsvm = True
    try:
        load_libsvm()
    except MissingPackageError as missing:
        libsvm = False
        options.note(f"Note: LIBSVM is not timed in memory: {missing}")
    # A signal ends child processes and prints measurements.
    with raising(), temporary_folder() as folder:
        bench = Bench(
            options.test_file,
            options.model_files[0],
            folder=folder,
            threads=options.threads,
            fastsvm=bench_run.fastsvm_command(),
            svm_predict=machine["svm_predict"],
            scaling=scaling,
        )
        warn_of_scaling(scaling, options.quiet)
        options.check_model(bench.model)
        options.note_only_label(bench.answers.every_label, bench.model.header.regression)
        bench.add_references(libsvm=libsvm)
        bench.add_model(options.model_files[0], name="exact model", role="exact")
        named = [case for path in options.model_files[1:] for case in bench.add_model(path)]
        interrupted, picked = None, None
        try:
            picked = _measure(bench, options)
        except KeyboardInterrupt as stop:
            interrupted = stop
            bench.compare_outputs()
            bench.take_failures()
        concluded = Conclusion([], []) if interrupted is not None else conclusion(bench, picked, options.rule)
        if options.as_json:
            print(json_document(document(bench, machine, picked, concluded), 1))
        if not options.as_json or options.budget is not None:
            _print_conclusion(concluded, sys.stderr if options.as_json else sys.stdout)
        if not options.as_json:
            how = {"everything": options.everything, "ascii_only": ascii_only(sys.stdout)}
            show(shown(bench, machine, picked, new_console(sys.stdout).width, **how))
        if interrupted is not None:
            _note_interruption(bench, options)
            raise interrupted
        if options.plot_file is not None:
            _draw(document(bench, machine, picked, concluded), options.plot_file)
    _pass_or_fail(bench, named, options)


def _print_conclusion(concluded: Conclusion, stream: TextIO) -> None:
    first, rest = concluded.sentences[:1], concluded.sentences[1:]
    for sentence in first:
        print_sentence(sentence, stream)
    for command in concluded.commands:
        print(f"  {command}", file=stream)
    for sentence in rest:
        print_sentence(sentence, stream)
    if first and stream is sys.stdout:
        print()


def _note_interruption(bench: Bench, options: BenchOptions) -> None:
    if not any(case.timings(END_TO_END) is not None for case in bench.cases):
        words = "nothing was timed yet"
    elif not any(case.timings(SCORING) is not None for case in bench.cases):
        words = "nothing was timed in memory yet"
    else:
        words = "the runs until then are counted"
    if not options.quiet:
        print_sentence(f"Interrupted: {words}.", sys.stderr)


def _pass_or_fail(bench: Bench, named: "list[Case]", options: BenchOptions) -> None:
    # 3 if a named model changes too many labels, overall or in a class; else 1 if one failed.
    limit = options.max_disagreement
    failed = [case for case in named if case.failed is not None]
    for case in failed:
        print(f"Error: {case.failed}", file=sys.stderr)
    if limit is not None:
        for sentence in small_class_sentences(bench, limit):
            options.note(f"Note: {sentence}")
    exceeded = False
    for case in named:
        changed = bench.changed(case)
        if limit is None or changed is None or changed.within(limit):
            continue
        exceeded = True
        assert changed.worst is not None  # some labels differ
        whole = f"{100 * changed.share:.3g} % of the labels differ"
        words = whole if changed.share > limit else f"{class_words(changed.worst)} differ"
        print(f"Error: {case.name}: {words}, more than {100 * limit:.3g} % (--max-disagreement)", file=sys.stderr)
    if exceeded or failed:
        raise click.exceptions.Exit(3 if exceeded else 1)


def _measure(bench: Bench, options: BenchOptions) -> "Case | None":
    # Time cases by both clocks, finalists by fastsvm-predict; return the fastest within the budget, or None.
    program, budget = bench_run.native_program(), options.rule
    for clock in CLOCKS:
        _time(bench, options, bench.cases, clock)
    if program is not None:
        last = finalists(bench, (Budget(0.0), Budget(DEFAULT_BUDGET)) if budget is None else (budget,))
        _time(bench, options, [bench.add_program(each, program) for each in last], END_TO_END)
    return within(bench, budget) if budget is not None else None


def _time(bench: Bench, options: BenchOptions, cases: "list[Case]", clock: str) -> None:
    runs, most_seconds, start = options.runs, options.max_seconds, monotonic()
    timed = [case.timed[clock] for case in cases if clock in case.timed]

    def begins(case: Timed, round: int) -> None:
        spent, left = monotonic() - start, seconds_left(timed, runs, most_seconds)
        run = f"run {round + 1} of {case.planned(runs, most_seconds)}" if round >= 0 else "to warm up"
        progress(0.0 if left is None else spent / (spent + left), f"{run}: {case.name}")

    with Progress(f"{CLOCKS[clock]},", quiet=options.quiet) as progress:
        bench.on_wait = progress.draw
        interleave(timed, runs, most_seconds, begins)
    if clock == END_TO_END:
        bench.compare_outputs()
    bench.take_failures()


def choose(options: BenchOptions) -> None:
    """Compile a model in many ways, pick the fastest, and print the choice."""
    (model_file,) = options.model_files
    scaling = read_scale_file(options.scale_file)
    source = read_source(model_file)
    rule = options.rule
    assert rule is not None  # of --try
    with Progress("bench", quiet=options.quiet) as progress:
        rows = chooser.FileRows(options.test_file, source.model, scaling)
        warn_of_scaling(scaling, options.quiet)
        options.check_model(source.model)
        options.note_only_label(rows.answers(source.model, False), source.model.header.regression)
        choice = chooser.Choice(
            source,
            rows,
            rule,
            time_limit=options.time_limit,
            max_bytes=options.max_size * 1e6,
            on_progress=progress,
        ).run()
    machine = bench_run.describe_machine(options.threads)
    commands = choice_report.commands(choice, options.test_file, model_file, scaling, options.keep)
    document = choice_report.document(choice, machine, options.test_file, model_file, commands)
    try:
        if choice.interrupted is None:
            _write_choice(choice, document, options)  # before a reader of the screen can end the process
    finally:
        for warning in {each.warning for each in choice.entrants} - {None}:
            print(f"Warning: {warning}.", file=sys.stderr)
        if options.as_json:
            print(json_document(document, 1))
        else:
            _show_choice(choice, source, commands, machine, options)
    if choice.interrupted is not None:
        sys.stdout.flush()
        stored = f"; {options.keep} was not written" if options.keep is not None else ""
        options.note(f"Interrupted: the models compared until then are shown{stored}.")
        raise choice.interrupted


def _show_choice(
    choice: chooser.Choice, source: SourceModel, commands: "list[str]", machine: dict, options: BenchOptions
) -> None:
    console = new_console(sys.stdout)
    width = console.width if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit() else _WIDTH

    def say(sentence: "str | None") -> None:
        if sentence is not None:
            print(fill(sentence, width, break_long_words=False, break_on_hyphens=False))

    say(choice_report.not_tried(choice))
    say(choice_report.reason(choice))
    for command in commands:  # unfolded, to be copied
        print(f"  {command}")
    print()
    show([choice_report.table(choice, options.everything, width), ""], width=width)
    for sentence in choice_report.left_out(choice, reasons_against(source.model), options.everything):
        say(sentence)
    say(choice_report.foot(choice, options.test_file, machine))


def _write_choice(choice: chooser.Choice, document: dict, options: BenchOptions) -> None:
    if options.keep is not None:
        picked = choice.picked
        assert picked.model is not None
        text = read_bytes(options.model_files[0]) if picked is choice.exact else picked.model.to_text()
        write_output(options.keep, text)
    if options.plot_file is not None:
        _draw(document, options.plot_file)


def _draw(document: dict, plot_file: str) -> None:
    from fastsvm_cli.figures import content, draw  # imports matplotlib

    write_output(plot_file, content(draw(document), plot_file.rpartition(".")[2]))


# ---- tables and JSON of compare

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
            sized = case.size is not None and case.role != "start-up" and (everything or case.quality)  # else size once
            cells = [name, size_text(case.size or 0) if sized else ""]
            cells += [*_clock(bench, case, END_TO_END), *_clock(bench, case, SCORING)[:2], *_answers(bench, case)]
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


def _clock(bench: Bench, case: Case, clock: str) -> "tuple[str, str, str]":
    # Median time, speed against the reference, rows a second.
    timings, faster = case.timings(clock), bench.speed_up(case, clock)
    if timings is None:
        return "", "", ""
    time = f"{timings.median:.3g} +- {timings.spread:.1g} s"
    if clock == SCORING:
        time = f"{digits(1e6 * timings.median, 3)} +- {digits(1e6 * timings.spread, 1)} us"
    ratio = "" if faster is None else f"{digits(faster[0], 3)} +- {digits(faster[1], 2)}"
    speed = f"{bench.rows / timings.median:,.0f}" if case.role != "start-up" else ""
    return time, "1" if case is bench.reference(clock) else ratio, speed


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
