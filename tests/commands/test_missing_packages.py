"""Without a package, a command works or names it in one line."""

import os
import sys

import pytest

from support.messages import table
from support.paths import GOLDEN
from support.processes import outcome


@pytest.mark.full(few=4)
@pytest.mark.parametrize("package, words, message", table("messages.txt", "packages that are missing"))
def test_without_a_package_a_command_works_or_names_it(tmp_path, package, words, message):
    for name, golden in (("m", "c_svc.model"), ("rows", "data")):
        (tmp_path / name).symlink_to(GOLDEN / golden)
    code = f"import sys; sys.modules[{package!r}] = None; from fastsvm_cli.__main__ import run; run()"
    done = outcome([sys.executable, "-I", "-c", code, *words.split()], cwd=tmp_path)
    failed = message.startswith("Error: ")
    assert done.returncode == failed and (message == "-" or done.stderr == f"{message}\n"), done
    assert bool(done.stdout) != failed and ("out" in os.listdir(tmp_path)) == ("out" in words and not failed)
    assert ("libsvm, in process" in done.stdout) == (words.startswith("bench") and package != "libsvm") or failed


def test_a_libsvm_that_does_not_load_is_named_in_one_line(tmp_path):
    (tmp_path / "libsvm").mkdir()
    (tmp_path / "libsvm/__init__.py").write_text("raise OSError('libsvm.so:\\nwrong ELF class')")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from fastsvm_cli.methods.training import load_libsvm\n"
        "load_libsvm()"
    )
    done = outcome([sys.executable, "-I", "-c", code])
    assert done.stderr.endswith("MissingPackageError: libsvm-official: it does not load: libsvm.so: wrong ELF class\n")
