"""Fixtures of all tests: the installed command, the data, the programs of the system."""

import os
import pathlib
import sys

import pytest

# One thread each for libsvm's OpenMP, whose sums depend on the number of threads, and numpy's matrix library. They read
# this when they are loaded. Threads without a core of their own are very slow. The core's threads are not limited.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

from support import counted, forked, profiles
from support.building import require
from support.paths import ROOT, TESTS
from support.processes import PATIENCE, Finished

# `python -m pytest` puts the checkout first on the path; tests need the installed package, which has the core.
sys.path[:] = [position for position in sys.path if pathlib.Path(position).resolve() != ROOT]

from fastsvm_cli import _native  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the tests marked full too, and every example")
    share = "share of the examples of --full (CI: 0.25)"
    parser.addoption("--examples", type=float, default=1.0, metavar="SHARE", help=share)
    parser.addoption("--rewrite-screens", action="store_true", help="store what tests print now in tests/screens")


def pytest_configure(config):
    config.addinivalue_line("markers", "full(few=0): for --full; without it, only so few of the test's cases are run")
    if config.getoption("full"):
        profiles.try_all(config.getoption("examples"))


def pytest_collection_modifyitems(config, items):
    """Without --full, deselect tests marked full, or most of their cases, unless a test is named."""
    if config.getoption("full") or any("::" in argument for argument in config.args):
        return
    cases = {}  # for each marked test
    for item in items:
        if item.get_closest_marker("full"):
            cases.setdefault((item.path, item.cls, item.originalname), []).append(item)
    left_out = set()
    for marked in cases.values():
        few = marked[0].get_closest_marker("full").kwargs.get("few", 0)
        stored = {round(at * (len(marked) - 1) / max(few - 1, 1)) for at in range(few)}  # evenly spaced
        left_out |= {item for at, item in enumerate(marked) if at not in stored}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


#: Environment variables that Dask sets in a process that has started workers, and `bench` in its own.
SET_BY_TESTS = {"MKL_NUM_THREADS", "OMP_WAIT_POLICY", "PYTHONHASHSEED"} - set(os.environ)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """With these variables, forked.py could not fork commands."""
    for name in SET_BY_TESTS:
        os.environ.pop(name, None)


@pytest.fixture(scope="session", autouse=True)
def no_clock_of_cascades():
    """Cascades are chosen by counts of operations."""
    counted.count_operations()


@pytest.fixture
def fastsvm(tmp_path):
    """Run the installed command in a temporary directory: fastsvm("predict", "test", "model", input=..., code=0) ->
    Finished."""

    def run(*args, input=None, code=0, env=None, timeout=PATIENCE):
        environment = {**os.environ, **(env or {})}
        done = forked.fastsvm(args, cwd=tmp_path, input=input, env=environment, timeout=timeout)
        finished = Finished(["fastsvm", *args], done.returncode, done.stdout.decode(), done.stderr.decode())
        assert code is None or finished.code == code, str(finished)
        assert "Traceback" not in finished.err, str(finished)
        return finished

    return run


@pytest.fixture
def screen(request):
    """screen(name, text): the text is the content of screens/NAME.txt, or becomes it with --rewrite-screens."""

    def check(name, text):
        path = TESTS / "screens" / f"{name}.txt"
        if request.config.getoption("rewrite_screens"):
            path.write_text(text)
        assert text == path.read_text(), "if this change is meant: pytest --rewrite-screens, and read the difference"

    return check


@pytest.fixture(scope="session")
def svm_predict():
    """Path of svm-predict (Debian: libsvm-tools)."""
    return require("svm-predict")


@pytest.fixture(scope="session")
def svm_scale():
    """Path of svm-scale, installed with svm-predict."""
    return require("svm-scale")


@pytest.fixture(scope="session")
def shared():
    """Folder of benchmark data beside the checkout."""
    folder = ROOT.parent / "shared"
    if not (folder / "models").is_dir():
        pytest.skip("no ../shared with benchmark data and models")
    return folder


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    """Folder of the zoo's models, which are compiled once."""
    return tmp_path_factory.mktemp("zoo")


@pytest.fixture
def best_instruction_set():
    """Restores the build of the hot loops and the number of threads."""
    name = _native.instruction_set()
    yield
    assert _native.select_instruction_set(name)
    _native.set_threads(0)


@pytest.fixture(params=_native.instruction_sets())
def instruction_set(request, best_instruction_set):
    """Each build of the hot loops that this machine has."""
    assert _native.select_instruction_set(request.param)
    return request.param


@pytest.fixture
def all_threads():
    """Restores the use of all threads."""
    yield
    _native.set_threads(0)
