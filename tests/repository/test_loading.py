"""Modules that a command loads, in a process of its own: few, to start fast."""

import sys

import pytest

from support.compiling import compile_all
from support.messages import cases
from support.paths import DATA
from support.processes import outcome
from support.training import train_on

#: Loaded by no command that answers rows.
SLOW = {"numpy", "scipy", "rich", "libsvm", "dask", "distributed", "fsspec", "tempfile", "hashlib", "queue", "json"}
SLOW |= {"concurrent.futures", "importlib.metadata", "fastsvm_cli.cluster"}
#: Texts about options, which are loaded only on request.
SLOW |= {"fastsvm_cli.console.help_page"}
AFTER_MAIN = "from fastsvm_cli.cli import main\ntry: main()\nexcept SystemExit as e: assert not e.code, e.code"


def loaded_after(code, *words, cwd=DATA):
    done = outcome([sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules, file=sys.stderr)", *words], cwd=cwd)
    assert done.returncode == 0, done.stderr
    names = done.stderr.split()
    return {".".join(name.split(".")[:end]) for name in names for end in (1, 2, 3)}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loading")
    train_on(folder / "exact", "colors.train", "-g 0.02", 2000)
    compile_all(
        folder,
        "approx exact compiled",
        "approx --certify exact certified",
        "order --method geometry exact geometry",
        "order --method triangle exact triangle",
        f"border --bandwidth adaptive -W 9 --density {DATA / 'colors.train'} density",
    )
    return folder


@pytest.mark.full(few=1)
@pytest.mark.parametrize("words", cases("predictions that load little"))
def test_predict_loads_nothing_slow(models, words):
    model, *options = words.split()
    loaded = loaded_after(AFTER_MAIN, "predict", "-q", *options, DATA / "colors.test", model, "/dev/null", cwd=models)
    assert "fastsvm_cli._native" in loaded and not loaded & SLOW


def test_approx_and_its_trial_load_no_numpy(models):
    loaded = loaded_after(AFTER_MAIN, "approx", models / "exact", "/dev/null")
    assert "fastsvm_cli.comparisons" in loaded and not loaded & {"numpy", "scipy", "rich"}


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_no_core(option):
    assert not loaded_after(AFTER_MAIN, option) & {"fastsvm_cli._native", "numpy", "rich"}


@pytest.mark.parametrize("module", ["fastsvm_cli", "fastsvm_cli.__main__", "fastsvm_cli.system"])
def test_the_package_itself_loads_nothing(module):
    """Everything is loaded on first use. Ctrl-C causes no traceback from the command's first line on."""
    code = f"import sys; before = set(sys.modules); import {module}; print(*sorted(set(sys.modules) - before))"
    found = outcome([sys.executable, "-I", "-c", code], check=True, cwd=DATA).stdout.split()
    parts = module.split(".")
    assert found == [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
