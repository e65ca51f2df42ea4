"""Compilation of fitted estimators."""

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import compress
from math import inf
from os import PathLike
from typing import Any

import click
import numpy as np

from fastsvm_cli._native import Chunk
from fastsvm_cli.comparisons.sampled import halves
from fastsvm_cli.comparisons.support_vector_trial import DOUBTFUL, agreement_with_exact, questionable_gain, trial
from fastsvm_cli.console.compiler_options import SourceModel, read_back, require_compilable
from fastsvm_cli.console.option_types import number
from fastsvm_cli.console.progress import Progress
from fastsvm_cli.errors import FastsvmError, FastsvmWarning, in_python
from fastsvm_cli.estimators.agreement import Agreement
from fastsvm_cli.estimators.export import readable_text, require_readable
from fastsvm_cli.estimators.fitted_svm import Fitted
from fastsvm_cli.estimators.pipelines import read_estimator
from fastsvm_cli.estimators.predictor import FastSVM
from fastsvm_cli.estimators.rows import labelled_chunks
from fastsvm_cli.methods import attempts, find, methods, names
from fastsvm_cli.methods.parallel import threads_here
from fastsvm_cli.models.base import ExactModel, Model
from fastsvm_cli.text.fingerprint import fingerprint
from fastsvm_cli.text.read_rows import read_chunks

#: Timings per candidate, then of the fastest; limits of their seconds, and of the multiplications of an exact one.
_RUNS, _MORE_RUNS, _SECONDS, _WORK = 5, 20, 1.0, 1 << 28
#: A model is faster than another if it takes at most this share of its time.
_FASTER = 0.9
#: Searches for a budget need one below 1.
_MOST_BUDGET = 0.99
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
    """Compile a fitted estimator, or a LIBSVM model, into a model that predicts faster.

    Parameters
    ----------
    model : estimator, svm_model, str, bytes or os.PathLike
        One of:

        - a fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM with the kernel rbf, linear, poly or sigmoid
        - a Pipeline of StandardScaler, MinMaxScaler, MaxAbsScaler or RobustScaler and one of these
        - a CalibratedClassifierCV with `ensemble=False`, or a fitted search, around one of these
        - the result of `svm_train` of libsvm-official
        - the path of a LIBSVM model file
    method : str, default="exact"
        The method of compilation. "exact", "order", "geometry" and "triangle" change no label; "geometry" and
        "triangle" are the variants of "order", whose default is "geometry". "approx", "cascade", "reduce" and "border"
        may change labels. "auto" tries all methods on `X` and returns the fastest model within `budget`.
    X : array-like or sparse matrix of shape (n_samples, n_features), default=None
        The rows on which "auto" measures, and which it requires; for "cascade", the same as `data`. Other methods
        refuse it.
    budget : float or str, default=None
        A share, as 0.005 or "0.5%", for the methods "auto" and "cascade". With "auto", it is the largest share of all
        labels, and of the labels of each class, that may change; for regression, the largest root mean square
        difference as a share of the standard deviation of the values. None then means 0.5 %. With "cascade", it is the
        option `--budget` of the command, 0.1 % by default.
    exact : bool or float, default=False
        Whether the exact model answers the rows whose label is not proven, so that no label changes. This needs
        certificates, which "approx" with `certify=True` and "reduce" make. For regression, give the largest error as a
        number: the exact model answers the rows whose value is not proven to be within it. The methods "exact" and
        "auto" ignore this argument.
    n_threads : int, default=None
        Number of threads of the result. None and 0 mean all available CPUs.
    on_progress : callable or bool, default=None
        Called with the share done and a text. An exception that it raises ends the compilation. None shows the progress
        on standard error if the compilation takes long; False does not show it.
    **options
        The options of the method's command, with `_` for `-`, as in `compile(svc, "approx", degree=3, certify=True)`.
        The option `data` is the path of a file, `X` or `(X, y)`. The options of "auto" are `max_size`, the largest size
        of a model in MB (64 by default), and `patience`, the seconds of one compilation (30 by default).

    Returns
    -------
    fast : FastSVM
        The compiled model. With "auto", its attribute `attempts_` lists the attempts as dictionaries: `name`, `share`
        (of labels that change), `class_share` (the largest changed share of a class), `compile_seconds`, `seconds` (the
        processor time of one thread for `X`) or, for an attempt without a model, `failed` (the reason).

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
        it. The method "auto" does not warn; "cascade" does not warn about time or labels.

    See Also
    --------
    load : Read a model file.
    to_libsvm : Write a fitted estimator as a LIBSVM model file.
    fastsvm_cli.sklearn.CompiledSVC : Estimator that trains and compiles.

    Notes
    -----
    Scalers are applied to rows, bit for bit as by scikit-learn; sparse rows stay sparse. Scikit-learn's own code
    answers the rows whose label depends on rounding, and the rows near a step of an isotonic calibration. Without
    scikit-learn, their labels are svm-predict's.

    For "auto", a model is faster than another if it takes at most 90 % of its time. If no model is faster than the
    exact one, "auto" returns the exact one; among equally fast models, it returns the one that changes the fewest
    labels. A cascade is calibrated on one random half of `X` and measured on the other.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svc = SVC(gamma=0.1).fit([[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"])
    >>> fastsvm_cli.compile(svc).predict([[0.0, 0.1]])
    array(['same'], dtype='<U5')
    """
    found = read_estimator(model)
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
        _require_no_options(method, options)
        require_readable(found.model)
        source = SourceModel(found.model, 0, found.fingerprint or "")  # a fingerprint takes the whole text
        return _behind(found, source, source.model, {"method": method}, n_threads=n_threads)
    source = _source(found)
    if method == "auto":
        if X is None:
            raise ValueError('method="auto" needs rows to measure on: X=')
        share = _AUTO_BUDGET if budget is None else _share(budget)
        settings = {**_AUTO, **{name: options.pop(name) for name in _AUTO if name in options}}
        _require_no_options(method, options)
        with _progress(on_progress) as progress:
            return _choose(found, source, X, share, n_threads, progress, **settings)
    if budget is not None:
        options["budget"] = budget
    if X is not None and options.get("data") is None:
        options["data"] = X
    recipe = {"method": method, **options, **({"exact": exact} if exact is not False else {})}
    if options.get("data") is not None and not isinstance(options["data"], (str, bytes, PathLike)):
        options["data"] = labelled_chunks(options["data"], found, method)
        del recipe["data"]
    elif options.get("data") is not None and found.scaling is not None:
        raise ValueError(f"{method}: data in a file found, expected X or (X, y): the scalers are in front of the model")
    with _progress(on_progress) as progress:
        compiled, allowed, shortfall = compile_source(method, source, options, progress)
    if shortfall is not None:
        _warn(f'method="{method}": {shortfall}')
    if compiled.kind != "cascade":  # tested on rows; support vectors lie where it leaves them
        if exact is False:
            warn_of_labels(method, compiled, source.model, allowed)
        warn_of_time(method, compiled, source.model)
    return _behind(found, source, compiled, recipe, exact=exact, n_threads=n_threads)


