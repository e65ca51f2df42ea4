"""order: support vectors in an order that lets rows stop early (DeCoste)."""

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from fastsvm_cli.console import options as shared
from fastsvm_cli.console.files import read_scale_file, refuse_twice
from fastsvm_cli.console.options import POSITIVE, Choice, Integer, UsageError, option
from fastsvm_cli.errors import spelled
from fastsvm_cli.methods import Progress
from fastsvm_cli.methods.method import Attempt, Made, Method, MethodOptions, Run, Search, Setting

if TYPE_CHECKING:
    from fastsvm_cli._native import Kernel
    from fastsvm_cli.models import ExactModel, Model
    from fastsvm_cli.text.scaling import Scaling

#: Also method names in Python.
ORDERS = ("geometry", "triangle")


class OrderOptions(MethodOptions):
    """Options of ``fastsvm order``."""

    suffix = ".order"
    method: str = option(
        "--method",
        "Bound that stops a row. geometry: intervals from the kernel values of a few points (linear kernels;"
        " polynomial and RBF with gamma and coef0 of 0 or more). triangle: lists of support vectors by distance from a"
        " pivot (RBF).",
        Choice(ORDERS),
        default="geometry",
    )
    points: "int | None" = option(
        "--points K",
        "Maximum number of points before a row is evaluated in full.",
        Integer(1),
        shown="max(z, sqrt(z n)) for n support vectors of z non-zeros each, at most 2,048",
        group="--method geometry",
    )
    sequence: "str | None" = option(
        "--sequence",
        "Order of the points. greedy: by what each takes from the uncertainty of the decision functions."
        " sgma: sparse greedy matrix approximation, as in the paper.",
        Choice(["greedy", "sgma"]),
        shown="greedy",
        group="--method geometry",
    )
    fold_file: "str | None" = option(
        "--fold TRAIN_FILE",
        "geometry, two classes: training file of a linear SVM (C = 1). The order begins with its"
        " weight vectors, the sums of each class's support vectors.",
        group="--method geometry",
    )
    lists: "int | None" = option(
        "--lists K",
        "Number of pivots, each with a list: the support vectors nearest to as many cluster means (k-means,"
        " 30 rounds).",
        Integer(1),
        shown="the number of classes, at least 2",
        group="--method triangle",
    )
    seed: int = shared.seed("Seed of the candidates of sgma and of k-means.")
    own_kernel: "str | None" = option(
        "--kernel",
        "Kernel of a model trained with a precomputed kernel (-t 4): exp(-gamma |x-z|), or k(x,z)/sqrt(k(x,x)k(z,z))"
        " with k = (gamma x.z + coef0)^degree.",
        Choice(["exponential", "normalized-polynomial"]),
        group="Precomputed kernels",
    )
    gamma: "float | None" = option(
        "-g --gamma G", "Parameter gamma of --kernel.", POSITIVE, group="Precomputed kernels"
    )
    coef0: "float | None" = option(
        "-r --coef0 C",
        "Parameter coef0 of --kernel normalized-polynomial; above 0.",
        POSITIVE,
        shown="1",
        group="Precomputed kernels",
    )
    degree: "int | None" = option(
        "-d --degree D",
        "Parameter degree of --kernel normalized-polynomial.",
        Integer(1, 50),
        shown="3",
        group="Precomputed kernels",
    )
    vectors_file: "str | None" = option(
        "--vectors TRAIN_FILE",
        "Training rows that the model's serial numbers refer to, for --kernel.",
        group="Precomputed kernels",
    )
    data_file: "str | None" = option(
        "--data FILE",
        "Rows of the trial, like those to predict. Else these are support vectors, on which a classifier's model"
        " usually gains less.",
    )
    scale_file: "str | None" = shared.scale(
        "Scale the rows of --vectors or --fold while they are read, as svm-scale -r RANGE_FILE does."
    )
    carry_file: "str | None" = shared.embed("--carry")
    y_scale_file: "str | None" = shared.y_scale()
    threads: int = shared.threads
    quiet: bool = shared.quiet()

    def check(self) -> None:
        """Refuse options that conflict."""
        for name, value, of in (
            ("points", self.points, "geometry"),
            ("sequence", self.sequence, "geometry"),
            ("fold", self.fold_file, "geometry"),
            ("lists", self.lists, "triangle"),
        ):
            if value is not None and self.method != of:
                raise UsageError(f"{spelled(name)} goes with {spelled('method', of)}.")
        if self.scale_file is not None and self.vectors_file is None and self.fold_file is None:
            raise UsageError(
                f"{spelled('scale')} goes with {spelled('vectors')} or {spelled('fold')}: it scales those rows"
                f" ({spelled('carry')} those to come)."
            )
        shared.check_y_scale(self.carry_file, self.y_scale_file, "--carry")
        kernel, others = spelled("kernel"), f"{spelled('coef0')} and {spelled('degree')}"
        if (self.own_kernel is None) != (self.vectors_file is None):
            raise UsageError(
                f"{kernel} and {spelled('vectors')} go together: a precomputed model knows neither its kernel"
                " nor its vectors."
            )
        parameters = (self.gamma, self.coef0, self.degree)
        if self.own_kernel is None and parameters != (None, None, None):
            raise UsageError(f"{spelled('gamma')}, {others} go with {kernel}; other models name their own.")
        if self.own_kernel is not None and self.gamma is None:
            raise UsageError(f"{kernel} needs {spelled('gamma')}.")
        if self.own_kernel == "exponential" and parameters[1:] != (None, None):
            raise UsageError(f"{others} are for {spelled('kernel', 'normalized-polynomial')}.")

    def check_model(self, model: "ExactModel") -> None:
        """Refuse options that conflict with the model."""
        header = model.header
        if self.own_kernel is not None and header.kernel_type != "precomputed":
            raise UsageError(
                f"{spelled('kernel')} is for models of a precomputed kernel; {self.model_file} has a"
                f" {header.kernel_type} kernel."
            )
        if self.fold_file is not None and not (header.classification and header.nr_class == 2):
            raise UsageError(
                f"{spelled('fold')} is for models of two classes: their linear SVM has two folded vectors."
            )
        refuse_twice(self.scale_file, model, self.model_file)

    @cached_property
    def rows_scaling(self) -> "Scaling | None":
        """The range file of ``--scale``, read once."""
        return read_scale_file(self.scale_file)

    @property
    def kernel(self) -> "Kernel":
        """The kernel of ``--kernel`` with its parameters."""
        from fastsvm_cli._native import Kernel

        assert self.gamma is not None  # --kernel needs it
        if self.own_kernel == "exponential":
            return Kernel("exponential", self.gamma)
        coef0 = 1.0 if self.coef0 is None else self.coef0
        return Kernel("normalized_polynomial", self.gamma, coef0, self.degree or 3)


