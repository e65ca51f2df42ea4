"""What can go wrong with an output: a table of faults and what is left on the disk, for everything that writes a file.
The previous file stays, or the new one is whole."""

import ctypes
import os
import random
import stat
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from support import forked
from support.paths import GOLDEN, PROGRAM
from support.processes import outcome
from support.system_faults import SystemFaults

OLD, NEW = b"before, and longer than an answer\n" * 300, b"the result of this writer"
TEMPORARY = ".out.fastsvm-0.tmp"

#: Command lines that read `model`, `rows` and `exact`, and write a file, the last word.
WRITERS = {
    "program": [PROGRAM, "-q", "rows", "model", "out"],
    "predict": ["predict", "-q", "rows", "model", "out"],
    "predict in Python": ["predict", "-q", "--max-line", "9", "rows", "model", "out"],
    "approx": ["approx", "-q", "model", "out"],
    "reduce": ["reduce", "-q", "--vectors", "3", "--no-finish", "model", "out"],
    "order": ["order", "-q", "model", "out"],
    "border": ["border", "-q", "--samples", "4", "model", "out"],
    "cascade": ["cascade", "-q", "--data", "rows", "--rows", "1000000", "--budget", "10%", "model", "out"],
    "export": ["export", "-q", "--to", "onnx", "model", "out"],
}


def as_owner_only():
    """In a new process before exec: leave an owner's rights only. Drops CAP_CHOWN, CAP_DAC_OVERRIDE,
    CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID."""
    if os.geteuid() == 0:
        drop = ctypes.CDLL(None, use_errno=True).prctl
        for capability in range(5):
            assert drop(24, capability, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())


@dataclass(frozen=True)
class Fault:
    """message: of standard error, after `Error: `. before: what `out` has. prepare: then called with the folder.
    system: call -> how it fails. left: name -> content; by default OLD where the writer fails, else NEW. stays: the
    output is the same file as before. log: actions on files."""

    message: str = ""
    before: "bytes | None" = OLD
    prepare: "Callable[[Path], object]" = lambda folder: None
    system: "dict[str, str]" = field(default_factory=dict)
    left: "dict[str, object] | None" = None
    stays: bool = False
    rights: "Callable | None" = None
    log: "list[str] | None" = None
    words: "dict[str, str]" = field(default_factory=dict)  # replaced in the command line


def linked(folder):
    os.link(folder / "out", folder / "other")


def link_to(target):
    def prepare(folder):
        (folder / "folder" / "target").write_bytes(OLD)
        (folder / "out").symlink_to(target)

    return prepare


def folder_without_rights(folder):
    folder.chmod(0o555)


MOUNTED = {"rename": "EBUSY"}  # a rename cannot replace a mount point
NO_SPACE, DENIED = "out: No space left on device", "out: cannot write: Permission denied"
REPLACES = "; name another output file"
NO_FOLDER = "No such file or directory: the output's directory must exist"

#: Faults of the file system, which the core meets in the same way whoever writes.
SYSTEM = {
    "none": Fault(),
    "a new file": Fault(before=None),
    "a full disk": Fault(NO_SPACE, system={"write": "ENOSPC"}),
    "short writes": Fault(system={"write": "short"}),
    "no locks": Fault(
        prepare=lambda folder: (folder / TEMPORARY).write_bytes(b"half"),
        system={"flock": "ENOLCK"},
        left={"out": NEW, TEMPORARY: b"half"},
    ),
    "another process takes a new file for one of a dead process": Fault(system={"flock": "late"}),
    "a mount point": Fault(system=MOUNTED, stays=True),
    "an empty mount point": Fault(before=b"", system=MOUNTED, stays=True),
    "a mount point on a full disk": Fault(NO_SPACE, system={**MOUNTED, "posix_fallocate": "ENOSPC"}),
    "a small mount point on a full disk": Fault(
        NO_SPACE, before=b"1\n", system={**MOUNTED, "posix_fallocate": "ENOSPC"}, left={"out": b"1\n"}
    ),
    "a mount point where nothing can be reserved": Fault(system={**MOUNTED, "posix_fallocate": "EOPNOTSUPP"}),
    "a copy that fails half-way": Fault(
        f"out: Input/output error; the result is in {{folder}}/{TEMPORARY}",
        system={**MOUNTED, "pwrite": "EIO"},
        left={"out": OLD, TEMPORARY: NEW},
    ),
    # A result that took long is on the disk before its name; a previous one goes only for one that is.
    "a quick new file": Fault(before=None, system={"clock": "still"}, log=["rename"]),
    "a quick file over an empty one": Fault(before=b"", system={"clock": "still"}, log=["rename"]),
    "a quick replacement": Fault(system={"clock": "still"}, log=["sync file", "rename"]),
    "a slow new file": Fault(before=None, system={"clock": "fast"}, log=["sync file", "rename", "sync folder"]),
    "a slow replacement": Fault(system={"clock": "fast"}, log=["sync file", "rename", "sync folder"]),
    "a failing sync": Fault("out: Input/output error", system={"fsync": "EIO"}),
    # Rights and owners.
    "a read-only file": Fault(DENIED, prepare=lambda folder: (folder / "out").chmod(0o444), rights=as_owner_only),
    "a folder without rights": Fault(prepare=folder_without_rights, rights=as_owner_only, stays=True),
    "a new file in a folder without rights": Fault(
        DENIED, before=None, prepare=folder_without_rights, rights=as_owner_only, left={}
    ),
    "no answers in a folder without rights": Fault(
        prepare=folder_without_rights, rights=as_owner_only, stays=True, words={"rows": "empty"}, left={"out": b""}
    ),
    "bad rows in a folder without rights": Fault(
        "bad:1: ", prepare=folder_without_rights, rights=as_owner_only, stays=True, words={"rows": "bad"}
    ),
}

