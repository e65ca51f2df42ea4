"""What the installed package tells a type checker."""

import ast
from pathlib import Path

import fastsvm_cli
from fastsvm_cli import _native

INSTALLED = Path(fastsvm_cli.__file__).parent


def test_the_package_says_that_it_has_types():
    assert (INSTALLED / "py.typed").is_file()


def test_the_stub_has_everything_that_the_core_has():
    """It is made of the module that was built, so that none of the two can be older than the other."""
    found = {}
    for node in ast.parse((INSTALLED / "_native.pyi").read_text()).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[node.name] = {each.name for each in getattr(node, "body", []) if isinstance(each, ast.FunctionDef)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = set()
    for name in dir(_native):
        if not name.startswith("_"):
            assert name in found, name
            if isinstance(getattr(_native, name), type):
                assert found[name] >= {each for each in vars(getattr(_native, name)) if not each.startswith("_")}, name
