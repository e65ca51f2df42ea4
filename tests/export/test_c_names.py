"""Text from outside in C: names of files and classes."""

import numpy as np
import pytest

import fastsvm_cli
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from support.exporting import WARNINGS, made_up
from support.processes import outcome


def compiles(folder, *names):
    done = outcome(["gcc", *WARNINGS, "-c", *names], cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name",
    ['a"b', "a'b", "a\\b", "a\nb", "a*b", "x*/y", "a??'b", "a@REAL@b", "a@GUARD@", "é", "\udcff", "-x", "1", "", "int"],
)
def test_any_name_of_a_file_compiles(name, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    fastsvm_cli.FastSVM(made_up(1, n=3)).export(f"{path}.c")
    compiles(path.parent, "-x", "c", f"./{path.name}.c")


def test_a_program_with_a_strange_name_is_tried(fastsvm, tmp_path):
    (tmp_path / "model").write_bytes(made_up(1, n=3).to_text())
    (tmp_path / "rows").write_text("1 1:1\n")
    done = fastsvm("export", "--to", "c", "--test", tmp_path / "rows", tmp_path / "model", tmp_path / 'a"b.c')
    assert done.code == 0 and "0 of 1 labels" in done.out


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["cat", "dog", "bird"], '0 is "cat", 1 is "dog", 2 is "bird". */'),
        (
            ["*/ evil", "/* more", 'a"\\\n??/'],
            r'0 is "*\u002f evil", 1 is "/\u002a more", 2 is "a\"\\\n\u003f\u003f/". */',
        ),
        (["@REAL@", "é", ""], r'0 is "\u0040REAL\u0040", 1 is "\u00e9", 2 is "". */'),
        ([0, 1, 2], "    0, 1, 2. */"),
        ([0.5, 1.5, 2.5], '0 is "0.5", 1 is "1.5", 2 is "2.5". */'),
        (["a" * 100, "b" * 200, "c"], f'"{"b" * 200}",\n'),
    ],
)
def test_the_header_names_the_class_of_every_label(names, expected, tmp_path):
    model = made_up(1, classes=3)
    description = describe(fastsvm_cli.FastSVM(model).model, "m")
    description.header = description.header.changed(label=[0, 1, 2])
    description.classes = np.array(names)
    program = Program(description, single=True, prefix="m")
    assert "in the order of the probabilities:\n" in program.header() and expected in program.header()
    (tmp_path / "m.h").write_text(program.header())
    (tmp_path / "m.c").write_text(program.source())
    compiles(tmp_path, "m.c")


def test_a_prefix_that_is_no_name_is_refused(tmp_path):
    fast = fastsvm_cli.FastSVM(made_up(1, n=3))
    for prefix in ("", "1a", "a b", 'a"', "a\n", "é"):
        with pytest.raises(ValueError, match="prefix"):
            fast.export(tmp_path / "m.c", prefix=prefix)
