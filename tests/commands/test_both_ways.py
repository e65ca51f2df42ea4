"""`fastsvm predict` by the core, before click is imported, and by click: the same bytes."""

import bz2
import shutil
import subprocess
import sys

import pytest

from support.paths import GOLDEN
from support.processes import PATIENCE

#: At the end, `way` says whether click was loaded.
RUN = """
import os, sys
from fastsvm_cli import start

leave = os._exit
def tell(code):
    with open("way", "w") as file:
        file.write("click" if "click" in sys.modules else "core")
    leave(code)
os._exit = tell
"""
BY_CLICK = "start._predicted = lambda: False\n"


def ran(folder, words, before=""):
    """(exit code, standard output and error, output file or None), and the way. words: for the shell; `fastsvm` runs
    the command."""
    (folder / "command.py").write_text(RUN + before + "start.run()\n")
    (folder / "out").unlink(missing_ok=True)
    done = subprocess.run(
        ["bash", "-c", f'fastsvm() {{ {sys.executable} command.py predict "$@"; }}; {words}'],
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
    )
    out = (folder / "out").read_bytes() if (folder / "out").exists() else None
    return (done.returncode, done.stdout, done.stderr, out), (folder / "way").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ways")
    rows = (GOLDEN / "data").read_bytes() + b"\n"
    exact = (GOLDEN / "c_svc.model").read_bytes()
    shutil.copy(GOLDEN / "version2" / "c_svc-certified.approx", folder / "compiled")
    files = {
        "rows": rows,
        "exact": exact,
        "noted": exact + b"text\n",
        "rows.bz2": bz2.compress(rows),
        "cut.bz2": bz2.compress(rows)[:-5],
        "bad": b"1 1:1\n1 2:x\n",
        "commas": b"1,0.5\n1,2\n",
        "rows é": rows,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    return folder


@pytest.mark.parametrize(
    "words, way",
    [
        ("fastsvm rows exact out", "core"),
        ("fastsvm -q -b 1 --exact exact --threads 1 --values rows compiled", "core"),
        ("fastsvm --probability=1 --quiet rows exact -", "core"),
        ("fastsvm --exact=exact rows compiled out", "core"),
        ("cat rows | fastsvm - exact | head -n 1", "core"),
        ("cat rows.bz2 | fastsvm - exact", "core"),
        ("fastsvm rows.bz2 exact out", "core"),
        ("fastsvm rows exact out > /dev/full", "core"),
        # Errors, with their hints.
        ("fastsvm cut.bz2 exact out", "click"),
        ("fastsvm bad exact", "click"),
        ("cat commas | fastsvm -- - exact out", "click"),
        ("fastsvm commas exact", "click"),
        ("fastsvm missing exact", "click"),
        ("fastsvm folder exact", "click"),
        ("fastsvm rows exact /dev/full", "click"),
        ("fastsvm exact rows out", "click"),
        ("fastsvm rows missing", "click"),
        ("fastsvm --exact compiled rows compiled", "click"),
        ("fastsvm -b 1 rows compiled rows", "click"),
        # For click alone.
        ("fastsvm rows noted out", "click"),
        ("fastsvm 'rows é' exact out", "click"),
        ("fastsvm rows <(cat exact) out", "click"),
        ("fastsvm rows exact out <&-", "click"),
        ("fastsvm -qb1 rows exact", "click"),
        ("fastsvm -b 01 rows exact", "click"),
        ("fastsvm --unlabelled rows exact", "click"),
        ("fastsvm rows", "click"),
        ("fastsvm rows exact out --help", "click"),
    ],
)
def test_they_agree(folder, words, way):
    found, taken = ran(folder, words)
    assert taken == way, found
    assert ran(folder, words, BY_CLICK) == (found, "click")
