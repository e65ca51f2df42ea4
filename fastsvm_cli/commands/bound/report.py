"""Report of `bound`: data and models against Claesen et al., eq. (3.11)."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import sqrt
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from fastsvm_cli import __version__, _native
from fastsvm_cli._native import fingerprint
from fastsvm_cli.bounds import gamma_max, squared_norm_limit
from fastsvm_cli.console.files import read_scale_file
from fastsvm_cli.console.terminal import Progress
from fastsvm_cli.errors import FileError, ModelFormatError
from fastsvm_cli.methods.approx.grade import ROWS, Mean, largest, squared_distances
from fastsvm_cli.models import Model, format_version, looks_like_model, parse_model
from fastsvm_cli.system import name_of
from fastsvm_cli.text.read_rows import read_bytes, read_chunks, read_start, smaller_chunks

if TYPE_CHECKING:
    from fastsvm_cli.commands.bound import BoundOptions


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

    def __init__(self, options: "BoundOptions", progress: Progress):
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
            for model in known:
                model.require_bound()
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
    from contextlib import ExitStack

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
        self.path, self.model, self._fingerprint = path, parse_model(text, path), fingerprint(text)
        model = self.model
        header = model.header
        vectors = model.vectors
        self._version, self._bytes = format_version(text, path), len(text)
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

    def require_bound(self) -> None:
        if self.model.vectors is None and self.model.centers is None and not self.model.certified:
            raise ModelFormatError(self.path, self.model.unbounded)

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