class Order(Method):
    """The methods of DeCoste (2002) and of Acevedo-Rodríguez et al. (2009)."""

    name = "order"
    kinds = ORDERS
    variants: ClassVar = {name: {"method": name} for name in ORDERS}
    command_only = Method.command_only - {"scale_file"} | {"carry_file", "data_file", "method"}
    Options = OrderOptions

    def prepare(self, run: Run) -> None:
        """Read the range files, and rows of the trial."""
        from fastsvm_cli.text.scaling import check_embedding

        options: OrderOptions = run.options
        options.rows_scaling  # noqa: B018  # an error in it comes before those in rows
        run.scaling = read_scale_file(options.carry_file, options.y_scale_file)
        if run.scaling is not None and options.own_kernel is None:
            check_embedding(run.scaling, run.exact, options.model_file)
        run.read_rows(run.scaling or run.exact.row_scaling(), "measure on")

    def compile(self, run: Run, progress: Progress) -> Made:
        """Order the support vectors of a model."""
        from fastsvm_cli.text.scaling import check_embedding

        options: OrderOptions = run.options
        scaling = options.rows_scaling
        if scaling is not None and options.own_kernel is None:  # else the model has no vectors yet
            check_embedding(scaling, run.exact, options.model_file)
        ordered = _ordered(_with_own_kernel(run.exact, options), run, progress)
        if scaling is not None:
            run.applied.append(scaling)
        if run.scaling is not None and options.own_kernel is not None:  # the ordered model has vectors
            check_embedding(run.scaling, ordered, options.model_file)
        return Made(ordered)

    def reason_against(self, model: "ExactModel") -> "str | None":
        """Return why neither variant takes the model, or None."""
        whys = self.reasons_against(model)
        return whys[0][1] if len(whys) == len(ORDERS) else None

    def reasons_against(self, model: "ExactModel") -> "list[tuple[str, str]]":
        """Return (command, reason) for every variant that refuses the model."""
        from fastsvm_cli.methods.order.orders import reason_against

        whys = [(Attempt(self.name, {"method": order}).name, reason_against(model, order)) for order in ORDERS]
        return [(command, why) for command, why in whys if why is not None]

    def search(self, model: "ExactModel", setting: Setting) -> Search:
        """Try each method that takes the model. Both change no label."""
        from fastsvm_cli.methods.order.orders import reason_against

        for order in ORDERS:
            if reason_against(model, order) is None:
                yield Attempt(self.name, {"method": order}, rank=4 if setting.promising else 6)


