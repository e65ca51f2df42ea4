"""Progress of fastsvm_cli.compile, and Ctrl-C during it."""

import signal
import subprocess
import sys

import pytest
from sklearn.svm import SVC

import fastsvm_cli
from fastsvm_cli.console import terminal
from fastsvm_cli.sklearn import CompiledSVC
from support.fitting import rows
from support.processes import PATIENCE, Screen, default_signals

X, Y = rows()
AUTO = {"method": "auto", "X": X, "time_limit": 1}


@pytest.mark.full
def test_auto_tells_of_every_attempt_and_of_what_it_does_within(svc):
    reported = []
    fast = fastsvm_cli.compile(svc, **AUTO, on_progress=lambda *found: reported.append(found))
    shares, words = [share for share, _ in reported], {name for _, name in reported}
    assert shares == sorted(shares) and 0 <= shares[0] and shares[-1] <= 1
    assert {"approx degree 2", 'order method="triangle"', "the last race"} <= words
    assert len(reported) > len(words) >= sum(each["compile_seconds"] is not None for each in fast.attempts_) - 1
    assert not [name for name in words if "--" in name]


@pytest.mark.full
def test_a_line_tells_how_long_it_will_take_or_a_bar_on_a_terminal(svc, monkeypatch, capsys):
    hours = iter(range(10**9))
    monkeypatch.setattr(terminal, "monotonic", lambda: 3600.0 * next(hours))  # an hour at each reading
    fastsvm_cli.compile(svc, **AUTO)
    printed = capsys.readouterr()
    assert printed.err.startswith("compile: about ") and printed.err.endswith(" to go.\n") and not printed.out
    fastsvm_cli.compile(svc, **AUTO, on_progress=False)
    CompiledSVC(SVC(gamma=0.05), method="auto", options={"time_limit": 1}).fit(X, Y)
    for stderr in (None, Screen()):
        monkeypatch.setattr(sys, "stderr", stderr)
        monkeypatch.setenv("TERM", "xterm")
        fastsvm_cli.compile(svc, **AUTO)
    assert "compile approx degree" in stderr.getvalue() and "%" in stderr.getvalue()
    monkeypatch.undo()
    assert not any(capsys.readouterr())


def test_what_the_callback_raises_ends_it(svc):
    def stop(share, words=""):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fastsvm_cli.compile(svc, **AUTO, on_progress=stop)


STOPPED = """
import os, sys, threading
import numpy, fastsvm_cli
from sklearn.svm import SVC
rng = numpy.random.default_rng(0)
X = rng.random((1500, 40))
svc = SVC(gamma=0.05).fit(X, rng.integers(0, 2, 1500))
before = os.listdir(".")
def report(share, words=""):
    print(words, flush=True)
try:
    fastsvm_cli.compile(svc, "auto", X=X, time_limit=1e9, on_progress=report)
except KeyboardInterrupt:
    assert threading.active_count() == 1 and os.listdir(".") == before
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        print("KeyboardInterrupt, and nothing left", flush=True)
"""


@pytest.mark.full
def test_ctrl_c_ends_auto_and_leaves_nothing(tmp_path):
    words = [sys.executable, "-c", STOPPED]
    child = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True, preexec_fn=default_signals)
    while child.stdout.readline().strip() != "cascade budget 0.005":
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    printed, _ = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0 and printed.endswith("KeyboardInterrupt, and nothing left\n"), printed
