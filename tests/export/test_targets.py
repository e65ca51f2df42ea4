"""Golden models in single and double precision on both targets; what is refused. zoo/test_exported_models.py has every
trait."""

import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.models import load_model
from support.exporting import agrees, compiled, rows_for
from support.model_files import BORDERS, CASCADES, COMPILED, EXACT, ORDERED, REDUCED
from support.paths import GOLDEN

#: Models that cannot be exported, and why.
REFUSED = {
    "version2/exponential-triangle.order": "exponential kernel",
    "version2/normalized_polynomial-geometry.order": "normalized_polynomial kernel",
    "version2/one_class.border": "feature 2000000000",
    "version2/three_classes.border": "3 nearest samples",
    **dict.fromkeys(CASCADES, "a cascade model found, which no target computes"),
}


@pytest.mark.full
def test_golden_models_of_every_kind(tmp_path):
    made = []
    for at, name in enumerate(EXACT + COMPILED + ORDERED + REDUCED + BORDERS + CASCADES):
        model = load_model(str(GOLDEN / name))
        if name in REFUSED:
            with pytest.raises(ModelFormatError, match=REFUSED[name]):
                describe(model, name)
            continue
        description = describe(model, name, **({} if name in EXACT else {"inputs": model.max_index + 1}))
        for single in (True, False):
            program = Program(description, single=single, prefix=f"m{at}_{single}")
            made.append((model, program, rows_for(name, description.inputs), name not in EXACT))
    library = compiled([program for _, program, _, _ in made], tmp_path, flags=("-O0",))
    for model, program, rows, graph in made:
        assert agrees(model, program, rows, library, graph=graph), program.prefix


def test_the_ending_of_the_output_is_the_target(fastsvm, tmp_path):
    for words, found in (((), "no OUTPUT_FILE"), (("out",), "'out'"), (("onnx",), "'onnx'")):
        error = fastsvm("export", GOLDEN / "c_svc.model", *words, code=2).err
        assert f"{found} found, expected --to, or a name that ends in .onnx or .c." in error
    fastsvm("export", GOLDEN / "c_svc.model", tmp_path / "out.c")
    assert "out_predict" in (tmp_path / "out.h").read_text()


@pytest.mark.full(few=2)
@pytest.mark.parametrize("target", ["c", "onnx"])
@pytest.mark.parametrize("name", ["version2/c_svc.approx", "three_classes.model", "epsilon_svr.model"])
def test_the_command_writes_runs_and_compares(target, name, fastsvm, tmp_path):
    (tmp_path / "rows").write_text("1 1:0.5 3:-1 # first\n-1 2:0.25\n1\n")
    done = fastsvm("export", "--to", target, "--test", "rows", GOLDEN / name, f"out.{target}")
    same = "0 of 3 labels differ from fastsvm predict's, values by at most "
    assert same in done.out or "values differ" in done.out
    found = ["out.c", "out.h", "out_main.c"] if target == "c" else ["out.onnx"]
    assert sorted(path.name for path in tmp_path.glob("out*")) == found


def test_what_is_not_written(fastsvm, tmp_path):
    """--size writes nothing. A feature without a column is told with its line."""
    model = GOLDEN / "version2" / "c_svc.approx"
    assert "bytes of tables" in fastsvm("export", "--to", "c", "--size", model, "out.c").out
    (tmp_path / "rows").write_text("1 1:0.5\n1 99:1\n")
    done = fastsvm("export", "--to", "onnx", "--test", "rows", model, "out.onnx", code=1)
    assert "rows:2: feature 99 found" in done.err and "--features" in done.err
    assert not list(tmp_path.glob("out*"))
