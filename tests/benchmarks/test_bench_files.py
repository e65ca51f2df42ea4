"""fastsvm bench: interrupts, closed pipes and plots."""

import json
import os
import shutil
import signal
import subprocess

import pytest

from support.benching import ONE_THREAD, by_name
from support.paths import FASTSVM
from support.processes import PATIENCE, default_signals, wait_until


@pytest.mark.full
def test_an_interrupt_keeps_what_was_measured(directory, tmp_path):
    (tmp_path / "temp").mkdir()
    env = {**os.environ, **ONE_THREAD, "TMPDIR": str(tmp_path / "temp")}
    words = ["--runs", "1000000", "--max-seconds", "1e9", "--json", directory / "rows", directory / "rings.model"]
    process = subprocess.Popen(
        [FASTSVM, "bench", *words, directory / "rings.red"],
        cwd=tmp_path,
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
            writes.update((path, path.stat().st_mtime_ns) for path in (tmp_path / "temp").glob("*/*") if path.is_file())
            return process.poll() is not None or len(writes) > 30

        wait_until(have_run)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130 and b"Traceback" not in err, err.decode()
    assert os.listdir(tmp_path / "temp") == []
    records = by_name(json.loads(out))
    assert records["exact model"]["scoring"] is None
    for name in ("exact model", "rings.red", "fastsvm, empty file"):
        assert len(records[name]["end_to_end"]["runs"]) >= 2
    assert records["rings.red"]["failed"] is None and records["rings.red"]["disagreement"] is not None


@pytest.mark.full
@pytest.mark.parametrize("options, reader", [((), "head -1"), ((), "true"), (("--json",), "true")])
def test_a_closed_pipe_is_not_a_crash(directory, tmp_path, options, reader):
    command = (
        f"set -o pipefail; {FASTSVM} bench -q --runs 1 {' '.join(options)} {directory}/rows {directory}/rings.model"
        f" 2>err | {reader}"
    )
    done = subprocess.run(
        command, shell=True, executable="/bin/bash", cwd=tmp_path, capture_output=True, env={**os.environ, **ONE_THREAD}
    )
    assert (tmp_path / "err").read_text() == "" and done.returncode == 0


@pytest.mark.full
def test_plot_is_svg_or_png_and_names_every_method(bench, directory, tmp_path):
    pytest.importorskip("matplotlib")
    bench(
        *"-q --plot p.svg".split(),
        directory / "rows",
        directory / "rings.model",
        directory / "rings.cert",
        directory / "rings.red",
        directory / "rings.border",
    )
    svg = (tmp_path / "p.svg").read_text()
    assert "<svg" in svg and svg.rstrip().endswith("</svg>")
    for name in ("exact model", "degree 2", "reduce", "border", "rows / s, end to end", "labels that differ"):
        assert name in svg or name.replace("-", "&#45;") in svg, name
    bench("-q", "--plot", "p.png", directory / "rows", directory / "rings.model", directory / "rings.cert")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.full
def test_plot_of_a_name_that_looks_like_a_formula(bench, directory, tmp_path):
    pytest.importorskip("matplotlib")
    shutil.copy(directory / "rings.red", tmp_path / r"a$\frac$b")
    assert (
        "exact model" in bench("-q", "--plot", "p.svg", directory / "rows", directory / "rings.model", r"a$\frac$b").out
    )


@pytest.mark.full
def test_plot_of_a_regression_has_values_that_differ(bench, directory, tmp_path):
    pytest.importorskip("matplotlib")
    bench("-q", "--plot", "p.svg", directory / "waves.rows", directory / "waves.model", directory / "waves.approx")
    assert "root mean square difference" in (tmp_path / "p.svg").read_text()


@pytest.mark.full
@pytest.mark.parametrize("how", ["absent", "broken"])
def test_plot_without_matplotlib_is_one_line(bench, directory, tmp_path, how):
    (tmp_path / "block").mkdir()
    if how == "absent":
        (tmp_path / "block" / "sitecustomize.py").write_text(
            "import importlib.machinery as m\n"
            "find = m.PathFinder.find_spec\n"
            "m.PathFinder.find_spec = classmethod("
            "lambda cls, name, *a, **k: None if name.split('.')[0] == 'matplotlib' else find(name, *a, **k))\n"
        )
    else:
        (tmp_path / "block" / "matplotlib").mkdir()
        (tmp_path / "block" / "matplotlib" / "__init__.py").write_text(
            "raise ImportError('numpy.core.multiarray failed to import')\n"
        )
    done = bench(
        *"-q --plot p.svg".split(),
        directory / "rows",
        directory / "rings.model",
        directory / "rings.red",
        env={"PYTHONPATH": str(tmp_path / "block")},
        code=1,
    )
    assert len(done.err.splitlines()) == 1 and "matplotlib" in done.err and not (tmp_path / "p.svg").exists(), str(done)
