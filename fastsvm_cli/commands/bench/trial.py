"""The run of ``fastsvm bench --try``."""

import sys
from typing import TYPE_CHECKING

from fastsvm_cli.console.scaling import read_scale_file, warn_of_scaling

if TYPE_CHECKING:
    from fastsvm_cli.benchmarks.chooser import Choice
    from fastsvm_cli.commands.bench.options import BenchOptions
    from fastsvm_cli.methods.compilation import SourceModel

#: Columns of the screen, unless COLUMNS or the terminal says another.
_WIDTH = 80


def choose_model(options: "BenchOptions") -> None:
    """Choose a model, show the choice, and write what the options ask for."""
    from fastsvm_cli.system import raising

    with raising():  # a signal shows what is known
        _choose(options)


def _choose(options: "BenchOptions") -> None:
    from fastsvm_cli.benchmarks import choice_report, environment
    from fastsvm_cli.benchmarks.chooser import Choosing, FileRows
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.methods.compilation import read_source
    from fastsvm_cli.text.numbers import json_document

    (model_file,) = options.model_files
    scaling = read_scale_file(options.scale_file)
    source = read_source(model_file)
    rule = options.rule
    assert rule is not None  # of --try
    with Progress("bench", quiet=options.quiet) as progress:
        rows = FileRows(options.test_file, source.model, scaling)
        warn_of_scaling(scaling, options.quiet)
        options.check_model(source.model)
        options.note_only_label(rows.answers(source.model, False), source.model.header.regression)
        choice = Choosing(
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
            _write(choice, document, options)  # before a reader of the screen can end the process
    finally:
        for warning in {each.warning for each in choice.entrants} - {None}:
            print(f"Warning: {warning}.", file=sys.stderr)
        if options.as_json:
            print(json_document(document, 1))
        else:
            _show(choice, source, commands, machine, options)
    if choice.interrupted is not None:
        sys.stdout.flush()
        stored = f"; {options.keep} was not written" if options.keep is not None else ""
        options.note(f"Interrupted: the models compared until then are shown{stored}.")
        raise choice.interrupted


def _show(
    choice: "Choice", source: "SourceModel", commands: "list[str]", machine: dict, options: "BenchOptions"
) -> None:
    import os
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


def _write(choice: "Choice", document: dict, options: "BenchOptions") -> None:
    from fastsvm_cli.text.output import Output
    from fastsvm_cli.text.read_rows import read_bytes

    if options.keep is not None:
        picked = choice.picked
        assert picked.model is not None
        text = read_bytes(options.model_files[0]) if picked is choice.exact else picked.model.to_text()
        with Output(options.keep) as output:
            output.write(text)
    if options.plot_file is not None:
        from fastsvm_cli.figures.bench import draw
        from fastsvm_cli.figures.style import write

        write(draw(document), options.plot_file)