METHOD = Order()


def _with_own_kernel(model: "ExactModel", options: OrderOptions) -> "ExactModel":
    if options.own_kernel is None:
        return model
    from fastsvm_cli.methods.order.orders import looks_untrained, with_vectors
    from fastsvm_cli.text.read_rows import read_chunks

    assert options.vectors_file is not None  # it goes with --kernel
    rows = read_chunks(options.vectors_file, scaling=options.rows_scaling)
    model = with_vectors(model, rows, options.vectors_file, options.kernel)
    if not options.quiet and looks_untrained(model):
        print(
            f"Warning: with these vectors and this kernel the support vectors of {options.model_file} are not where"
            " training puts them, on the margin: is --gamma, or the file, another one?",
            file=sys.stderr,
        )
    return model


def _ordered(model: "ExactModel", run: Run, progress: Progress) -> "Model":
    options: OrderOptions = run.options
    how: dict[str, Any] = dict(fingerprint=run.fingerprint, seed=options.seed, on_progress=progress)
    if options.method == "triangle":
        from fastsvm_cli.methods.order.orders import compile_triangle

        return compile_triangle(model, lists=options.lists, **how)
    from fastsvm_cli.methods.order.orders import compile_geometry, folded_vectors

    if options.fold_file is not None:
        how["folded"] = folded_vectors(_linear_model(options.fold_file, options.rows_scaling))
    return compile_geometry(model, sequence=options.sequence or "greedy", points=options.points, **how)


def _linear_model(train_file: str, scaling: "Scaling | None") -> "ExactModel":
    import os
    from pathlib import Path

    # libsvm-official's OpenMP threads change no result, are slow on busy machines, and end the process if none can
    # start.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    from fastsvm_cli.errors import FileError
    from fastsvm_cli.methods.training import libsvm_problem, load_libsvm, train
    from fastsvm_cli.system import raising, temporary_folder
    from fastsvm_cli.text.read_rows import read_chunks

    load_libsvm()
    labels, rows = libsvm_problem(read_chunks(train_file, scaling=scaling))
    if len(set(labels)) != 2:
        raise FileError(train_file, f"rows of {len(set(labels))} classes found, expected 2")
    with raising(), temporary_folder() as folder:
        return train(labels, rows, "-t 0 -c 1", str(Path(folder) / "linear.model"))
