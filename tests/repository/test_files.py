"""Rules for files of the core, of methods and of tests. scripts/lint.sh checks what Python's files import."""

import re

from support.paths import ROOT, TESTS

METHODS, CORE = ROOT / "fastsvm_cli" / "methods", ROOT / "fastsvm_cli" / "native"
#: Folders of the core, lowest first -> folders whose headers they may include.
LAYERS = {
    "system": set(),
    "simd": {"system"},
    "text": {"simd"},
    "answers": {"simd", "text"},
    "exact": {"simd", "text", "answers"},
    "engine": {"simd", "text", "answers", "exact"},
    "models": {"simd", "text", "answers", "exact", "engine"},
    "files": {"system"},
    "capi": {"simd", "text", "answers", "exact", "engine", "models"},
    "program": {"simd", "engine", "models", "files"},
    "bind": {"simd", "system", "text", "answers", "exact", "engine", "models", "files", "program"},
}
OF_FILES = {"cstdio", "stdio.h", "fstream", "iostream", "filesystem", "fcntl.h", "unistd.h"}
TEST_FILES = {path: path.read_text() for path in sorted(TESTS.rglob("*.py"))}


def imported(text):
    return re.findall(r"^\s*(?:from|import) ([\w.]+)", text, re.M)


def test_every_file_of_the_core_includes_only_layers_below_it():
    """Python is used only in bind/, files only in the folders below."""
    order = list(LAYERS)
    assert set(order) == {path.name for path in CORE.iterdir() if path.is_dir()}
    wrong = [layer for layer, below in LAYERS.items() if not below <= set(order[: order.index(layer)])]
    for path in (each for each in CORE.rglob("*.*") if each.suffix in (".h", ".cpp")):
        layer, text = path.relative_to(CORE).parts[0], path.read_text()
        for name in re.findall(r'#include "(.*)"', text):
            if not (CORE / name).is_file() or name.partition("/")[0] not in LAYERS[layer] | {layer}:
                wrong.append((path, name))
        for name in re.findall(r"#include <(.*)>", text):
            of_python = name.startswith(("nanobind", "Python")) and layer != "bind"
            may_use_files = layer in ("system", "files", "capi", "program") or path.stem.endswith("_test")
            if of_python or (name in OF_FILES and not may_use_files):
                wrong.append((path, name))
    assert not wrong


def test_words_of_methods_load_nothing_slow():
    """But in functions. Every command imports them."""
    slow = r"^(?:from|import) (?:numpy|scipy|rich|libsvm|matplotlib|tempfile|concurrent|distributed)\b"
    words = [*METHODS.rglob("__init__.py"), METHODS / "method.py"]
    assert len(words) == 7 and not [path for path in words if re.search(slow, path.read_text(), re.M)]


def test_tests_share_code_in_support_zoo_or_a_conftest():
    """Test files are short and have names of their own; support/ has no fixture and no test."""
    folders = {path.name for path in TESTS.iterdir() if path.is_dir()} - {"support", "zoo"} | {"tests"}
    wrong = []
    for path, text in TEST_FILES.items():
        of_tests = [name for name in imported(text) if name.split(".")[0] in folders]
        of_tests += [name for name in imported(text) if re.search(r"(^|\.)(conftest|test_\w+)", name)]
        if of_tests or len(text.splitlines()) > 450:
            wrong.append((path, of_tests))
        if "support" in path.parts and re.search(r"^(@pytest\.fixture|def test_)", text, re.M):
            wrong.append(path)
    names = [path.name for path in TEST_FILES if path.name.startswith("test_")]
    assert not wrong and sorted(set(names)) == sorted(names)


def test_oracles_share_no_code_with_the_package():
    oracles = [path for path in TEST_FILES if path.parent.name == "oracles" or path.name == "checksums.py"]
    names = {(path, name.split(".")[0]) for path in oracles for name in imported(TEST_FILES[path])}
    assert len(oracles) > 5 and not [each for each in names if each[1] in ("fastsvm_cli", "libsvm")]
