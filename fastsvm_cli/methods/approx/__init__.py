"""approx: Maclaurin expansions (Claesen et al.), exact for linear and polynomial kernels."""

from typing import TYPE_CHECKING

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.options import LIMIT, POSITIVE, Choice, Integer, UsageError, option
from fastsvm_cli.errors import spelled
from fastsvm_cli.methods import Progress
from fastsvm_cli.methods.method import Attempt, Made, Method, MethodOptions, Run, Search, Setting

if TYPE_CHECKING:
    from fastsvm_cli.models import ExactModel, Model

CENTERS = ("mean", "origin", "pair")
# Numbers of centers that a search tries.
_CENTERS = (4, 16, 64)
# Products per second of a compilation; most products in the time of an entry of a support vector.
_PRODUCTS, _ENTRY = 1e9, 4
# Longer than the header of any model that compiles in reasonable time.
_HEADER_BYTES = 1 << 24


class ApproxOptions(MethodOptions):
    """Options of ``fastsvm approx``. replaces_certified: a certified model has the default output's name."""

    suffix = ".approx"
    center: "str | None" = option(
        "--center",
        "Center of an RBF expansion: the mean of the support vectors, the origin (as in the paper), or the mean of"
        " each pair of classes (more accurate, but larger).",
        Choice(CENTERS),
        shown="mean",
        group="Accuracy",
    )
    degree: "int | None" = option(
        "--degree P",
        "Degree of an RBF expansion. Each higher one is more accurate, and about d/degree times larger and slower."
        " Other kernels keep their own.",
        Integer(1, 4),
        shown="2",
        group="Accuracy",
    )
    centers: "int | None" = option(
        "--centers K",
        "Number of expansions, each about the mean of a cluster of support vectors (k-means, 30 rounds): K times the"
        " cost, for much larger gamma.",
        Integer(1, 100000),
        group="Accuracy",
    )
    rank: "int | None" = option(
        "--rank R",
        "Number of eigenvalues to keep of the matrix of the terms of degree 2, largest first.",
        Integer(1),
        group="Accuracy",
    )
    tolerance: "float | None" = option(
        "--tolerance E",
        "Largest change of a decision value, for rows as near the center as the support vectors, when the matrix of the"
        " terms of degree 2 is compressed to as few eigenvalues as possible.",
        POSITIVE,
        group="Accuracy",
    )
    certify: bool = option(
        "--certify",
        "Store the data for a proven error bound on every row, in about n_SV * n_SV * d / 2 operations (fewer for"
        " sparse vectors).",
        bool,
    )
    dask: "str | None" = shared.dask("Dask scheduler whose workers share the operations of --certify, and nothing else")
    precision: "str | None" = option(
        "--precision",
        "Precision of the stored numbers.",
        Choice(["single", "double"]),
        shown="single for RBF, double for linear and polynomial kernels",
        group="Accuracy",
    )
    scale_file: "str | None" = shared.embed("--scale")
    y_scale_file: "str | None" = shared.y_scale()
    threads: int = shared.threads
    #: MB
    max_size: float = option(
        "--max-size MB", "Maximum size of the compiled model; a larger one is refused.", LIMIT, 256
    )
    quiet: bool = shared.quiet()

    def check(self) -> None:
        """Refuse options that conflict."""
        if self.dask is not None and not self.certify:
            raise UsageError(f"{spelled('dask')} shares the sums of a certificate: it goes with {spelled('certify')}.")
        shared.check_dask(self.dask)
        shared.check_y_scale(self.scale_file, self.y_scale_file)

    def begin(self) -> None:
        """Check files and set threads."""
        named = self.output_file is not None
        super().begin()
        self.replaces_certified = not named and _is_certified(self.output_file)

    def check_model(self, model: "ExactModel") -> None:
        """Refuse options that conflict with the model."""
        gaussian, kernel = model.header.kernel_type == "rbf", model.header.kernel_type
        if self.center is not None and not gaussian:
            raise UsageError(
                f"{spelled('center')} is for RBF kernels; a {kernel} kernel's expansion is exact about the origin."
            )
        if self.centers is not None and (self.center is not None or not gaussian):
            raise UsageError(
                f"{spelled('centers')} is for RBF kernels, and chooses the centers itself: it does not go with"
                f" {spelled('center')}."
            )
        if self.dask is not None and not gaussian:
            raise UsageError(
                f"{spelled('dask')} is for RBF kernels: the certificate of a {kernel} kernel has no sums over pairs of"
                " vectors."
            )
        both = f"{spelled('rank')} and {spelled('tolerance')}"
        if self.rank is not None and self.tolerance is not None:
            raise UsageError(f"{both} are two ways to say the same thing.")
        if self.rank or self.tolerance:
            from fastsvm_cli.methods.approx.expansion import own_degree

            if (self.degree or own_degree(model.header)) != 2:
                raise UsageError(f"{both} compress a matrix: they go with degree 2.")

    def check_size(self, size: int) -> None:
        """Refuse a model beyond ``--max-size``."""
        from fastsvm_cli.errors import ModelFormatError
        from fastsvm_cli.text import size_text

        if size > self.max_size * 1e6:
            limit = f"{self.max_size:g} MB ({spelled('max_size')})"
            why = f"the compiled model takes {size_text(size)}, beyond the limit of {limit}"
            raise ModelFormatError(self.model_file, why)

    def better(self, compiled: "Model") -> str:
        """Return options that make models agree more."""
        gaussian = compiled.header.kernel_type == "rbf"
        ways = (
            ["a larger --rank"] * (self.rank is not None)
            + ["a smaller --tolerance"] * (self.tolerance is not None)
            + ["a higher --degree"] * (gaussian and compiled.degree < 4)
            + ["more --centers", "fastsvm reduce"] * gaussian
        )
        return ", ".join(ways) or "--precision double"


