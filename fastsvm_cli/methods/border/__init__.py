"""border: points on the border, with normals (Mills)."""

from typing import TYPE_CHECKING, Any

import click

from fastsvm_cli.console.options import (
    carry_option,
    first_given,
    model_arguments,
    quiet_option,
    seed_option,
    threads_option,
    was_given,
)
from fastsvm_cli.console.values import POSITIVE, Target
from fastsvm_cli.methods.method import Attempt, Method, MethodOptions, Progress, listed

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.console.exact_model import SourceModel
    from fastsvm_cli.methods.border.samples import SampledBorder as Found
    from fastsvm_cli.models.base import ExactModel

#: Tried by `attempts`.
_SAMPLES = (30, 100, 1000)


def _bandwidth(context, parameter, value):
    if value is None or value == "adaptive":
        return value
    try:
        width = float(value)
    except ValueError:
        width = 0.0
    if not 1e-100 <= width <= 1e100:
        raise click.BadParameter(f"'{value}' is neither 'adaptive' nor a number from 1e-100 to 1e100.")
    return width


class BorderOptions(MethodOptions):
    samples: int
    target: "float | None"
    data_file: "str | None"
    scale_file: "str | None"
    sampling: str
    local: int
    tolerance: float
    raw: bool
    bandwidth: "str | float | None"
    weight: "float | None"
    density: bool
    seed: int

    def check(self) -> None:
        if self.target is not None and was_given("samples"):
            raise click.UsageError("--samples and --target do not go together.")
        if (self.bandwidth == "adaptive") != (self.weight is not None):
            raise click.UsageError(
                "--bandwidth adaptive and -W go together: the variable bandwidth needs its weight, and a fixed one has"
                " none."
            )
        if self.bandwidth is not None and (self.data_file is not None or self.raw):
            raise click.UsageError(
                "--bandwidth makes the border of a training file: it does not go with --data or --raw, which are about"
                " a model."
            )
        if not self.density:
            return
        # A density has no border: refuse its options.
        if self.bandwidth is None:
            raise click.UsageError("--density goes with --bandwidth: it is the estimate of a training file.")
        given = first_given("samples", "target", "sampling", "local", "tolerance", "seed")
        if given is not None:
            raise click.UsageError(f"--density writes no border: it does not go with {given}.")

    def check_model(self, model: "ExactModel") -> None:
        from fastsvm_cli.methods.border.signed_distance import needs_rows

        if self.raw and not (model.header.classification and model.header.has_probability):
            raise click.UsageError("--raw is for models with probabilities: others are sampled so without it.")

        if needs_rows(model) and self.data_file is None:
            raise click.UsageError(
                "a one-class model needs --data TRAIN_FILE: its support vectors lie on one side of the border."
            )

    @property
    def rows_file(self) -> "str | None":
        """File of rows; with --bandwidth, MODEL_FILE."""
        return self.model_file if self.bandwidth is not None else self.data_file

    @property
    def width(self) -> "float | None":
        return self.bandwidth if isinstance(self.bandwidth, float) else None


