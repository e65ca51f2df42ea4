"""border: points on the border, with normals (Mills)."""

from typing import TYPE_CHECKING, Any

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.options import BANDWIDTH, POSITIVE, TARGET, Choice, Integer, UsageError, option
from fastsvm_cli.errors import spelled
from fastsvm_cli.methods import Progress
from fastsvm_cli.methods.method import Attempt, Made, Method, MethodOptions, Run, Search, Setting, require

if TYPE_CHECKING:
    from fastsvm_cli.methods.border.samples import SampledBorder
    from fastsvm_cli.models import ExactModel

# Numbers of samples that a search tries, and most features of a model for which it does.
_SAMPLES, _FEW_FEATURES = (30, 100, 1000), 3


class BorderOptions(MethodOptions):
    """Options of ``fastsvm border``."""

    samples: int = option("--samples N", "Border samples per pair of classes.", Integer(1, 100000), 100)
    target: "float | None" = option(
        "--target E",
        "Largest share of labels that may differ (0.002 or 0.2%) on rows not used to place samples; as many samples as"
        " that needs (100,000 at most), instead of --samples.",
        TARGET,
    )
    data_file: "str | None" = option(
        "--data TRAIN_FILE",
        "Rows to draw lines between and to measure on, half for each (fewer than 50: all for both). At most 40,000"
        " rows are drawn, fewer beyond 838 features.",
        shown="the support vectors",
    )
    sampling: str = option(
        "--sampling",
        "Rows that a line joins. random: any two on opposite sides, as in the paper. dense: two that are near each"
        " other (the nearest of 2,000 drawn rows). refined: the same, from rows that the samples so far get wrong.",
        Choice(["refined", "dense", "random"]),
        default="refined",
        group="Placement of the samples",
    )
    local: int = option(
        "--local K",
        "Number of nearest samples that answer together, if that lowers the share of labels that differ.",
        Integer(1, 64),
        1,
        group="Placement of the samples",
    )
    tolerance: float = option(
        "--tolerance E",
        "Largest absolute decision value at a border sample.",
        POSITIVE,
        1e-4,
        group="Placement of the samples",
    )
    raw: bool = option(
        "--raw",
        "Sample a model with probabilities where the decision value is 0 (labels of svm-predict -b 0), not where both"
        " classes are equally likely (-b 1).",
        bool,
        group="Placement of the samples",
    )
    bandwidth: "str | float | None" = option(
        "--bandwidth adaptive|H",
        "Bandwidth of Gaussian kernel density estimates, instead of an SVM. MODEL_FILE is then a training file, and"
        " the border is where two classes' estimates are equal. adaptive: varies so that the weights of all rows add up"
        " to W.",
        BANDWIDTH,
        group="Without an SVM",
    )
    weight: "float | None" = option(
        "-W --weight W",
        "Approximate number of rows that a density estimate rests on (--bandwidth adaptive).",
        POSITIVE,
        group="Without an SVM",
    )
    density: bool = option(
        "--density",
        "Write the density estimate of --bandwidth, not a border; a prediction costs all training rows. A fixed"
        " bandwidth gives a LIBSVM model, for svm-predict and every command here; adaptive, a model with"
        " probabilities.",
        bool,
        group="Without an SVM",
    )
    scale_file: "str | None" = shared.embed("--scale")
    seed: int = shared.seed("Seed of random draws.", group="Placement of the samples")
    threads: int = shared.threads
    quiet: bool = shared.quiet()

    def check(self) -> None:
        """Refuse options that conflict."""
        self.suffix = ".density" if self.density else ".border"
        self.of_model = self.bandwidth is None
        if self.target is not None and "samples" in self.given:
            raise UsageError(f"{spelled('samples')} and {spelled('target')} do not go together.")
        if (self.bandwidth == "adaptive") != (self.weight is not None):
            raise UsageError(
                "--bandwidth adaptive and -W go together: the variable bandwidth needs its weight, and a fixed one has"
                " none."
            )
        if self.bandwidth is not None and (self.data_file is not None or self.raw):
            raise UsageError(
                "--bandwidth makes the border of a training file: it does not go with --data or --raw, which are about"
                " a model."
            )
        if not self.density:
            return
        # A density has no border: refuse its options.
        if self.bandwidth is None:
            raise UsageError("--density goes with --bandwidth: it is the estimate of a training file.")
        why = "--density writes no border: it does not go with {}."
        self.refuse_given(why, "samples", "target", "sampling", "local", "tolerance", "seed")

    def check_model(self, model: "ExactModel") -> None:
        """Refuse a model without a border, and options that conflict with it."""
        from fastsvm_cli.methods.border.borders import needs_rows, reason_against

        require(self.model_file, reason_against(model))
        if self.raw and not (model.header.classification and model.header.has_probability):
            raise UsageError(f"{spelled('raw')} is for models with probabilities: others are sampled so without it.")
        if needs_rows(model) and self.data_file is None:
            raise UsageError(
                f"a one-class model needs {spelled('data', 'TRAIN_FILE')}: its support vectors lie on one side of the"
                " border."
            )

    @property
    def rows_file(self) -> "str | None":
        """File of rows; with --bandwidth, MODEL_FILE."""
        return self.model_file if self.bandwidth is not None else self.data_file

    @property
    def width(self) -> "float | None":
        """Fixed bandwidth, or None."""
        return self.bandwidth if isinstance(self.bandwidth, float) else None


