"""The command ``fastsvm bench``."""

import sys
from typing import TYPE_CHECKING, TextIO

import click

from fastsvm_cli.commands.bench.options import BenchOptions
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.console.scaling import read_scale_file, warn_of_scaling

if TYPE_CHECKING:
    from fastsvm_cli.benchmarks.bench_run import Bench, Case
    from fastsvm_cli.benchmarks.conclusion import Conclusion


@click.command("bench", cls=FileCommand, params=BenchOptions.parameters())
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
    import os

    options = BenchOptions(**parsed)
    options.check_files()
    # For libsvm-official's OpenMP: waiting threads must not block others.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if options.threads:
        os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))

    from fastsvm_cli import _native

    _native.set_threads(options.threads)
    if options.splits is not None:
        _cross_validate(options, options.splits)
    elif options.attempt:
        from fastsvm_cli.commands.bench.trial import choose_model

        choose_model(options)
    else:
        _compare(options)


def _compare(options: BenchOptions) -> None:
    from contextlib import ExitStack

    from fastsvm_cli.benchmarks import environment, report
    from fastsvm_cli.benchmarks.bench_run import Bench
    from fastsvm_cli.benchmarks.conclusion import Conclusion, conclusion
    from fastsvm_cli.commands.bench.measuring import BenchScreen, measure
    from fastsvm_cli.errors import MissingPackageError
    from fastsvm_cli.methods.training import load_libsvm
    from fastsvm_cli.system import raising, temporary_folder

    scaling = read_scale_file(options.scale_file)
    machine = environment.describe(options.threads)
    libsvm = True
    try:
        load_libsvm()
    except MissingPackageError as missing:
        libsvm = False
        options.note(f"Note: LIBSVM is not timed in memory: {missing}")
    # A signal ends child processes and prints measurements.
    with raising(), temporary_folder() as folder, ExitStack() as stack:
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
        screen = stack.enter_context(BenchScreen(quiet=options.quiet))
        try:
            picked = measure(bench, options, screen)
        except KeyboardInterrupt as stop:
            interrupted = stop
            bench.compare_outputs()
            bench.take_failures()
        screen.close()
        concluded = Conclusion([], [])
        if interrupted is None:
            concluded = conclusion(bench, picked, options.rule)
        if options.as_json:
            print(report.as_json(bench, machine, picked, concluded))
        if not options.as_json or options.budget is not None:
            _print_conclusion(concluded, sys.stderr if options.as_json else sys.stdout)
        if not options.as_json:
            _show(bench, machine, picked, options)
        if interrupted is not None:
            _note_interruption(bench, options)
            raise interrupted
        if options.plot_file is not None:
            from fastsvm_cli.figures.bench import draw
            from fastsvm_cli.figures.style import write

            write(draw(report.document(bench, machine, picked, concluded)), options.plot_file)
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


def _cross_validate(options: BenchOptions, splits: int) -> None:
    from fastsvm_cli.benchmarks.cross_validation import Setting, as_json, as_table, cross_validate
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.console.terminal import ascii_only, show
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.methods.training import load_libsvm
    from fastsvm_cli.system import raising, temporary_folder
    from fastsvm_cli.text.read_rows import read_chunks

    load_libsvm()
    scaling = read_scale_file(options.scale_file)
    chunks = list(read_chunks(options.test_file, scaling=scaling))
    warn_of_scaling(scaling, options.quiet)
    if not chunks:
        raise FileError(options.test_file, "no rows found, expected some to train on")
    gamma = options.gamma or 1 / max(1, max(chunk.max_index for chunk in chunks))
    setting = Setting(gamma, options.cost or 1.0, options.degree)
    quiet = options.quiet
    with raising(), temporary_folder() as folder, Progress("cross-validate", quiet=quiet) as progress:
        found = cross_validate(
            chunks, options.test_file, splits, setting, folder=folder, seed=options.seed, on_progress=progress
        )
    if options.as_json:
        print(as_json(options.test_file, found, setting))
    else:
        show(as_table(options.test_file, found, setting, ascii_only=ascii_only(sys.stdout)))
