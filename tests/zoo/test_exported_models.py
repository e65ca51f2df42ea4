"""Exported C and ONNX in the parity table: labels and values of every trait and kind, within the stated tolerance."""

import numpy as np
import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.models import load_model
from support.exporting import agrees, compiled
from zoo.kinds import KINDS, suits
from zoo.kinds import compiled as file_of
from zoo.rounding import FOR_PROOFS, OVERFLOWING
from zoo.traits import TRAITS, specimen

#: What no target computes, in words of the message.
REFUSED = ("nothing is computed", "nothing is exported", "which no target computes", "range of", "expected at most")


def exportable(kind, folder, traits):
    """{trait: (model, its description)} of models with arrays as rows."""
    found = {}
    for trait in traits:
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
def test_exported_programs_have_the_answers_of_predict(zoo, kind, pytestconfig):
    """In single and double precision by turns; in double where numbers are beyond the range of single. Without --full,
    of ten traits."""
    made, turn = [], list(KINDS).index(kind)
    without_cancellation = sorted(TRAITS.keys() - FOR_PROOFS - OVERFLOWING)  # as the tolerance assumes
    traits = without_cancellation[: None if pytestconfig.getoption("full") else 10]
    for at, (trait, (model, description)) in enumerate(exportable(kind, zoo, traits).items()):
        rows, single = specimen(trait).dense(), (at + turn) % 2 == 0
        try:
            program = Program(description, single=single, prefix=f"m_{trait}")
        except ModelFormatError as error:
            assert single and "--precision double" in str(error)
            single, program = False, Program(description, single=False, prefix=f"m_{trait}")
        rows = rows[(abs(rows) < (1e30 if single else 1e100)).all(axis=1)]
        made.append((model, program, rows.astype(np.float32 if single else np.float64)))
    library = compiled([program for _, program, _ in made], zoo, flags=("-O0",))
    assert sum(agrees(*each, library, more=False) for each in made) > 10
