"""`fastsvm predict` by the core, before click is imported, `fastsvm predict` by click, and the program
`fastsvm-predict`: the same lines, messages and exit codes."""

import bz2
import gzip
import os
import shlex
import subprocess
import sys

import pytest

from fastsvm_cli import __version__
from support.damage import FILES
from support.forked import fastsvm
from support.messages import cases, table
from support.outputs import timeless
from support.paths import GOLDEN, PROGRAM
from support.processes import PATIENCE, wait_until

#: At the end, `way` says whether click was loaded.
BY_CORE = """
import os, sys
from fastsvm_cli import __main__ as start

leave = os._exit
def tell(code):
    with open("way", "w") as file:
        file.write("click" if "click" in sys.modules else "core")
    leave(code)
os._exit = tell
"""
BY_CLICK = "start._predicted = lambda: None\n"


@pytest.fixture
def folder(tmp_path):
    """Good and bad rows, an `exact` model, its `compiled` one, and others."""
    rows = (GOLDEN / "data").read_bytes() + b"\n"
    exact = (GOLDEN / "c_svc.model").read_bytes()
    files = {
        **dict(cases("files of programs")),
        "rows": rows,
        "rows é": rows,
        "far": b"1 1:1\n" * 9 + b"1 99999:1\n" + b"7 99999:1\n" * 30,
        "rows.bz2": bz2.compress(rows),
        "cut.bz2": bz2.compress(rows)[:-5],
        "rows.gz": gzip.compress(rows),
        "cut.gz": gzip.compress(rows)[:-5],
        "head.gz": gzip.compress(rows)[:3],
        "twice.gz": gzip.compress(rows) + b"\0\0" + gzip.compress(rows),
        "exact": exact,
        "exact.gz": gzip.compress(exact),
        "noted": exact + b"text\n",
        "other": exact.replace(b"gamma", b"gamma "),
        "without": b"".join(line for line in exact.splitlines(keepends=True) if not line.startswith(b"prob")),
        "unknown-key": (GOLDEN / "nu_svr.model").read_bytes().replace(b"probA", b"rhoA"),
        "compiled": (GOLDEN / "version2" / "c_svc-certified.approx").read_bytes(),
        "reduced": (GOLDEN / "version2" / "c_svc.reduced").read_bytes(),
        "by-core": f"{BY_CORE}start.run()\n".encode(),
        "by-click": f"{BY_CORE}{BY_CLICK}start.run()\n".encode(),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    return tmp_path


def shell(folder, words, program):
    """(exit code, standard output and error, output file). words: for bash; `predict` is the program."""
    (folder / "out").write_text("previous")
    command = f"exec {program}" if program == PROGRAM else f"{sys.executable} {program} predict"
    if program == "by-click" and not set(words) & set("<>;"):
        done = fastsvm(shlex.split(words), cwd=folder, by_click=True)
    else:
        done = subprocess.run(
            ["bash", "-c", f'predict() ( {command} "$@" ); {words}'],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
        )
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]
    return done.returncode, timeless(done.stdout.decode()).encode(), done.stderr, (folder / "out").read_bytes()


def assert_alike(ours, theirs):
    """theirs may add to an error, or to its hint, options that fastsvm-predict lacks."""
    error = ours[2].rstrip(b"\n")
    if ours[0] == 1 and theirs[2].startswith((error + b"; ", error + b": ")):
        theirs = (*theirs[:2], ours[2], theirs[3])
    assert ours == theirs


@pytest.mark.full(few=5)
@pytest.mark.parametrize("words, way", table("messages.txt", "programs"))
def test_they_agree(folder, words, way):
    """way: what `fastsvm predict` runs; `alone` if fastsvm-predict does not know these words or files."""
    words = f"predict {words}"
    found = shell(folder, words, "by-core")
    way, *alone = way.split()
    assert (folder / "way").read_text() == way, found
    assert shell(folder, words, "by-click") == found
    if not alone:
        assert_alike(shell(folder, words, PROGRAM), found)
    if found[0]:
        assert found[0] in (1, 2) and found[3] == b"previous" and found[2].count(b"Error: ") == 1
        hint = b"the test file comes before the model" in found[2]
        assert hint == (words.split()[1:3] in (["exact", "rows"],))


def run(words, folder, **options):
    return subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, timeout=PATIENCE, **options)


