import sys
from typing import TYPE_CHECKING

import click

from fastsvm_cli.console.file_checks import check_document, check_outputs
from fastsvm_cli.console.options import Options, check_dask
from fastsvm_cli.console.plot import check_plot

if TYPE_CHECKING:
    from fastsvm_cli.models.base import Model


class BenchOptions(Options):
    attempt: bool
    everything: bool
    budget: "float | None"
    keep: "str | None"
    max_disagreement: "float | None"
    scale_file: "str | None"
    splits: "int | None"
    cost: "float | None"
    gamma: "float | None"
    degree: int
    runs: int
    max_seconds: float
    patience: float
    max_size: float  # MB
    dask: "str | None"
    as_json: bool
    plot_file: "str | None"
    seed: int
    threads: int
    quiet: bool
    test_file: str
    model_files: "tuple[str, ...]"

    def check(self) -> None:
        if "-" in (self.test_file, self.scale_file, *self.model_files):
            raise click.UsageError("bench reads its files several times: none of them can be standard input.")
        gate, budget = self.max_disagreement is not None, self.budget is not None
        if self.splits is not None:
            if any((self.model_files, self.attempt, self.everything, budget, self.keep, gate, self.plot_file)):
                raise click.UsageError(
                    "--cross-validate takes a data file alone and trains its own models: it goes with -c, -g, --degree,"
                    " --seed and --json, not with --plot or the others."
                )
            given = self.first_given("runs", "max_seconds")
            if given is not None:
                raise click.UsageError(f"{given} does not go with --cross-validate, which times nothing.")
        elif not self.model_files:
            raise click.UsageError("Missing argument 'MODEL_FILE...': the exact model, then others (or --try).")
        if self.gamma is not None and self.splits is None:
            raise click.UsageError("-g goes with --cross-validate; other models have their gamma.")
        if self.cost is not None and self.splits is None:
            raise click.UsageError("-c goes with --cross-validate; other models have their C.")
        given = self.first_given("patience", "max_size") if not self.attempt else None
        if given is not None:
            raise click.UsageError(f"{given} goes with --try: it is about what is compiled there.")
        if self.splits is None and self.first_given("degree"):
            raise click.UsageError("--degree goes with --cross-validate; --try compiles to every degree.")
        if self.dask is not None and not self.attempt:
            raise click.UsageError("--dask goes with --try: it compiles there; what is timed runs here.")
        check_dask(self.dask)
        if self.keep is not None and not (self.attempt and budget):
            raise click.UsageError("--keep goes with --try and --budget: it keeps what they pick.")
        if gate and len(self.model_files) < 2:
            raise click.UsageError("--max-disagreement is about named models: name one after the exact model.")
        check_plot(self.plot_file)

    def check_files(self) -> None:
        """Raise FileError and UsageError before measuring."""
        outputs = [path for path in (self.keep, self.plot_file) if path is not None]
        inputs = (self.test_file, self.scale_file, *self.model_files)
        check_document(inputs, outputs)
        check_outputs(outputs, *inputs)

    def check_model(self, model: "Model") -> None:
        about_labels = self.budget is not None or self.max_disagreement is not None
        if model.header.regression and about_labels:
            raise click.UsageError(
                "--budget and --max-disagreement are about labels that differ; a regression model has values."
            )

    def note(self, words: str) -> None:
        if not self.quiet:
            print(words, file=sys.stderr)
