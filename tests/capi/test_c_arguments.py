"""libfastsvm and arguments that do not fit: a code and a line, and nothing leaks."""

import subprocess

import pytest

from support.places import GOLDEN
from support.processes import PATIENCE

pytestmark = pytest.mark.full


def run(client, times, **environment):
    words = [str(client("hostile")), str(GOLDEN), str(times)]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env={"PATH": "", **environment})


def test_every_argument_that_does_not_fit_is_said_and_no_memory_is_kept(client):
    done = run(client, 3000)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert 0 < before and after - before < 2000  # KB


def test_an_instruction_set_that_is_none_is_said_when_a_model_is_loaded(client):
    done = run(client, 200, FASTSVM_INSTRUCTIONS="baseline")
    assert done.returncode == 0, done.stderr
    words = [str(client("answers")), str(GOLDEN / "c_svc.model"), str(GOLDEN / "data"), "labels", "sparse"]
    done = subprocess.run(words, capture_output=True, text=True, env={"FASTSVM_INSTRUCTIONS": "avx1"}, timeout=PATIENCE)
    assert done.returncode == 3
    assert done.stdout.startswith("error 4 line 0 row -1 FASTSVM_INSTRUCTIONS: 'avx1' found, expected")
