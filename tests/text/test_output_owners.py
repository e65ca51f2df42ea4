"""Owners, modes, hard links and attributes of an output stay, or the file is written in place."""

import ctypes
import os

import pytest

from fastsvm_cli.text.output import Output
from support.outputs import in_new_process, write


def as_owner_only():
    """In a new process before exec: leave an owner's rights only. Drops CAP_CHOWN, CAP_DAC_OVERRIDE,
    CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID."""
    if os.geteuid() == 0:
        drop = ctypes.CDLL(None, use_errno=True).prctl
        for capability in range(5):
            assert drop(24, capability, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
WRITE_ONE = (
    "from fastsvm_cli.errors import FileError\n"
    "try:\n"
    "    with Output(sys.argv[1]) as output:\n"
    "        output.write(b'after\\n')\n"
    "        if len(sys.argv) > 2: raise ValueError\n"
    "except FileError as error:\n"
    "    sys.exit(str(error))\n"
)


def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before\n")
    path.chmod(0o444)
    done = in_new_process(WRITE_ONE, path, preexec_fn=as_owner_only)
    assert done.returncode == 1 and done.stderr == f"{path}: cannot write: Permission denied\n"
    assert path.read_bytes() == b"before\n" and os.listdir(tmp_path) == ["out"]


def test_a_file_in_a_folder_that_cannot_be_written_is_written_in_place(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "out"
    path.write_bytes(b"before, and longer\n")
    number = path.stat().st_ino
    folder.chmod(0o555)
    try:
        done = in_new_process(WRITE_ONE, path, preexec_fn=as_owner_only)
        assert done.returncode == 0 and path.read_bytes() == b"after\n", done.stderr
        assert path.stat().st_ino == number and os.listdir(folder) == ["out"], done.stderr
        done = in_new_process(WRITE_ONE, folder / "new", preexec_fn=as_owner_only)
        assert done.stderr == f"{folder / 'new'}: cannot write: Permission denied\n"
        # A failure before anything is written leaves the file as it was.
        done = in_new_process(
            "with Output(sys.argv[1]) as output:\n    raise ValueError\n", path, preexec_fn=as_owner_only
        )
        assert done.returncode == 1 and path.read_bytes() == b"after\n"
        done = in_new_process("with Output(sys.argv[1]) as output:\n    pass\n", path, preexec_fn=as_owner_only)
        assert done.returncode == 0 and path.read_bytes() == b""
    finally:
        folder.chmod(0o755)


@pytest.mark.full(few=5)
@needs_root
@pytest.mark.parametrize("owner, group, mode", [(1234, 1234, 0o666), (-1, 1234, 0o664), (1234, -1, 0o620)])
@pytest.mark.parametrize("rights", [None, as_owner_only])
def test_another_owner_s_file_stays_theirs(tmp_path, owner, group, mode, rights):
    path = tmp_path / "out"
    path.write_bytes(b"before, and longer\n")
    os.chown(path, owner, group)
    path.chmod(mode)
    before = path.stat()
    done = in_new_process(WRITE_ONE, path, "fail", preexec_fn=rights)
    assert "ValueError" in done.stderr
    assert path.read_bytes() == b"before, and longer\n" and os.listdir(tmp_path) == ["out"]
    done = in_new_process(WRITE_ONE, path, preexec_fn=rights)
    assert done.returncode == 0 and path.read_bytes() == b"after\n" and os.listdir(tmp_path) == ["out"], done.stderr
    after = path.stat()
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)


@needs_root
def test_another_owner_s_file_that_is_not_ours_to_write_is_refused(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before\n")
    os.chown(path, 1234, 1234)
    path.chmod(0o644)
    done = in_new_process(WRITE_ONE, path, preexec_fn=as_owner_only)
    assert done.stderr == f"{path}: cannot write: Permission denied\n" and path.read_bytes() == b"before\n"


def test_a_file_with_two_names_keeps_both(tmp_path):
    path, other = tmp_path / "out", tmp_path / "other"
    path.write_bytes(b"before, and longer")
    os.link(path, other)
    with pytest.raises(ValueError):
        with Output(str(path)) as output:
            output.write(b"half")
            raise ValueError
    assert other.read_bytes() == b"before, and longer"
    write(path, b"after")
    assert path.samefile(other) and other.read_bytes() == b"after" and sorted(os.listdir(tmp_path)) == ["other", "out"]


def test_extended_attributes_stay(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"before")
    try:
        os.setxattr(path, "user.origin", b"here")
    except OSError as error:
        pytest.skip(f"no extended attributes here: {error}")
    write(path, b"after")
    assert path.read_bytes() == b"after"
    assert os.getxattr(path, "user.origin") == b"here" and os.listdir(tmp_path) == ["out"]
