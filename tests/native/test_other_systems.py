"""What is done where the system is not Linux, forced here."""

import os
import shutil
import subprocess

import pytest

from fastsvm_cli import platform, streams
from fastsvm_cli.text.content import Content
from support.places import ROOT
from support.processes import PATIENCE

NATIVE = ROOT / "fastsvm_cli" / "native"
HERE = ROOT / "tests" / "native"


@pytest.fixture
def elsewhere(monkeypatch):
    monkeypatch.setattr(platform, "LINUX", False)


@pytest.fixture(scope="module")
def portable_output(tmp_path_factory):
    """A program that writes its standard input whole to a file, by the core's portable branch."""
    if not shutil.which("c++"):
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no c++")
    program = tmp_path_factory.mktemp("portable") / "write"
    sources = [NATIVE / "files" / name for name in ("output.cpp", "stop.cpp")]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-DFASTSVM_PORTABLE", f"-I{NATIVE}"]
    subprocess.run(["c++", *flags, HERE / "portable_output.cpp", *sources, "-o", program, "-pthread"], check=True)
    return lambda path, text: subprocess.run([program, path], input=text, capture_output=True, timeout=PATIENCE)


def test_the_core_writes_files_whole(portable_output, tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    path.chmod(0o640)
    assert portable_output(path, b"after").returncode == 0
    assert path.read_bytes() == b"after" and path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["out"]


def test_the_core_copies_into_a_file_with_two_names(portable_output, tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before, and longer")
    os.link(path, tmp_path / "other")
    assert portable_output(path, b"after").returncode == 0
    assert path.read_bytes() == b"after" and path.samefile(tmp_path / "other")


def test_the_core_writes_standard_output(portable_output):
    done = portable_output("-", b"one\ntwo\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"one\ntwo\n", b"")


def test_an_open_file_without_a_name_is_read_by_another(elsewhere, tmp_path):
    with open(tmp_path / "rows", "wb+") as file:
        file.write(b"1 1:1\n")
        file.flush()
        file.seek(0)
        os.unlink(tmp_path / "rows")
        with Content(platform.name_of(file)) as content:
            assert content.read(100) == b"1 1:1\n"


def test_a_pipe_stays_as_wide_as_it_is(elsewhere):
    reader, writer = os.pipe()
    platform.widen_pipe(reader)
    os.close(reader), os.close(writer)


@pytest.mark.parametrize(
    "descriptor, use", [(0, lambda file: os.read(file, 1)), (1, lambda file: os.write(file, b"x"))]
)
def test_a_closed_descriptor_s_place_is_of_no_use(elsewhere, descriptor, use):
    placed = platform.open_nothing(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        use(placed)
    os.close(placed)


def test_a_processor_and_its_cores_have_a_name_and_a_number(elsewhere):
    assert platform.processor_name() and platform.usable_processors() >= 1
    assert streams.is_closed(0) is False
