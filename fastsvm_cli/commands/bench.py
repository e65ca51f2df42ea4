"""The command ``fastsvm bench``."""

import os
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

import click

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.files import (
    check_document,
    check_outputs,
    check_plot,
    read_scale_file,
    warn_of_scaling,
)
from fastsvm_cli.console.options import LIMIT, POSITIVE, Integer, Share, option

if TYPE_CHECKING:
    from fastsvm_cli.benchmarks.bench_run import Bench, Case
    from fastsvm_cli.benchmarks.chooser import Choice
    from fastsvm_cli.benchmarks.conclusion import Conclusion
    from fastsvm_cli.benchmarks.timing import Timed
    from fastsvm_cli.comparisons import Budget
    from fastsvm_cli.methods.method import SourceModel
    from fastsvm_cli.models import Model

#: Columns of the screen of --try, unless COLUMNS or the terminal says another.
_WIDTH = 80


class BenchOptions(shared.Options):
    """Options of ``fastsvm bench``."""

    attempt: bool = option(
        "--try",
        "Compile MODEL_FILE in the ways that suit it, and pick the fastest model within --budget (0.5 % by default).",
        bool,
    )
    everything: bool = option(
        "--all",
        "Show every model and every column; with --try, every model, and why others were not compared.",
        bool,
        group=shared.OUTPUT,
    )
    budget: "float | None" = option(
        "--budget P",
        "Largest share of labels that may differ (0.5% or 0.005), by Clopper and Pearson's upper bound with 90 %"
        " confidence. Where rows are too few to show it, as for 0, none of their labels may differ. A class rules a"
        " model out if the rows show that more than four times the share of its labels differ. For regression, the"
        " largest root mean square difference, in standard deviations of the exact model's values. Without it and"
        " --try, 0 % and 0.5 % are reported.",
        Share(),
    )
    each_class: bool = option("--each-class", "Apply --budget to the labels of every class, too.", bool)
    keep: "str | None" = option("--keep PATH", "Output file for the model that --try picks.", group=shared.OUTPUT)
    max_disagreement: "float | None" = option(
        "--max-disagreement P",
        "Largest share of labels that a named model may change, of all rows or of a class; beyond it, the exit code is"
        " 3.",
        Share(),
    )
    runs: int = option(
        "--runs N", "Timed runs per case, after one warm-up run.", Integer(1), 5, group="Trials and times"
    )
    max_seconds: float = option(
        "--max-seconds S",
        "Seconds for the runs of one case. A slower case is run fewer times, at least three.",
        POSITIVE,
        20.0,
        group="Trials and times",
    )
    time_limit: float = option(
        "--time-limit S",
        "Time limit of --try, in seconds of processor time; at most ten times what the exact model takes for a million"
        " rows.",
        POSITIVE,
        30.0,
        group="Trials and times",
    )
    #: MB
    max_size: float = option("--max-size MB", "Maximum size of a model of --try.", LIMIT, 64, group="Trials and times")
    as_json: bool = shared.json("Print everything as JSON instead of tables.")
    plot_file: "str | None" = shared.plot_option(
        "Figure of rows per second, end to end and in memory, against labels that differ"
    )
    scale_file: "str | None" = shared.scale(
        "Range file of svm-scale. Every program gets the rows of TEST_FILE scaled as by svm-scale -r."
    )
    threads: int = shared.threads
    quiet: bool = shared.quiet("Print no progress bar or notes.")
    test_file: str = shared.argument()
    model_files: "tuple[str, ...]" = shared.argument(False, -1, "MODEL_FILE...")

    def check(self) -> None:
        """Refuse options that conflict."""
        if "-" in (self.test_file, self.scale_file, *self.model_files):
            raise click.UsageError("bench reads its files several times: none of them can be standard input.")
        gate, budget = self.max_disagreement is not None, self.budget is not None
        if not self.model_files:
            raise click.UsageError("Missing argument 'MODEL_FILE...': the exact model, then others (or --try).")
        given = self.first_given("time_limit", "max_size", "keep") if not self.attempt else None
        if given is not None:
            raise click.UsageError(f"{given} goes with --try: it is about what is compiled there.")
        given = self.first_given("runs", "max_seconds") if self.attempt else None
        if given is not None:
            raise click.UsageError(f"{given} does not go with --try, which runs each model as often as it has to.")
        if self.attempt and len(self.model_files) > 1:
            raise click.UsageError("--try takes one model; compare others with it in a run without --try.")
        if self.each_class and not (self.attempt or budget):
            raise click.UsageError("--each-class goes with --budget or --try: it is about the budget.")
        if gate and len(self.model_files) < 2:
            raise click.UsageError("--max-disagreement is about named models: name one after the exact model.")
        check_plot(self.plot_file)

    @property
    def rule(self) -> "Budget | None":
        """The budget's rule; None without --budget and --try."""
        from fastsvm_cli.comparisons import DEFAULT_BUDGET, Budget

        if self.budget is None and not self.attempt:
            return None
        return Budget(DEFAULT_BUDGET if self.budget is None else self.budget, self.each_class)

    def check_files(self) -> None:
        """Refuse files that cannot be read or written as asked."""
        outputs = [path for path in (self.keep, self.plot_file) if path is not None]
        inputs = (self.test_file, self.scale_file, *self.model_files)
        check_document(inputs, outputs)
        check_outputs(outputs, *inputs)

    def check_model(self, model: "Model") -> None:
        """Refuse options that conflict with the model."""
        if model.header.regression and self.max_disagreement is not None:
            raise click.UsageError(
                "--max-disagreement is about labels that differ; a regression model has values. --budget takes both."
            )

    def note_only_label(self, labels: Any, regression: bool) -> None:
        """Note if the exact model's labels of all rows, several, are the same."""
        if not regression and len(labels) > 1 and (labels == labels[0]).all():
            self.note(f"Note: the exact model answers {labels[0]:g} for all rows: they tell little about any model.")


