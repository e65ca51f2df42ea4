"""Outputs that cannot or must not be written are refused before any work."""

import os
import subprocess
import threading

import pytest

from fastsvm_cli.errors import FileError
from fastsvm_cli.text.output import Output, check_output
from support.outputs import in_new_process
from support.processes import PATIENCE


@pytest.mark.parametrize("kind", ["same", "symbolic", "hard", "dots"])
def test_an_output_that_is_an_input_is_refused(tmp_path, kind):
    given = tmp_path / "given"
    given.write_bytes(b"precious")
    path = tmp_path / "out"
    if kind == "symbolic":
        path.symlink_to("given")
    elif kind == "hard":
        os.link(given, path)
    else:
        path = given if kind == "same" else tmp_path / "." / ".." / tmp_path.name / "given"
    path = f"{tmp_path}/../{tmp_path.name}/given" if kind == "dots" else str(path)
    with pytest.raises(FileError) as caught:
        check_output(path, [None, "nowhere", str(given)])
    whose = "the input" if kind == "same" else f"{given}, which is the same file"
    assert str(caught.value) == f"{path}: the output would replace {whose}; name another output file"
    assert given.read_bytes() == b"precious"


def test_devices_and_other_files_may_be_read_and_written(tmp_path):
    (tmp_path / "given").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    check_output("/dev/null", ["/dev/null"])
    check_output(str(tmp_path / "pipe"), [str(tmp_path / "pipe")])  # without waiting for a reader
    check_output(str(tmp_path / "new"), [str(tmp_path / "given"), str(tmp_path / "new")])
    assert sorted(os.listdir(tmp_path)) == ["given", "pipe"]


def test_looking_first_changes_nothing(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    check_output(str(path), [])
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["out"]
    with pytest.raises(FileError, match="nowhere/out: No such file or directory"):
        check_output(str(tmp_path / "nowhere" / "out"), [])


@pytest.mark.parametrize("way", ["append", "both"])
def test_standard_output_that_is_an_input_is_refused(tmp_path, way):
    given = tmp_path / "given"
    given.write_bytes(b"precious")
    code = (
        "from fastsvm_cli.text.output import check_output\n"
        "try:\n"
        "    check_output('-', [sys.argv[1]])\n"
        "except Exception as error:\n"
        "    sys.exit(str(error))\n"
    )
    with open(given, "ab" if way == "append" else "r+b") as out:
        done = in_new_process(code, given, stdout=out)
    assert (
        done.stderr
        == f"standard output: the output would replace {given}, which is the same file; name another output file\n"
    )
    code = code.replace("[sys.argv[1]]", "['-']").replace("'-', ", "sys.argv[1], ")
    with open(given, "rb") as stdin:
        done = in_new_process(code, given, stdin=stdin, stdout=subprocess.DEVNULL)
    assert (
        done.stderr
        == f"{given}: the output would replace standard input, which is the same file; name another output file\n"
        and given.read_bytes() == b"precious"
    )


def test_a_descriptor_that_is_open_for_reading_only_is_an_error(tmp_path):
    (tmp_path / "x").write_bytes(b"x")
    with open(tmp_path / "x", "rb") as file, pytest.raises(FileError, match="it is open for reading only"):
        Output(f"/dev/fd/{file.fileno()}")


def test_a_pipe_that_does_not_wait_gets_all_the_same(tmp_path):
    """Another program that shares the pipe may have made it non-blocking."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    got = []
    thread = threading.Thread(target=lambda: got.extend(iter(lambda: os.read(reader, 1 << 16), b"")), daemon=True)
    with Output(f"/dev/fd/{writer}") as output:
        os.close(writer)
        buffers = [b"%d\n" % number * 20_000 for number in range(10)]
        thread.start()
        for buffer in buffers:
            output.write(buffer)
    thread.join(PATIENCE)
    os.close(reader)
    assert b"".join(got) == b"".join(buffers)