@contextmanager
def _progress(allowed: "Callable[..., None] | bool | None") -> "Iterator[Callable[..., None]]":
    if callable(allowed):
        yield allowed
    elif allowed is False or sys.stderr is None:
        yield silent
    else:
        with Progress("compile", announced=True) as progress:
            yield progress


def compile_source(
    name: str, source: SourceModel, given: "dict[str, Any]", on_progress: "Callable[..., None] | None" = None
) -> "tuple[Model, float, str | None]":
    """Compile an exact model.

    Return the model, read back from its text; the option target (a share) or 0; and why the target was not reached, or
    None.

    given: values of options by their long names, with _ for -; True for a flag, None for an option that is not given.
    `data` may be a list of chunks. Raises TypeError for an unknown option, ValueError for a conflict, ModelFormatError
    and FileError.
    """
    method, variant = find(name)
    path, rows, given = source.model.path, None, dict(given)
    if isinstance(given.get("data"), list):
        rows, given["data"] = given["data"], "data"
    with in_python():
        try:
            options = method.read_options(given, variant, path)
            with threads_here(options.threads or None):
                require_compilable(source.model)
                method.check_model(source.model, options)
                if rows is None and given.get("data") is not None:
                    rows = list(read_chunks(options.data_file))
                if rows is not None and not sum(chunk.rows for chunk in rows):
                    raise click.UsageError("data without a row found, expected some")
                compiled = method.compile(source, options, on_progress or silent, rows)
                sample, target = getattr(compiled, "sample", None), getattr(options, "target", None)
            text, model = read_back(compiled.model, path)
            options.check_size(len(text))
        except click.ClickException as error:
            raise ValueError(f"{method.name}: {error.format_message()}") from None
    shortfall = None if sample is None or target is None else sample.shortfall(target)
    return model, target or 0.0, shortfall


def warn_of_labels(method: str, model: Model, source: ExactModel, allowed: float) -> None:
    """Warn if the share of changed support-vector labels exceeds DOUBTFUL and `allowed`."""
    if model.proves and not model.reduced:
        return
    seen = agreement_with_exact(model, source)
    if seen is None or seen.share <= max(DOUBTFUL, allowed):
        return
    share = f"{100 * seen.share:.3g} %"
    what = (
        f"the values of {seen.rows} support vectors by {share} of their spread"
        if seen.regression
        else f"{share} of the labels of {seen.rows} support vectors"
    )
    ways_out = find(method)[0].better + ("" if seen.regression else ', method="cascade" with data=')
    _warn(f'method="{method}" changes {what}; try {ways_out}, or method="exact", which changes none')


def warn_of_time(method: str, model: Model, source: ExactModel) -> None:
    """Warn if the compiled model is probably slower than its source."""
    products = getattr(model, "products", inf)  # per row
    if not questionable_gain(products, source):
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
    """Do nothing with a progress report."""


def _source(found: Fitted) -> SourceModel:
    text = readable_text(found.model)
    return SourceModel(found.model, len(text), found.fingerprint or fingerprint(text))


