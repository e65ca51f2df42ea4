"""The grade of a model, and the next command."""

import os
import shlex
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, cast

import fastsvm_cli.methods.approx as approx
from fastsvm_cli.comparisons.budget import DEFAULT_BUDGET
from fastsvm_cli.methods import methods, refused_by_all
from fastsvm_cli.methods.approx.grade import FEW_TIMES, Trial, grade

if TYPE_CHECKING:
    from fastsvm_cli import _native
    from fastsvm_cli.comparisons.agreement import Comparison
    from fastsvm_cli.models.base import ExactModel, Model

#: Labels that approx changed, by grade (scripts/README.md, "What gamma says").
_SEEN = {
    "below": "on other data sets, approx then changed 0 to 0.6 % of labels",
    "near": "on other data sets, approx then changed 0 to 5 % of labels",
    "far": "on other data sets, approx then changed 0.04 to 45 % of labels",
}


def advise(report: dict, models: "Sequence[Model]", sampled: "Sequence[_native.Chunk]", how: "Sequence[str]") -> None:
    """Add grades, trials and commands to a bound_report.

    models, and sampled, the rows of each data file, are in its order. how: options to read the same rows. Models and
    pairs get `ratio` (gamma / gamma_MAX about the mean), `grade`, `rows_tried`, `share_tried` (of labels that approx
    changes) or `spread_tried` (regression's root mean square difference by the values' spread), and `next` (commands,
    the best first); models only without data files.
    """
    # None for a compiled model or a reduced set.
    exact = (each.vectors is not None and each.fingerprint is None for each in models)
    trials = [Trial(cast("ExactModel", each)) if its else None for each, its in zip(models, exact)]
    for facts, model, trial in zip(report["models"], models, trials):
        _grade(facts)
        if not sampled:
            _advise(facts, facts, model, trial, None if trial is None else trial.measure(model.vectors), how)
    for at, pair in enumerate(report["pairs"]):
        file, position = divmod(at, len(models))
        trial = trials[position]
        _grade(pair)
        measured = None if trial is None else trial.measure(sampled[file])
        _advise(pair, report["models"][position], models[position], trial, measured, how)
    if not models:
        for data in report["data"]:
            _advise_training(data, bool(how))


def _grade(facts: dict) -> None:
    limit = facts.get("gamma_max_mean")
    if limit and isfinite(limit) and facts["gamma"] is not None:
        facts["ratio"] = facts["gamma"] / limit
        facts["grade"] = grade(facts["ratio"])


def _advise(
    facts: dict,
    of_model: dict,
    model: "Model",
    trial: "Trial | None",
    measured: "Comparison | None",
    how: "Sequence[str]",
) -> None:
    if trial is not None and measured is not None and isfinite(measured.share):
        facts["rows_tried"] = measured.rows
        facts["spread_tried" if model.header.regression else "share_tried"] = measured.share
    rows = facts["rows"] if facts is not of_model else None
    file, test = _named(of_model["file"], "MODEL"), "TEST" if rows is None else _named(facts["data"], "TEST")
    if rows is None:
        how = ()
    choice = "predict" if trial is None else _choice(facts, trial, measured)
    predict = _typed("predict", *how, test, file, "OUT")
    if trial is None and model.certified:
        facts["next"] = [_typed("predict", *how, "--exact", "EXACT_MODEL", test, file, "OUT")]
    elif trial is None and model.centers is not None:
        facts["next"] = [_typed("bench", *_for_bench(how, test), "EXACT_MODEL", file)]
    elif choice == "approx":
        facts["next"] = [_typed("approx", file)]
    elif choice == "bench":
        budget = [] if model.header.regression else ["--budget", f"{100 * DEFAULT_BUDGET:g}%"]
        facts["next"] = [_typed("bench", "--try", *budget, *_for_bench(how, test), file)]
    else:
        facts["next"] = [predict]


def _for_bench(how: "Sequence[str]", test: str) -> "list[str]":
    # bench reads labelled index:value rows only.
    if "--dense" not in how and "--unlabelled" not in how:
        return [*how, test]
    return [*(how[how.index("--scale") :] if "--scale" in how else ()), "TEST"]


def _named(path: str, word: str) -> str:
    return word if path == "-" else path


def _choice(facts: dict, trial: Trial, measured: "Comparison | None") -> str:
    source = trial.source
    if refused_by_all(source) is not None or all(each.reason_against(source) is not None for each in methods()):
        return "predict"
    if approx.METHOD.reason_against(source) is not None:
        return "bench"
    if source.header.kernel_type != "rbf":
        return "predict" if trial.slow else "approx"
    on_rows = "data" in facts
    if measured is None:
        choice = "approx" if facts.get("grade") == "below" else "bench"
    else:
        fits = (
            measured.upper <= DEFAULT_BUDGET
            if on_rows
            else measured.share <= DEFAULT_BUDGET and facts.get("grade") == "below"
        )
        choice = "approx" if fits else "bench"
    return "bench" if choice == "approx" and trial.slow else choice


def _advise_training(data: dict, converted: bool) -> None:
    limit = data["gamma_max_mean"]
    if data["rows"] and limit and isfinite(limit):
        if data["file"] == "-" or converted:  # svm-train cannot read it
            data["next"] = ["fastsvm bound MODEL"]
        else:
            train = shlex.join(["svm-train", "-c", "C", "-g", "GAMMA", data["file"]])
            data["next"] = [f"{train} && {_typed('bound', os.path.basename(data['file']) + '.model')}"]


def _typed(*words: str) -> str:
    return shlex.join(["fastsvm", *words])


def grade_line(facts: dict) -> "str | None":
    """Return what the grade says, or None without a grade."""
    if "grade" not in facts:
        return None
    seen = "" if "spread_tried" in facts else f"; {_SEEN[facts['grade']]}"
    return f"gamma is {facts['ratio']:.3g} times gamma_MAX{seen}"


def tried_line(facts: dict) -> "str | None":
    """Return what approx changed in a trial, or None without one."""
    if "rows_tried" not in facts:
        return None
    if "share_tried" in facts:
        changes = f"changes {100 * facts['share_tried']:.3g} % of the labels of"
    else:
        changes = f"moves values by {100 * facts['spread_tried']:.3g} % of their spread, on"
    return f"{changes} {facts['rows_tried']:,} {'rows' if 'data' in facts else 'support vectors; rows may differ'}"


def training_line(facts: dict) -> "str | None":
    """Return what gamma_MAX of training rows means, or None if it is infinite."""
    limit = facts["gamma_max_mean"]
    if "next" not in facts or not limit:
        return None
    return (
        f"keep the gamma of your grid search; below {limit:.3g}, approx is the fastest, up to {FEW_TIMES * limit:.3g}"
        " often (bench --try picks)"
    )
