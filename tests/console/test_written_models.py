"""Compiled models are read back before they become the output."""

import sys

import pytest

from support.paths import GOLDEN
from support.processes import outcome


def model(kernel, value):
    head = f"svm_type c_svc\nkernel_type {kernel}\nnr_class 2\ntotal_sv 4\nrho 0.1\nlabel 1 -1\nnr_sv 2 2\nSV\n"
    return f"{head}1 1:{value} 2:0.5\n0.5 1:1\n-1 1:2 2:1\n-0.5 1:-{value}\n"


@pytest.mark.parametrize(
    "options, kernel, value",
    [
        ("", "rbf\ngamma 0.5", "1e200"),
        ("--center origin", "rbf\ngamma 0.5", "1e160"),
        ("--degree 4 --precision double", "rbf\ngamma 1e-300", "1e308"),
        ("--rank 1", "rbf\ngamma 0.5", "1e200"),
        ("--certify", "rbf\ngamma 0.5", "1e160"),
        ("--centers 2", "rbf\ngamma 1e-300", "1e308"),
        ("", "linear", "1e160"),
        ("--certify", "linear", "1e160"),
    ],
)
def test_an_expansion_that_overflows_is_refused_and_the_output_stays(fastsvm, tmp_path, options, kernel, value):
    (tmp_path / "m").write_text(model(kernel, value))
    (tmp_path / "out").write_text("before\n")
    done = fastsvm("approx", *options.split(), "m", "out", code=1)
    assert done.err.startswith("Error: m: ") and done.err.endswith(": scale the data\n") and done.err.count("\n") == 1
    assert done.out == "" and (tmp_path / "out").read_text() == "before\n"


#: A process that writes damaged models.
DAMAGED = """
from fastsvm_cli.models.base import Model
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
