"""Imports allowed between folders, what a command may load (for speed), rules for test files."""

import ast
import re
import sys

import pytest

from support.paths import DATA, ROOT, TESTS
from support.processes import outcome

PACKAGE = ROOT / "fastsvm_cli"
HEAVY = set("numpy scipy rich libsvm matplotlib tempfile concurrent importlib.metadata dataclasses sklearn".split())
HEAVY |= {"dask", "distributed", "fsspec", "pandas", "onnx", "onnxruntime"}

GROUND = {"__version__", "_native", "errors", "system", "text"}
#: Folder or module, lowest first -> what it may import.
LAYERS = {
    "_native": set(),  # in place of the core where it is not built
    "native": set(),  # the module fastsvm
    "errors": set(),
    "bounds": set(),
    "system": set(),
    "text": {"_native", "errors", "system"},
    "models": {"_native", "errors", "text"},
    "export": {"__version__", "_native", "errors", "models", "text"},
    "prediction": GROUND | {"models"},
    "comparisons": GROUND | {"bounds", "models"},
    "cluster": GROUND | {"models", "prediction"},
    "console": GROUND | {"cluster", "comparisons", "models", "prediction"},
    "methods": GROUND | {"bounds", "cluster", "comparisons", "console", "models"},
    "benchmarks": GROUND | {"comparisons", "methods", "models", "prediction"},
    "figures": {"benchmarks", "methods", "text"},
    "commands": GROUND
    | {"benchmarks", "cluster", "comparisons", "console", "export", "figures", "methods", "models", "prediction"},
    "estimators": GROUND | {"benchmarks", "comparisons", "console", "export", "methods", "models", "prediction"},
    "sklearn": {"estimators"},
    "config": {"__version__"},
    "dask": {"estimators"},
    "cli": {"__version__", "commands", "console", "errors"},
    "start": {"_native", "cli", "system"},
    "__main__": {"start"},
    "__init__": set(),
}
#: Folder or file -> heavy libraries that it may use.
LIBRARIES = {
    "comparisons/norms": {"numpy"},
    "system/interruption": {"tempfile"},
    "comparisons/changed": {"numpy"},
    "comparisons/inside_bound": {"numpy", "tempfile"},
    "comparisons/proven_rows": {"numpy"},
    "methods": {"numpy", "scipy", "libsvm"},
    "methods/approx/on_cluster": {"distributed"},
    "export": {"numpy"},
    "export/check": {"tempfile"},
    "export/onnx": {"onnx", "onnxruntime"},
    "estimators": {"numpy", "scipy"},
    "estimators/agreement": {"matplotlib"},
    "estimators/attempts": {"pandas"},
    "estimators/own_code": {"sklearn"},
    "estimators/patching": {"sklearn"},
    "estimators/pipelines": {"libsvm", "tempfile"},
    "estimators/sklearn_protocol": {"sklearn"},
    "sklearn": {"numpy", "sklearn"},
    "cluster": {"dask", "distributed", "fsspec"},
    "cluster/run": {"concurrent"},
    "cluster/scheduler": {"concurrent"},
    "estimators/collections": {"dask", "distributed", "pandas"},
    "dask": {"dask"},
    "benchmarks": {"numpy", "rich", "libsvm", "importlib"},
    "figures": {"matplotlib"},
    "console/plot": {"matplotlib"},
    "console/progress": {"rich"},
    "console/terminal": {"rich"},
    "commands/bench/__init__": {"importlib"},
    "commands/bench/screen": {"rich"},
    "commands/bound/screen": {"rich"},
}
#: Folders of the core, lowest first -> folders whose headers they may include.
NATIVE_LAYERS = {
    "system": set(),
    "simd": {"system"},
    "text": {"simd"},
    "answers": {"simd", "text"},
    "exact": {"simd", "text", "answers"},
    "models": {"simd", "text", "answers", "exact"},
    "engine": {"simd", "text", "answers", "exact", "models"},
    "files": {"system"},
    "capi": {"simd", "text", "answers", "exact", "engine"},
    "program": {"simd", "engine", "files"},
    "bind": {"simd", "system", "text", "answers", "exact", "models", "engine", "files", "program"},
}