class Approx(Method):
    """The method of Claesen et al. (2014)."""

    name = "approx"
    kinds = ("maclaurin",)
    better = "a higher degree, more centers"
    Options = ApproxOptions

    def compile(self, run: Run, progress: Progress) -> Made:
        """Expand every decision function."""
        from contextlib import ExitStack

        from fastsvm_cli.methods.approx.expansion import compile_maclaurin

        options: ApproxOptions = run.options
        with ExitStack() as stack:
            add_up = None
            if options.dask is not None:
                from fastsvm_cli.cluster.scheduler import connect
                from fastsvm_cli.methods.approx.certificates import over
                from fastsvm_cli.system import raising

                stack.enter_context(raising())  # an interrupt cancels tasks and ends workers
                add_up = over(stack.enter_context(connect(options.dask)))
            model = compile_maclaurin(
                run.exact,
                fingerprint=run.fingerprint,
                clusters=options.centers or 1,
                single=None if options.precision is None else options.precision == "single",
                max_bytes=options.max_size * 1e6,
                on_progress=progress,
                add_up=add_up,
                **options.chosen("center", "degree", "certify", "rank", "tolerance"),
            )
        return Made(model)

    def reason_against(self, model: "ExactModel") -> "str | None":
        """Return why the model has no expansion, or None."""
        from fastsvm_cli.methods.approx.expansion import reason_against

        return reason_against(model)

    def search(self, model: "ExactModel", setting: Setting) -> Search:
        """Look for the least degree with one center, then the fewest centers, then proven labels."""
        import fastsvm_cli.methods.approx.certificates as certificates
        from fastsvm_cli._native import MAX_DEGREE, used_indices
        from fastsvm_cli.methods.approx.expansion import certify_seconds, coefficient_count, file_bytes, own_degree
        from fastsvm_cli.text import size_text

        header, vectors, features = model.header, model.vectors, len(used_indices(model.vectors))
        entries = len(vectors.indices) + vectors.rows * max(1, vectors.leading_count)
        later = 0 if setting.promising else 3

        def approx(rank: int, of_degree: int, expansions: int = 1, **options: object) -> Attempt:
            size = file_bytes(header, features, of_degree, expansions)
            of_row = min(features, round(len(vectors.indices) / max(1, vectors.rows)))
            products = coefficient_count(of_row, of_degree) * header.pairs * expansions
            seconds = coefficient_count(features, of_degree) * header.total_sv * max(1, header.nr_class - 1) / _PRODUCTS
            return Attempt(
                self.name,
                options,
                rank=rank + later,
                gain=_ENTRY * entries / products,
                seconds=seconds + certify_seconds(header, features) * ("certify" in options),
                exact="certify" in options,
                skipped=f"{size_text(size)} of file" if size > setting.max_bytes else None,
            )

        if header.kernel_type != "rbf":
            yield approx(0, own_degree(header))
            return
        within = yield approx(0, 2, degree=2)
        if within:
            yield approx(0, 1, degree=1)
            return
        for degree in range(3, MAX_DEGREE + 1):
            within = within or (yield approx(1, degree, degree=degree))
        if model.pairs > 1 and not within:
            within = yield approx(1, 2, header.nr_class, center="pair")
        for centers in _CENTERS:
            for degree in (2, 3):
                if centers < header.total_sv and not within:
                    within = yield approx(2, degree, centers, centers=centers, degree=degree)
        if setting.promising and certificates.reason_against(model) is None and not header.regression:
            for degree in (3, 2):
                yield approx(3, degree, degree=degree, certify=True)


METHOD = Approx()


def _is_certified(path: str) -> bool:
    from os.path import isfile

    if not isfile(path):
        return False
    with open(path, "rb") as file:
        header = file.read(_HEADER_BYTES).partition(b"\nexpansions\n")[0]
    return header.startswith(b"fastsvm_model maclaurin ") and b"\ncertified " in header
