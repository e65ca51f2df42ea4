"""Exported C and ONNX in the parity table: labels and values of every trait and kind, within the stated tolerance."""

import numpy as np
import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.export.tolerance import tolerance
from fastsvm_cli.models import load_model
from support.exporting import Library, chunk_of, compiled, graph_run, predicted
from support.profiles import tries
from zoo.kinds import KINDS, suits
from zoo.kinds import compiled as file_of
from zoo.rounding import FOR_PROOFS, OVERFLOWING
from zoo.traits import TRAITS, specimen

#: What no target computes, in words of the message.
REFUSED = ("nothing is computed", "nothing is exported", "which no target computes", "range of", "expected at most")


def exportable(kind, folder):
    """{trait: (model, its description)} of models with arrays as rows. Without --full, of ten traits."""
    found = {}
    without_cancellation = sorted(TRAITS.keys() - FOR_PROOFS - OVERFLOWING)  # as the tolerance assumes
    for trait in without_cancellation[: tries(100)]:
        if not suits(trait, kind) or not specimen(trait).fits_array or len(specimen(trait).machine.pairs) > 100:
            continue
        model = load_model(str(file_of(trait, kind, folder)))
        try:
            found[trait] = model, describe(model, trait, inputs=len(specimen(trait).columns))
        except ModelFormatError as error:
            assert any(words in str(error) for words in REFUSED), error
    return found


@pytest.mark.full(few=2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [kind for kind, of in KINDS.items() if of.method not in ("geometry", "triangle")])
def test_exported_programs_have_the_answers_of_predict(zoo, kind):
    models = exportable(kind, zoo)
    assert models
    programs = {trait: Program(of, single=False, prefix=f"m_{trait}") for trait, (_, of) in models.items()}
    library = compiled(list(programs.values()), zoo, flags=("-O0",))
    for trait, (model, description) in models.items():
        rows = specimen(trait).dense()
        rows = rows[(abs(rows) < 1e100).all(axis=1)]
        chunk = chunk_of(rows, description.first_index)
        labels, values, _ = predicted(model, chunk)
        allowed = tolerance(description, chunk, False) + 1e-300
        sure = (abs(values) > allowed).all(axis=1) | model.header.regression
        program = Library(programs[trait], zoo, library)
        graph = graph_run(description, False, rows)
        found = {"C": (program.values(rows), program.predict(rows))}
        found["C, sparse"] = program.values(rows, True), program.predict(rows, True)
        found["ONNX"] = (graph["variable"],) * 2 if model.header.regression else (graph["values"], graph["label"])
        for target, (their_values, their_labels) in found.items():
            assert (abs(their_values - values) <= allowed).all(), (trait, target)
            if not model.header.regression:
                assert np.array_equal(np.ravel(their_labels)[sure], labels[sure]), (trait, target)
