"""Faults of outputs: a table of them and of the files left on the disk, for everything that writes a file.
The previous file stays, or the new one is whole."""

import ctypes
import os
import random
import signal
import stat

import pytest

from support import forked
from support.messages import cases, table
from support.paths import GOLDEN, PROGRAM
from support.processes import outcome
from support.system_faults import SystemFaults

#: Command lines that read `model`, `rows` and `exact`, and write a file, the last word.
WRITERS = {name: [{"PROGRAM": PROGRAM}.get(word, word) for word in line.split()] for name, line in cases("writers")}


def as_owner_only():
    """In a new process before exec: leave an owner's rights only. Drops CAP_CHOWN, CAP_DAC_OVERRIDE,
    CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID."""
    if os.geteuid() == 0:
        drop = ctypes.CDLL(None, use_errno=True).prctl
        for capability in range(5):
            assert drop(24, capability, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())


#: Words of faults.txt that prepare the folder. Others: CALL=FAULT, a call of the system that fails so; WORD->OTHER, in
#: the command line; `without`, `empty` or `short`, of the previous file; `owner`, an owner's rights only; `stays`, the
#: output is the same file as before; `log:`, the actions on files.
PREPARATIONS = {
    "leftover": lambda folder: (folder / ".out.fastsvm-0.tmp").write_bytes(CONTENTS["HALF"]),
    "read_only": lambda folder: (folder / "out").chmod(0o444),
    "closed": lambda folder: folder.chmod(0o555),
    "hard_link": lambda folder: os.link(folder / "out", folder / "other"),
    "link_to_file": lambda folder: ((folder / "folder" / "file").touch(), (folder / "out").symlink_to("folder/file")),
    "link_to_nothing": lambda folder: (folder / "out").symlink_to("folder/new"),
    "link_to_device": lambda folder: (folder / "out").symlink_to("/dev/null"),
    "link_to_model": lambda folder: (folder / "alias").symlink_to("model"),
    "chain": lambda folder: (folder / "chain").symlink_to(folder / "out"),
    "loop": lambda folder: (folder / "loop").symlink_to("loop"),
    "dangling": lambda folder: (folder / "out").symlink_to("nowhere/out"),
    "planted": lambda folder: (
        (folder / "folder" / "file").write_bytes(CONTENTS["OLD"]),
        (folder / ".out.fastsvm-0.tmp").symlink_to("folder/file"),
    ),
    "alias": lambda folder: os.link(folder / "model", folder / "alias"),
}
PREVIOUS = {"without": None, "empty": b"", "short": b"1\n"}
#: What files have, in faults.txt.
CONTENTS = {"OLD": b"before, and longer than an answer\n" * 300, "HALF": b"half", "EMPTY": b"", "SHORT": b"1\n"}


GIVEN = ("model", "rows", "half", "bad", "empty", "folder")


