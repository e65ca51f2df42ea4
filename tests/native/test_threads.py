"""Threads change no result; the matrix library has one; and commands work where none starts."""

import bz2
import gzip
import itertools
import lzma
import os
import sys
import threading

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.console import terminal
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model
from support.building import run
from support.messages import cases
from support.oracles import random_machine
from support.paths import DATA, TESTS
from support.processes import Screen, outcome
from support.reducing import as_rows
from support.training import train_on

TASKS = {name: words for name, *words in cases("trained for threads")}
#: Copies of the model "rings".
PACKED = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
#: Commands that load numpy.
LOADING = cases("commands that load numpy")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("threads")
    for name, (train, options) in TASKS.items():
        train_on(folder / name, train, options, 250)
    (folder / "data").write_text("".join((DATA / "rings.train").read_text().splitlines(keepends=True)[:200]))
    for name, compress in PACKED.items():
        (folder / name).write_bytes(compress((folder / "rings").read_bytes()))
    return folder


def words_of(line, models):
    return [models / word if word in (*TASKS, *PACKED, "data") else word for word in line.split()]


@pytest.mark.full
@pytest.mark.parametrize(
    "svm_type, classes, optimizer", [("c_svc", 2, "none"), ("c_svc", 3, "irprop"), ("nu_svr", 2, "fixed-point")]
)
def test_reduce_writes_one_file_whatever_the_number_of_threads(fastsvm, tmp_path, svm_type, classes, optimizer):
    """With matrices large enough for a library's threads, and whatever the environment says."""
    rng = np.random.default_rng(0)
    machine = random_machine(
        rng, svm_type, "rbf", as_rows(rng.standard_normal((1000, 100)).round(4)), nr_class=classes, gamma=0.01
    )
    (tmp_path / "m").write_bytes(machine.text())
    options = (
        ["--vectors", 40, "--seed", 5]
        if optimizer == "none"
        else ["--vectors", 10, "--no-finish", "--init", "random", "--optimizer", optimizer]
    )
    made = {
        fastsvm(
            "reduce", "-q", *options, "--threads", threads, "m", "-", env={"OPENBLAS_NUM_THREADS": str(threads)}
        ).out
        for threads in (1, 4)
    }
    assert len(made) == 1 and len(made.pop()) > 500


def test_a_certificate_is_one_whatever_the_number_of_threads(models, best_instruction_set):
    """The last digits of long sums depend on the order of addition."""
    for name in ("rings", "colors"):
        model, made = load_model(str(models / name)), set()
        for threads in (1, 2, 3, 4, 2, 4, 2, 4):
            _native.set_threads(threads)
            made.add(compile_maclaurin(model, fingerprint="f", certify=True).to_text())
        assert len(made) == 1, name


@pytest.mark.full
@pytest.mark.parametrize("words", LOADING)
def test_the_matrix_library_has_one_thread_in_every_command(models, tmp_path, words):
    code = (
        "import sys\n"
        "from fastsvm_cli.cli import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert not end.code\n"
        "from threadpoolctl import threadpool_info\n"
        "print('threads', *{pool['num_threads'] for pool in threadpool_info() if pool['user_api'] == 'blas'})\n"
    )
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "3"}
    done = outcome([sys.executable, "-I", "-c", code, *words_of(words, models)], cwd=tmp_path, env=env)
    assert done.stdout.splitlines()[-1] == "threads 1", (done.stdout[-300:], done.stderr[-500:])


# ---- where no thread can start (a limit of processes)


def preloaded(folder, name):
    """An environment with the functions of NAME.cpp instead of the system's."""
    run("c++", "-shared", "-fPIC", "-o", folder / "own.so", TESTS / "native" / f"{name}.cpp")
    return {"LD_PRELOAD": str(folder / "own.so")}


@pytest.fixture(scope="module")
def threadless(tmp_path_factory):
    """An environment where no thread starts: a process limit does not hold for root."""
    return preloaded(tmp_path_factory.mktemp("threadless"), "no_threads")


def test_no_thread_starts_there(threadless):
    code = "import threading\ntry:\n    threading.Thread(target=print).start()\nexcept RuntimeError:\n    print('none')"
    assert outcome([sys.executable, "-c", code], env={**os.environ, **threadless}).stdout == "none\n"


@pytest.mark.full
@pytest.mark.parametrize(
    "words", [*LOADING, "order --fold data rings out", *(f"predict data {of} out" for of in PACKED)]
)
def test_every_command_works_where_no_thread_starts(fastsvm, models, tmp_path, threadless, words):
    words = words_of(words, models)
    done = fastsvm(*words, env=threadless)
    theirs = (tmp_path / "out").read_bytes() if "out" in words else done.out
    fastsvm(*words)
    assert theirs == ((tmp_path / "out").read_bytes() if "out" in words else done.out)
    assert "hread" not in done.err, str(done)


def test_the_threads_there_are_do_the_work_where_memory_ends_before_the_next_one_starts(tmp_path):
    environment = {**os.environ, **preloaded(tmp_path, "no_memory_for_threads")}
    code = (
        "from fastsvm_cli import _native\n"
        "text = b''.join(b'1 1:%d 2:0.5\\n' % i for i in range(100_000))\n"
        "_native.set_threads(4)\n"
        "print(_native.count_lines(text), bytes(_native.parse(text)[0].values)[-16:].hex())\n"
    )
    words = [sys.executable, "-I", "-c", code]
    assert outcome(words, env=environment, check=True).stdout == outcome(words, check=True).stdout


def test_a_progress_bar_needs_no_thread(monkeypatch):
    """rich would refresh it from a thread."""
    screen = Screen()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(terminal, "monotonic", itertools.count(0.0, 10.0).__next__)
    monkeypatch.setattr(threading.Thread, "start", lambda thread: pytest.fail("a thread"))
    with terminal.Progress("reduce") as shown:
        shown(0.25, "first")
        shown(0.5, "second")
    assert "second" in screen.getvalue() and "50%" in screen.getvalue()