#: Faults that each writer must meet: it looks at its output first, and writes it through the core.
OF_EACH = {
    "none": Fault(),
    "a new file": Fault(before=None),
    "two names": Fault(prepare=linked, left={"out": NEW, "other": NEW}, stays=True),
    "a link": Fault(
        before=None, prepare=link_to("folder/target"), left={"out": "link to folder/target", "folder/target": NEW}
    ),
    "a link to nothing yet": Fault(
        before=None,
        prepare=link_to("folder/new"),
        left={"out": "link to folder/new", "folder/new": NEW, "folder/target": OLD},
    ),
    "a device": Fault(before=None, words={"out": "/dev/null"}, left={}),
    "an invalid model": Fault("bad:1: ", words={"model": "bad"}),
    "a bad row after others": Fault("half:301: ", words={"rows": "half"}),
    "a bad row and two names": Fault(
        "half:301: ", prepare=linked, left={"out": OLD, "other": OLD}, words={"rows": "half"}
    ),
    "no such model": Fault("nothing: No such file or directory", words={"model": "nothing"}),
    "a folder": Fault("folder: Is a directory", before=None, words={"out": "folder"}, left={}),
    "no folder": Fault(f"nowhere/new: {NO_FOLDER}", words={"out": "nowhere/new"}),
    "the model": Fault(f"model: the output would replace the input{REPLACES}", words={"out": "model"}),
    "another name of the model": Fault(
        f"alias: the output would replace model, which is the same file{REPLACES}",
        prepare=lambda folder: os.link(folder / "model", folder / "alias"),
        words={"out": "alias"},
        left={"out": OLD, "alias": None},
    ),
}
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
            found[name] = f"link to {os.readlink(path)}" if path.is_symlink() else path.read_bytes()
    return found


def check(writer, fault, folder, inputs, results, system_faults=None):
    _fill(folder, inputs)
    if fault.before is not None:
        (folder / "out").write_bytes(fault.before)
    (folder / "folder").mkdir(exist_ok=True)
    fault.prepare(folder)
    before = os.stat(folder / "out") if (folder / "out").exists() else None
    options = {"env": system_faults.environment(**fault.system)} if fault.system else {}
    try:
        words = [fault.words.get(word, word) for word in WRITERS[writer]]
        done = _run(words, folder, preexec_fn=fault.rights, **options)
    finally:
        folder.chmod(0o755)
    expected = fault.left
    if expected is None:
        expected = {} if fault.message and fault.before is None else {"out": (fault.message and OLD) or NEW}
    new = results(writer)
    expected = {
        name: new if content is NEW else inputs["model"] if content is None else content
        for name, content in expected.items()
    }
    assert done.returncode == (1 if fault.message else 0), done.stderr
    if fault.message:
        assert f"Error: {fault.message.format(folder=folder)}" in done.stderr and done.stderr.count("\n") == 1
    else:
        assert done.stderr == ""
    assert _left(folder) == expected and (folder / "model").read_bytes() == inputs["model"]
    if fault.stays:
        assert os.path.samestat(before, os.stat(folder / "out"))
    if fault.log is not None:
        assert [event.split(",")[0] for event in system_faults.log] == fault.log
        assert "rename, locked" in system_faults.log  # or another process takes the file for a dead one's


@pytest.mark.parametrize("fault", SYSTEM)
def test_the_previous_file_stays_or_the_new_one_is_whole(tmp_path, inputs, results, system_faults, fault):
    check("program", SYSTEM[fault], tmp_path, inputs, results, system_faults)


@pytest.mark.parametrize("writer", WRITERS)
def test_each_writer_looks_at_its_output_first_and_keeps_it_when_it_fails(tmp_path, inputs, results, writer):
    for name, fault in OF_EACH.items():
        if set(fault.words) <= set(WRITERS[writer]):
            (tmp_path / name).mkdir()
            check(writer, fault, tmp_path / name, inputs, results)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("writer", list(WRITERS)[1:])
def test_each_writer_meets_a_full_disk(tmp_path, inputs, results, system_faults, writer):
    check(writer, SYSTEM["a full disk"], tmp_path, inputs, results, system_faults)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize(
    "rights, owner, group, mode",
    [(None, 1234, 1234, 0o666), (as_owner_only, -1, 1234, 0o664), (as_owner_only, 1234, -1, 0o620)],
)
def test_another_owner_s_file_stays_theirs(tmp_path, inputs, results, rights, owner, group, mode):
    def given_away(folder):
        os.chown(folder / "out", owner, group)
        (folder / "out").chmod(mode)

    for fault in (Fault("half:301: ", words={"rows": "half"}), Fault()):
        check("program", replace(fault, prepare=given_away, rights=rights), tmp_path, inputs, results)
    found = (tmp_path / "out").stat()
    assert (found.st_uid, found.st_gid) == (max(owner, 0), max(group, 0)) and stat.S_IMODE(found.st_mode) == mode
    forbidden = Fault(
        DENIED,
        prepare=lambda folder: (os.chown(folder / "out", 1234, 1234), (folder / "out").chmod(0o644)),
        rights=as_owner_only,
    )
    check("program", forbidden, tmp_path, inputs, results)
