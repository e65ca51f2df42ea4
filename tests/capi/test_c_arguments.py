"""libfastsvm answers invalid arguments with a code and a message, and leaks nothing."""

import random
import struct
import subprocess

import pytest

from support.damage import FILES, made_good
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
    done = run(client, 0, FASTSVM_INSTRUCTIONS="avx1")
    assert done.returncode == 1 and "fastsvm_load" in done.stderr
    assert "4 FASTSVM_INSTRUCTIONS: 'avx1' found, expected" in done.stderr


def test_damaged_models_from_memory_are_read_or_refused(client):
    """Both interfaces load them; the models answer odd rows on two threads."""
    rng, texts = random.Random(8), []
    for text in FILES.values():
        for _ in range(3):
            at = rng.randrange(len(text))
            new = rng.choice([b"", b"1e308", b"-1 ", b"\n", b"nan", b"\0"])
            damaged = text[:at] + new + text[at + rng.randrange(4) :]
            texts += [damaged, made_good(text, damaged), text[:at]]
        texts.append(text)
    given = b"".join(struct.pack("=I", len(text)) + text for text in texts)
    done = subprocess.run([str(client("damaged")), "2"], input=given, capture_output=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr.decode()
    answers = done.stdout.split()
    assert len(answers) == len(texts) and set(answers) == {b"0", b"2"}
    assert all(answer == b"0" for answer, text in zip(answers, texts) if text in FILES.values())
