"""Leftovers of killed processes are removed by the next."""

import os

from support.outputs import a_writer, write


def test_what_a_killed_process_left_goes_when_the_output_is_written_again(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    for _ in range(2):
        process = a_writer(path)
        process.kill()
        process.wait()
        assert path.read_bytes() == b"before" and len(os.listdir(tmp_path)) == 2
    write(path, b"after")
    assert path.read_bytes() == b"after" and os.listdir(tmp_path) == ["out"]


def test_what_several_killed_processes_left_goes_at_once(tmp_path):
    path = tmp_path / "out"
    processes = [a_writer(path) for _ in range(3)]
    assert len(os.listdir(tmp_path)) == 3
    for process in processes:
        process.kill()
        process.wait()
    assert len(os.listdir(tmp_path)) == 3
    write(path, b"after")
    assert os.listdir(tmp_path) == ["out"]


def test_a_gap_in_the_names_hides_nothing(tmp_path):
    path = tmp_path / "out"
    first, second = a_writer(path), a_writer(path)
    first.communicate()
    second.kill()
    second.wait()
    assert sorted(os.listdir(tmp_path)) == [".out.fastsvm-1.tmp", "out"]
    write(path, b"after")
    assert os.listdir(tmp_path) == ["out"]


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    path = tmp_path / "out"
    process = a_writer(path)
    write(path, b"mine")
    assert path.read_bytes() == b"mine" and len(os.listdir(tmp_path)) == 2
    process.communicate()
    assert process.returncode == 0 and path.read_bytes() == b"half" and os.listdir(tmp_path) == ["out"]


def test_only_files_of_our_own_are_removed(tmp_path):
    path, precious = tmp_path / "out", tmp_path / "precious"
    precious.write_bytes(b"precious")
    names = [".out.fastsvm-%d.tmp" % number for number in range(3)]
    (tmp_path / names[0]).symlink_to("precious")
    (tmp_path / names[1]).mkdir()
    os.mkfifo(tmp_path / names[2])
    (tmp_path / ".other.fastsvm-0.tmp").write_bytes(b"x")
    (tmp_path / ".out.tmp").write_bytes(b"x")
    write(path, b"after")
    assert path.read_bytes() == b"after" and precious.read_bytes() == b"precious"
    assert sorted(os.listdir(tmp_path)) == sorted([*names, ".other.fastsvm-0.tmp", ".out.tmp", "out", "precious"])
