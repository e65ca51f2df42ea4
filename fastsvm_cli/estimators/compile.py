"""Compilation of fitted estimators."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from os import PathLike
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fastsvm_cli._native import Chunk
from fastsvm_cli.comparisons.on_support_vectors import DOUBTFUL, agreement_with_exact, doubtful_gain, trial
from fastsvm_cli.console.exact_model import SourceModel, demand_compilable, read_back
from fastsvm_cli.console.progress import Progress
from fastsvm_cli.console.values import number
from fastsvm_cli.errors import FastsvmError, FastsvmWarning, in_python
from fastsvm_cli.estimators.agreement import Agreement
from fastsvm_cli.estimators.export import demand_readable, readable_text
from fastsvm_cli.estimators.fitted import Fitted
from fastsvm_cli.estimators.pipelines import read_estimator
from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.estimators.rows import labelled_chunks
from fastsvm_cli.methods import attempts, find, methods, names
from fastsvm_cli.methods.parallel import threads_here
from fastsvm_cli.models.base import ExactModel, Model
from fastsvm_cli.text.data import read_chunks
from fastsvm_cli.text.fingerprint import fingerprint

if TYPE_CHECKING:
    from fastsvm_cli.benchmarks.timing import Timings

_RUNS = 3  # timings per candidate
_AUTO_BUDGET = 0.005
_AUTO = {"max_size": 64.0, "patience": 30.0}  # MB, seconds: as in bench --try


def compile(
    model: Any,
    method: str = "exact",
    *,
    X: Any = None,
    budget: "float | str | None" = None,
    exact: "bool | float" = False,
    n_threads: "int | None" = None,
    on_progress: "Callable[..., None] | bool | None" = None,
    **options: Any,
) -> FastSVM:
    """Compile a fitted estimator into a fast one.

    model: a fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM with kernel rbf, linear, poly or sigmoid; a Pipeline of
    StandardScaler, MinMaxScaler, MaxAbsScaler or RobustScaler and one of them; a CalibratedClassifierCV
    (ensemble=False) or fitted search around them; the result of libsvm-official's svm_train; or a LIBSVM model's path.

    method: "exact" or "order" (no label changes), "approx", "cascade", "reduce" or "border"; "geometry" (default) and
    "triangle" are methods of order. Options are the command's, _ for -: compile(svc, "approx", degree=3, certify=True).
    `data`: a file, X, or (X, y).

    budget: a share, 0.005 or "0.5%". method="auto" (default 0.5 %) tries all on X and returns the fastest that changes
    at most this share of all labels and of each class's (regression: of the values' standard deviation, as a root mean
    square); among equally fast ones the exact model, or the one that changes the fewest labels. A cascade is calibrated
    on one half of X and measured on the other. Options: max_size (MB of a model), patience (seconds per compilation).
    attempts_ of the result lists all; class_share is a class's largest changed share. method="cascade": as the
    command's option.

    exact: True: the exact model answers rows whose label is not proven; needs certificates (approx with certify=True,
    reduce). A number, for regression: the largest radius of a value that is kept. n_threads: of the result.

    on_progress: called with the share done, and words; its exceptions end the compilation. None: show progress on
    standard error if it takes long. False: none.

    Scalers are applied to rows, bit for bit as by scikit-learn; sparse rows stay sparse. Labels that depend on
    rounding, and rows near a step of an isotonic calibration, are answered by scikit-learn's own code; without scikit-
    learn, such labels are svm-predict's.

    Raise ModelFormatError for a model that the method refuses; TypeError and ValueError for options. Except with
    "auto", warn (FastsvmWarning) if the model is slower than the exact one or, without `exact`, changes more than 1 %
    (or the option target, if larger) of its support vectors' labels (regression: of the spread).

    >>> from sklearn.svm import SVC
    >>> svc = SVC(gamma=0.1).fit([[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"])
    >>> fastsvm_cli.compile(svc).predict([[0.0, 0.1]])
    array(['same'], dtype='<U5')
    """
    found = read_estimator(model)
    if method == "exact":
        _demand_no_options(method, options)
        demand_readable(found.model)
        source = SourceModel(found.model, 0, found.fingerprint or "")  # a fingerprint takes the whole text
        return _behind(found, source, source.model, {"method": method}, n_threads=n_threads)
    source = _source(found)
    if method == "auto":
        if X is None:
            raise ValueError('method="auto" needs rows to measure on: X=')
        share = _AUTO_BUDGET if budget is None else _share(budget)
        settings = {**_AUTO, **{name: options.pop(name) for name in _AUTO if name in options}}
        _demand_no_options(method, options)
        with _progress(on_progress) as progress:
            return _choose(found, source, X, share, n_threads, progress, **settings)
    if method not in names():
        raise ValueError(f"method {method!r} found, expected exact, {', '.join(names())} or auto")
    if budget is not None:
        options["budget"] = budget
    told = {"method": method, **options, **({"exact": exact} if exact is not False else {})}
    if options.get("data") is not None and not isinstance(options["data"], (str, bytes, PathLike)):
        options["data"] = labelled_chunks(options["data"], found, method)
        del told["data"]
    elif options.get("data") is not None and found.scaling is not None:
        raise ValueError(f"{method}: data in a file found, expected X or (X, y): the scalers are in front of the model")
    with _progress(on_progress) as progress:
        compiled, wanted = compile_source(method, source, options, progress)
    if compiled.kind != "cascade":  # tested on rows; support vectors lie where it leaves them
        if exact is False:
            warn_of_labels(method, compiled, source.model, wanted)
        warn_of_time(method, compiled, source.model)
    return _behind(found, source, compiled, told, exact=exact, n_threads=n_threads)


@contextmanager
def _progress(wanted: "Callable[..., None] | bool | None") -> "Iterator[Callable[..., None]]":
    if callable(wanted):
        yield wanted
    elif wanted is False or sys.stderr is None:
        yield silent
    else:
        with Progress("compile", announced=True) as progress:
            yield progress


def compile_source(
    name: str, source: SourceModel, given: "dict[str, Any]", on_progress: "Callable[..., None] | None" = None
) -> "tuple[Model, float]":
    """Compile an exact model. Return the model, read back from its text, and the option target (a share) or 0.

    given: {long option name, _ for -: value}; a flag is True; None: not given. `data` may be a list of chunks. Raise
    TypeError for an unknown option, ValueError for a conflict, ModelFormatError and FileError."""
    method, variant = find(name)
    path, rows, given = source.model.path, None, dict(given)
    if isinstance(given.get("data"), list):
        rows, given["data"] = given["data"], "data"
    with in_python():
        try:
            options = method.read_options(given, variant, path)
            with threads_here(options.threads or None):
                demand_compilable(source.model)
                method.check_model(source.model, options)
                if rows is None and given.get("data") is not None:
                    rows = list(read_chunks(options.data_file))
                if rows is not None and not sum(chunk.rows for chunk in rows):
                    raise click.UsageError("data without a row found, expected some")
                compiled = method.compile(source, options, on_progress or silent, rows)
            text, model = read_back(compiled.model, path)
            options.check_size(len(text))
        except click.ClickException as fault:
            raise ValueError(f"{method.name}: {fault.format_message()}") from None
    return model, getattr(options, "target", None) or 0.0


def warn_of_labels(method: str, model: Model, source: ExactModel, wanted: float) -> None:
    """Warn if the share of changed support-vector labels exceeds DOUBTFUL and `wanted`."""
    if model.proves and not model.reduced:
        return
    seen = agreement_with_exact(model, source)
    if seen is None or seen.share <= max(DOUBTFUL, wanted):
        return
    share = f"{100 * seen.share:.3g} %"
    what = (
        f"the values of {seen.rows} support vectors by {share} of their spread"
        if seen.regression
        else f"{share} of the labels of {seen.rows} support vectors, which are harder than most rows"
    )
    ways_out = find(method)[0].better + ("" if seen.regression else ', method="cascade" with data=')
    _warn(f'method="{method}" changes {what}; try {ways_out}, or method="exact", which changes none')


def warn_of_time(method: str, model: Model, source: ExactModel) -> None:
    products = getattr(model, "products", inf)  # per row
    if not doubtful_gain(products, source):
        return
    tried = trial(model, source)
    if tried is not None and tried.speed_up < 1:
        _warn(
            f'method="{method}" takes {1 / tried.speed_up:.3g} times as long as method="exact", on {tried.rows} support'
            " vectors"
        )


def _warn(message: str) -> None:
    """Warn at the line that called fastsvm_cli."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fastsvm_cli."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, FastsvmWarning, stacklevel=level)


def silent(share: float, words: str = "") -> None:
    pass


def _source(found: Fitted) -> SourceModel:
    text = readable_text(found.model)
    return SourceModel(found.model, len(text), found.fingerprint or fingerprint(text))


def _share(budget: "float | str") -> float:
    """Raise ValueError."""
    share = number(budget)
    if not 0 <= share < inf:
        raise ValueError(f"budget={budget!r} found, expected a share of the labels, 0 or more, as 0.005 or '0.5%'")
    return share


def _demand_no_options(method: str, options: "dict[str, Any]") -> None:
    if options:
        name = next(iter(options))
        its = f"its options are {', '.join(_AUTO)}" if method == "auto" else "it has none"
        others = [f'method="{each.name}"' for each in methods() if name in each.keywords]
        raise TypeError(f"{method} has no option {name!r}; {its}{': say ' if others else ''}{' or '.join(others)}")


def _behind(
    found: Fitted,
    source: SourceModel,
    model: Model,
    options: "dict[str, Any]",
    *,
    exact: "bool | float" = False,
    n_threads: "int | None" = None,
) -> FastSVM:
    def wrap(inner: Model, **more: Any) -> FastSVM:
        return FastSVM(
            inner,
            n_threads=n_threads,
            classes=found.classes if inner.header.classification else None,
            n_features_in=found.n_features,
            feature_names_in=found.feature_names,
            decision_function_shape=found.decision_function_shape,
            break_ties=found.break_ties,
            transform=found.scaling,
            calibrator=found.calibration,
            sklearn=found.sklearn,
            **more,
        )

    behind = wrap(source.model, fingerprint=source.fingerprint or None, options={"method": "exact"})
    if model is source.model:
        return behind
    more: dict[str, Any] = {"options": options}
    if exact is not False:
        more["exact"] = FastSVM(source.model, fingerprint=source.fingerprint)
        if exact is not True:
            more["tolerance"] = float(exact)
    out = wrap(model, **more)
    out._reference = behind
    return out


class _GivenUp(Exception):
    pass


def _choose(
    found: Fitted,
    source: SourceModel,
    X: Any,
    budget: float,
    n_threads: "int | None",
    on_progress: "Callable[..., None]",
    *,
    max_size: float,
    patience: float,
) -> FastSVM:
    from fastsvm_cli.benchmarks.choice import Candidate, pick

    regression = source.model.header.regression
    behind = _behind(found, source, source.model, {"method": "exact"}, n_threads=n_threads)
    reference = behind.predict(X)
    tried: list[dict[str, Any]] = []
    candidates: list[Candidate[Any]] = []

    def add(name: str, fast: FastSVM, seconds: float, measured: slice = slice(None)) -> None:
        seen = Agreement(np.asarray(fast.predict(X))[measured], reference[measured], regression, None)
        timings = time_predictions(fast, X)
        row = {"name": name, "share": seen.share, "seconds": timings.median, "compile_seconds": seconds}
        if seen.changed is not None:
            row["class_share"] = seen.changed.largest_share
        tried.append(row)
        if seen.changed.within(budget) if seen.changed is not None else seen.share <= budget:
            candidates.append(Candidate(fast, seen.share, (timings,), fast is behind))

    add("exact", behind, 0.0)
    # A search for a budget needs one above 0.
    every = [each for each in attempts(source.model, max_size * 1e6, patience) if budget or each.budget_option is None]
    for at, each in enumerate(every):
        with in_python():
            name = each.name
        on_progress(at / len(every), name)
        options = {"method": each.command, **each.options}
        others = {option: value for option, value in options.items() if option != "method"}
        measured = slice(1, None, 2) if each.budget_option else slice(None)
        if each.budget_option is not None:
            rows = Chunk.concatenate(labelled_chunks(X, found, each.command))
            others["data"] = [rows.select(list(range(0, rows.rows, 2)))]
            if 0 < budget < 1:
                target = budget * float(np.std(reference)) if regression else budget
                options[each.budget_option] = others[each.budget_option] = target
        why = each.skipped or each.refused
        start = time.monotonic()

        def watch(share: float, words: str = "", at: int = at, start: float = start, name: str = name) -> None:
            if time.monotonic() - start > patience:
                raise _GivenUp
            on_progress((at + min(share, 1.0)) / len(every), name)

        if why is None:
            try:
                model, _ = compile_source(options["method"], source, others, watch)
            except _GivenUp:
                why = f"given up after {patience:g} s"
            except FastsvmError as fault:
                why = str(fault)
        if why is not None:
            tried.append({"name": each.name, "failed": why})
            continue
        seconds = time.monotonic() - start
        fast = _behind(found, source, model, options, n_threads=n_threads)
        add(each.name, fast, seconds, measured)
        if each.exact and not regression and model.certified and hasattr(fast, "proven"):
            fast = _behind(found, source, model, {**options, "exact": True}, exact=True, n_threads=n_threads)
            add(f"{each.name}, exact", fast, seconds)
    out = pick(candidates)
    assert out is not None  # the exact model is always a candidate
    out.attempts_ = tried
    return out


def time_predictions(fast: FastSVM, X: Any) -> "Timings":
    from fastsvm_cli.benchmarks.timing import Timings

    timings = Timings()
    for _ in range(_RUNS):
        start = time.perf_counter()
        fast.predict(X)
        timings.seconds.append(time.perf_counter() - start)
    return timings
