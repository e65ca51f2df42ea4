"""approx: Maclaurin expansions (Claesen et al.), exact for linear and polynomial kernels."""

from typing import TYPE_CHECKING

import click

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.option_types import LIMIT, POSITIVE, Integer
from fastsvm_cli.console.options import option
from fastsvm_cli.errors import spelled
from fastsvm_cli.methods.method import Attempt, Made, Method, MethodOptions, Progress

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.console.compiler_options import SourceModel
    from fastsvm_cli.models.base import ExactModel, Model

#: Tried by `attempts`.
_CENTERS = (4, 16, 64)
# gamma over gamma_MAX up to which expansions are tried first.
_FEW_TIMES = 3.0


class ApproxOptions(MethodOptions):
    """Options of ``fastsvm approx``."""

    center: "str | None" = option(
        "--center",
        "Center of an RBF expansion: the mean of the support vectors, the origin (as in the paper), or the mean of"
        " each pair of classes (more accurate, but larger).",
        click.Choice(["mean", "origin", "pair"]),
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
        click.Choice(["single", "double"]),
        shown="single for RBF, double for linear and polynomial kernels",
        group="Accuracy",
    )
    scale_file: "str | None" = shared.embed("--scale")
    y_scale_file: "str | None" = shared.y_scale("The model then predicts unscaled y, as with a range file of y.")
    threads: int = shared.threads
    #: MB
    max_size: float = option(
        "--max-size MB", "Maximum size of the compiled model; a larger one is refused.", LIMIT, 256
    )
    quiet: bool = shared.quiet()

    def check(self) -> None:
        """Raise UsageError for options that conflict."""
        if self.dask is not None and not self.certify:
            raise click.UsageError(
                f"{spelled('dask')} shares the sums of a certificate: it goes with {spelled('certify')}."
            )
        shared.check_dask(self.dask)
        shared.check_y_scale(self.scale_file, self.y_scale_file)

    def check_model(self, model: "ExactModel") -> None:
        """Raise UsageError for options that conflict with the model."""
        gaussian, kernel = model.header.kernel_type == "rbf", model.header.kernel_type
        if self.center is not None and not gaussian:
            raise click.UsageError(
                f"{spelled('center')} is for RBF kernels; a {kernel} kernel's expansion is exact about the origin."
            )
        if self.centers is not None and (self.center is not None or not gaussian):
            raise click.UsageError(
                f"{spelled('centers')} is for RBF kernels, and chooses the centers itself: it does not go with"
                f" {spelled('center')}."
            )
        if self.dask is not None and not gaussian:
            raise click.UsageError(
                f"{spelled('dask')} is for RBF kernels: the certificate of a {kernel} kernel has no sums over pairs of"
                " vectors."
            )
        both = f"{spelled('rank')} and {spelled('tolerance')}"
        if self.rank is not None and self.tolerance is not None:
            raise click.UsageError(f"{both} are two ways to say the same thing.")
        if self.rank or self.tolerance:
            from fastsvm_cli.methods.approx.expansion import own_degree

            if (self.degree or own_degree(model.header)) != 2:
                raise click.UsageError(f"{both} compress a matrix: they go with degree 2.")

    def check_size(self, size: int) -> None:
        """Raise ModelFormatError for a compiled model beyond ``--max-size``."""
        from fastsvm_cli.errors import ModelFormatError
        from fastsvm_cli.text.numbers import size_text

        if size > self.max_size * 1e6:
            limit = f"{self.max_size:g} MB ({spelled('max_size')})"
            why = f"the compiled model takes {size_text(size)}, beyond the limit of {limit}"
            raise ModelFormatError(self.model_file, why)

    def better(self, compiled: "Model") -> str:
        """Return options that would make the compiled model agree more."""
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

    def compile(
        self, source: "SourceModel", options: ApproxOptions, progress: Progress, rows: "list[Chunk] | None" = None
    ) -> Made:
        """Expand every decision function.

        Raises ModelFormatError for models that have no expansion.
        """
        from contextlib import ExitStack

        from fastsvm_cli.methods.approx.expansion import compile_maclaurin

        with ExitStack() as stack:
            add_up = None
            if options.dask is not None:
                from fastsvm_cli.cluster.scheduler import connect
                from fastsvm_cli.methods.approx.on_cluster import over
                from fastsvm_cli.system.interruption import raising

                stack.enter_context(raising())  # an interrupt cancels tasks and ends workers
                add_up = over(stack.enter_context(connect(options.dask)))
            model = compile_maclaurin(
                source.model,
                fingerprint=source.fingerprint,
                center=options.center,
                degree=options.degree,
                certify=options.certify,
                clusters=options.centers or 1,
                rank=options.rank,
                tolerance=options.tolerance,
                single=None if options.precision is None else options.precision == "single",
                max_bytes=options.max_size * 1e6,
                on_progress=progress,
                add_up=add_up,
            )
        return Made(model)

    def reason_against(self, model: "ExactModel") -> "str | None":
        """Return why the kernel has no expansion, or None."""
        from fastsvm_cli.methods.approx.expansion import reason_against

        return reason_against(model)

    def attempts(self, model: "ExactModel", max_bytes: float, patience: float) -> "list[Attempt]":
        """Return attempts of several degrees, centers and numbers of centers."""
        import fastsvm_cli.methods.approx.certificates as certificates
        from fastsvm_cli._native import MAX_DEGREE, used_indices
        from fastsvm_cli.methods.approx.costs import certify_seconds, file_bytes
        from fastsvm_cli.methods.approx.expansion import own_degree
        from fastsvm_cli.text.numbers import digits, size_text

        header, features = model.header, len(used_indices(model.vectors))
        without_certificate = certificates.reason_against(model)
        out: list[Attempt] = []

        def approx(rank: int, of_degree: int, expansions: int = 1, **options: object) -> None:
            certify = "certify" in options
            size = file_bytes(header, features, of_degree, expansions)
            why = size_text(size) if size > max_bytes else None
            limit = "--max-size"
            seconds = certify_seconds(header, features) if certify else 0.0
            if why is None and certify and seconds > patience:
                why = f"about {digits(seconds, 2)} s"
                limit = "--patience"
            refused = without_certificate if certify else None
            out.append(
                Attempt(
                    self.name,
                    options,
                    exact=certify,
                    skipped=why,
                    limit=limit,
                    refused=refused,
                    rank=rank,
                    seconds=seconds,
                )
            )

        if header.kernel_type != "rbf":
            approx(0, own_degree(header), certify=True)
            return out
        later = 0 if _promising(model) else 6
        degrees = range(1, MAX_DEGREE + 1)
        for degree in degrees:
            certified = {"certify": True} if degree in (2, 3) else {}
            approx(later + (degree not in (2, 3)), degree, **{"degree": degree, **certified})
        if model.pairs > 1:
            approx(later + 1, 2, center="pair", certify=True)
        for centers in _CENTERS:
            for degree in (2, 3):
                if centers < header.total_sv:
                    approx(5 + later // 2, degree, centers, centers=centers, degree=degree)
        for degree in degrees:
            approx(7, degree, center="origin", degree=degree)
        return out


METHOD = Approx()


def _promising(model: "ExactModel") -> bool:
    """Return whether gamma is at most a few times gamma_MAX, about the mean of the support vectors."""
    from math import sqrt

    from fastsvm_cli.bounds import gamma_max
    from fastsvm_cli.comparisons.norms import Mean, largest, squared_distances

    mean = Mean().add(model.vectors)
    norm = sqrt(largest(squared_distances(model.vectors, mean.indices, mean.point)))
    return model.header.gamma <= _FEW_TIMES * gamma_max(norm, norm)
