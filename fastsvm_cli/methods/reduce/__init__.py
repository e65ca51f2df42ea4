"""reduce: a LIBSVM model of fewer vectors."""

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.options import RATIO, TARGET, Choice, Integer, UsageError, option
from fastsvm_cli.errors import spelled
from fastsvm_cli.methods import Progress
from fastsvm_cli.methods.method import Attempt, Method, MethodOptions, Run, Search, Setting, require

if TYPE_CHECKING:
    from fastsvm_cli.methods.reduce.reduction import Reduction
    from fastsvm_cli.models import ExactModel, Model

# Shares of the support vectors to try without the final descent; shares of that set to try with it.
_RATIOS = (0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)
_OF_UNFINISHED = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
# Seconds to place vectors, over the square of the number of support vectors.
_QUICK_SECONDS = 3e-8


class ReduceOptions(MethodOptions):
    """Options of ``fastsvm reduce``."""

    suffix = ".reduced"
    vectors: "int | None" = option("--vectors L", "Maximum number of vectors.", Integer(1))
    ratio: "float | None" = option(
        "--ratio R", "Number of vectors, as a share of the support vectors (0.05 or 5%).", RATIO
    )
    target: "float | None" = option(
        "--target E",
        "Largest share of labels that may differ (0.002 or 0.2%). With --data, a class rules a set out as in bench"
        " --budget. For regression, the largest root mean square difference, as a share of the standard deviation of"
        " the exact values. Measured on rows of --data, or else on support vectors, that the placement has not seen.",
        TARGET,
    )
    data_file: "str | None" = option(
        "--data FILE",
        "Rows like those to predict, to measure disagreement on; if they have labels, accuracy too, and a model's"
        " probability parameters are fitted to them. With --target, one part of them chooses the size and another"
        " tests it.",
    )
    lossless: bool = option("--lossless", "Merge equal support vectors only.", bool)
    init: str = option(
        "--init",
        "Start of each vector. greedy: the support vector that lowers the squared distance most. random: drawn. alpha:"
        " drawn by coefficient. cluster: kernel k-means (20 rounds, on at most 4,000 drawn support vectors of each"
        " side).",
        Choice(["greedy", "random", "alpha", "cluster"]),
        default="greedy",
        group="Placement of the vectors",
    )
    optimizer: str = option(
        "--optimizer",
        "Placement of each vector before the next is added: at its start, by iRprop+ (100 steps), or by fixed-point"
        " iteration (1,000 steps, from 10 starts), which often does not converge. The paper uses --init random"
        " --optimizer irprop.",
        Choice(["none", "irprop", "fixed-point"]),
        default="none",
        group="Placement of the vectors",
    )
    finishing: bool = option(
        "--no-finish",
        "Skip the final descent on all vectors (L-BFGS, 100 rounds). The run then takes seconds, and the squared"
        " distance is several times larger.",
        bool,
        default=True,
        group="Placement of the vectors",
    )
    scale_file: "str | None" = shared.fold(" It can hold one scale for all features. Rows of --data are raw.")
    y_scale_file: "str | None" = shared.y_scale()
    seed: int = shared.seed("Seed of random draws.", group="Placement of the vectors")
    threads: int = shared.threads
    quiet: bool = shared.quiet("Print no summary or progress bar.")

    def check(self) -> None:
        """Refuse options that conflict."""
        shared.check_y_scale(self.scale_file, self.y_scale_file)
        sizes = {"vectors": self.vectors, "ratio": self.ratio, "target": self.target, "lossless": self.lossless or None}
        given = [spelled(name) for name, value in sizes.items() if value is not None]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} do not go together.")
        if not given:
            ways = f"{spelled('vectors', 'L')}, {spelled('ratio', 'R')} or {spelled('target', 'E')}"
            raise UsageError(f"how many vectors? Say {ways} (or {spelled('lossless')}).")
        if self.lossless and (self.init != "greedy" or self.optimizer != "none" or not self.finishing):
            raise UsageError(
                f"{spelled('lossless')} places no vectors: it does not go with {spelled('init')},"
                f" {spelled('optimizer')} or {spelled('no_finish')}."
            )
        if self.optimizer == "none" and self.init == "cluster" and self.target is not None:
            raise UsageError(
                f"{spelled('target')} grows a set vector by vector; kernel k-means makes another one for every number."
            )

    def count(self, total_sv: int) -> int:
        """Return the number of vectors for `total_sv` support vectors."""
        return self.vectors or max(1, round((self.ratio or 0.0) * total_sv))


