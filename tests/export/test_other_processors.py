"""C compiled for other processors: a Cortex-M without floating point, under qemu, and WebAssembly."""

import shutil

import numpy as np
import pytest

from fastsvm_cli.export.c import Program
from fastsvm_cli.export.description import describe
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from support.exporting import WARNINGS, chunk_of, made_up, predicted, rows_for
from support.paths import TESTS
from support.processes import outcome

HERE = TESTS / "export"


def needs(*programs):
    missing = [each for each in programs if shutil.which(each) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


def run(folder, *words):
    done = outcome(words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=["exact", "expansion"])
def written(request, tmp_path):
    """(model, rows); files and `rows` are in the folder."""
    model = made_up(11, classes=3, d=6, probability=True)
    if request.param == "expansion":
        model = compile_maclaurin(model, fingerprint="f", certify=True)
    program, rows = Program(describe(model, "m"), single=True, prefix="m"), rows_for(11, 6)
    for name, text in (("m.h", program.header()), ("m.c", program.source()), ("main.c", program.main(6))):
        (tmp_path / name).write_text(text)
    lines = [" ".join(["0", *(f"{j + 1}:{float(x)!r}" for j, x in enumerate(row) if x)]) for row in rows]
    (tmp_path / "rows").write_text("\n".join([*lines, ""]))
    return model, rows


def compare(out, written):
    model, rows = written
    labels, values, _ = predicted(model, chunk_of(rows))
    numbers = np.array([line.split() for line in out.splitlines()], dtype=float)
    assert np.array_equal(numbers[:, 0], labels) and numbers[:, 1:] == pytest.approx(values, abs=1e-4)


@needs("arm-none-eabi-gcc", "qemu-system-arm")
def test_a_cortex_without_floating_point_answers_alike(written, tmp_path):
    processor = ("-mcpu=cortex-m0", "-mthumb", "-mfloat-abi=soft")
    run(tmp_path, "arm-none-eabi-gcc", *WARNINGS, *processor, "-Os", "-c", "m.c")
    given = ("-T", HERE / "cortex.ld", "-o", "m.elf", "m.o", "main.c", HERE / "cortex_vectors.c", "-lm")
    run(tmp_path, "arm-none-eabi-gcc", *processor, "--specs=rdimon.specs", *given)
    host = "enable=on,target=native,arg=m,arg=rows"
    machine = ("qemu-system-arm", "-M", "mps2-an385", "-nographic", "-semihosting-config", host)
    compare(run(tmp_path, *machine, "-kernel", "m.elf"), written)


@needs("avr-gcc")
def test_tables_of_an_avr_lie_in_its_flash(tmp_path):
    for model in (
        made_up(11, classes=3, d=6, probability=True, full=0.2),
        compile_maclaurin(made_up(12), fingerprint="f", certify=True, clusters=2),
    ):
        program = Program(describe(model, "m"), single=True, prefix="m", progmem=True)
        (tmp_path / "m.h").write_text(program.header())
        (tmp_path / "m.c").write_text(program.source())
        run(tmp_path, "avr-gcc", "-mmcu=atmega328p", "-Os", *WARNINGS, "-c", "m.c")
        text, data, bss = map(int, run(tmp_path, "avr-size", "m.o").splitlines()[1].split()[:3])
        assert text > program.table_bytes and data + bss < program.table_bytes / 4


@pytest.mark.full
@needs("emcc", "node")
def test_webassembly_answers_alike(written, tmp_path):
    run(tmp_path, "emcc", "-O1", "-sNODERAWFS=1", "-o", "m.js", "m.c", "main.c")
    compare(run(tmp_path, "node", "--no-experimental-fetch", "m.js", "rows"), written)
