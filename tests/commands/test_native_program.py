"""fastsvm-predict, the native program: lines, messages and exit codes of `fastsvm predict`."""

import gzip
import os
import shutil
import subprocess
import sys

import pytest

from support.paths import GOLDEN, PROGRAM
from support.processes import PATIENCE, wait_until

#: Else, the core predicts for both (test_both_ways.py).
BY_CLICK = "from fastsvm_cli import start; start._predicted = lambda: False; start.run()"
MODELS = sorted(
    str(path.relative_to(GOLDEN))
    for path in GOLDEN.rglob("*")
    if path.is_file() and path.read_bytes()[:200].startswith((b"svm_type", b"fastsvm_model"))
)


def run(words, folder, **options):
    done = subprocess.run(words, cwd=folder, capture_output=True, timeout=PATIENCE, **options)
    assert b"Traceback" not in done.stderr
    return done


def both(folder, *words, output="out", **options):
    """(exit code, standard output, standard error, output file or None), the same for both programs; but `fastsvm
    predict` may add to an error, or to its hint."""
    found = []
    for program in ([PROGRAM], [sys.executable, "-c", BY_CLICK, "predict"]):
        target = folder / output
        if target.is_file() and output not in words[:-1]:
            target.unlink()
        done = run([*map(str, program), *words], folder, **options)
        found.append((done.returncode, done.stdout, done.stderr, target.read_bytes() if target.is_file() else None))
    ours, theirs = found
    if ours[0] == 1 and theirs[2].startswith((ours[2].rstrip(b"\n") + b"; ", ours[2].rstrip(b"\n") + b": ")):
        theirs = (*theirs[:2], ours[2], theirs[3])
    assert ours == theirs
    return ours


@pytest.fixture
def folder(tmp_path):
    """A folder with `rows`, an `exact` model and its `compiled` one."""
    (tmp_path / "rows").write_bytes((GOLDEN / "data").read_bytes() + b"\n")
    shutil.copy(GOLDEN / "c_svc.model", tmp_path / "exact")
    shutil.copy(GOLDEN / "version2" / "c_svc-certified.approx", tmp_path / "compiled")
    return tmp_path


@pytest.mark.full(few=6)
@pytest.mark.parametrize("options", [(), ("-b", "1"), ("--values",), ("-q", "--threads", "1")], ids=" ".join)
@pytest.mark.parametrize("name", MODELS)
def test_the_lines_of_every_kind_of_model(tmp_path, name, options):
    both(tmp_path, *options, str(GOLDEN / "data"), str(GOLDEN / name), "out")


@pytest.mark.full(few=3)
@pytest.mark.parametrize("name", MODELS)
def test_warnings_of_rows_of_another_data_set(tmp_path, name):
    for far in b"99999:1", b"0:1", b"":
        (tmp_path / "far").write_bytes(b"1 1:1\n" * 9 + b"1 " + far + b"\n" + (b"7 " + far + b"\n") * 30)
        both(tmp_path, "far", str(GOLDEN / name), "out")


