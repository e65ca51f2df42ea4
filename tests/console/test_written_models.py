"""Compiled models are read back before they become the output."""

import sys

import pytest

from support.paths import GOLDEN
from support.processes import outcome

#: A process that writes damaged models.
DAMAGED = """
from fastsvm_cli.models import Model
write = Model.to_text
Model.to_text = lambda model: write(model).replace(b"gamma", b"gamna", 1)
from fastsvm_cli.cli import main
main()
"""


@pytest.mark.full
@pytest.mark.parametrize("words", ["approx", "order --method triangle", "reduce --vectors 4", "border --samples 4"])
def test_a_model_that_cannot_be_read_back_is_not_written(words, tmp_path):
    (tmp_path / "out").write_text("before\n")
    source = str(GOLDEN / "c_svc.model")
    done = outcome([sys.executable, "-c", DAMAGED, *words.split(), source, "out"], cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(f"Error: {source}: the compiled model could not be read back (the checksum")
    assert (tmp_path / "out").read_text() == "before\n" and [path.name for path in tmp_path.iterdir()] == ["out"]
