"""Code for systems other than Linux, forced here."""

import os
import random
import subprocess

import pytest

from fastsvm_cli import system
from fastsvm_cli.text.files import Content
from support.building import require, run
from support.paths import ROOT
from support.processes import PATIENCE

NATIVE = ROOT / "fastsvm_cli" / "native"
HERE = ROOT / "tests" / "native"


@pytest.fixture
def elsewhere(monkeypatch):
    monkeypatch.setattr(system, "LINUX", False)


def built(folder, name, sources, *flags):
    require("c++")
    warnings = ["-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{NATIVE}"]
    files = [HERE / f"{name}.cpp", *(NATIVE / source for source in sources)]
    run("c++", *warnings, *flags, *files, "-o", folder / name, "-pthread")
    return folder / name


@pytest.mark.full
def test_the_core_writes_files(tmp_path):
    """By its portable branch: files whole, into a file with two names, and standard output."""
    program = built(tmp_path, "portable_output", ("files/output.cpp",), "-DFASTSVM_PORTABLE")

    def written(path, text):
        return subprocess.run([program, path], input=text, capture_output=True, check=True, timeout=PATIENCE).stdout

    (tmp_path / "folder").mkdir()
    path, other = tmp_path / "folder" / "out", tmp_path / "folder" / "other"
    path.write_bytes(b"before, and longer")
    path.chmod(0o640)
    written(path, b"after")
    assert path.read_bytes() == b"after" and path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(path.parent) == ["out"]
    os.link(path, other)
    written(path, b"and then")
    assert path.read_bytes() == b"and then" and path.samefile(other)
    assert written("-", b"one\ntwo\n") == b"one\ntwo\n"


def test_an_open_file_without_a_name_is_read_by_another(elsewhere, tmp_path):
    with open(tmp_path / "rows", "wb+") as file:
        file.write(b"1 1:1\n")
        file.flush()
        file.seek(0)
        os.unlink(tmp_path / "rows")
        with Content(system.name_of(file)) as content:
            assert content.read(100) == b"1 1:1\n"


@pytest.mark.full
def test_a_pipe_stays_as_wide_as_it_is_and_there_is_a_processor(tmp_path):
    program = built(tmp_path, "portable_platform", (), "-DFASTSVM_PORTABLE")
    before, after, processors = map(int, run(program).split())
    assert before == after and processors >= 1


@pytest.mark.parametrize(
    "descriptor, use", [(0, lambda file: os.read(file, 1)), (1, lambda file: os.write(file, b"x"))]
)
def test_a_closed_descriptor_s_place_is_of_no_use(elsewhere, descriptor, use):
    placed = system.open_nothing(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        use(placed)
    os.close(placed)


def test_a_processor_has_a_name(elsewhere):
    assert system.processor_name()
    assert system.is_closed(0) is False


NUMBERS = (
    "1e308 1e309 -1e309 1e-307 4.9e-324 2e-324 1e-400 -1e-400 0x1p-1074 0x1p1024 0x1.8p3 0x 0xp3 0x. 0x.8 "
    "1e 1e+ 1.e5 .5 . + - +-1 --1 inf -inf nan nan(1) infinity 1_0 12345678901234567890 0.1 "
    "2.2250738585072014e-308 1.5foo 1e5x 0x1g 179769313486231570814527423731704356798070e267 "
    "9007199254740993 9007199254740992.5 0.000000000000000000000001"
).split()


@pytest.mark.full
def test_numbers_are_read_alike_by_both_of_the_libraries_functions(tmp_path_factory):
    """std::from_chars, or strtod."""
    rng = random.Random(3)
    random_ones = []
    for _ in range(3000):
        whole, part = rng.randrange(10 ** rng.randrange(1, 25)), rng.randrange(999)
        random_ones.append(f"{rng.choice(['', '-', '+'])}{whole}.{part}e{rng.randrange(-345, 330)}")
    text = "\n".join([*NUMBERS, *random_ones]).encode()
    reported = []
    for flags in ((), ("-DFASTSVM_PORTABLE",)):
        unused = ("-ffunction-sections", "-Wl,--gc-sections")  # messages of lines, which need the rest of text/
        folder = tmp_path_factory.mktemp("numbers")
        program = built(folder, "portable_numbers", ("text/numbers.cpp",), *unused, *flags)
        reported.append(subprocess.run([program], input=text, capture_output=True, check=True).stdout.splitlines())
    assert len(reported[0]) == len(NUMBERS) + 3000
    assert [pair for pair in zip(text.splitlines(), *reported) if pair[1] != pair[2]] == []