@pytest.fixture(scope="module")
def system_faults(tmp_path_factory):
    return SystemFaults(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def inputs():
    """name -> content"""
    rng = random.Random(1)
    rows = "".join(
        f"{rng.choice((1, -1))} " + " ".join(f"{index}:{rng.gauss(0, 1):.3f}" for index in (1, 2, 4, 7, 8)) + "\n"
        for _ in range(300)
    )
    rows, model = rows.encode(), (GOLDEN / "c_svc.model").read_bytes()
    return {"model": model, "rows": rows, "half": rows + b"foo\n", "bad": b"foo\n", "empty": b""}


@pytest.fixture(scope="module")
def results(inputs, tmp_path_factory):
    """results(writer) is what it writes where nothing goes wrong."""
    found = {}

    def result(writer):
        if writer not in found:
            folder = tmp_path_factory.mktemp("result")
            _fill(folder, inputs)
            assert _run(WRITERS[writer], folder).returncode == 0
            found[writer] = (folder / "out").read_bytes()
        return found[writer]

    return result


def _fill(folder, inputs):
    for name, content in inputs.items():
        (folder / name).write_bytes(content)


def _run(words, folder, **options):
    if words[0] == PROGRAM:
        return outcome(words, cwd=folder, **options)
    options.pop("preexec_fn", None)
    return forked.fastsvm(words, cwd=folder, text=True, **options)


def _left(folder):
    """name -> content of everything in the folder that is no input."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name not in GIVEN:
            found[name] = "LINK" if path.is_symlink() else path.read_bytes()
    return found


def check(writer, fault, folder, inputs, results, system_faults=None, **more):
    """fault: a line of faults.txt. more: other preparations."""
    _, first, message, left = fault
    first, preparations = first.split(), {**PREPARATIONS, **more}
    _fill(folder, inputs)
    (folder / "folder").mkdir(exist_ok=True)
    previous = next((PREVIOUS[word] for word in first if word in PREVIOUS), CONTENTS["OLD"])
    if previous is not None:
        (folder / "out").write_bytes(previous)
    for word in first:
        preparations.get(word, lambda folder: None)(folder)
    system = dict(word.split("=") for word in first if "=" in word)
    options = {"env": system_faults.environment(**system)} if system else {}
    other = dict(word.split("->") for word in first if "->" in word)
    before = os.stat(folder / "out") if previous is not None else None
    try:
        words = [other.get(word, word) for word in WRITERS[writer]]
        done = _run(words, folder, preexec_fn=as_owner_only if "owner" in first else None, **options)
    finally:
        folder.chmod(0o755)
    failed, killed = message not in ("-", "killed"), message == "killed"
    assert done.returncode == (-signal.SIGKILL if killed else failed), (fault, done.stderr)
    assert done.stderr.count("\n") == failed, (fault, done.stderr)
    assert done.stderr.startswith(f"Error: {message.format(folder)}" if failed else ""), (fault, done.stderr)
    contents = {**CONTENTS, "NEW": results(writer), "MODEL": inputs["model"]}
    expected = dict(word.split("=") for word in left.split() if word != "nothing")
    found = _left(folder)
    assert found.keys() == expected.keys(), fault
    for name, content in expected.items():
        assert content == "ANY" or found[name] == ("LINK" if content == "LINK" else contents[content]), (fault, name)
    assert (folder / "model").read_bytes() == inputs["model"]
    if killed:  # the next run removes what this one left
        assert _run(words, folder).returncode == 0 and _left(folder) == {"out": contents["NEW"]}
    assert "stays" not in first or os.path.samestat(before, os.stat(folder / "out"))
    for log in [word.removeprefix("log:") for word in first if word.startswith("log:")]:
        events = [event.split(",")[0].replace(" ", "-") for event in system_faults.log]
        # Without its lock, another process takes the file for a dead one's.
        assert events == log.split(",") and "rename, locked" in system_faults.log


@pytest.mark.parametrize("fault", table("faults.txt", "of the system"), ids=lambda fault: fault[0])
def test_the_previous_file_stays_or_the_new_one_is_whole(tmp_path, inputs, results, system_faults, fault):
    check("program", fault, tmp_path, inputs, results, system_faults)


@pytest.mark.full(few=2)
@pytest.mark.parametrize("writer", WRITERS)
def test_each_writer_looks_at_its_output_first_and_keeps_it_when_it_fails(tmp_path, inputs, results, writer):
    for fault in table("faults.txt", "of each writer"):
        if "rows->half" not in fault[1] or "rows" in WRITERS[writer]:
            (tmp_path / fault[0]).mkdir()
            check(writer, fault, tmp_path / fault[0], inputs, results)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("writer", list(WRITERS)[1:])
def test_each_writer_meets_a_full_disk_and_death(tmp_path, inputs, results, system_faults, writer):
    for fault in table("faults.txt", "of the system"):
        if fault[0] in ("a full disk", "killed before the rename"):
            (tmp_path / fault[0]).mkdir()
            check(writer, fault, tmp_path / fault[0], inputs, results, system_faults)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize(
    "rights, owner, group, mode",
    [("", 1234, 1234, 0o666), ("owner", -1, 1234, 0o664), ("owner", 1234, -1, 0o620)],
)
def test_another_owner_s_file_stays_theirs(tmp_path, inputs, results, rights, owner, group, mode):
    def given_away(folder):
        os.chown(folder / "out", owner, group)
        (folder / "out").chmod(mode)

    for name, first, *more in table("faults.txt", "of another owner"):
        fault = (name, f"{first} {rights}", *more)
        check("program", fault, tmp_path, inputs, results, given_away=given_away)
    found = (tmp_path / "out").stat()
    assert (found.st_uid, found.st_gid) == (max(owner, 0), max(group, 0)) and stat.S_IMODE(found.st_mode) == mode
    os.chown(tmp_path / "out", 1234, 1234)
    (tmp_path / "out").chmod(0o644)
    done = _run(WRITERS["program"], tmp_path, preexec_fn=as_owner_only)
    assert done.stderr == "Error: out: cannot write: Permission denied\n"
