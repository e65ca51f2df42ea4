"""Comparison of an export's answers with `fastsvm predict`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.errors import FileError, RowError
from fastsvm_cli.export.description import entries
from fastsvm_cli.export.rounding import tolerance
from fastsvm_cli.models import Model, Precision

if TYPE_CHECKING:
    from fastsvm_cli.export.c import Program
    from fastsvm_cli.export.description import Description

#: From unscaled rows to labels (regression: values), (rows), and decision values, (rows, pairs).
Answers = Callable[["_native.Chunk"], "tuple[np.ndarray, np.ndarray]"]
#: Limit of numbers in a dense block of rows.
_BLOCK = 1 << 22
#: Lines reported.
_NAMED = 5


class Comparison:
    """Answers of an export beside those of fastsvm predict.

    different: lines whose labels differ; near: those within the precision's tolerance.
    """

    def __init__(self, regression: bool) -> None:
        self.regression, self.rows = regression, 0
        self.different: list[int] = []
        self.near: list[int] = []
        self.largest = self.size = 0.0

    def lines(self, data: str) -> "list[str]":
        """Return the comparison in lines of text."""
        labels = f"{len(self.different)} of {self.rows} labels differ from fastsvm predict's, values"
        differ = "values differ from fastsvm predict's" if self.regression else labels
        out = [f"{data}: {differ} by at most {self.largest:.3g} of {self.size:.3g}"]
        if self.different:
            named = ", ".join(map(str, self.different[:_NAMED])) + ", ..." * (len(self.different) > _NAMED)
            within = f"{len(self.near)} of these rows are within the precision's tolerance of a tie"
            out.append(f"{within}; lines {named}")
        return out


def compare(model: "Model", description: "Description", single: bool, answers: Answers, chunks) -> Comparison:
    """Compare answers with `model`'s. chunks: unscaled if it embeds a scaling."""
    out, task = Comparison(model.header.regression), model.header.task()
    decisions, predictions = model.decisions(Precision.values()), _native.Predictions()
    for chunk in chunks:
        if single:
            _check_rows(chunk)
        rows = chunk if model.embedded_scaling is None else model.embedded_scaling.rows(chunk)
        model.decision_values(rows, decisions, Precision.values())
        model.answer(decisions)
        _native.predict(task, decisions, False, predictions)
        values, labels = np.array(decisions.value), np.array(predictions.label)
        found, answered = answers(chunk)
        out.rows += chunk.rows
        if chunk.rows and values.size:
            with np.errstate(invalid="ignore"):
                apart = np.where(answered == values, 0.0, np.abs(answered - values))
            out.largest = max(out.largest, float(np.nan_to_num(apart, nan=np.inf, posinf=np.inf).max()))
            out.size = max(out.size, float(np.max(np.abs(values))))
        if model.header.regression:
            continue
        different = np.flatnonzero(found != labels).tolist()
        if different:
            allowed = tolerance(description, chunk.select(different), single)
            near = np.abs(values[different]) <= allowed
            same_sign = (values[different] > 0) == (answered[different] > 0)
            out.different += chunk.line_numbers(different)
            out.near += chunk.line_numbers(np.array(different)[(near | same_sign).all(axis=1)].tolist())
    return out


def dense(chunk: "_native.Chunk", description: "Description", kind: "type[np.floating]") -> np.ndarray:
    """Return dense rows, (rows, inputs); RowError for an entry without a column."""
    inputs, first = description.inputs, description.first_index
    rows, indices, values = entries(chunk)
    columns = indices - first
    wrong = np.flatnonzero((columns < 0) | (columns >= inputs))
    if len(wrong):
        expected = f"expected {first} to {inputs - 1 + first}: --features says how many a row has"
        raise RowError(int(rows[wrong[0]]), f"feature {indices[wrong[0]]} found, {expected}")
    out = np.zeros((chunk.rows, inputs), dtype=kind)
    out[rows, columns] = values
    return out


def _check_rows(chunk: "_native.Chunk") -> None:
    rows, _, values = entries(chunk)
    wrong = np.flatnonzero(abs(values) > np.finfo(np.float32).max)
    if len(wrong):
        why = f"{values[wrong[0]]:.3g} found, beyond single precision: --precision double"
        raise RowError(int(rows[wrong[0]]), why)


def c_answers(program: "Program", longest_row: int, compiler: str) -> Answers:
    """Return a function that answers rows by the C, compiled and run here."""
    import subprocess
    from tempfile import TemporaryDirectory

    def answers(chunk: "_native.Chunk") -> "tuple[np.ndarray, np.ndarray]":
        with TemporaryDirectory() as folder:
            for name, text in (
                (f"{program.file}.h", program.header()),
                ("model.c", program.source()),
                ("main.c", program.main(longest_row)),
            ):
                with open(f"{folder}/{name}", "w") as file:
                    file.write(text)
            with open(f"{folder}/rows", "wb") as rows:
                rows.write(_native.format_rows(chunk))
            words = [compiler, "-std=c99", "-O2", "-o", "main", "model.c", "main.c", "-lm"]
            for command in (words, ["./main", "rows"]):
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
                if done.returncode:
                    raise FileError(command[0], (done.stderr.strip() or f"exit code {done.returncode}").split("\n")[0])
        numbers = np.array([line.split() for line in done.stdout.splitlines()], dtype=np.float64)
        return numbers[:, 0], numbers[:, 1:]

    return answers


def graph_answers(
    description: "Description", run: "Callable[[np.ndarray], dict[str, np.ndarray]]", single: bool
) -> Answers:
    """Return a function that answers rows by a graph. run: maps dense rows to outputs by name."""
    header, kind = description.header, np.float32 if single else np.float64
    of_values = "variable" if header.regression else "values"

    def answers(chunk: "_native.Chunk") -> "tuple[np.ndarray, np.ndarray]":
        labels, values, step = [], [], max(1, _BLOCK // description.inputs)
        for first in range(0, chunk.rows, step):
            part = chunk.slice(first, min(first + step, chunk.rows))
            found = run(dense(part, description, kind))
            values.append(found[of_values].astype(np.float64))
            labels.append(np.zeros(part.rows) if header.regression else found["label"].ravel())
        if description.classes is not None:
            names = {str(name): label for name, label in zip(description.classes, header.label or [])}
            labels = [np.array([names[str(label)] for label in each]) for each in labels]
        return np.concatenate(labels).astype(np.float64), np.concatenate(values)

    return answers
