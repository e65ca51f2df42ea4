"""scripts/fuzz.py, briefly and without sanitizers: input is refused in one line, or read and predicted with."""

import sys
from collections import Counter

import pytest

from support.paths import SCRIPTS
from support.processes import outcome

SCRIPT = SCRIPTS / "fuzz.py"


def worker(*arguments):
    done = outcome([sys.executable, str(SCRIPT), "--worker", *map(str, arguments)])
    assert done.returncode == 0, done.stderr[-2000:]
    return [line.split("\t") for line in done.stdout.splitlines() if line.startswith("end")]


@pytest.mark.full
def test_damaged_input_is_refused_or_read():
    seen = worker("--seed", 5, "--inputs", 900)
    assert [line for line in seen if line[3] == "found"] == []
    outcomes = Counter((line[2], line[3]) for line in seen)
    readers = {name for name, _ in outcomes}
    assert len(seen) == 900
    assert len(readers) == 21 and all(outcomes[name, end] for name in readers for end in ("refused", "read"))


@pytest.mark.full
def test_an_input_is_known_by_its_number():
    first = worker("--seed", 5, "--first", 100, "--inputs", 40)
    assert worker("--seed", 5, "--first", 120, "--inputs", 20) == first[20:]
    assert {line[2] for line in worker("--seed", 5, "--inputs", 10, "--only", "border")} == {"border 2", "border 3"}


def test_what_it_finds_is_said(tmp_path):
    """With a kind of model that cannot predict."""
    (tmp_path / "sitecustomize.py").write_text(
        "import fastsvm_cli.models as b\ndef fails(*_): raise KeyError('x')\nb.Model.decision_values = fails\n"
    )
    words = [sys.executable, str(SCRIPT), "--worker", "--seed", "5", "--inputs", "20", "--only", "border 2"]
    done = outcome(words, env={"PYTHONPATH": str(tmp_path), "PATH": ""})
    assert "\tfound\tKeyError: 'x' (" in done.stdout, done.stderr[-2000:]