@pytest.mark.full(few=4)
@pytest.mark.parametrize("name", FILES)
def test_the_lines_of_every_kind_of_model(tmp_path, name):
    """And the warnings of rows of another data set."""
    for each, entry in {"far": b"99999:1", "zero": b"0:1"}.items():
        (tmp_path / each).write_bytes(b"1 1:1\n" * 9 + b"1 " + entry + b"\n" + (b"7 " + entry + b"\n") * 30)
    data = str(GOLDEN / "data")
    for words in ([data], ["-b", "1", data], ["--values", data], ["-q", "--threads", "1", data], ["far"], ["zero"]):
        words += [str(GOLDEN / name), "out"]
        found = []
        for each in (run, lambda words, folder: fastsvm(["predict", *words], cwd=folder, by_click=True)):
            (tmp_path / "out").write_text("previous")
            done = each(words, tmp_path)
            found.append((done.returncode, done.stdout, done.stderr, (tmp_path / "out").read_bytes()))
        assert_alike(*found)


# ---- fastsvm-predict alone


def test_many_blocks_on_several_threads(folder):
    rows = (folder / "rows").read_bytes()
    (folder / "many").write_bytes(rows * (3_000_000 // len(rows)))
    expected = fastsvm(["predict", "-q", "many", "compiled"], cwd=folder).stdout
    for threads in "1", "2", "5":
        assert run(["-q", "--threads", threads, "many", "compiled"], folder).stdout == expected
    done = subprocess.run(["sh", "-c", f"{PROGRAM} -q many exact - | head -n 1"], cwd=folder, capture_output=True)
    assert done.stderr == b"" and done.stdout.count(b"\n") == 1  # a reader that has gone


def test_an_output_keeps_its_mode_and_is_private_while_it_is_written(folder):
    """A file with a second name is overwritten at the end."""
    out, temporary = folder / "out", folder / ".out.fastsvm-0.tmp"
    out.write_text("previous")
    out.chmod(0o600)
    os.link(out, folder / "name")
    child = subprocess.Popen([PROGRAM, "-q", "-", "exact", "out"], cwd=folder, stdin=subprocess.PIPE, umask=0)
    assert wait_until(temporary.exists)
    assert temporary.stat().st_mode & 0o777 == 0o600 and out.read_text() == "previous"
    child.stdin.close()
    assert child.wait(PATIENCE) == 0 and out.stat().st_mode & 0o777 == 0o600 and out.read_text() == ""


def test_after_two_hyphens_all_words_are_files(folder):
    (folder / "-q").write_bytes((folder / "rows").read_bytes())
    done, expected = (run(words, folder) for words in (["--", "-q", "exact"], ["rows", "exact"]))
    assert done.returncode == 0 and done.stdout == expected.stdout and done.stderr == expected.stderr != b""


@pytest.mark.parametrize("words, code, why", table("messages.txt", "usage of fastsvm-predict"))
def test_wrong_usage(folder, words, code, why):
    done = run(words.split(), folder)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (int(code), b"", 1)
    assert why in done.stderr.decode() and (code == "1" or "fastsvm-predict --help" in done.stderr.decode())
    assert not (folder / "new").exists()


def test_help_and_version(tmp_path, screen):
    screen("fastsvm-predict", run(["--help"], tmp_path).stdout.decode())
    assert run(["--version"], tmp_path).stdout == f"fastsvm-predict {__version__}\n".encode()


def test_the_instruction_set_can_be_chosen(folder):
    done = run(["rows", "exact"], folder, env={**os.environ, "FASTSVM_INSTRUCTIONS": "none"})
    assert done.returncode == 2 and b"FASTSVM_INSTRUCTIONS: 'none' found" in done.stderr


def test_under_the_name_svm_predict(folder, svm_predict):
    """Usage, options and exit codes are LIBSVM's."""
    (folder / "svm-predict").symlink_to(PROGRAM)

    def both(words):
        for program in (str(folder / "svm-predict"), svm_predict):
            (folder / "out").write_text("")
            done = subprocess.run([program, *words.split()], cwd=folder, capture_output=True, timeout=PATIENCE)
            # Releases of LIBSVM differ in the usage of -b.
            usage = done.stdout.replace(b"Usage: " + svm_predict.encode(), b"Usage: svm-predict").split(b"-b")[0]
            yield done.returncode, usage, done.stderr.splitlines()[:1], (folder / "out").read_bytes()

    for words in ("", "missing", "rows exact", "-x 1 rows exact out", "-q"):
        ours, theirs = both(words)
        assert ours == theirs and ours[0] == 1
    (folder / "rows").write_bytes(b"1 1:0.5 2:-0.25\n-1 2:0.3 7:-0.6\n1\n")
    for words in ("", "-q", "-b 1", "-b 0 -q"):
        ours, theirs = both(f"{words} rows exact out")
        assert ours[0] == theirs[0] == 0 and ours[1].split()[:3] == theirs[1].split()[:3] and ours[3] == theirs[3]
