"""Runs of `bench`: named models side by side, and the choice of --try."""

import os
import sys
from textwrap import fill
from time import monotonic
from typing import TextIO

import click

from fastsvm_cli.benchmarks import choice_report, chooser, environment
from fastsvm_cli.benchmarks.bench_run import CLOCKS, END_TO_END, SCORING, Bench, Case
from fastsvm_cli.benchmarks.conclusion import (
    Conclusion,
    class_words,
    conclusion,
    finalists,
    small_class_sentences,
    within,
)
from fastsvm_cli.benchmarks.timing import Timed, interleave, seconds_left
from fastsvm_cli.commands.bench import BenchOptions
from fastsvm_cli.commands.bench.report import document, shown
from fastsvm_cli.comparisons import DEFAULT_BUDGET, Budget
from fastsvm_cli.console.files import read_scale_file, warn_of_scaling
from fastsvm_cli.console.terminal import Progress, ascii_only, new_console, print_sentence, show
from fastsvm_cli.errors import MissingPackageError
from fastsvm_cli.methods import reasons_against
from fastsvm_cli.methods.method import SourceModel, read_source
from fastsvm_cli.methods.training import load_libsvm
from fastsvm_cli.system import raising, temporary_folder
from fastsvm_cli.text import json_document
from fastsvm_cli.text.files import write_output
from fastsvm_cli.text.read_rows import read_bytes

#: Columns of the screen of --try, unless COLUMNS or the terminal says another.
_WIDTH = 80


def compare(options: BenchOptions) -> None:
    """Time models and programs side by side, print what was measured, and exit with 3 or 1 if a model fails."""
    scaling = read_scale_file(options.scale_file)
    machine = environment.describe(options.threads)
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
            fastsvm=environment.fastsvm_command(),
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
    program, budget = environment.native_program(), options.rule
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
    machine = environment.describe(options.threads)
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
