"""The grade of a model, the next command, and the screen of `bound`."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, cast

from rich.table import Table
from rich.text import Text

import fastsvm_cli.methods.approx as approx
from fastsvm_cli.comparisons import DEFAULT_BUDGET, Comparison
from fastsvm_cli.console.terminal import show
from fastsvm_cli.methods import methods, refused_by_all
from fastsvm_cli.methods.approx.grade import Trial, grade
from fastsvm_cli.methods.method import FEW_TIMES

if TYPE_CHECKING:
    from fastsvm_cli import _native
    from fastsvm_cli.models import ExactModel, Model

_CENTERS = {"origin": "origin", "mean": "mean", "own": "own centers"}
#: Labels that approx changed, by grade (scripts/README.md, "Grades of gamma").
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


def _grade_line(facts: dict) -> "str | None":
    """Return what the grade says, or None without a grade."""
    if "grade" not in facts:
        return None
    seen = "" if "spread_tried" in facts else f"; {_SEEN[facts['grade']]}"
    return f"gamma is {facts['ratio']:.3g} times gamma_MAX{seen}"


def _tried_line(facts: dict) -> "str | None":
    """Return what approx changed in a trial, or None without one."""
    if "rows_tried" not in facts:
        return None
    if "share_tried" in facts:
        changes = f"changes {100 * facts['share_tried']:.3g} % of the labels of"
    else:
        changes = f"moves values by {100 * facts['spread_tried']:.3g} % of their spread, on"
    return f"{changes} {facts['rows_tried']:,} {'rows' if 'data' in facts else 'support vectors; rows may differ'}"


def _training_line(facts: dict) -> "str | None":
    """Return what gamma_MAX of training rows means, or None if it is infinite."""
    limit = facts["gamma_max_mean"]
    if "next" not in facts or not limit:
        return None
    return (
        f"keep the gamma of your grid search; below {limit:.3g}, approx is the fastest, up to {FEW_TIMES * limit:.3g}"
        " often (bench --try picks)"
    )


def show_report(report: dict) -> None:
    """Print a `bound_report` with its advice: of models on data files or, without both, of every file."""
    for title, facts, lines in _blocks(report):
        grade = _grade_line(facts)
        head = [Text(title, "bold"), *([] if grade is None else [Text(f"  grade: {grade}")])]
        show(head, soft_wrap=not sys.stdout.isatty())
        for at, command in enumerate(facts.get("next", [])):  # unfolded, to be copied
            print(f"  {'or:   ' if at else 'next:  '}{command}")
        table = Table(show_header=False, box=None, padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in [("approx, tried", _tried_line(facts)), *lines]:
            if value is not None:
                table.add_row(name, Text(value))
        show([table], soft_wrap=not sys.stdout.isatty())


def _blocks(report: dict) -> "Iterator[tuple[str, dict, list[tuple[str, str | None]]]]":
    for pair in report["pairs"]:
        model = next(each for each in report["models"] if each["file"] == pair["model"])
        data = next(each for each in report["data"] if each["file"] == pair["data"])
        lines = [("bound", ("none needed" if pair["exact"] else "none") if pair["gamma"] is None else None)]
        lines += [*_limits(pair), *_proven(pair), *_of_model(model), *_of_data(data)]
        yield f"{pair['model']} on {pair['data']}", pair, lines
    if report["pairs"]:
        return
    for data in report["data"]:
        lines = [("advice", _training_line(data)), *_of_data(data)]
        limits = [f"{data[f'gamma_max_{name}']:.6g} about the {name}" for name in ("origin", "mean")]
        yield data["file"], data, [*lines, ("gamma_MAX", ", ".join(limits))]
    for model in report["models"]:
        yield model["file"], model, [*_of_model(model), *_limits(model)]


def _of_data(data: dict) -> "list[tuple[str, str | None]]":
    norms = [f"{data[f'largest_norm_{name}']:.6g} about the {name}" for name in ("origin", "mean")]
    mean = f"{data['entries'] / data['rows']:.4g}"
    entries = f"{mean} {'entry' if mean == '1' else 'entries'} per row"
    return [
        ("rows", f"{data['rows']:,}; largest index {data['largest_index']:,}; {entries}"),
        ("largest norm", ", ".join(norms)),
    ]


def _of_model(model: dict) -> "list[tuple[str, str | None]]":
    what = f"{'compiled, ' if model['compiled'] else ''}{model['kernel_type']}, {model['total_sv']:,} support vectors"
    gamma = "" if model["gamma"] is None else f", gamma {model['gamma']:.6g}"
    unbounded = None
    if model["gamma"] is None:
        unbounded = _unbounded(model["kernel_type"])
    elif not any(f"gamma_max_{name}" in model for name in _CENTERS):
        unbounded = "none: this kind of model has no expansion"
    certified = "yes: every row gets an error bound" if model["certified"] else None
    return [("model", what + gamma), ("certified", certified), ("bound", unbounded)]


def _limits(facts: dict) -> "Iterator[tuple[str, str | None]]":
    for name, words in _CENTERS.items():
        if f"gamma_max_{name}" in facts:
            against = _against(facts["gamma"], facts[f"gamma_max_{name}"])
            key = f"share_inside_{name}"
            inside = (
                f"; {_share(facts[key], facts[f'rows_inside_{name}'], facts['rows'])} inside" if key in facts else ""
            )
            yield f"gamma_MAX, {words}", against + inside


def _proven(pair: dict) -> "Iterator[tuple[str, str | None]]":
    if "share_proven" in pair:
        yield "rows proven", _share(pair["share_proven"], pair["rows_proven"], pair["rows"])
    if "radius_median" in pair:
        radii = ", ".join(f"{pair[f'radius_{name}']:.3g}" for name in ("median", "95", "largest"))
        yield "radius", f"{radii} (median, 95 %, largest)"


def _share(share: float, count: int, rows: int) -> str:
    return f"{100 * share:.4g} % ({count:,} of {rows:,})"


def _against(gamma: float, limit: float) -> str:
    ratio = gamma / limit if limit else float("inf")
    return f"{limit:.6g} (gamma is {ratio:.3g} x that)"


def _unbounded(kernel_type: str) -> str:
    if kernel_type == "linear":
        return "none needed: the expansion of this kernel is exact (LIBLINEAR trains such models)"
    if kernel_type == "polynomial":
        return "none needed: the expansion of this kernel is exact"
    return "none: this kernel has no expansion here"