class Border(Method):
    name = "border"
    kinds = ("border", "density")
    better = "more samples"
    command_only = Method.command_only | {"bandwidth", "weight", "density"}  # these need no model
    Options = BorderOptions
    parameters = listed(
        click.option(
            "--samples",
            type=click.IntRange(1, 100000),
            default=100,
            show_default=True,
            metavar="N",
            help="Border samples per pair of classes.",
        ),
        click.option(
            "--target",
            type=Target(),
            metavar="E",
            help=(
                "Largest share of labels that may differ (0.002 or 0.2%) on rows not used to place samples; as"
                " many samples as that needs (100,000 at most), instead of --samples."
            ),
        ),
        click.option(
            "--data",
            "data_file",
            show_default="the support vectors",
            metavar="TRAIN_FILE",
            help=(
                "Rows to draw lines between and to measure on, half for each (fewer than 50: all for both)."
                " At most 40,000 rows are drawn, fewer beyond 838 features."
            ),
        ),
        click.option(
            "--sampling",
            type=click.Choice(["refined", "dense", "random"]),
            default="refined",
            show_default=True,
            help=(
                "Rows that a line joins. random: any two on opposite sides, as in the paper. dense: two that"
                " are near each other (the nearest of 2,000 drawn rows). refined: the same, from rows that the"
                " samples so far get wrong."
            ),
        ),
        click.option(
            "--local",
            type=click.IntRange(1, 64),
            default=1,
            show_default=True,
            metavar="K",
            help=("Number of nearest samples that answer together, if that lowers the share of labels that differ."),
        ),
        click.option(
            "--tolerance",
            type=POSITIVE,
            default=1e-4,
            show_default=True,
            metavar="E",
            help="Largest absolute decision value at a border sample.",
        ),
        click.option(
            "--raw",
            is_flag=True,
            help=(
                "Sample a model with probabilities where the decision value is 0 (labels of svm-predict -b"
                " 0), not where both classes are equally likely (-b 1)."
            ),
        ),
        click.option(
            "--bandwidth",
            callback=_bandwidth,
            metavar="adaptive|H",
            help=(
                "Bandwidth of Gaussian kernel density estimates, instead of an SVM. MODEL_FILE is then a"
                " training file, and the border is where two classes' estimates are equal. adaptive: varies so"
                " that the weights of all rows add up to W."
            ),
        ),
        click.option(
            "-W",
            "--weight",
            type=POSITIVE,
            metavar="W",
            help="Approximate number of rows that a density estimate rests on (--bandwidth adaptive).",
        ),
        click.option(
            "--density",
            is_flag=True,
            help=(
                "Write the density estimate of --bandwidth, not a border; a prediction costs all training"
                " rows. A fixed bandwidth gives a LIBSVM model, for svm-predict and every command here;"
                " adaptive, a model with probabilities."
            ),
        ),
        carry_option(
            "--scale",
            " Rows of --data, and with --bandwidth those of MODEL_FILE, are raw. (With --density and a fixed bandwidth"
            " the result is a LIBSVM model of raw rows.)",
        ),
        seed_option("Seed of random draws."),
        threads_option,
        quiet_option(),
        model_arguments,
    )

    def check_model(self, model: "ExactModel", options: BorderOptions) -> None:
        from fastsvm_cli.methods.border.signed_distance import refusal
        from fastsvm_cli.methods.method import demand

        demand(options.model_file, refusal(model))
        options.check_model(model)

    def compile(
        self, source: "SourceModel", options: BorderOptions, progress: Progress, rows: "list[Chunk] | None" = None
    ) -> "Found":
        from fastsvm_cli.methods.border.signed_distance import compile_border

        how = self._how(options, progress)
        return compile_border(source.model, fingerprint=source.fingerprint, raw=options.raw, chunks=rows, **how)

    def compile_rows(self, rows: "list[Chunk]", options: BorderOptions, progress: Progress) -> "Found":
        from fastsvm_cli.methods.border.density import rows_fingerprint
        from fastsvm_cli.methods.border.signed_distance import compile_density_border

        return compile_density_border(
            rows,
            options.model_file,
            fingerprint=rows_fingerprint(rows),
            bandwidth=options.width,
            weight=options.weight or 0.0,
            **self._how(options, progress),
        )

    @staticmethod
    def _how(options: BorderOptions, progress: Progress) -> "dict[str, Any]":
        return dict(
            count=options.samples,
            tolerance=options.tolerance,
            sampling=options.sampling,
            local=options.local,
            target=options.target,
            seed=options.seed,
            on_progress=progress,
        )

    def refusal(self, model: "ExactModel") -> "str | None":
        from fastsvm_cli.methods.border.signed_distance import needs_rows, refusal

        why = "a one-class model found: its border lies between rows, --data"
        return refusal(model) or (why if needs_rows(model) else None)

    def attempts(self, model: "ExactModel", max_bytes: float, patience: float) -> "list[Attempt]":
        return [Attempt(self.name, {"samples": samples}) for samples in _SAMPLES]


METHOD = Border()
