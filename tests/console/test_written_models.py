"""Compiled models are read back before they become the output."""

import sys

import pytest

from support.paths import GOLDEN
from support.processes import outcome


def model(kernel, value):
    head = f"svm_type c_svc\nkernel_type {kernel}\nnr_class 2\ntotal_sv 4\nrho 0.1\nlabel 1 -1\nnr_sv 2 2\nSV\n"
    return f"{head}1 1:{value} 2:0.5\n0.5 1:1\n-1 1:2 2:1\n-0.5 1:-{value}\n"


@pytest.mark.full(few=2)
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--center", "origin"],
        ["--degree", "4", "--precision", "double"],
        ["--rank", "1"],
        ["--certify"],
        ["--centers", "2"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "kernel, value",
    [("rbf\ngamma 0.5", "1e200"), ("rbf\ngamma 0.5", "1e160"), ("rbf\ngamma 1e-300", "1e308"), ("linear", "1e160")],
)
def test_an_expansion_that_overflows_is_refused_and_the_output_stays(fastsvm, tmp_path, options, kernel, value):
    if kernel == "linear" and options not in ([], ["--certify"]):
        return
    (tmp_path / "m").write_text(model(kernel, value))
    (tmp_path / "out").write_text("before\n")
    done = fastsvm("approx", *options, "m", "out", code=1)
    assert done.err.startswith("Error: m: ")
    assert done.err.endswith(": scale the data\n") and done.err.count("\n") == 1 and done.out == ""
    assert (tmp_path / "out").read_text() == "before\n"


COMMANDS = {
    "approx": ["approx"],
    "order": ["order", "--method", "triangle"],
    "reduce": ["reduce", "--vectors", "4"],
    "border": ["border", "--samples", "4"],
}
#: A process that writes damaged models.
DAMAGED = """
from fastsvm_cli.models.base import Model
write = Model.to_text
Model.to_text = lambda model: write(model).replace(b"gamma", b"gamna", 1)
from fastsvm_cli.cli import main
main()
"""


@pytest.mark.full
@pytest.mark.parametrize("command", COMMANDS)
def test_a_model_that_cannot_be_read_back_is_not_written(command, tmp_path):
    (tmp_path / "out").write_text("before\n")
    words = [sys.executable, "-c", DAMAGED, *COMMANDS[command], str(GOLDEN / "c_svc.model"), "out"]
    done = outcome(words, cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == "", done.stderr
    assert done.stderr.startswith(
        f"Error: {GOLDEN / 'c_svc.model'}: the compiled model could not be read back (the checksum"
    )
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "out").read_text() == "before\n" and sorted(path.name for path in tmp_path.iterdir()) == ["out"]
