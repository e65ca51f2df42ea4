"""cascade: cheap stages in front of the exact model, calibrated on rows."""

from typing import TYPE_CHECKING

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.options import FRACTION, Count, UsageError, option
from fastsvm_cli.errors import spelled
from fastsvm_cli.methods import Progress
from fastsvm_cli.methods.method import Attempt, Method, MethodOptions, Run, Search, Setting, require

if TYPE_CHECKING:
    from fastsvm_cli.methods.cascade.calibration import Calibration
    from fastsvm_cli.models import ExactModel


#: Defaults.
BUDGET, CONFIDENCE = 0.001, 0.95
# Parts of a budget that a search tries.
_BUDGETS = (1.0, 0.6)


class CascadeOptions(MethodOptions):
    """Options of ``fastsvm cascade``."""

    suffix = ".cascade"
    data_file: "str | None" = option(
        "--data FILE",
        "Rows like those to predict, to calibrate on; labels are not used. Rows unlike them void the guarantee, as do"
        " the model's training rows: a warning tells if a third of the support vectors are among them.",
    )
    budget: float = option(
        "--budget SHARE",
        "Largest share of rows that may get another label (0.001 or 0.1%).",
        FRACTION,
        BUDGET,
        "0.1%",
    )
    confidence: float = option(
        "--confidence SHARE",
        "Share of all runs of cascade, refused ones included, after which the budget holds (0.95 or 95%).",
        FRACTION,
        CONFIDENCE,
        "95%",
    )
    unlabelled: bool = option("--unlabelled", "Read rows of --data without labels.", bool, group=shared.ROWS)
    each_class: bool = option("--each-class", "Keep the budget for the rows of each class of the exact model.", bool)
    rows: int = option(
        "--rows N",
        "Number of rows that a run predicts. In a short run, reading the stages can take longer than they save.",
        Count(1),
        100_000,
    )
    scale_file: "str | None" = shared.embed("--scale")
    seed: int = shared.seed("Seed of the parts of --data, and of the candidates for vectors.")
    threads: int = shared.threads
    quiet: bool = shared.quiet()

    def check(self) -> None:
        """Require ``--data``."""
        if self.data_file is None:
            raise UsageError(f"cascade needs rows to calibrate on: {spelled('data', 'ROWS')}.")

    def check_model(self, model: "ExactModel") -> None:
        """Refuse a model without a cascade."""
        require(model.path, METHOD.reason_against(model))


class Cascade(Method):
    """Calibrated stages before the exact model (Cossalter et al., 2011; Angelopoulos et al., 2021)."""

    name = "cascade"
    kinds = ("cascade",)
    better = "a smaller budget"
    Options = CascadeOptions
    command_only = Method.command_only | {"unlabelled"}

    def compile(self, run: Run, progress: Progress) -> "Calibration":
        """Fit stages, and calibrate them on rows."""
        from fastsvm_cli._native import Chunk
        from fastsvm_cli.methods.cascade.calibration import calibrate

        options: CascadeOptions = run.options
        return calibrate(
            run.exact,
            Chunk.concatenate(run.rows or []),
            options.data_file or "data",
            fingerprint=run.fingerprint,
            job=options.rows,
            on_progress=progress,
            **options.chosen("budget", "confidence", "each_class", "seed"),
        )

    def reason_against(self, model: "ExactModel") -> "str | None":
        """Return why the model has no cascade, or None."""
        header = model.header
        if not model.pairs or not header.total_sv:
            return "no support vectors found, expected some"
        if header.regression:
            return "a regression model found; cascade takes classifiers: a value has no margin to stop at"
        if header.kernel_type == "precomputed":
            return "a precomputed kernel found; cascade needs the vectors"
        if header.kernel_type == "linear":
            return "a linear kernel found, which is as cheap as any stage"
        return None

    def search(self, model: "ExactModel", setting: Setting) -> Search:
        """Try two budgets, calibrated on the rows, that these can show."""
        from fastsvm_cli.comparisons import rows_needed

        classes = {"each_class": True} if setting.budget.each_class else {}
        for part in _BUDGETS:
            share = float(f"{part * setting.budget.share:.2g}")
            if not 0 < share < 1 or setting.rows <= rows_needed(share, CONFIDENCE):
                return
            if not (yield Attempt(self.name, {"budget": share, **classes}, rank=1, calibrated=share)):
                return


METHOD = Cascade()
