"""fastsvm bench: interrupts, closed pipes and plots."""

import json
import os
import subprocess
import sys

import pytest

from support.benching import by_name, interrupted_when
from support.paths import FASTSVM


@pytest.mark.full
def test_an_interrupt_keeps_what_was_measured(directory):
    temporary, writes = directory / "temp", set()
    temporary.mkdir()

    def have_run():
        """svm-predict and fastsvm rewrite these files in every run."""
        writes.update((path, path.stat().st_mtime_ns) for path in temporary.glob("*/*") if path.is_file())
        return len(writes) > 30

    words = "bench --runs 1000000 --max-seconds 1e9 --json rows rings.model rings.red".split()
    out, err = interrupted_when(have_run, [FASTSVM, *words], directory, TMPDIR=str(temporary))
    assert "Traceback" not in err and os.listdir(temporary) == []
    records = by_name(json.loads(out))
    assert records["exact model"]["scoring"] is None
    for name in ("exact model", "rings.red", "fastsvm, empty file"):
        assert len(records[name]["end_to_end"]["runs"]) >= 2
    assert records["rings.red"]["failed"] is None and records["rings.red"]["disagreement"] is not None


#: bench whose second method waits for an interrupt.
SLOW = """
import sys, time
from fastsvm_cli.benchmarks import chooser
compile_source = chooser.compile_source
def compiled(command, *given):
    if not command.startswith("approx"):
        open("waiting", "w").close()
        time.sleep(1000)
    return compile_source(command, *given)
chooser.compile_source = compiled
from fastsvm_cli.__main__ import run
sys.argv[0] = "fastsvm"
run()
"""


@pytest.mark.full
def test_ctrl_c_while_it_tries_prints_what_is_there(directory):
    words = [sys.executable, "-c", SLOW, "bench", "--try", "rows", "rings.model"]
    out, err = interrupted_when((directory / "waiting").exists, words, directory)
    assert err == "Interrupted: the models compared until then are shown.\n"
    assert "exact model" in out and "approx --degree" in out


@pytest.mark.full
@pytest.mark.parametrize("options, reader", [("", "head -1"), ("", "true"), ("--json", "true")])
def test_a_closed_pipe_is_not_a_crash(directory, options, reader):
    command = f"set -o pipefail; {FASTSVM} bench -q --runs 1 {options} rows rings.model 2>err | {reader}"
    done = subprocess.run(["bash", "-c", command], cwd=directory, capture_output=True)
    assert (directory / "err").read_text() == "" and done.returncode == 0


@pytest.mark.full
def test_plot_names_every_method(bench, directory):
    """Also a name that looks like a formula. test_bench_figure.py tests the drawing."""
    pytest.importorskip("matplotlib")
    (directory / r"a$\frac$b").symlink_to("rings.red")
    bench("-q --plot p.svg rows rings.model rings.cert rings.border", r"a$\frac$b")
    svg = (directory / "p.svg").read_text()
    assert "<svg" in svg and svg.rstrip().endswith("</svg>")
    for name in ("exact model", "degree 2", "reduce", "border", "rows / s, end to end", "labels that differ"):
        assert name in svg or name.replace("-", "&#45;") in svg, name


@pytest.mark.full
def test_a_figure_leaves_json_and_the_temporary_folder_alone(bench, directory):
    """Nothing is said of a home directory that cannot be written."""
    pytest.importorskip("matplotlib")
    before = set(os.listdir(directory))
    environment = {"MPLCONFIGDIR": "/dev/null/none", "TMPDIR": str(directory)}
    done = bench("--json -q --plot p.png rows rings.model rings.cert", env=environment)
    assert json.loads(done.out) and done.err == "" and (directory / "p.png").read_bytes().startswith(b"\x89PNG")
    assert set(os.listdir(directory)) == before | {"p.png"}


@pytest.mark.full
def test_without_matplotlib_it_is_one_line_and_nothing_is_done(bench, directory):
    (directory / "block").mkdir()
    (directory / "block" / "matplotlib.py").write_text("raise ImportError('none')\n")
    before = set(os.listdir(directory))
    done = bench("--plot p.svg rows rings.model", env={"PYTHONPATH": str(directory / "block")}, code=1)
    assert done.err == "Error: --plot needs matplotlib: pip install 'fastsvm[plot]'\n" and done.out == ""
    assert set(os.listdir(directory)) == before
