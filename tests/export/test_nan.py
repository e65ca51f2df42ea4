"""Rows with NaN in exported programs: values and probabilities are NaN, the label is the last, nothing is proven."""

import numpy as np
import pytest

from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.onnx import model_of
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.border.borders import compile_border
from support.exporting import EXPANSIONS, KERNELS, Library, compiled, graph_run, made_up, rows_for

TASKS = {
    "two": {"probability": True},
    "three": {"classes": 3, "probability": True},
    "one_class": {"svm_type": "one_class", "probability": True},
    "regression": {"svm_type": "epsilon_svr"},
}


def models(task):
    for at, how in enumerate(EXPANSIONS):
        if "center" not in how or task == "three":
            yield compile_maclaurin(made_up(at, **TASKS[task]), fingerprint="f", certify=at % 2 == 0, **how)
    for kernel in KERNELS:
        yield made_up(kernel, kernel=kernel, **TASKS[task])
    if task in ("two", "three"):
        yield compile_border(made_up(1, **TASKS[task]), fingerprint="f").model


@pytest.mark.full(few=2)
@pytest.mark.parametrize("task", TASKS)
def test_answers_of_a_row_with_nan(task, tmp_path):
    """In single and double precision by turns."""
    programs = [
        Program(describe(model, "m"), single=at % 2 == 0, prefix=f"m{at}") for at, model in enumerate(models(task))
    ]
    library = compiled(programs, tmp_path, flags=("-O0",))
    for program in programs:
        description, header = program.description, program.description.header
        last = None if header.regression else header.label[-1] if header.classification else -1
        rows = rows_for(1, description.inputs, n=10)
        rows[np.arange(10), np.arange(10) % description.inputs] = np.nan
        graph, c = graph_run(description, program.single, rows), Library(program, tmp_path, library)
        found = [graph[name] for name in ("variable", "values", "scores", "probabilities") if name in graph]
        labels, radii, proven = [graph.get("label", [])], [graph.get("radius", [])], [graph.get("proven", [])]
        for sparse in (False, True):
            found.append(c.values(rows, sparse))
            (found if header.regression else labels).append(c.predict(rows, sparse))
            if "probabilities" in graph:
                found.append(c.probabilities(rows, sparse))
            if "radius" in graph:
                bounds = c.radius(rows, sparse)
                proven.append(bounds[0]), radii.append(bounds[1])
        assert all(np.isnan(each).all() for each in found), program.prefix
        assert {label for each in labels for label in np.ravel(each).tolist()} <= {last}
        assert all(np.isinf(each).all() for each in radii) and not any(np.any(each) for each in proven)
        marks = {each.key: each.value for each in model_of(description, program.single).metadata_props}
        assert marks.get("fastsvm.label_of_nan") == (None if last is None else str(last))
        assert (f"values are NaN{'.' if last is None else ', and the label the last.'}") in program.header()
        assert ("_CLASSES" in program.header()) == (not header.regression)
