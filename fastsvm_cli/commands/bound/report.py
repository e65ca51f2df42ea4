"""Report of `bound`: data and models against Claesen et al., eq. (3.11); grades, the next command, the screen."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf, isfinite, sqrt
from time import monotonic
from typing import Any, cast

import numpy as np
from rich.table import Table
from rich.text import Text

import fastsvm_cli.methods.approx as approx
from fastsvm_cli import __version__, _native
from fastsvm_cli.bounds import gamma_max, squared_norm_limit
from fastsvm_cli.commands.bound import BoundOptions
from fastsvm_cli.comparisons import DEFAULT_BUDGET, Comparison
from fastsvm_cli.console.files import read_scale_file
from fastsvm_cli.console.terminal import Progress, show
from fastsvm_cli.errors import FileError, ModelFormatError
from fastsvm_cli.methods import methods, refused_by_all
from fastsvm_cli.methods.approx.grade import ROWS, Mean, Trial, grade, largest, squared_distances
from fastsvm_cli.methods.method import FEW_TIMES
from fastsvm_cli.models import ExactModel, Model, looks_like_model, parse_model
from fastsvm_cli.system import name_of
from fastsvm_cli.text.read_rows import read_bytes, read_chunks, read_start, smaller_chunks

# Bins of radii: from 2^-1080 on, so many an octave, a factor of 2.
_BINS, _OCTAVES, _LOWEST = 256, 2200, -1080


class ProvenRows:
    """Rows proven by a certified model, and the radii of all pairs of all rows, by size."""

    def __init__(self, model: Model):
        self.model = model
        self.rows = self.proven = 0
        self.largest = 0.0
        self._decisions = _native.Decisions(model.pairs, True)
        self._counts = np.zeros(_BINS * _OCTAVES, np.int64)

    def add(self, chunk: _native.Chunk) -> None:
        """Count the rows of a chunk."""
        header = self.model.header
        for part in smaller_chunks([chunk], self.model.pairs):
            self.model.decision_values(part, self._decisions)
            self.model.answer(self._decisions)
            radius = np.asarray(self._decisions.radius).ravel()
            at = np.ceil((np.log2(np.clip(radius, 2.0**-1000, 2.0**1000)) - _LOWEST) * _BINS).astype(int)
            self._counts += np.bincount(at, minlength=len(self._counts))
            self.largest = max(self.largest, largest(radius))
            self.rows += part.rows
            if not header.regression:
                self.proven += part.rows - len(_native.undecided_rows(header.task(), self._decisions))

    def quantile(self, share: float) -> "float | None":
        """Return the radius that this share of the radii does not exceed; None without radii."""
        counts = np.cumsum(self._counts)
        if not counts[-1]:
            return None
        at = int(np.searchsorted(counts, share * counts[-1]))  # its upper edge
        return min(float(2.0 ** (at / _BINS + _LOWEST)), self.largest)


class Reading:
    """How `bound` reads data files, and what it has read."""

    def __init__(self, options: BoundOptions, progress: Progress):
        self.options, self.progress, self.scaling = options, progress, read_scale_file(options.scale_file)
        self.how: dict[str, Any] = dict(
            labelled=not options.unlabelled,
            dense=options.dense,
            delimiter=options.delimiter,
            max_line=options.max_line,
        )
        self.models: list[Model] = []
        self.sampled: list[_native.Chunk] = []  # at most ROWS evenly spread rows of each data file


def bound_report(reading: Reading) -> dict:
    """Measure data files and models, and every model on every data file.

    Return {"fastsvm": version, "data": [...], "models": [...], "pairs": [...], "seconds": ...}, in the order of the
    paths; norms are not squared.
    """
    options, paths = reading.options, reading.options.data_or_model
    start = monotonic()
    with _seekable(paths) as readable_paths:
        models: list[tuple[str, str]] = []
        data: list[tuple[str, str]] = []
        for path, readable in zip(paths, readable_paths):
            is_model = looks_like_model(read_start(readable), reading.how["dense"])
            (models if is_model else data).append((path, readable))
        known = [_Model(path, read_bytes(readable)) for path, readable in models]
        raw = next((model for model in known if model.model.folded is not None), None)
        if raw is not None and reading.scaling is not None:
            raise ModelFormatError(
                raw.path, f"it takes raw rows, {raw.model.raw_rows}: measure it apart, without --scale"
            )
        ranges = {
            model.model.embedded_scaling.texts: model for model in known if model.model.embedded_scaling is not None
        }
        if ranges:
            first, *others = ranges.values()
            if reading.scaling is not None:
                raise ModelFormatError(first.path, "it embeds a range file: measure it apart, without --scale")
            if others or any(model.model.embedded_scaling is None for model in known):
                raise ModelFormatError(
                    first.path, "it embeds a range file that another model does not: measure it apart"
                )
            reading.scaling = first.model.row_scaling()
        if len(firsts := {model.model.first_index for model in known}) > 1 and reading.how["dense"]:
            why = "it has a feature 0, which is column 0 of --dense rows, and another model has none: measure it apart"
            raise ModelFormatError(next(model.path for model in known if model.model.first_index == 0), why)
        reading.how["first_index"] = min(firsts, default=1)  # the models' own
        if data:
            for each in known:
                if each.model.vectors is None and each.model.centers is None and not each.model.certified:
                    raise ModelFormatError(each.path, each.model.unbounded)
        else:
            options.check_without_data()
        reading.models = [each.model for each in known]
        report: dict = {"fastsvm": __version__, "data": [], "models": [model.report() for model in known], "pairs": []}
        for path, readable in data:
            facts, pairs = _measure_data(path, readable, known, reading)
            report["data"].append(facts)
            report["pairs"] += pairs
        report["seconds"] = monotonic() - start
    return report


@contextmanager
def _seekable(paths: Sequence[str]) -> "Iterator[list[str]]":
    # Pipes are copied to files: data is read twice.
    import shutil
    import tempfile

    with ExitStack() as stack:
        readable_paths = []
        for path in paths:
            if path == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):
                # Unnamed: disappears however the process ends.
                spool = stack.enter_context(tempfile.TemporaryFile())
                try:
                    with open(0 if path == "-" else path, "rb", closefd=path != "-") as pipe:
                        shutil.copyfileobj(pipe, spool)
                    spool.flush()
                except OSError as error:
                    raise FileError(path, error) from None
                path = name_of(spool)
            readable_paths.append(path)
        yield readable_paths


class _Model:
    """Model file with the centres m of its bounds, [(name, indices, values, largest |x_i - m|^2)]."""

    def __init__(self, path: str, text: bytes):
        self.path, self.model, self._fingerprint = path, parse_model(text, path), _native.fingerprint(text)
        model = self.model
        header = model.header
        vectors = model.vectors
        self._version, self._bytes = _native.model_kind(text, path)[1] or None, len(text)
        self.centers = []
        if header.kernel_type != "rbf":
            return
        indices: np.ndarray = np.array(model.features, np.int32)
        for own in model.centers or []:
            self.centers.append(("own", indices, np.asarray(own.point), own.largest_norm))
        if vectors is not None and model.centers is None:
            mean = Mean().add(vectors)
            none = np.empty(0)
            for name, indices, values in (("origin", none, none), ("mean", mean.indices, mean.point)):
                self.centers.append((name, indices, values, largest(squared_distances(vectors, indices, values))))

    def report(self) -> dict:
        model, header = self.model, self.model.header
        facts: dict[str, object] = {
            "file": self.path,
            "kind": model.kind,
            "format_version": self._version,
            "bytes": self._bytes,
            "fingerprint": self._fingerprint,
            "compiled_from": model.fingerprint,
            "svm_type": header.svm_type,
            "kernel_type": header.kernel_type,
            "gamma": header.gamma if header.kernel_type == "rbf" else None,
            "labels": header.label,
            "probabilities": header.probA is not None or header.prob_density_marks is not None,
            "compiled": model.vectors is None,
            "certified": model.certified,
            "range": None
            if model.embedded_scaling is None
            else [str(text, "utf-8", "replace") for text in model.embedded_scaling.texts],
            "total_sv": header.total_sv,
            "features": len(model.used_indices),
            "largest_index": model.max_index,
        }
        for name in dict.fromkeys(center[0] for center in self.centers):
            norm = sqrt(max(center[3] for center in self.centers if center[0] == name))
            facts[f"largest_norm_{name}"] = norm
            facts[f"gamma_max_{name}"] = gamma_max(norm, norm)
        return facts


def _proofs(seen: ProvenRows) -> dict:
    facts: dict[str, object] = {}
    if not seen.model.header.regression:
        facts["rows_proven"] = seen.proven
        facts["share_proven"] = seen.proven / seen.rows
    if (median := seen.quantile(0.5)) is not None:
        facts.update(radius_median=median, radius_95=seen.quantile(0.95), radius_largest=seen.largest)
    return facts


def _measure_data(path: str, readable: str, models: "list[_Model]", reading: Reading) -> "tuple[dict, list[dict]]":
    rows = max_index = entries = 0
    norm = 0.0
    mean = Mean()
    for chunk in _chunks(path, readable, reading, 0.0):
        rows += chunk.rows
        max_index = max(max_index, chunk.max_index)
        entries += len(chunk.indices)
        norm = max(norm, largest(np.asarray(chunk.squared_norms)))
        mean.add(chunk)
    if not rows:
        raise FileError(path, "no rows found, expected some to measure on")
    point = mean.point

    from_mean = 0.0
    norms = [[0.0] * len(model.centers) for model in models]  # largest |z - m|^2
    inside = [[0] * len(model.centers) for model in models]
    inside_all = [0] * len(models)
    radii = [ProvenRows(model.model) if model.model.certified else None for model in models]
    step = max(1, -(-rows // ROWS))
    passed, sampled = 0, []
    for chunk in _chunks(path, readable, reading, 0.5):
        sampled.append(chunk.select(list(range(-passed % step, chunk.rows, step))))
        passed += chunk.rows
        from_mean = max(from_mean, largest(squared_distances(chunk, mean.indices, point)))
        for k, model in enumerate(models):
            everywhere = np.ones(chunk.rows, bool)
            for c, (_, indices, values, largest_norm) in enumerate(model.centers):
                distances = squared_distances(chunk, indices, values)
                good = distances < squared_norm_limit(model.model.header.gamma, largest_norm)
                norms[k][c] = max(norms[k][c], largest(distances))
                inside[k][c] += int(good.sum())
                everywhere &= good
            inside_all[k] += int(everywhere.sum())
            if (certified := radii[k]) is not None:
                certified.add(chunk)

    reading.sampled.append(_native.Chunk.concatenate(sampled))
    facts = {
        "file": path,
        "rows": rows,
        "largest_index": max_index,
        "features_used": len(mean.indices),
        "entries": entries,
        "largest_norm_origin": sqrt(norm),
        "largest_norm_mean": sqrt(from_mean),
        "gamma_max_origin": gamma_max(sqrt(norm), sqrt(norm)),
        "gamma_max_mean": gamma_max(sqrt(from_mean), sqrt(from_mean)),
    }
    pairs = []
    for k, model in enumerate(models):
        pair: dict[str, object] = {
            "model": model.path,
            "data": path,
            "gamma": model.model.header.gamma if model.centers else None,
            "rows": rows,
        }
        if not model.centers:
            pair["exact"] = model.model.header.kernel_type in ("linear", "polynomial")
        limits: dict[str, float] = {}  # minimum over centres
        for c, (name, _, _, largest_norm) in enumerate(model.centers):
            limit = gamma_max(sqrt(largest_norm), sqrt(norms[k][c]))
            pair[f"gamma_max_{name}"] = limits[name] = min(limit, limits.get(name, limit))
            count = inside_all[k] if name == "own" else inside[k][c]
            pair[f"rows_inside_{name}"] = count
            pair[f"share_inside_{name}"] = count / rows
        if (certified := radii[k]) is not None:
            pair.update(_proofs(certified))
        pairs.append(pair)
    return facts, pairs


def _chunks(path: str, readable: str, reading: Reading, done: float) -> "Iterator[_native.Chunk]":
    size = os.stat(readable).st_size if os.path.exists(readable) else 0
    report = reading.progress
    on_read = (lambda taken: report(done + 0.5 * taken / size)) if size else None
    # Rows are read twice, but the scaling reports once.
    scaling = reading.scaling.again() if reading.scaling is not None and done else reading.scaling
    return read_chunks(readable, name=path, on_read=on_read, scaling=scaling, **reading.how)


# ---- grades and advice

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
            _advise(facts, facts, model, trial, model.vectors, how)
    for at, pair in enumerate(report["pairs"]):
        file, position = divmod(at, len(models))
        _grade(pair)
        _advise(pair, report["models"][position], models[position], trials[position], sampled[file], how)
    if not models:
        for data in report["data"]:
            _advise_training(data, bool(how))


def _grade(facts: dict) -> None:
    limit = facts.get("gamma_max_mean")
    if limit and isfinite(limit) and facts["gamma"] is not None:
        facts["ratio"] = facts["gamma"] / limit
        facts["grade"] = grade(facts["ratio"])


def _advise(facts: dict, of_model: dict, model: Model, trial: "Trial | None", tried: Any, how: "Sequence[str]") -> None:
    # tried: the rows of a trial.
    measured = None if trial is None else trial.measure(tried)
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
        share = measured.upper if on_rows else measured.share
        choice = "approx" if share <= DEFAULT_BUDGET and (on_rows or facts.get("grade") == "below") else "bench"
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
            limit = facts[f"gamma_max_{name}"]
            against = f"{limit:.6g} (gamma is {facts['gamma'] / limit if limit else inf:.3g} x that)"
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


def _unbounded(kernel_type: str) -> str:
    if kernel_type == "linear":
        return "none needed: the expansion of this kernel is exact (LIBLINEAR trains such models)"
    if kernel_type == "polynomial":
        return "none needed: the expansion of this kernel is exact"
    return "none: this kernel has no expansion here"