def _imports(path, top_level_only=False):
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module == "fastsvm_cli":
                yield from (f"fastsvm_cli.{alias.name}" for alias in node.names)
            else:
                yield node.module


def _layer(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


SOURCES = sorted(path for path in PACKAGE.rglob("*.py"))


@pytest.mark.full(few=111)
@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_file_keeps_to_its_room(path):
    layer = _layer(path)
    allowed = LAYERS[layer]
    libraries = LIBRARIES.get(layer, set()) | LIBRARIES.get(str(path.relative_to(PACKAGE).with_suffix("")), set())
    for name in _imports(path):
        if name.startswith("fastsvm_cli.") and name != "fastsvm_cli.__version__":
            assert name.split(".")[1] in allowed | {layer}, f"{layer} imports {name}"
        elif name.split(".")[0] in HEAVY:
            assert name.split(".")[0] in libraries, f"{path.name} imports {name}"


WORDS = ("compilation.py", "method.py", "__init__.py")


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if _layer(path) == "methods"], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_formulas_of_methods_know_no_words_of_a_command_line(path):
    """Except for the registry and each method's entry module, which load nothing heavy."""
    if path.name in WORDS:
        assert not {name.split(".")[0] for name in _imports(path, top_level_only=True)} & HEAVY
    else:
        assert not [name for name in _imports(path) if name.startswith(("click", "fastsvm_cli.console"))]


def test_the_lists_of_rooms_have_no_stale_line():
    assert set(LAYERS) == {_layer(path) for path in SOURCES}
    assert all((PACKAGE / name).exists() or (PACKAGE / f"{name}.py").exists() for name in LIBRARIES)
    assert set(NATIVE_LAYERS) == {path.name for path in (PACKAGE / "native").iterdir() if path.is_dir()}


def test_no_import_runs_up_a_floor():
    order = list(LAYERS)
    for layer, allowed in LAYERS.items():
        assert all(order.index(other) < order.index(layer) for other in allowed - {"_native", "__version__"}), layer


@pytest.mark.full
def test_modules_import_each_other_in_no_circle():
    """Imports inside functions count too."""
    graph = {}
    for path in SOURCES:
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        graph[name] = {other for other in _imports(path) if other.startswith("fastsvm_cli.")}
    done, way = set(), []

    def visit(name):
        assert name not in way, " -> ".join([*way[way.index(name) :], name])
        if name in done or name not in graph:
            return
        way.append(name)
        for other in sorted(graph[name]):
            visit(other)
        way.pop()
        done.add(name)

    for name in graph:
        visit(name)


CORE = sorted(path for path in (PACKAGE / "native").rglob("*.*") if path.suffix in (".h", ".cpp"))


@pytest.mark.parametrize("path", CORE, ids=lambda p: str(p.relative_to(PACKAGE / "native")))
def test_every_file_of_the_core_keeps_to_its_room(path):
    """Python is used only in bind/, files only in the folders below."""
    layer, text = path.relative_to(PACKAGE / "native").parts[0], path.read_text()
    for name in re.findall(r'#include "(.*)"', text):
        other = name.partition("/")[0]
        assert (PACKAGE / "native" / name).is_file() and other in NATIVE_LAYERS[layer] | {layer}, name
    system = set(re.findall(r"#include <(.*)>", text))
    assert layer == "bind" or not [name for name in system if name.startswith(("nanobind", "Python"))]
    of_files = {"cstdio", "stdio.h", "fstream", "iostream", "filesystem", "fcntl.h", "unistd.h"}
    assert layer in ("system", "files", "capi", "program") or path.stem.endswith("_test") or not system & of_files


