"""fastsvm bench: interrupts, closed pipes and plots."""

import json
import os
import signal
import subprocess

import pytest

from support.benching import ONE_THREAD, by_name
from support.paths import FASTSVM
from support.processes import PATIENCE, default_signals, wait_until


@pytest.mark.full
def test_an_interrupt_keeps_what_was_measured(directory):
    (directory / "temp").mkdir()
    env = {**os.environ, **ONE_THREAD, "TMPDIR": str(directory / "temp")}
    words = "--runs 1000000 --max-seconds 1e9 --json rows rings.model rings.red".split()
    process = subprocess.Popen(
        [FASTSVM, "bench", *words],
        cwd=directory,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=default_signals,
    )
    try:
        # svm-predict and fastsvm rewrite these files in every run.
        writes = set()

        def have_run():
            writes.update(
                (path, path.stat().st_mtime_ns) for path in (directory / "temp").glob("*/*") if path.is_file()
            )
            return process.poll() is not None or len(writes) > 30

        wait_until(have_run)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130 and b"Traceback" not in err, err.decode()
    assert os.listdir(directory / "temp") == []
    records = by_name(json.loads(out))
    assert records["exact model"]["scoring"] is None
    for name in ("exact model", "rings.red", "fastsvm, empty file"):
        assert len(records[name]["end_to_end"]["runs"]) >= 2
    assert records["rings.red"]["failed"] is None and records["rings.red"]["disagreement"] is not None


@pytest.mark.full
@pytest.mark.parametrize("options, reader", [("", "head -1"), ("", "true"), ("--json", "true")])
def test_a_closed_pipe_is_not_a_crash(directory, options, reader):
    command = f"set -o pipefail; {FASTSVM} bench -q --runs 1 {options} rows rings.model 2>err | {reader}"
    done = subprocess.run(["bash", "-c", command], cwd=directory, capture_output=True, env={**os.environ, **ONE_THREAD})
    assert (directory / "err").read_text() == "" and done.returncode == 0


@pytest.mark.full
def test_plot_names_every_method(bench, directory):
    """Also a name that looks like a formula. What is drawn: figures/test_bench_figure.py."""
    pytest.importorskip("matplotlib")
    (directory / r"a$\frac$b").symlink_to("rings.red")
    bench("-q --plot p.svg rows rings.model rings.cert rings.border", r"a$\frac$b")
    svg = (directory / "p.svg").read_text()
    assert "<svg" in svg and svg.rstrip().endswith("</svg>")
    for name in ("exact model", "degree 2", "reduce", "border", "rows / s, end to end", "labels that differ"):
        assert name in svg or name.replace("-", "&#45;") in svg, name
