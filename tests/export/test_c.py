"""Exported C99, compiled and called: the last bit, probabilities, compilers, sizes, the command."""

import shutil

import numpy as np
import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from support.evaluation import reference
from support.exporting import WARNINGS, Library, chunk_of, made_up, predicted, rows_for
from support.paths import GOLDEN
from support.processes import outcome

COMPILERS = [
    pytest.param(each, marks=pytest.mark.skipif(shutil.which(each) is None, reason=f"{each} is not installed"))
    for each in ("gcc", "clang")
]


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
@pytest.mark.parametrize("classes", [2, 3])
def test_double_precision_is_libsvms_own_sum_to_the_last_bit(kernel, classes, tmp_path):
    model = made_up(kernel, kernel=kernel, classes=classes, d=7, n=50)
    rows = rows_for(kernel, 7)
    library = Library(Program(describe(model, "m", inputs=7), single=False, prefix="m"), tmp_path)
    assert np.array_equal(library.values(rows), reference(model, chunk_of(rows)))


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("single", [True, False])
def test_probabilities_are_libsvms_coupling(classes, single, tmp_path):
    model = made_up(classes, classes=classes, probability=True)
    rows = rows_for(classes, 5)
    library = Library(Program(describe(model, "m"), single=single, prefix="m"), tmp_path)
    _, _, expected = predicted(model, chunk_of(rows), probability=True)
    # The iteration stops within 0.005 / classes of its limit, perhaps a round earlier or later.
    assert abs(library.probabilities(rows) - expected.reshape(len(rows), -1)).max() < (0.01 if single else 1e-9)


def test_probabilities_of_one_class_are_those_of_the_marks(tmp_path):
    model = made_up(1, svm_type="one_class", probability=True)
    rows = rows_for(1, 5)
    library = Library(Program(describe(model, "m"), single=False, prefix="m"), tmp_path)
    _, _, expected = predicted(model, chunk_of(rows), probability=True)
    assert np.array_equal(library.probabilities(rows), expected.reshape(len(rows), 2))


@pytest.mark.full(few=2)
@pytest.mark.parametrize("flags", ["-O0", "-O1", "-O2", "-O3", "-Os", "-O1 -fsanitize=address,undefined"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_compiler_and_optimization_takes_it_without_a_warning(compiler, flags, tmp_path):
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


def test_nothing_is_allocated_and_no_array_on_the_stack_is_as_long_as_the_vectors():
    model = made_up(3, classes=3, n=97, probability=True)
    program = Program(describe(model, "m"), single=True, prefix="m")
    text = program.source()
    assert "malloc" not in text and "alloca" not in text
    assert program.stack_bytes < 4 * 97
    assert not [line for line in text.splitlines() if "[97]" in line and "const" not in line]


def test_the_bytes_that_are_told_are_those_of_the_tables():
    import re

    program = Program(describe(made_up(4, classes=3, full=0.1, d=30), "m"), single=True, prefix="m")
    sizes = {"float": 4, "uint8_t": 1, "uint16_t": 2, "int8_t": 1}
    found = re.findall(r"^static const (\w+) \w+\[(\d+)\]", program.source(), re.M)
    assert sum(sizes[kind] * int(count) for kind, count in found) == program.table_bytes


def test_what_an_avr_does_not_hold_is_refused():
    big = describe(made_up(5, d=40, n=400, full=1.0), "m")
    with pytest.raises(ModelFormatError, match="--progmem holds"):
        Program(big, single=True, prefix="m", progmem=True)
    assert "pgm_read_float" in Program(describe(made_up(5), "m"), single=True, prefix="m", progmem=True).source()


@pytest.mark.parametrize("name", ["version2/c_svc.approx", "three_classes.model"])
def test_the_command_writes_compiles_and_compares(name, fastsvm, tmp_path):
    data = tmp_path / "rows"
    data.write_text("1 1:0.5 3:-1 # first\n-1 2:0.25\n1\n")
    done = fastsvm("export", "--to", "c", "--test", data, GOLDEN / name, tmp_path / "out.c")
    assert done.code == 0, done
    assert (
        "rows: 0 of 3 labels differ from fastsvm predict's, values by at most " in done.out
        or "values differ" in done.out
    )
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out.c", "out.h", "out_main.c"]


def test_size_writes_nothing(fastsvm, tmp_path):
    done = fastsvm("export", "--to", "c", "--size", GOLDEN / "version2" / "c_svc.approx", tmp_path / "out.c")
    assert done.code == 0 and "bytes of tables" in done.out and not list(tmp_path.iterdir())