@click.command("bench", cls=shared.FileCommand, params=BenchOptions.parameters())
def command(**parsed):
    """Compare models by time, labels that differ and size; pick one.

    The first model is the exact one, a LIBSVM model; the others are compared with it on the rows of TEST_FILE, by two
    clocks. End to end: a new process reads and writes files, against svm-predict if it is on the PATH. In memory: from
    parsed rows to labels, against libsvm itself. Cases take turns, so that a disturbance affects all. Certified models
    are also measured with predict --exact. A case that fails is listed with the reason.

    \b
      fastsvm bench test.txt train.model train.model.approx

    From a trained model to the answer:

    \b
      fastsvm bench --try --budget 0.5% --keep fast.model test.txt train.model
    """
    options = BenchOptions(**parsed)
    options.check_files()
    # For libsvm-official's OpenMP: waiting threads must not block others.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if options.threads:
        os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))

    from fastsvm_cli import _native

    _native.set_threads(options.threads)
    if options.attempt:
        from fastsvm_cli.system import raising

        with raising():  # a signal shows what is known
            _choose(options)
    else:
        _compare(options)


def _compare(options: BenchOptions) -> None:
    from fastsvm_cli.benchmarks import environment, report
    from fastsvm_cli.benchmarks.bench_run import Bench
    from fastsvm_cli.benchmarks.conclusion import Conclusion, conclusion
    from fastsvm_cli.errors import MissingPackageError
    from fastsvm_cli.methods.training import load_libsvm
    from fastsvm_cli.system import raising, temporary_folder
    from fastsvm_cli.text.numbers import json_document

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
        concluded = Conclusion([], [])
        if interrupted is None:
            concluded = conclusion(bench, picked, options.rule)
        if options.as_json:
            print(json_document(report.document(bench, machine, picked, concluded), 1))
        if not options.as_json or options.budget is not None:
            _print_conclusion(concluded, sys.stderr if options.as_json else sys.stdout)
        if not options.as_json:
            _show(bench, machine, picked, options)
        if interrupted is not None:
            _note_interruption(bench, options)
            raise interrupted
        if options.plot_file is not None:
            _draw(report.document(bench, machine, picked, concluded), options.plot_file)
    _pass_or_fail(bench, named, options)


def _show(bench: "Bench", machine: dict, picked: "Case | None", options: BenchOptions) -> None:
    from fastsvm_cli.benchmarks import report
    from fastsvm_cli.console.terminal import ascii_only, new_console, show

    width = new_console(sys.stdout).width
    how = {"everything": options.everything, "ascii_only": ascii_only(sys.stdout)}
    show(report.shown(bench, machine, picked, width, **how))


