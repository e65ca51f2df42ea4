"""The programs of the page and of clients/, built by the page's command lines, answer as Python does."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from fastsvm_cli import load_model, read_chunks
from fastsvm_cli.prediction import Predictor
from support.building import CLIENTS
from support.messages import cases
from support.pages import PAGES, blocks, command_lines
from support.paths import GOLDEN
from support.processes import PATIENCE

pytestmark = pytest.mark.full

PAGE = PAGES["fastsvm_cli/native/capi/README.md"]
#: file -> text; the page has the first, and links to the others
(FIRST,) = blocks(PAGE, "c")
SOURCES = {"labels.c": "\n".join(FIRST) + "\n"}
SOURCES |= {name: (CLIENTS / name).read_text() for name in re.findall(r"/clients/([\w.]+)\)", PAGE)}
#: command -> (source file, required program, whether it prints values)
PROGRAMS = {name: words for name, *words in cases("C examples")}
ROWS = "0 1:0.5 2:-1 3:2\n0 1:-1 2:0.25\n"


def test_every_program_of_the_page_is_run():
    assert set(SOURCES) == {source for source, _, _ in PROGRAMS.values()} | {"labels.R"}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_programs_of_the_page_answer_as_in_python(library, tmp_path, program):
    source, tool, values = PROGRAMS[program]
    for needed in (tool, "pkg-config"):
        if not shutil.which(needed):
            in_ci = os.environ.get("CI") and tool in ("cc", "c++")
            (pytest.fail if in_ci else pytest.skip)(f"no {needed}")
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    lines = [line for line in command_lines(PAGE) if source in line.split()]
    assert lines
    folders = {
        "PKG_CONFIG_PATH": str(library / "lib" / "pkgconfig"),
        "LD_LIBRARY_PATH": str(library / "lib"),
        "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}",  # for fastsvm-config
    }

    def shell(line):
        start = dict(cwd=tmp_path, env={**os.environ, **folders}, timeout=PATIENCE)
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, **start)

    for line in lines:
        done = shell(line)
        assert done.returncode == 0, done.stderr
    model = GOLDEN / "c_svc.model"
    (tmp_path / "rows").write_text(ROWS)
    (chunk,) = read_chunks(str(tmp_path / "rows"))
    answer = Predictor(load_model(str(model)), values=values).answer(chunk)
    labels = list(answer.predictions.label)
    assert set(labels) == {1, -1}
    done = shell(f"{program} {model}")
    assert done.returncode == 0, done.stderr
    expected = np.array(answer.decisions.value)[:, 0] if values else labels
    assert [float(line) for line in done.stdout.splitlines()] == pytest.approx(expected, rel=1e-12)
    refused = shell(f"{program} {GOLDEN / 'data'}")
    assert refused.returncode == 1 and (source == "by_name.c" or "data file" in refused.stderr)
