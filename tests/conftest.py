"""What every test file shares: the installed command, the data, the programs of the system."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "data"
# `python -m pytest` puts the checkout first on the path; the tests are of the installed package, which has the core.
sys.path[:] = [place for place in sys.path if pathlib.Path(place).resolve() != ROOT]
#: The command as installed beside the interpreter that runs the tests.
FASTSVM = str(pathlib.Path(sys.executable).parent / "fastsvm")
#: Seconds after which a test that waits for something is told that it hangs: far more than anything takes on the
#: busiest machine, for no test is about time.
PATIENCE = 600


def wait_until(true):
    """What `true()` returns, once that is true; false only after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def default_signals():
    """For a child that is going to be sent signals, as its `preexec_fn`: a suite that was started in the background
    of a shell, or under nohup, hands down signals that are ignored."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


@pytest.fixture
def heard_signals():
    """For tests whose children are sent signals, however the suite was started: see default_signals."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for each, handler in before.items():
        if handler == signal.SIG_IGN:
            signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


class Finished:
    """A finished command: code, out, err (text); its str() is what to read when a test fails."""

    def __init__(self, args, code, out, err):
        self.args, self.code, self.out, self.err = args, code, out, err

    def __str__(self):
        return (
            f"$ {' '.join(map(str, self.args))}\nexit code {self.code}\n--- standard output\n{self.out[:4000]}\n---"
            f" standard error\n{self.err[:4000]}"
        )


@pytest.fixture
def fastsvm(tmp_path):
    """Run the installed command in a temporary directory: fastsvm("predict", "test", "model", input=..., code=0) ->
    Finished."""

    def run(*args, input=None, code=0, env=None, timeout=PATIENCE):
        done = subprocess.run(
            [FASTSVM, *map(str, args)],
            cwd=tmp_path,
            input=input.encode() if isinstance(input, str) else input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            timeout=timeout,
            env={**os.environ, **(env or {})},
        )
        finished = Finished(["fastsvm", *args], done.returncode, done.stdout.decode(), done.stderr.decode())
        assert code is None or finished.code == code, str(finished)
        assert "Traceback" not in finished.err, str(finished)
        return finished

    return run


def peak_memory(*command, cwd):
    """Largest resident size of a command, in bytes. A small process starts it: one started from here would count
    this one's memory."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, *map(str, command)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    code, kilobytes = map(int, done.stdout.split())
    assert code == 0, done.stderr
    return kilobytes * 1024


@pytest.fixture(scope="session")
def svm_predict():
    """The path of LIBSVM's svm-predict. Missing: a skip on a developer's machine, a failure in CI."""
    path = shutil.which("svm-predict")
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("svm-predict is not installed: .ci/run should have installed libsvm-tools")
        pytest.skip("svm-predict is not installed (Debian: libsvm-tools)")
    return path


@pytest.fixture(scope="session")
def shared():
    """The folder of benchmark data beside the checkout, where there is one."""
    folder = ROOT.parent / "shared"
    if not (folder / "models").is_dir():
        pytest.skip("no ../shared with benchmark data and models")
    return folder


@pytest.fixture
def best_instruction_set():
    """For tests that choose a build of the hot loops, or threads: both as they were, afterwards."""
    from fastsvm_cli import _native

    name = _native.instruction_set()
    yield
    assert _native.select_instruction_set(name)
    _native.set_threads(0)


@pytest.fixture(scope="module")
def serial_libsvm():
    """The Python package of LIBSVM is built with OpenMP, whose sums depend on the number of threads; svm-predict is
    not."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="openmp"):
        yield
