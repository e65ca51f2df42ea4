"""Compilation of fitted estimators."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.comparisons import DEFAULT_BUDGET, DOUBTFUL, Budget, agreement_with_exact, gain_in_doubt
from fastsvm_cli.console.options import number
from fastsvm_cli.console.terminal import Progress
from fastsvm_cli.errors import ModelFormatError, in_python, warn
from fastsvm_cli.estimators.auto import ArrayRows, Attempts
from fastsvm_cli.estimators.fitted_svm import Fitted, read_estimator, readable_text, require_readable
from fastsvm_cli.estimators.members import compile_members
from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.estimators.rows import check_names, labelled_chunks
from fastsvm_cli.methods import find, methods, names, silent
from fastsvm_cli.methods.method import SourceModel, compile_source
from fastsvm_cli.models import ExactModel, Model

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Types of compile's arguments, for type checkers and editors; test_types.py derives them from the methods.
Method = Literal["exact", "approx", "cascade", "reduce", "order", "border", "geometry", "triangle", "auto"]
Path = str | PathLike[str]


class CompileOptions(TypedDict, total=False):
    """Options of every method; None means the default."""

    center: Literal["mean", "origin", "pair"] | None
    centers: int | None
    certify: bool | None
    coef0: float | None
    confidence: float | str | None
    dask: str | None
    data: Any | None
    degree: int | None
    each_class: bool | None
    fold: Path | None
    gamma: float | None
    init: Literal["greedy", "random", "alpha", "cluster"] | None
    kernel: Literal["exponential", "normalized-polynomial"] | None
    lists: int | None
    local: int | None
    lossless: bool | None
    max_size: float | None
    no_finish: bool | None
    optimizer: Literal["none", "irprop", "fixed-point"] | None
    points: int | None
    precision: Literal["single", "double"] | None
    rank: int | None
    ratio: float | str | None
    raw: bool | None
    rows: int | None
    samples: int | None
    sampling: Literal["refined", "dense", "random"] | None
    scale: Path | None
    seed: int | None
    sequence: Literal["greedy", "sgma"] | None
    target: float | str | None
    threads: int | None
    time_limit: float | None
    tolerance: float | None
    vectors: int | Path | None


#: MB, as in bench --try; processor seconds.
_AUTO = {"max_size": 64.0, "time_limit": 8.0, "each_class": False}


def compile(
    model: Any,
    method: Method = "exact",
    *,
    X: Any = None,
    budget: "float | str | None" = None,
    exact: "bool | float" = False,
    n_threads: "int | None" = None,
    on_progress: "Callable[..., None] | bool | None" = None,
    **options: "Unpack[CompileOptions]",
) -> FastSVM:
    """Compile a fitted estimator, or a LIBSVM model, into a model that predicts faster.

    Parameters
    ----------
    model : estimator, svm_model, str, bytes or os.PathLike
        One of:

        - a fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM with the kernel rbf, linear, poly or sigmoid
        - a fitted Pipeline that ends with one of these, or a fitted search
        - a fitted meta-estimator of these, as OneVsRestClassifier or VotingClassifier
        - the result of `svm_train` of libsvm-official
        - the path of a LIBSVM model file
    method : str, default="exact"
        The method of compilation. "exact", "order", "geometry" and "triangle" change no label; "geometry" and
        "triangle" are the variants of "order", whose default is "geometry". "approx", "cascade", "reduce" and "border"
        may change labels. "auto" tries all methods on `X` and returns the fastest model within `budget`. That
        is a budget of labels: probabilities and decision values may differ more.
    X : array-like or sparse matrix of shape (n_samples, n_features), default=None
        The rows on which "auto" measures, and which it requires; for "cascade", the same as `data`. Other methods
        refuse it.
    budget : float or str, default=None
        A share, as 0.005 or "0.5%", for the methods "auto" and "cascade". With "auto", it is the largest share of
        labels that may change, by Clopper and Pearson's upper bound with 90 % confidence; no label may change if the
        rows of `X` are too few to show it. A class rules a model out if the rows show that more than four times the
        share of its labels change. For regression, it is the largest root mean square difference as a share of the
        standard deviation of the values. None then means 0.5 %. With "cascade", it is the option `--budget` of the
        command, 0.1 % by default.
    exact : bool or float, default=False
        Whether the exact model answers the rows whose label is not proven, so that no label changes. This needs
        certificates, which "approx" with `certify=True` and "reduce" make. For regression, give the largest error as a
        number: the exact model answers the rows whose value is not proven to be within it. The methods "exact" and
        "auto" ignore this argument.
    n_threads : int, default=None
        Number of threads of the result. None and 0 mean all available CPUs.
    on_progress : callable or bool, default=None
        Called with the share done and a text. An exception that it raises ends the compilation. None and True show the
        progress on standard error if the compilation takes long; False does not.
    **options
        The options of the method's command, with `_` for `-`, as in `compile(svc, "approx", degree=3, certify=True)`.
        The members of a meta-estimator all get them, and take no rows in `X` or `data`. The option `data` is the path
        of a file, `X` or `(X, y)`. The options of "auto" are `max_size`, the largest size of a model in MB (64 by
        default); `time_limit`, in seconds of processor time (8 by default; at most ten times what the exact model takes
        for a million rows); and `each_class`, whether the budget also holds for the labels of every class.

    Returns
    -------
    fast : FastSVM
        The compiled model. If steps or estimators of scikit-learn remain around it, a `CompiledEstimator`, which has
        the estimator's methods. With "auto", its attribute `attempts_` (`Attempts`) is a table of the attempts, the
        fastest first, whose `reason` says in a sentence why this model was taken.

    Raises
    ------
    ModelFormatError
        If `model` is not fitted or not supported, or the method refuses it.
    FileError
        If a file cannot be read.
    TypeError
        If an option is unknown, or `X` or `budget` is given for a method that has none.
    ValueError
        If an argument is invalid, or arguments conflict.

    Warns
    -----
    FastsvmWarning
        If the model is slower than the exact one; if, without `exact`, it changes more than 1 % (or the option
        `target`, if larger) of the labels of its support vectors, or for regression changes their values by more than
        this share of their spread; or if the target of "reduce" was not reached, as when the rows are too few to show
        it. The methods "auto" and "cascade" do not warn about time or labels, but of a cascade that is calibrated on
        the rows that the model was trained on.

    Notes
    -----
    Scalers are applied to rows, bit for bit as by scikit-learn; sparse rows stay sparse. Scikit-learn's own code
    answers the rows whose label depends on rounding, and the rows near a step of an isotonic calibration. Without
    scikit-learn, their labels are svm-predict's.

    For "auto", a model is faster than another if it takes at most 95 % of its time. If no model is faster than the
    exact one, "auto" returns the exact one; among equally fast models, it returns the one that changes the fewest
    labels. A cascade is calibrated on `X`: one part of the rows fits it, another tests it.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svc = SVC(gamma=0.1).fit([[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"])
    >>> fastsvm_cli.compile(svc).predict([[0.0, 0.1]])
    array(['same'], dtype='<U5')
    """
    if not (callable(on_progress) or on_progress in (None, False, True)):
        raise ValueError(f"on_progress={on_progress!r} found, expected a function, True, False or None")
    given: dict[str, Any] = {**options}
    found, refused = None, None
    try:
        found = model if isinstance(model, Fitted) else read_estimator(model)
    except ModelFormatError as error:
        refused = error
    if found is None:
        how: dict[str, Any] = {"X": X, "budget": budget, "exact": exact, "n_threads": n_threads, **options}
        whole = compile_members(model, lambda found: compile(found, method, on_progress=on_progress, **how))
        if whole is None and refused is not None:
            raise refused
        return whole
    if not isinstance(method, str):
        raise TypeError(f"method: {type(method).__name__} found, expected a name as 'approx'; rows are X= or data=")
    if method not in ("exact", *names(), "auto"):
        raise ValueError(f"method {method!r} found, expected exact, {', '.join(names())} or auto")
    if budget is not None and method not in ("auto", "cascade"):
        raise TypeError(f'budget= goes with method="auto" or method="cascade": {method} has none')
    if X is not None and method not in ("auto", "cascade"):
        instead = "" if method == "exact" else f"; {method} takes data=X or data=(X, y)"
        raise TypeError(f'X= goes with method="auto" or method="cascade"{instead}')
    if isinstance(exact, np.bool_):
        exact = bool(exact)
    if exact is True and found.model.header.regression:
        raise ValueError("exact=True found, expected the largest error of a regression's value, as exact=0.1")
    if not isinstance(exact, bool) and not found.model.header.regression:
        raise ValueError(f"exact={exact!r} found, expected True or False: errors to accept are for regression")
    if method == "exact":
        _require_no_options(method, given)
        require_readable(found.model)
        source = SourceModel(found.model, 0, found.fingerprint or "")  # a fingerprint takes the whole text
        return _predictor(found, source, source.model, {"method": method}, n_threads=n_threads)
    source = _source(found)
    if method == "auto":
        if X is None:
            raise ValueError('method="auto" needs rows to measure on: X=')
        settings: dict[str, Any] = {**_AUTO, **{name: given.pop(name) for name in _AUTO if name in given}}
        _require_no_options(method, given)
        check_names(X, found.feature_names_in, found.name, found.sklearn is not None)
        rule = Budget(DEFAULT_BUDGET if budget is None else _share(budget), settings.pop("each_class"))
        with _progress(on_progress) as progress:
            return _fastest(found, source, X, rule, settings, progress, n_threads)
    if budget is not None:
        given["budget"] = budget
    if X is not None and given.get("data") is None:
        given["data"] = X
    recipe = {"method": method, **given, **({"exact": exact} if exact is not False else {})}
    data = given.get("data")
    if data is not None and not isinstance(data, (str, bytes, PathLike)):
        rows = data[0] if isinstance(data, tuple) and len(data) == 2 else data
        check_names(rows, found.feature_names_in, found.name, found.sklearn is not None)
        given["data"] = labelled_chunks(data, found, method)
        del recipe["data"]
    elif data is not None and (found.transform is not None or found.prepare is not None):
        raise ValueError(f"{method}: data in a file found, expected X or (X, y): steps are in front of the model")
    with _progress(on_progress) as progress:
        with in_python():
            compiled, _, allowed, warning, of_rows = compile_source(method, source, given, progress)
    for line in of_rows:
        warn(line)
    if warning is not None:
        warn(f'method="{method}": {warning}')
    if compiled.kind != "cascade":  # tested on rows; support vectors lie where it leaves them
        if exact is False:
            warn_of_labels(method, compiled, source.model, allowed)
        warn_of_time(method, compiled, source.model)
    return _predictor(found, source, compiled, recipe, exact=exact, n_threads=n_threads)


@contextmanager
def _progress(allowed: "Callable[..., None] | bool | None") -> "Iterator[Callable[..., None]]":
    if callable(allowed):
        yield allowed
    elif allowed is False or sys.stderr is None:
        yield silent
    else:
        with Progress("compile", announced=True) as progress:
            yield progress


def warn_of_labels(method: str, model: Model, source: ExactModel, allowed: float) -> None:
    """Warn if the share of changed support-vector labels exceeds DOUBTFUL and `allowed`."""
    if model.proves and not model.reduced:
        return
    seen = agreement_with_exact(model, source)
    if seen is None or seen.share <= max(DOUBTFUL, allowed):
        return
    share = f"{100 * seen.share:.3g} %"
    what = f"{share} of the labels of {seen.rows} support vectors"
    if seen.regression:
        what = f"the values of {seen.rows} support vectors by {share} of their spread"
    ways_out = find(method)[0].better + ("" if seen.regression else ', method="cascade" with data=')
    warn(f'method="{method}" changes {what}; try {ways_out}, or method="exact", which changes none')


def warn_of_time(method: str, model: Model, source: ExactModel) -> None:
    """Warn if the compiled model is probably slower than its source."""
    # An ordered model of a precomputed kernel has vectors, which its source lacks.
    tried = gain_in_doubt(model, getattr(model, "exact", source))
    if tried is not None:
        warn(
            f'method="{method}" takes {1 / tried.speed_up:.3g} times as long as method="exact", on {tried.rows} support'
            " vectors"
        )


def _source(found: Fitted) -> SourceModel:
    text = readable_text(found.model)
    return SourceModel(found.model, len(text), found.fingerprint or _native.fingerprint(text))


def _share(budget: "float | str") -> float:
    share = number(budget)
    if not 0 <= share < inf:
        raise ValueError(f"budget={budget!r} found, expected a share of the labels, 0 or more, as 0.005 or '0.5%'")
    return share


def _require_no_options(method: str, options: "dict[str, Any]") -> None:
    if options:
        name = next(iter(options))
        its = f"its options are {', '.join(_AUTO)}" if method == "auto" else "the exact model has no options"
        others = ", ".join(each.name for each in methods() if name in each.keywords)
        theirs = " (the threads of the result are n_threads=)" if name == "threads" else ""
        more = f"; {name}= is an option of {others}{theirs}" if others else ""
        raise TypeError(f'method="{method}" has no option {name!r}: {its}{more}')


def _predictor(
    found: Fitted,
    source: SourceModel,
    model: Model,
    options: "dict[str, Any]",
    *,
    exact: "bool | float" = False,
    n_threads: "int | None" = None,
) -> FastSVM:
    def wrap(inner: Model, **more: Any) -> FastSVM:
        known = {name: value for name, value in found._asdict().items() if name not in ("model", "name", "prepare")}
        if not inner.header.classification:
            known["classes"] = None
        return FastSVM(inner, **{**known, "n_threads": n_threads, **more})

    behind = wrap(source.model, fingerprint=source.fingerprint or None, options={"method": "exact"})
    if model is source.model:
        return behind
    more: dict[str, Any] = {"options": options, "fingerprint": None}
    if exact is not False:
        more["exact"] = FastSVM(source.model, fingerprint=source.fingerprint)
        if exact is not True:
            more["tolerance"] = float(exact)
    out = wrap(model, **more)
    out._reference = behind
    return out


def _fastest(
    found: Fitted, source: SourceModel, X: Any, budget: Budget, settings: dict, progress: Any, n_threads: "int | None"
) -> FastSVM:
    """Try all methods on rows, and return the fastest model. Warns of what its method warns of."""
    from fastsvm_cli.benchmarks.chooser import Choice

    if found.prepare is not None:
        X, found = found.prepare(X), found._replace(prepare=None)
    own = found._replace(classes=None)  # the chooser counts by the labels of the model's header

    def tried(model: Model, exact: bool) -> FastSVM:
        out = _predictor(own, source, model, options={}, exact=exact)
        out._names_checked = True
        return out

    rows = ArrayRows(X, tried, lambda some: labelled_chunks(some, found, "auto"))
    with in_python(), _one_blas_thread():
        limits: dict[str, Any] = {"time_limit": settings["time_limit"], "max_bytes": settings["max_size"] * 1e6}
        choice = Choice(source, rows, budget, **limits, on_progress=progress).run()
        attempts = Attempts(choice)
    if choice.interrupted is not None:
        raise choice.interrupted
    picked = choice.picked
    if picked.warning is not None:
        warn(f'method="auto": {picked.warning}')
    assert picked.model is not None
    recipe = attempts.recipe(picked)
    out: Any = _predictor(found, source, picked.model, recipe, exact=picked.exact, n_threads=n_threads)
    out.attempts_ = attempts
    return out


@contextmanager
def _one_blas_thread() -> "Iterator[None]":
    # More threads make compilations slower, on a busy machine thirty times (commands/__init__.py).
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(1, "blas"):
        yield