class Border(Method):
    """The method of Mills (2011)."""

    name = "border"
    kinds = ("border", "density")
    better = "more samples"
    command_only = Method.command_only | {"bandwidth", "weight", "density"}  # these need no model
    Options = BorderOptions

    def prepare(self, run: Run) -> None:
        """Read rows, and a range file, which a density of fixed bandwidth includes."""
        run.read_range()
        if run.scaling is not None and run.options.density and run.options.width is not None:
            from fastsvm_cli.methods.folded_scaling import ScalingToFold

            run.folding = ScalingToFold(run.scaling)
            run.scaling = run.folding.scaling
        run.read_rows(run.scaling, "draw lines between")

    def compile(self, run: Run, progress: Progress) -> "SampledBorder | Made":
        """Sample the border of a model or, with --bandwidth, of density estimates; or return these."""
        from fastsvm_cli.methods.border import borders

        options: BorderOptions = run.options
        how = options.chosen("samples", "tolerance", "sampling", "local", "target", "seed")
        how["on_progress"] = progress
        if options.of_model:
            return borders.compile_border(
                run.exact, fingerprint=run.fingerprint, raw=options.raw, chunks=run.rows, **how
            )
        rows = run.rows or []
        estimate: dict[str, Any] = dict(
            fingerprint=borders.rows_fingerprint(rows), bandwidth=options.width, weight=options.weight or 0.0
        )
        if options.density:
            return Made(borders.compile_density(rows, options.model_file, folding=run.folding, **estimate))
        return borders.compile_density_border(rows, options.model_file, **estimate, **how)

    def reason_against(self, model: "ExactModel") -> "str | None":
        """Return why the model has no border, or None."""
        from fastsvm_cli.methods.border.borders import needs_rows, reason_against

        why = "a one-class model found: its border lies between rows, --data"
        return reason_against(model) or (why if needs_rows(model) else None)

    def search(self, model: "ExactModel", setting: Setting) -> Search:
        """Try numbers of samples on models with few features: others are slower or alter more labels."""
        from fastsvm_cli._native import used_indices

        if len(used_indices(model.vectors)) <= _FEW_FEATURES:
            for samples in _SAMPLES:
                if samples < model.header.total_sv and (yield Attempt(self.name, {"samples": samples}, rank=2)):
                    return


METHOD = Border()
