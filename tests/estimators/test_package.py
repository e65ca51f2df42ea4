"""The package for a new user: help, names, and mistaken imports."""

import pydoc
import shutil
import sys
from pathlib import Path

import pytest

import fastsvm_cli
from support.paths import ROOT
from support.processes import outcome


def _python(code, cwd, *options):
    return outcome([sys.executable, *options, "-c", code], cwd=cwd)


def test_help_begins_with_compile_and_load():
    text = pydoc.plain(pydoc.render_doc(fastsvm_cli))
    described = text[text.index("DESCRIPTION") :].split("\n", 1)[1].lstrip()
    assert described.startswith("compile(svc) makes ") and "load(path) reads " in described.split("\n\n")[0]


@pytest.mark.full
@pytest.mark.parametrize("code", ["import fastsvm_cli; fastsvm_cli.load", "import fastsvm_cli.sklearn"])
def test_a_checkout_that_is_not_built_says_so(tmp_path, code):
    checkout = tmp_path / "clone"
    shutil.copytree(ROOT / "fastsvm_cli", checkout / "fastsvm_cli", ignore=shutil.ignore_patterns("native", "*.so"))
    done = _python(code, checkout)
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: fastsvm in {checkout} is source code that is not built: install it (pip install {checkout}), and"
        " start Python in another folder"
    )
    assert not (Path(fastsvm_cli.__file__).parent / "_native.py").exists()


def test_a_folder_named_fastsvm_is_no_package(tmp_path):
    """Python would import a clone, seen from its parent folder, as an empty package."""
    (tmp_path / "fastsvm" / "tests").mkdir(parents=True)
    done = _python("import fastsvm", tmp_path)
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: fastsvm's Python package is fastsvm_cli: import fastsvm_cli as fastsvm"
    )
