"""Which room may import which, and what a command may load: the walls are also the speed walls."""

import ast
import subprocess
import sys

import pytest
from conftest import DATA, ROOT

PACKAGE = ROOT / "fastsvm_cli"
HEAVY = {"numpy", "scipy", "rich", "libsvm", "tempfile", "concurrent", "importlib.metadata", "dataclasses"}

#: Room (module or folder) -> rooms of the package it may import, and whether numpy or scipy may be used in it.
ROOMS = {
    "errors": (set(), set()),
    "bounds": (set(), set()),
    "content": ({"errors"}, set()),
    "data": ({"_native", "content", "errors"}, set()),
    "bad_rows": ({"errors"}, set()),
    "output": ({"errors", "stopping"}, set()),
    "header": ({"_native", "errors"}, set()),
    "models": ({"_native", "errors", "fingerprint", "header", "data", "models"}, set()),
    "centers": (set(), set()),
    "fingerprint": (set(), set()),
    "norms": ({"_native", "centers"}, {"numpy"}),
    "compilers": ({"_native", "agreement", "bounds", "centers", "data", "errors", "header", "models", "norms"}, {"numpy", "scipy"}),
    "benchmarks": ({"_native", "__version__", "agreement", "compilers", "data", "errors", "fingerprint", "header", "models", "prediction", "scores", "sizes", "stopping", "training"}, {"numpy", "rich", "libsvm", "importlib"}),
    "prediction": ({"_native", "bad_rows", "data", "errors", "header", "models"}, set()),
    "partial": ({"errors"}, set()),
    "resume": ({"__version__", "_native", "bad_rows", "data", "errors", "partial", "prediction", "stopping"}, set()),
    "scores": ({"_native", "header"}, set()),
    "survey": ({"_native", "bounds", "data", "errors", "models", "norms"}, {"numpy"}),
    "agreement": ({"_native", "data", "models"}, set()),
    "training": ({"_native", "models"}, {"libsvm"}),
    "trial": ({"_native", "agreement", "data", "models"}, set()),
    "sizes": (set(), set()),
    "progress": ({"stopping"}, {"rich"}),
    "cli": ({"errors", "commands"}, set()),
    "__main__": ({"start"}, set()),
    "start": ({"cli", "stopping", "streams"}, set()),
    "stopping": (set(), set()),
    "streams": (set(), set()),
    "__init__": (set(), set()),
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


def _room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


SOURCES = sorted(path for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_file_keeps_to_its_room(path):
    room = _room(path)
    if room == "commands":  # the console may use everything, inside its bodies
        top = {name.split(".")[0] for name in _imports(path, top_level_only=True)}
        assert not top & HEAVY
        return
    allowed, libraries = ROOMS[room]
    for name in _imports(path):
        if name.startswith("fastsvm_cli.") and name != "fastsvm_cli.__version__":
            assert name.split(".")[1] in allowed | {room}, f"{room} imports {name}"
        elif name.split(".")[0] in HEAVY:
            assert name.split(".")[0] in libraries | ({"tempfile"} if room == "survey" else set()), f"{room} imports {name}"


def test_the_list_of_rooms_has_no_stale_line():
    assert set(ROOMS) | {"commands"} == {_room(path) for path in SOURCES}


def _modules_after(*arguments):
    code = "import sys; from fastsvm_cli.cli import main\ntry: main()\nexcept SystemExit as e: assert not e.code, e.code\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, cwd=DATA)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

    folder = tmp_path_factory.mktemp("walls")
    svm_save_model(str(folder / "exact"), svm_train(*svm_read_problem(str(DATA / "colors.train")), "-q -g 0.02"))
    _modules_after("approx", "-q", folder / "exact", folder / "compiled")
    _modules_after("approx", "-q", "--certify", folder / "exact", folder / "certified")
    for method in ("geometry", "triangle", "blocks"):
        _modules_after("order", "-q", "--method", method, folder / "exact", folder / method)
    density = ("--bandwidth", "adaptive", "-W", "9", "--density")
    _modules_after("border", "-q", *density, DATA / "colors.train", folder / "density")
    return folder


@pytest.mark.parametrize(
    "model",
    ["exact", "compiled", "density", "certified --open-rows /dev/null",
     "geometry", "triangle", "blocks", "geometry --steps 5", "compiled --on-bad-row nan",
     "certified --exact exact"],
)  # fmt: skip
def test_predict_loads_nothing_heavy(models, model):
    model, *options = model.split()
    options = [models / word if word == "exact" else word for word in options]
    loaded = _modules_after("predict", "-q", *options, DATA / "colors.test", models / model, "/dev/null")
    assert "fastsvm_cli._native" in loaded
    assert not {name.split(".")[0] for name in loaded} & {"numpy", "scipy", "rich", "libsvm"}
    assert not loaded & {"tempfile", "concurrent.futures", "hashlib", "importlib.metadata", "queue", "json"}


def test_approx_and_its_trial_load_no_numpy(models):
    loaded = _modules_after("approx", models / "exact", "/dev/null")
    assert "fastsvm_cli.trial" in loaded and not {name.split(".")[0] for name in loaded} & {"numpy", "scipy", "rich"}


def test_version_and_help_load_no_core():
    for option in ("--version", "--help"):
        loaded = _modules_after(option)
        assert not loaded & {"fastsvm_cli._native", "numpy", "rich"}