def _modules_after(*arguments):
    code = (
        "import sys; from fastsvm_cli.cli import main\n"
        "try: main()\n"
        "except SystemExit as e: assert not e.code, e.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = outcome([sys.executable, "-c", code, *map(str, arguments)], cwd=DATA)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

    folder = tmp_path_factory.mktemp("walls")
    svm_save_model(str(folder / "exact"), svm_train(*svm_read_problem(str(DATA / "colors.train")), "-q -g 0.02"))
    _modules_after("approx", "-q", folder / "exact", folder / "compiled")
    _modules_after("approx", "-q", "--certify", folder / "exact", folder / "certified")
    for method in ("geometry", "triangle"):
        _modules_after("order", "-q", "--method", method, folder / "exact", folder / method)
    density = ("--bandwidth", "adaptive", "-W", "9", "--density")
    _modules_after("border", "-q", *density, DATA / "colors.train", folder / "density")
    return folder


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "model",
    [
        *"exact compiled density".split(),
        "certified --open-rows /dev/null",
        "geometry",
        "triangle",
        "geometry --steps 5",
        "compiled --on-bad-row nan",
        "certified --exact exact",
        "compiled --audit 50% --exact exact",
    ],
)
def test_predict_loads_nothing_heavy(models, model):
    model, *options = model.split()
    options = [models / word if word == "exact" else word for word in options]
    loaded = _modules_after("predict", "-q", *options, DATA / "colors.test", models / model, "/dev/null")
    assert "fastsvm_cli._native" in loaded
    libraries = {name.split(".")[0] for name in loaded}
    assert not libraries & {"numpy", "scipy", "rich", "libsvm", "dask", "distributed", "fsspec"}
    # Texts about options are loaded only on request.
    assert not loaded & {f"fastsvm_cli.console.{name}" for name in ("help_page", "man_page", "completion")}
    assert not loaded & {
        "fastsvm_cli.cluster",
        "tempfile",
        "concurrent.futures",
        "hashlib",
        "importlib.metadata",
        "queue",
        "json",
    }


def test_approx_and_its_trial_load_no_numpy(models):
    loaded = _modules_after("approx", models / "exact", "/dev/null")
    assert "fastsvm_cli.comparisons.support_vector_trial" in loaded and not {name.split(".")[0] for name in loaded} & {
        "numpy",
        "scipy",
        "rich",
    }


def test_the_package_itself_loads_nothing():
    """Everything is loaded on first use."""
    code = "import sys; before = set(sys.modules); import fastsvm_cli; print(*set(sys.modules) - before)"
    done = outcome([sys.executable, "-c", code], check=True, cwd=DATA)
    assert done.stdout.split() == ["fastsvm_cli"]


def test_version_and_help_load_no_core():
    for option in ("--version", "--help"):
        loaded = _modules_after(option)
        assert not loaded & {"fastsvm_cli._native", "numpy", "rich"}


TEST_FILES = sorted(TESTS.rglob("*.py"))
SUPPORT = TESTS / "support"


@pytest.mark.full
def test_no_test_imports_another():
    """Shared code is in support/ or a conftest.py."""
    layers = {path.name for path in TESTS.iterdir() if path.is_dir()} - {"support"}
    for path in TEST_FILES:
        for name in _imports(path):
            words = name.split(".")
            assert words[0] not in layers | {"tests"}, f"{path} imports {name}"
            assert not any(word == "conftest" or word.startswith("test_") for word in words), f"{path} imports {name}"


def test_oracles_share_no_code_with_the_package():
    for path in [*(SUPPORT / "oracles").iterdir(), SUPPORT / "checksums.py"]:
        if path.suffix == ".py":
            assert not [name for name in _imports(path) if name.split(".")[0] in ("fastsvm_cli", "libsvm")], path


def test_support_holds_no_fixture_and_no_test():
    for path in SUPPORT.rglob("*.py"):
        assert not re.search(r"^(@pytest\.fixture|def test_)", path.read_text(), re.MULTILINE), path


def test_test_files_are_short_and_have_names_of_their_own():
    names = [path.name for path in TEST_FILES if path.name.startswith("test_")]
    assert sorted(set(names)) == sorted(names)
    for path in TEST_FILES:
        assert len(path.read_text().splitlines()) <= 450, path
