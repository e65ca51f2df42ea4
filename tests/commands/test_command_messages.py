"""Every line of the first sections of messages.txt: exit code, message, and files as they were."""

import gzip
import os
import shlex

import pytest

from support.bad_rows import PRECOMPUTED
from support.forked import fastsvm
from support.messages import cases, sentences
from support.paths import GOLDEN

SECTIONS = ("files", "outputs", "hints", "ranges", "options")
ROWS = "1 1:0.5 2:-0.25 4:1 7:0.125 8:-0.75\n-1 2:0.3 7:-0.6\n" * 10
MODELS = dict(cases("golden files that messages name"))
#: Of svm-predict.
NOTE = "Model supports probability estimates, but disabled in prediction.\n"
#: Its expansions overflow.
OVERFLOWING = (
    "svm_type c_svc\nkernel_type {0}\nnr_class 2\ntotal_sv 4\nrho 0.1\nlabel 1 -1\nnr_sv 2 2\nSV\n"
    "1 1:{1} 2:0.5\n0.5 1:1\n-1 1:2 2:1\n-0.5 1:-{1}\n"
)
TEXTS = {
    **dict(cases("files that messages name")),
    "rows": ROWS,
    "rows.svg": ROWS,
    "bare": ROWS.replace("-1 ", "").replace("1 1:", "1:"),
    "commented": f"# rows\n{ROWS}",
    # a line too long to examine
    "wide.csv": (",".join(["1", *["0.12345"] * 2000]) + "\n") * 2,
    "uneven": "x\n0 1\n1 0 1\n2 0 3\n" + "".join(f"{i} 0 1\n" for i in range(3, 9)),
    "far": "x\n0 1\n1 1e12 1000000000010\n" + "".join(f"{i} 0 1\n" for i in range(2, 99)),
    "huge": OVERFLOWING.format("rbf\ngamma 0.5", "1e160"),
    "huge.linear": OVERFLOWING.format("linear", "1e160"),
    "flat": OVERFLOWING.format("rbf\ngamma 1e-300", "1e308"),
    "precomputed": PRECOMPUTED,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("messages")
    for name, golden in MODELS.items():
        (folder / name).write_bytes((GOLDEN / golden).read_bytes())
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (folder / "rows.gz").write_bytes(gzip.compress(ROWS.encode()))
    (folder / "m.gz").write_bytes(gzip.compress((folder / "m").read_bytes()))
    for kernel in ("linear", "sigmoid"):
        (folder / kernel).write_text((folder / "m").read_text().replace("rbf", f"{kernel}\ncoef0 0", 1))
    (folder / "folder").mkdir()
    (folder / "linked.approx").symlink_to("linked")
    return folder


def states(folder):
    return {each.name: (each.stat().st_size, each.stat().st_mtime_ns) for each in os.scandir(folder)}


@pytest.mark.full(few=25)
@pytest.mark.parametrize("words, code, message", [case for section in SECTIONS for case in sentences(section)])
def test_the_last_line_says_what_is_wrong_and_no_file_changes(folder, words, code, message):
    before = states(folder)
    done = fastsvm(shlex.split(words), cwd=folder, text=True)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == int(code) and last.startswith("Error: ") and done.stderr.count("Error: ") == 1, done
    assert last == message if message.startswith("Error: ") else message in last, done
    # bench shows its table with the error in it.
    assert done.stdout in ("", NOTE) or "--runs 1" in words, done
    assert states(folder) == before
