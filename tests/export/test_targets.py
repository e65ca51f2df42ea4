"""Models of every kind, exported to both targets, answer as fastsvm predict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.description import describe
from fastsvm_cli.models import load_model
from support.exporting import agrees, any_model, rows_for
from support.model_files import BORDERS, CASCADES, COMPILED, EXACT, ORDERED, REDUCED
from support.paths import GOLDEN
from support.profiles import calm

#: Models that cannot be exported, and why.
REFUSED = {
    "version2/exponential-triangle.order": "exponential kernel",
    "version2/normalized_polynomial-geometry.order": "normalized_polynomial kernel",
    "version2/one_class.border": "feature 2000000000",
    "version2/three_classes.border": "3 nearest samples",
    **dict.fromkeys(CASCADES, "a cascade model found, which no target computes"),
}


@pytest.mark.full(few=6)
@pytest.mark.parametrize("name", EXACT + COMPILED + ORDERED + REDUCED + BORDERS + CASCADES)
def test_golden_models(name, tmp_path):
    model = load_model(str(GOLDEN / name))
    if name in REFUSED:
        with pytest.raises(ModelFormatError, match=REFUSED[name]):
            describe(model, name)
        return
    description = describe(model, name, **({} if name in EXACT else {"inputs": model.max_index + 1}))
    for single in (True, False):
        agrees(model, description, rows_for(name, description.inputs), single, tmp_path, graph=name not in EXACT)


def test_the_ending_of_the_output_is_the_target(fastsvm, tmp_path):
    for words, found in (((), "no OUTPUT_FILE"), (("out",), "'out'"), (("onnx",), "'onnx'")):
        error = fastsvm("export", GOLDEN / "c_svc.model", *words, code=2).err
        assert f"{found} found, expected --to, or a name that ends in .onnx or .c." in error
    fastsvm("export", GOLDEN / "c_svc.model", tmp_path / "out.c")
    assert "out_predict" in (tmp_path / "out.h").read_text()


@calm(160)
@given(data=st.data(), single=st.booleans())
def test_models_of_any_kind(tmp_path, data, single):
    model, seed = data.draw(any_model(single))
    description = describe(model, "m", inputs=model.max_index + 2)
    agrees(model, description, rows_for(seed, description.inputs), single, tmp_path)
