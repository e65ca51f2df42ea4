"""The command ``fastsvm bench``."""

import os
from typing import TYPE_CHECKING, Any

import click

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.files import check_document, check_outputs, check_plot
from fastsvm_cli.console.options import LIMIT, POSITIVE, Integer, Share, option

if TYPE_CHECKING:
    from fastsvm_cli.comparisons import Budget
    from fastsvm_cli.models import Model


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
    plot_file: "str | None" = option(
        "--plot FILE",
        "Figure of rows per second, end to end and in memory, against labels that differ (.svg, .png or .pdf; needs pip"
        " install 'fastsvm[plot]').",
        group=shared.OUTPUT,
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
        if self.attempt:
            why = "{} does not go with --try, which runs each model as often as it has to."
            self.refuse_given(why, "runs", "max_seconds")
        else:
            why = "{} goes with --try: it is about what is compiled there."
            self.refuse_given(why, "time_limit", "max_size", "keep")
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
    from fastsvm_cli.commands.bench.run import choose, compare  # imports numpy
    from fastsvm_cli.system import raising

    _native.set_threads(options.threads)
    if options.attempt:
        with raising():  # a signal shows what is known
            choose(options)
    else:
        compare(options)
