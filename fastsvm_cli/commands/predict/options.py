"""Options of ``fastsvm predict``."""

import os
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.option_types import Count, Number, Share, ZeroOrOne
from fastsvm_cli.console.options import option
from fastsvm_cli.console.scaling import refuse_twice

if TYPE_CHECKING:
    from fastsvm_cli.commands.predict.fallback import ExactFile
    from fastsvm_cli.models.base import Model
    from fastsvm_cli.prediction.pipeline import Audit, Fallback
    from fastsvm_cli.text.scaling import Scaling


class PredictOptions(shared.DataOptions):
    """Options of ``fastsvm predict``. start: time of the check, by time.monotonic."""

    probability: int = option(
        "-b --probability 0|1", "Predict probabilities too (1), as svm-predict -b 1.", ZeroOrOne(), 0
    )
    quiet: bool = shared.quiet()
    values: bool = option(
        "--values",
        "Append the decision values, one per pair of classes in the order of the model's labels (1/2, 1/3, ..., 2/3,"
        " ...), then the radii of a certified model.",
        bool,
        group=shared.OUTPUT,
    )
    evaluations: bool = option(
        "--evaluations",
        "Append the number of kernel evaluations, repeated ones included. For models of fastsvm order.",
        bool,
        group=shared.OUTPUT,
    )
    exact_file: "str | None" = option(
        "--exact MODEL",
        "LIBSVM model that MODEL_FILE was made from, by approx --certify or reduce. It evaluates the rows whose label"
        " is not proven, so that every label is svm-predict's.",
    )
    tolerance: "float | None" = option(
        "--tolerance E",
        "Largest error of a regression value. With --exact, rows with a larger radius are evaluated exactly (with"
        " --open-rows, written); with an ordered model, rows stop once proven within E of svm-predict's value.",
        Number(0),
        group="Early stops",
    )
    steps: "int | None" = option(
        "--steps K",
        "Number of points after which every row stops (fastsvm order --method geometry). --values then prints value,"
        " radius and the probability of a positive value (DeCoste, eq. 32). Labels may differ from svm-predict's where"
        " the radius reaches beyond zero.",
        Count(1),
        group="Early stops",
    )
    audit: "float | None" = option(
        "--audit SHARE",
        "Give this share of the rows (0.01 or 1%), a random sample, to the exact model too, and count the labels that"
        " differ. The output lines stay MODEL_FILE's. --exact names the exact model, which then does only this; a"
        " cascade contains its exact model.",
        Share(),
        group=shared.CHECKS,
    )
    max_disagreement: "float | None" = option(
        "--max-disagreement P",
        "With --audit: largest share of rows that may get another label than the exact model's. If the upper bound at"
        " 95 % confidence is larger, the exit code is 3.",
        Share(),
        group=shared.CHECKS,
    )
    seed: int = shared.seed("Seed of the sample of --audit.", group=shared.CHECKS)
    as_json: bool = shared.json(
        "Print the summary as one line of JSON; on standard error if the rows go to standard output."
    )
    on_bad_row: str = option(
        "--on-bad-row",
        "Action on a malformed line, or on a row that the model cannot evaluate: stop the run, skip the row, or write"
        " a line of nan. skip and nan name the first ten and count all.",
        click.Choice(["stop", "skip", "nan"]),
        default="stop",
        group=shared.ROWS,
    )
    fail_on_empty: bool = option(
        "--fail-on-empty",
        "Exit with code 1 if no row is predicted, and leave OUTPUT_FILE as it was.",
        bool,
        group=shared.CHECKS,
    )
    resume: bool = option(
        "--resume",
        "Keep finished lines in OUTPUT_FILE.partial; after a stop, the same command continues from there. For files"
        " only.",
        bool,
        group=shared.LONG,
    )
    open_file: "str | None" = option(
        "--open-rows FILE",
        "Output file for rows whose label a certified model leaves unproven, as LIBSVM data with line numbers (1 3:0.5"
        " # 17); with --exact, these were evaluated exactly. Rows of --unlabelled data get the label 0.",
        group=shared.OUTPUT,
    )
    outside_file: "str | None" = option(
        "--outside-rows FILE",
        "Output file for rows outside the bound of an RBF expansion (Claesen et al., eq. 3.11), in the same format.",
        group=shared.OUTPUT,
    )
    scale_file: "str | None" = shared.DataOptions.scale_file  # before --y-scale
    y_scale_file: "str | None" = shared.y_scale(
        "It scales the labels, so that the summary is in the unit of the predictions."
    )
    dask: "str | None" = shared.dask(
        "Dask scheduler whose workers predict",
        " TEST_FILE is a path, URL or pattern; OUTPUT_FILE is the directory of the parts. A second run writes only the"
        " missing ones.",
    )
    #: bytes
    block: int = shared.megabytes(
        "--block", "Size of the parts of --dask. A compressed file is one part.", group=shared.CLUSTERS
    )
    threads: int = shared.threads
    test_file: str = shared.argument()
    model_file: str = shared.argument()
    output_file: "str | None" = shared.argument(required=False)

    def check(self) -> None:
        """Raise UsageError."""
        self.start = monotonic()
        if self.test_file == "-" and self.model_file == "-":
            raise click.UsageError("TEST_FILE and MODEL_FILE cannot both be standard input.")
        super().check()
        shared.check_y_scale(self.scale_file, self.y_scale_file)
        if self.y_scale_file is not None and self.unlabelled:
            raise click.UsageError("--y-scale scales labels: it does not go with --unlabelled, whose rows have none.")
        alone = None if self.audit is not None else self.first_given("max_disagreement", "seed")
        if alone is not None:
            raise click.UsageError(f"{alone} goes with --audit.")
        if self.dask is not None:
            self._check_dask()
        elif "block" in self.given:
            raise click.UsageError("--block goes with --dask, which cuts the data into blocks.")
        if not self.resume:
            return
        if self.open_file is not None or self.outside_file is not None:
            option = "--outside-rows" if self.open_file is None else "--open-rows"
            raise click.UsageError(f"--resume keeps the lines of OUTPUT_FILE alone: it does not go with {option}.")
        from fastsvm_cli.prediction.resume import can_be_stored

        kinds = (os.path.isfile, os.path.isdir)  # opening a folder or missing file gives a better error
        if self.test_file == "-" or (
            os.path.exists(self.test_file) and not any(kind(self.test_file) for kind in kinds)
        ):
            why = "standard input and pipes cannot be read again"
            raise click.UsageError(f"--resume needs a TEST_FILE that is a file: {why}.")
        if not can_be_stored(self.output_file):
            raise click.UsageError("--resume needs an OUTPUT_FILE that is a file, to keep what is finished beside it.")

    def _check_dask(self) -> None:
        shared.check_dask(self.dask)
        if self.resume:
            raise click.UsageError("--dask does not go with --resume: run again, it does what is missing by itself.")
        if self.open_file is not None or self.outside_file is not None:
            option = "--outside-rows" if self.open_file is None else "--open-rows"
            raise click.UsageError(f"--dask does not go with {option}: workers write parts, and nothing else.")
        if self.fail_on_empty:
            raise click.UsageError("--dask does not go with --fail-on-empty: it writes parts before it counts rows.")
        if self.test_file == "-":
            raise click.UsageError("--dask reads files, which every worker can open, and no standard input.")
        if self.output_file in (None, "-"):
            raise click.UsageError("--dask needs OUTPUT_FILE: the directory, or URL, where the parts go.")

    @property
    def output(self) -> str:
        """Path of the predictions; ``-`` for standard output."""
        return "-" if self.output_file is None else self.output_file

    @property
    def outputs(self) -> "list[str]":
        """All files that the run writes."""
        return [self.output, *(file for file in (self.open_file, self.outside_file) if file is not None)]

    @property
    def inputs(self) -> "list[str]":
        """All files that the run reads."""
        files = (self.test_file, self.model_file, self.exact_file, self.scale_file, self.y_scale_file)
        return [file for file in files if file is not None]

    def checked(self, model: "Model") -> "Model":
        """Return the model that answers: with --steps, one that stops early. Raises UsageError and ModelFormatError."""
        header = model.header
        refuse_twice(self.scale_file, model, self.model_file)
        if self.scale_file is not None and header.kernel_type == "precomputed" and not model.ordered:
            raise click.UsageError("--scale does not go with a precomputed kernel, whose rows hold kernel values.")
        if self.y_scale_file is not None and not header.regression:
            raise click.UsageError("--y-scale is for regression models: there is nothing to scale about classes.")
        if self.dense and header.kernel_type == "precomputed" and not model.ordered:
            raise click.UsageError("--dense does not go with a precomputed kernel, whose rows hold serial numbers.")
        if self.probability and not header.has_probability:
            raise click.ClickException(
                f"{self.model_file}: the model has no probability estimates; train it with svm-train -b 1"
            )
        if self.steps is not None:
            stopped = model.stopped_after(self.steps)
            if stopped is None:
                raise click.UsageError(
                    f"--steps goes with a model of fastsvm order --method geometry, which {self.model_file} is not."
                )
            if self.probability:
                raise click.UsageError("--steps stops before the value that -b 1 needs.")
            model = stopped
        if self.evaluations and not model.ordered:
            why = f"goes with a model of fastsvm order, which {self.model_file} is not"
            raise click.UsageError(f"--evaluations {why}: others evaluate as much for every row.")
        if self.within(model) is not None and (self.steps is not None or self.values or self.probability):
            raise click.UsageError("--tolerance stops a row early: it does not go with --steps, --values or -b 1.")
        if self.open_file is not None and self.probability and model.reduced and not self._falls_back:
            why = "a reduced set has probability parameters of its own"
            raise click.UsageError(f"--open-rows with -b 1 needs --exact: {why}.")
        if self.outside_file is not None and not model.bounded:
            from fastsvm_cli.errors import ModelFormatError

            why = "the model has no bound (eq. 3.11): only RBF expansions, from fastsvm approx, have one"
            raise ModelFormatError(self.model_file, why)
        return model

    def reading(self, model: "Model") -> "dict[str, Any]":
        """Return how to read rows for a model, as keyword arguments of LineBlocks."""
        return {
            "labelled": not self.unlabelled,
            "dense": self.dense,
            "delimiter": self.delimiter,
            "first_index": model.first_index,
            "max_line": self.max_line,
        }

    def answer_options(self, model: "Model") -> "dict[str, Any]":
        """Return what to compute, as keyword arguments of Predictor."""
        open_rows = self.open_file is not None
        return {
            "probability": bool(self.probability),
            "values": self.values,
            "evaluations": self.evaluations,
            "tolerance": self.within(model),
            "open_rows": open_rows,
            "open_tolerance": (self.tolerance or 0.0) if open_rows and not self._falls_back else 0.0,
            "outside_rows": self.outside_file is not None,
            "around": self.on_bad_row != "stop",
        }

    def within(self, model: "Model") -> "float | None":
        """Return --tolerance if it stops rows early, else None."""
        proven_within = model.ordered and model.header.regression and not self._falls_back and self.open_file is None
        return self.tolerance if proven_within else None

    def fallback(self, model: "Model", exact_model: "ExactFile | None") -> "Fallback | None":
        """Return the exact model for unproven rows, or None."""
        from fastsvm_cli.commands.predict.fallback import fallback

        return fallback(
            model,
            self.model_file,
            exact_model if self._falls_back else None,
            self.tolerance if self.within(model) is None else None,
            wait=self._checked_first,
            open_rows=self.open_file is not None,
        )

    def audited(self, model: "Model", exact_model: "ExactFile | None") -> "Audit | None":
        """Return the sample of --audit, or None without it; raise UsageError and ModelFormatError."""
        if self.audit is None:
            return None
        from fastsvm_cli.commands.predict.fallback import audit

        return audit(model, self.model_file, exact_model, self.audit, self.seed, wait=self._checked_first)

    @property
    def _falls_back(self) -> bool:
        return self.exact_file is not None and self.audit is None

    @property
    def _checked_first(self) -> bool:
        """An error keeps a regular output file: no need."""
        return self.resume or not all(map(_is_plain_file, self.outputs))

    def made_with(self, digest: str, scaling: "Scaling | None") -> dict:
        """Return what determines output lines besides the rows, for --resume and --dask."""
        from fastsvm_cli import __version__

        return {
            "fastsvm": __version__,
            "model": digest,
            "-b": self.probability,
            "--values": self.values,
            "--evaluations": self.evaluations,
            "--exact": self.exact_file is not None,
            "--tolerance": self.tolerance,
            "--audit": self.audit,
            "--seed": self.seed,
            "--steps": self.steps,
            "--dense": self.dense,
            "--delim": self.delimiter,
            "--unlabelled": self.unlabelled,
            "--scale": None if scaling is None else f"a file of SHA-256 {scaling.digest}",
        }


def _is_plain_file(path: str) -> bool:
    from fastsvm_cli.text.output import is_standard_output

    return not is_standard_output(path) and (os.path.isfile(path) or not os.path.exists(path))
