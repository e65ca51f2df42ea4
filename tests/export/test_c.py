"""Exported C99: compilers, sizes, names of files and classes."""

import shutil

import numpy as np
import pytest

import fastsvm_cli
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from support.exporting import WARNINGS, bytes_of_tables, made_up
from support.messages import cases
from support.processes import outcome


@pytest.mark.full(few=2)
@pytest.mark.parametrize("flags", ["-O0", "-O3", "-Os", "-O1 -fsanitize=address,undefined"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_compiler_and_optimization_takes_it_without_a_warning(compiler, flags, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    data = tmp_path / "rows"
    data.write_text("1 1:0.5 3:-1\n-1 2:0.25\n1\n0 1:1 2:1 3:1 4:1 5:1\n")
    for model in (made_up(7, classes=4, probability=True), compile_maclaurin(made_up(8), fingerprint="f", degree=3)):
        program = Program(describe(model, "m"), single=True, prefix="m")
        for name, text in (("m.h", program.header()), ("m.c", program.source()), ("main.c", program.main(5))):
            (tmp_path / name).write_text(text)
        words = [compiler, *WARNINGS, *flags.split(), "-o", "main", "m.c", "main.c", "-lm"]
        done = outcome(words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        done = outcome(["./main", data], cwd=tmp_path)
        assert done.returncode == 0 and not done.stderr and len(done.stdout.splitlines()) == 4


@pytest.mark.parametrize("kernel", ["rbf", "linear", "sigmoid"])
def test_single_precision_is_enough_for_a_constant(kernel):
    """It is not refused, as what single precision cannot hold is."""
    for n in (0, 1):
        model = made_up(1, svm_type="epsilon_svr", kernel=kernel, n=n)
        assert Program(describe(model, "m"), single=True, prefix="m").single


def test_memory_is_what_is_told():
    """Nothing is allocated, and no array on the stack is as long as the vectors."""
    model = made_up(3, classes=3, n=97, d=30, full=0.1, probability=True)
    program = Program(describe(model, "m"), single=True, prefix="m")
    text = program.source()
    assert "malloc" not in text and "alloca" not in text and program.stack_bytes < 4 * 97
    assert not [line for line in text.splitlines() if "[97]" in line and "const" not in line]
    assert bytes_of_tables(text) == program.table_bytes


def test_what_an_avr_does_not_hold_is_refused():
    big = describe(made_up(5, d=40, n=400, full=1.0), "m")
    with pytest.raises(ModelFormatError, match="--progmem holds"):
        Program(big, single=True, prefix="m", progmem=True)
    assert "pgm_read_float" in Program(describe(made_up(5), "m"), single=True, prefix="m", progmem=True).source()


# ---- text from outside


def compiles(folder, *names):
    done = outcome(["gcc", *WARNINGS, "-c", "-x", "c", *names], cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.full
def test_any_name_of_a_file_compiles(fastsvm, tmp_path):
    model = made_up(1, n=3)
    names = cases("names of files")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        fastsvm_cli.FastSVM(model).export(f"{tmp_path}/{name}.c")
    compiles(tmp_path, *(f"./{name}.c" for name in names))
    (tmp_path / "model").write_bytes(model.to_text())
    (tmp_path / "rows").write_text("1 1:1\n")
    assert "0 of 1 labels" in fastsvm("export", "--to", "c", "--test", "rows", "model", 'a"b.c').out


def test_the_header_names_the_class_of_every_label(tmp_path):
    description = describe(fastsvm_cli.FastSVM(made_up(1, classes=3)).model, "m")
    description.header = description.header.changed(label=[0, 1, 2])
    for at, (names, expected) in enumerate(
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
        ]
    ):
        description.classes = np.array(names)
        program = Program(description, single=True, prefix=f"m{at}")
        assert "in the order of the probabilities:\n" in program.header() and expected in program.header()
        (tmp_path / f"m{at}.h").write_text(program.header())
        (tmp_path / f"m{at}.c").write_text(program.source())
    compiles(tmp_path, *(f"m{at}.c" for at in range(6)))