def _print_conclusion(concluded: "Conclusion", stream: "TextIO") -> None:
    from fastsvm_cli.console.terminal import print_sentence

    first, rest = concluded.sentences[:1], concluded.sentences[1:]
    for sentence in first:
        print_sentence(sentence, stream)
    for command in concluded.commands:
        print(f"  {command}", file=stream)
    for sentence in rest:
        print_sentence(sentence, stream)
    if first and stream is sys.stdout:
        print()


def _note_interruption(bench: "Bench", options: BenchOptions) -> None:
    from fastsvm_cli.benchmarks.bench_run import END_TO_END, SCORING
    from fastsvm_cli.console.terminal import print_sentence

    if not any(case.timings(END_TO_END) is not None for case in bench.cases):
        words = "nothing was timed yet"
    elif not any(case.timings(SCORING) is not None for case in bench.cases):
        words = "nothing was timed in memory yet"
    else:
        words = "the runs until then are counted"
    if not options.quiet:
        print_sentence(f"Interrupted: {words}.", sys.stderr)


def _pass_or_fail(bench: "Bench", named: "list[Case]", options: BenchOptions) -> None:
    # 3 if a named model changes too many labels, overall or in a class; else 1 if one failed.
    from fastsvm_cli.benchmarks.conclusion import class_words, small_class_sentences

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


def _measure(bench: "Bench", options: BenchOptions) -> "Case | None":
    # Time cases by both clocks, finalists by fastsvm-predict; return the fastest within the budget, or None.
    from fastsvm_cli.benchmarks import environment
    from fastsvm_cli.benchmarks.bench_run import END_TO_END, SCORING
    from fastsvm_cli.benchmarks.conclusion import finalists, within
    from fastsvm_cli.comparisons import DEFAULT_BUDGET, Budget

    program, budget = environment.native_program(), options.rule
    for clock in (END_TO_END, SCORING):
        _time(bench, options, bench.cases, clock)
    if program is not None:
        last = finalists(bench, (Budget(0.0), Budget(DEFAULT_BUDGET)) if budget is None else (budget,))
        _time(bench, options, [bench.add_program(each, program) for each in last], END_TO_END)
    return within(bench, budget) if budget is not None else None


def _time(bench: "Bench", options: BenchOptions, cases: "list[Case]", clock: str) -> None:
    from fastsvm_cli.benchmarks.bench_run import CLOCKS
    from fastsvm_cli.benchmarks.timing import seconds_left
    from fastsvm_cli.console.terminal import Progress

    runs, most_seconds, start = options.runs, options.max_seconds, monotonic()
    timed = bench.timed(cases, clock)

    def begins(case: "Timed", round: int) -> None:
        spent, left = monotonic() - start, seconds_left(timed, runs, most_seconds)
        run = f"run {round + 1} of {case.planned(runs, most_seconds)}" if round >= 0 else "to warm up"
        progress(0.0 if left is None else spent / (spent + left), f"{run}: {case.name}")

    with Progress(f"{CLOCKS[clock]},", quiet=options.quiet) as progress:
        bench.on_wait = progress.draw
        bench.measure(cases, clock, runs, most_seconds, begins)


def _choose(options: "BenchOptions") -> None:
    from fastsvm_cli.benchmarks import choice_report, chooser, environment
    from fastsvm_cli.console.terminal import Progress
    from fastsvm_cli.methods.method import read_source
    from fastsvm_cli.text.numbers import json_document

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
    document = choice_report.document(
        choice, machine, options.test_file, model_file, source.model.header.total_sv, commands
    )
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
    choice: "Choice", source: "SourceModel", commands: "list[str]", machine: dict, options: "BenchOptions"
) -> None:
    from textwrap import fill

    from fastsvm_cli.benchmarks import choice_report
    from fastsvm_cli.console.terminal import new_console, show
    from fastsvm_cli.methods import reasons_against

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


def _write_choice(choice: "Choice", document: dict, options: "BenchOptions") -> None:
    from fastsvm_cli.text.output import Output
    from fastsvm_cli.text.read_rows import read_bytes

    if options.keep is not None:
        picked = choice.picked
        assert picked.model is not None
        text = read_bytes(options.model_files[0]) if picked is choice.exact else picked.model.to_text()
        with Output(options.keep) as output:
            output.write(text)
    if options.plot_file is not None:
        _draw(document, options.plot_file)


def _draw(document: dict, plot_file: str) -> None:
    from fastsvm_cli.figures import content, draw
    from fastsvm_cli.text.output import Output

    drawn = content(draw(document), plot_file.rpartition(".")[2])
    with Output(plot_file) as output:
        output.write(drawn)
