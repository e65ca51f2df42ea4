"""Without a package, a command works or names it in one line."""

import os
import sys

import pytest

from support.paths import GOLDEN
from support.processes import outcome

MODEL, ROWS = GOLDEN / "c_svc.model", GOLDEN / "data"


def fastsvm_without(package, folder, *arguments):
    code = (
        f"import sys; sys.modules[{package!r}] = None; sys.argv[0] = 'fastsvm'\n"
        "from fastsvm_cli.start import run\n"
        "run()"
    )
    return outcome([sys.executable, "-I", "-c", code, *map(str, arguments)], cwd=folder)


@pytest.mark.parametrize("package", ["numpy", "scipy"])
@pytest.mark.parametrize("words", [["approx"], ["predict", ROWS]], ids=lambda words: words[0])
def test_a_model_is_compiled_and_predicts_without_numpy_or_scipy(tmp_path, package, words):
    done = fastsvm_without(package, tmp_path, *words, MODEL, "out")
    assert done.returncode == 0 and (tmp_path / "out").stat().st_size, done.stderr


@pytest.mark.parametrize(
    "package, words",
    [
        ("numpy", ["approx", "--certify", MODEL, "out"]),
        ("numpy", ["bound", ROWS, MODEL]),
        ("scipy", ["reduce", "--ratio", "0.5", MODEL, "out"]),
        ("scipy", ["border", MODEL, "out"]),
        ("scipy", ["order", MODEL, "out"]),
        ("numpy", ["bench", ROWS, MODEL]),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_package_that_is_missing_is_named_in_one_line(tmp_path, package, words):
    done = fastsvm_without(package, tmp_path, *words)
    expected = f"Error: {package}: it is not installed, and this command needs it: pip install {package}\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", expected) and os.listdir(tmp_path) == []


NO_LIBSVM = "libsvm-official: it is not installed: pip install 'fastsvm[libsvm]'\n"


def test_bench_leaves_libsvm_out_where_it_is_missing(tmp_path):
    done = fastsvm_without("libsvm", tmp_path, "bench", "--runs", "1", ROWS, MODEL)
    assert done.returncode == 0 and "exact model" in done.stdout and "libsvm, in process" not in done.stdout
    assert done.stderr == f"Note: LIBSVM is not timed in memory: {NO_LIBSVM}"


@pytest.mark.parametrize("words", [["bench", "--cross-validate", "3", ROWS], ["order", "--fold", ROWS, MODEL, "out"]])
def test_a_command_that_trains_says_how_to_install_libsvm(tmp_path, words):
    done = fastsvm_without("libsvm", tmp_path, *words)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Error: {NO_LIBSVM}")


def test_a_libsvm_that_does_not_load_is_named_in_one_line(tmp_path):
    (tmp_path / "libsvm").mkdir()
    (tmp_path / "libsvm/__init__.py").write_text("raise OSError('libsvm.so:\\nwrong ELF class')")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from fastsvm_cli.methods.training import load_libsvm\n"
        "load_libsvm()"
    )
    done = outcome([sys.executable, "-I", "-c", code])
    assert done.stderr.endswith("FileError: libsvm-official: it does not load: libsvm.so: wrong ELF class\n")