class Reduce(Method):
    """The method of Suttorp and Igel (2007)."""

    name = "reduce"
    kinds = ("reduced",)
    better = "more vectors"
    Options = ReduceOptions

    def prepare(self, run: Run) -> None:
        """Read rows, and a range file, which the model's numbers then include."""
        run.read_range()
        if run.scaling is not None:
            from fastsvm_cli.methods.folded_scaling import ScalingToFold, folded_exact

            run.folding = ScalingToFold(run.scaling)
            require(run.exact.path, self.reason_against(run.exact))
            instead = "leave --scale out here and give it to predict, or use fastsvm approx --scale"
            assert run.source is not None
            run.source.model = folded_exact(run.exact, run.folding, instead)
        run.read_rows(None, "measure on")

    def written(self, run: Run) -> "Model":
        """Return the reduced set; after --scale, marked as one of raw rows."""
        reduced: ExactModel = run.made.model
        if run.folding is None:
            return reduced
        from fastsvm_cli.methods.folded_scaling import folded_model

        return folded_model(reduced, run.fingerprint, run.folding)

    def compile(self, run: Run, progress: Progress) -> "Reduction":
        """Compile a reduced set; refit probability parameters to labelled rows."""
        from fastsvm_cli._native import Chunk
        from fastsvm_cli.methods.reduce.reduction import compile_reduced_set, lossless, refit
        from fastsvm_cli.methods.reduce.target import reduce_to

        options: ReduceOptions = run.options
        model, rows = run.exact, run.rows
        if options.lossless:
            return lossless(model, run.fingerprint)
        how = options.chosen("init", "optimizer", "finishing", "seed")
        how.update(fingerprint=run.fingerprint, on_progress=progress)
        if options.target is not None:
            found = reduce_to(model, options.target, Chunk.concatenate(rows) if rows else None, **how)
        else:
            found = compile_reduced_set(model, count=options.count(model.header.total_sv), **how)
        if rows and model.header.has_probability and all(chunk.leading_count == 1 for chunk in rows):
            found.model = refit(found.model, rows)
        return found

    def reason_against(self, model: "ExactModel") -> "str | None":
        """Return why the model has no reduced set, or None."""
        from fastsvm_cli.methods.reduce.reduction import reason_against

        return reason_against(model)

    def search(self, model: "ExactModel", setting: Setting) -> Search:
        """Look for the smallest set: first without the final descent, which takes longer, but halves the set."""
        from fastsvm_cli.methods.reduce.placement import finish_seconds

        n, parts = model.header.total_sv, len(model.header.label or [0])
        later = 2 * setting.promising

        def ratio(share: float, finished: bool) -> Attempt:
            share = float(f"{share:.2g}")
            options: dict[str, Any] = {"ratio": share, **({} if finished else {"no_finish": True})}
            seconds = _QUICK_SECONDS * n * n + finished * finish_seconds(n, max(1, round(share * n)), parts)
            return Attempt(self.name, options, rank=later + finished, gain=1 / share, seconds=seconds)

        enough = yield from _smallest(lambda share: ratio(share, False), _RATIOS)
        yield from _smallest(lambda share: ratio(share, True), [(enough or 1.0) * each for each in _OF_UNFINISHED])


METHOD = Reduce()


def _smallest(
    attempt: "Callable[[float], Attempt]", shares: "Sequence[float]"
) -> "Generator[Attempt, bool | None, float | None]":
    # Bisection; a share not tried was too slow.
    low, high, found = 0, len(shares), None
    while low < high:
        middle = (low + high) // 2
        within = yield attempt(shares[middle])
        if within is False:
            low = middle + 1
        else:
            high, found = middle, shares[middle] if within else found
    return found