def test_many_blocks_on_several_threads(folder):
    rows = (folder / "rows").read_bytes()
    (folder / "many").write_bytes(rows * (3_000_000 // len(rows)))
    for threads in "1", "2", "5":
        code, _, _, written = both(folder, "--threads", threads, "many", "compiled", "out")
        assert code == 0 and len(written.splitlines()) == (folder / "many").read_bytes().count(b"\n")


def test_exact(folder):
    code, out, err, written = both(folder, "--exact", "exact", "rows", "compiled", "out")
    assert code == 0 and b"Accuracy" in out and b"Proven: " in err
    assert written == run([PROGRAM, "-q", "rows", "exact", "-"], folder).stdout
    _, _, err, _ = both(folder, "--exact", "exact", "rows", str(GOLDEN / "version2" / "c_svc.reduced"), "out")
    assert b"3 evaluated exactly, 0 of them" in err
    (folder / "other").write_bytes((folder / "exact").read_bytes().replace(b"gamma", b"gamma "))
    code, _, err, written = both(folder, "--exact", "other", "rows", "compiled", "out")
    assert code == 1 and b"their fingerprints differ" in err and written is None
    assert both(folder, "--exact", "exact", "rows", "exact", "out")[0] == 1  # no certificates
    assert both(folder, "--exact", "missing", "rows", "compiled", "out")[0] == 1


@pytest.mark.parametrize(
    "text, code",
    [
        (b"", 0),
        (b"1 1:1\n1 2:x\n", 1),
        (b"1 1:1\n\n", 1),
        (b"1 3:1 2:1\n", 1),
        (b"1 1:1\r\n-1 2:1", 0),
        (b"# a comment\n1 qid:3 1:1 # another\n", 0),
        (b"1:1 2:1\n", 1),
        (b"1 1:1e999\n", 1),
        (b"5 1:1\n5 1:2\n", 0),  # labels unknown to the model
        (b"\xff\xfe1 1:1\n", 1),
        (b"1 1:1\0\n", 1),
    ],
)
def test_rows_good_and_bad(folder, text, code):
    (folder / "some").write_bytes(text)
    (folder / "out").write_text("previous")
    for words in (), ("-q",), ("-b", "1"):
        found = both(folder, *words, "some", "exact", "out")
        assert found[0] == code


def test_standard_input_and_output(folder):
    rows = (folder / "rows").read_bytes()
    whole = both(folder, "rows", "exact", "out")[3]
    for words in ("-", "exact"), ("-", "exact", "-"), ("-", "exact", "/dev/stdout"):
        code, out, err, _ = both(folder, *words, input=rows)
        assert code == 0 and out == whole and b"Accuracy" in err
    assert both(folder, "rows", "-", "out", input=(folder / "exact").read_bytes())[3] == whole
    assert b"Warning: no row was predicted.\n" in both(folder, "-", "exact", "out", input=b"")[2]


WORDS = (
    "missing exact out|rows missing out|rows rows out|exact rows out|exact exact out|"
    "rows exact rows|rows exact ./rows|rows exact exact|rows exact no/folder/out|rows exact .|"
    "rows . out|. exact out|rows empty out|-b 1 rows without out|rows unknown-key out|"
    "rows exact /dev/full"
)


@pytest.mark.parametrize(
    "words", [*(tuple(each.split()) for each in WORDS.split("|")), ("rows", "exact", "")], ids=" ".join
)
def test_what_cannot_be_done(folder, words):
    """Messages are the same, and so are hints without an option that fastsvm-predict lacks."""
    (folder / "empty").write_bytes(b"")
    (folder / "unknown-key").write_bytes((GOLDEN / "nu_svr.model").read_bytes().replace(b"probA", b"rhoA"))
    text = (GOLDEN / "c_svc.model").read_bytes().splitlines(keepends=True)
    (folder / "without").write_bytes(b"".join(line for line in text if not line.startswith(b"prob")))
    before = (folder / "rows").read_bytes()
    code, out, err, _ = both(folder, *words, output="other")
    assert code == 1 and err.startswith(b"Error: ") and err.count(b"\n") == 1
    assert words[0] != "missing" or not out  # a missing test file is named before anything is printed
    assert err.endswith(b"; the test file comes before the model\n") == (words[:2] == ("exact", "rows"))
    assert (folder / "rows").read_bytes() == before


def test_predictions_replace_no_model(folder):
    """They replace earlier predictions, also with probabilities, whose first word is like a model's."""
    before = (folder / "exact").read_bytes()
    (folder / "other").write_bytes(before)
    code, _, err, _ = both(folder, "rows", "exact", "other")
    assert code == 1 and err.startswith(b"Error: other: a model found, ") and (folder / "other").read_bytes() == before
    for _ in range(2):
        assert both(folder, "-b", "1", "rows", "exact", "out", output="none")[0] == 0


@pytest.mark.full
@pytest.mark.parametrize("stored", [slice(None), slice(0, -5), slice(0, 3)])
def test_gzip(folder, stored):
    packed = gzip.compress((folder / "rows").read_bytes())
    (folder / "rows.gz").write_bytes(packed[stored])
    (folder / "twice.gz").write_bytes(packed + b"\0\0" + packed)
    (folder / "exact.gz").write_bytes(gzip.compress((folder / "exact").read_bytes()))
    for words in ("rows.gz", "exact", "out"), ("twice.gz", "exact.gz", "out"):
        code, _, err, _ = both(folder, *words)
        assert code in (0, 1) and (code == 0 or b"gzip" in err or b":1: " in err)


def test_other_compression_is_refused_by_name(folder):
    import bz2

    (folder / "rows.bz2").write_bytes(bz2.compress((folder / "rows").read_bytes()))
    done = run([PROGRAM, "rows.bz2", "exact", "out"], folder)
    assert done.returncode == 1 and b"bzip2 data found" in done.stderr and b"bzcat rows.bz2 |" in done.stderr
    assert not (folder / "out").exists()


def test_the_previous_output_stays_and_keeps_its_mode(folder):
    output = folder / "out"
    output.write_text("previous")
    output.chmod(0o640)
    (folder / "bad").write_bytes(b"1 1:1\nx\n")
    assert run([PROGRAM, "bad", "exact", "out"], folder).returncode == 1 and output.read_text() == "previous"
    assert run([PROGRAM, "-q", "rows", "exact", "out"], folder).returncode == 0
    assert output.read_bytes().count(b"\n") == (folder / "rows").read_bytes().count(b"\n")
    assert output.stat().st_mode & 0o777 == 0o640
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_a_link_and_a_second_name(folder):
    (folder / "target").write_text("previous")
    (folder / "link").symlink_to("target")
    os.link(folder / "target", folder / "name")
    assert run([PROGRAM, "-q", "rows", "exact", "link"], folder).returncode == 0
    assert (folder / "link").is_symlink() and (folder / "name").read_bytes() == (folder / "target").read_bytes()
    assert (folder / "target").read_bytes().count(b"\n") == (folder / "rows").read_bytes().count(b"\n")


def test_nobody_else_reads_what_becomes_of_a_file_that_is_its_owners_alone(folder):
    """A file with a second name is overwritten at the end."""
    (folder / "out").write_text("previous")
    (folder / "out").chmod(0o600)
    os.link(folder / "out", folder / "name")
    child = subprocess.Popen([PROGRAM, "-q", "-", "exact", "out"], cwd=folder, stdin=subprocess.PIPE, umask=0)
    assert wait_until((folder / ".out.fastsvm-0.tmp").exists)
    assert (folder / ".out.fastsvm-0.tmp").stat().st_mode & 0o777 == 0o600
    child.stdin.close()
    assert child.wait(PATIENCE) == 0 and (folder / "out").stat().st_mode & 0o777 == 0o600


def test_told_to_stop(folder):
    import signal

    child = subprocess.Popen([PROGRAM, "-", "exact", "out"], cwd=folder, stdin=subprocess.PIPE)
    wait_until(lambda: any(name.endswith(".tmp") for name in os.listdir(folder)))
    child.send_signal(signal.SIGTERM)
    assert child.wait(PATIENCE) == 128 + signal.SIGTERM
    child.stdin.close()
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]


def test_rows_are_answered_as_they_arrive(folder):
    child = subprocess.Popen([PROGRAM, "-q", "-", "exact"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(3):
        child.stdin.write(b"1 1:1\n")
        child.stdin.flush()
        assert child.stdout.readline().strip() in (b"1", b"-1")
    child.stdin.close()
    assert child.wait(PATIENCE) == 0


def test_a_reader_that_goes_has_what_it_requested(folder):
    lines = (folder / "rows").read_bytes() * 2000
    (folder / "many").write_bytes(lines)
    done = run(["sh", "-c", f"{PROGRAM} -q many exact - | head -n 1"], folder)
    assert done.stderr == b"" and done.stdout.count(b"\n") == 1


def test_closed_streams(folder):
    for close, code in (("<&-", 1), (">&-", 0), ("2>&-", 0)):
        words = "- exact out" if close == "<&-" else "rows exact out"
        done = run(["sh", "-c", f"{PROGRAM} {words} {close}"], folder)
        assert done.returncode == code, (close, done)


@pytest.mark.parametrize(
    "words, why",
    [
        ((), "name the files"),
        (("rows",), "name the model file, too"),
        (("a", "b", "c", "d"), "'d' found, expected three files at most"),
        (("-b", "2", "rows", "exact"), "-b: '2' found, expected 0 or 1"),
        (("--threads", "x", "rows", "exact"), "--threads: 'x' found"),
        (("--exact",), "--exact needs a value"),
        (("--dask", "here", "rows", "exact"), "no such option: --dask (fastsvm predict has more)"),
        (("-", "-", "out"), "only one of the files can be standard input"),
    ],
)
def test_wrong_usage(folder, words, why):
    done = run([PROGRAM, *words], folder)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.decode().count("\n") == 1
    assert why in done.stderr.decode() and "fastsvm-predict --help" in done.stderr.decode()


def test_help_and_version(folder):
    from fastsvm_cli import __version__

    done = run([PROGRAM, "--help"], folder)
    assert done.returncode == 0 and done.stdout.startswith(b"Usage: fastsvm-predict [options] test_file model_file")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert run([PROGRAM, "--version"], folder).stdout == f"fastsvm-predict {__version__}\n".encode()


def test_the_instruction_set_can_be_chosen(folder):
    environment = {**os.environ, "FASTSVM_INSTRUCTIONS": "none"}
    code, _, err, _ = both(folder, "rows", "exact", "out", env=environment)
    assert code == 2 and b"FASTSVM_INSTRUCTIONS: 'none' found" in err


@pytest.mark.skipif(not shutil.which("svm-predict"), reason="no svm-predict")
def test_under_the_name_svm_predict(folder):
    """Usage, options and exit codes are LIBSVM's."""
    (folder / "svm-predict").symlink_to(PROGRAM)
    ours, theirs = str(folder / "svm-predict"), shutil.which("svm-predict")
    for words in (), ("missing",), ("rows", "exact"), ("-x", "1", "rows", "exact", "out"), ("-q",):
        mine, its = run([ours, *words], folder), run([theirs, *words], folder)
        assert mine.returncode == its.returncode == 1
        # Releases of LIBSVM differ in the usage of -b.
        first = [
            done.stdout.replace(b"Usage: " + theirs.encode(), b"Usage: svm-predict").split(b"-b")[0]
            for done in (mine, its)
        ]
        assert first[0] == first[1] and mine.stderr.splitlines()[:1] == its.stderr.splitlines()[:1]
    (folder / "rows").write_bytes(b"1 1:0.5 2:-0.25\n-1 2:0.3 7:-0.6\n1\n")
    for words in ((), ("-q",), ("-b", "1"), ("-b", "0", "-q")):
        mine, its = (run([each, *words, "rows", "exact", name], folder) for each, name in ((ours, "a"), (theirs, "b")))
        assert mine.returncode == its.returncode == 0 and mine.stdout.split()[:3] == its.stdout.split()[:3]
        assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