def _share(budget: "float | str") -> float:
    """Return a budget as a number; raise ValueError unless it is a share of 0 or more."""
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
    regression = source.model.header.regression
    behind = _behind(found, source, source.model, {"method": "exact"})
    reference = behind.predict(X)
    tried: list[dict[str, Any]] = []
    candidates: list[_Candidate] = []

    def add(name: str, fast: FastSVM, seconds: float, measured: "list[int] | slice" = slice(None)) -> None:
        seen = Agreement(np.asarray(fast.predict(X))[measured], reference[measured], regression, None)
        row = {"name": name, "share": seen.share, "compile_seconds": seconds}
        if seen.changed is not None:
            row["class_share"] = seen.changed.largest_share
        tried.append(row)
        candidates.append(_Candidate(fast, row, budget))

    add("exact", behind, 0.0)
    # A search for a budget needs one above 0.
    every = [each for each in attempts(source.model, max_size * 1e6, patience) if budget or each.budget_option is None]
    for at, each in enumerate(every):
        with in_python():
            name = each.name
        on_progress(at / len(every), name)
        options = {"method": each.command, **each.options}
        others = {option: value for option, value in options.items() if option != "method"}
        measured: list[int] | slice = slice(None)
        if each.budget_option is not None:
            rows = Chunk.concatenate(labelled_chunks(X, found, each.command))
            some, measured = halves(rows.rows)
            others["data"] = [rows.select(some)]
            options[each.budget_option] = others[each.budget_option] = min(budget, _MOST_BUDGET)
        why = each.skipped or each.refused
        start = time.monotonic()

        def watch(share: float, words: str = "", at: int = at, start: float = start, name: str = name) -> None:
            if time.monotonic() - start > patience:
                raise _GivenUp
            on_progress((at + min(share, 1.0)) / len(every), name)

        if why is None:
            try:
                model, _, _ = compile_source(options["method"], source, others, watch)
            except _GivenUp:
                why = f"given up after {patience:g} s"
            except FastsvmError as error:
                why = str(error)
        if why is not None:
            tried.append({"name": each.name, "failed": why})
            continue
        seconds = time.monotonic() - start
        fast = _behind(found, source, model, options)
        add(each.name, fast, seconds, measured)
        if each.exact and not regression and model.certified and hasattr(fast, "proven"):
            fast = _behind(found, source, model, {**options, "exact": True}, exact=True)
            add(f"{each.name}, exact", fast, seconds)
    vectors = source.model.vectors
    _time(candidates, _some_rows(X, _WORK // max(1, len(vectors.indices) + vectors.rows)), len(reference))
    out: Any = _pick(candidates).fast
    out.n_threads = behind.n_threads = n_threads
    out.attempts_ = tried
    return out


class _Candidate:
    """Compiled model of `auto`.

    inside: whether `row`, its entry of attempts_, is within the budget. seconds: for all rows of X, by one thread,
    after `_time`.
    """

    def __init__(self, fast: FastSVM, row: "dict[str, Any]", budget: float):
        self.fast, self.row, self.inside = fast, row, row.get("class_share", row["share"]) <= budget
        self.seconds = inf


def _time(candidates: "list[_Candidate]", X: Any, rows: int) -> None:
    """Time all predictions of X by turns, in one thread's processor seconds.

    Other programs hardly change these. The candidates that `_pick` may take are timed a second time. The least time of
    each is scaled to `rows` rows.
    """
    from fastsvm_cli.benchmarks.timing import Timed, interleave

    def timed(each: _Candidate) -> Timed:
        def run() -> float:
            return len(each.fast.predict(X)) / rows

        return Timed(each.row["name"], "scoring", run)

    timings = [timed(each) for each in candidates]
    for runs in (_RUNS, _MORE_RUNS):
        with threads_here(1):
            interleave(timings, runs, _SECONDS, clock=time.thread_time)
        for each, its in zip(candidates, timings):
            each.seconds = each.row["seconds"] = its.timings.least
        limit = _FASTER**-3 * min(each.seconds for each in candidates if each.inside)
        near = [each is candidates[0] or (each.inside and each.seconds <= limit) for each in candidates]
        candidates, timings = list(compress(candidates, near)), list(compress(timings, near))


def _some_rows(X: Any, most: int) -> Any:
    """Return evenly spread rows of X: all, or `most` to twice as many, at least 1,000."""
    step = max(1, (X.shape[0] if hasattr(X, "shape") else len(X)) // max(1000, most))
    if step == 1:
        return X
    X = X.tocsr() if hasattr(X, "tocsr") else X
    return X.iloc[::step] if hasattr(X, "iloc") else X[::step]


def _pick(candidates: "list[_Candidate]") -> _Candidate:
    """Return the fastest candidate within the budget; of those equally fast, the first one of least share.

    The exact model, which comes first, wins unless another is faster.
    """
    exact = candidates[0]
    faster = [each for each in candidates if each.inside and each.seconds <= _FASTER * exact.seconds] or [exact]
    best = min(each.seconds for each in faster)
    return min((each for each in faster if _FASTER * each.seconds <= best), key=lambda each: each.row["share"])
