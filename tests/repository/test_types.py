"""Types of the installed package, for type checkers."""

import ast
from pathlib import Path

import fastsvm_cli
from fastsvm_cli import _native

INSTALLED = Path(fastsvm_cli.__file__).parent


def test_the_package_says_that_it_has_types():
    assert (INSTALLED / "py.typed").is_file()


def test_the_stub_of_the_package_has_its_public_names_and_no_others():
    stub = ast.parse((INSTALLED / "__init__.pyi").read_text()).body
    names = {node.names[0].asname for node in stub if isinstance(node, ast.ImportFrom)}
    assert names == set(fastsvm_cli.__all__) == set(fastsvm_cli._HOMES)
    homes = {node.names[0].asname: node.module for node in stub if isinstance(node, ast.ImportFrom)}
    assert homes == fastsvm_cli._HOMES
    assert all(getattr(fastsvm_cli, name) is not None and name in dir(fastsvm_cli) for name in names)


def test_the_stub_has_everything_that_the_core_has():
    """The stub is made from the built module: neither can be outdated."""
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


def test_the_stub_names_types():
    """`object` or a bare `tuple` gives a type checker no information."""
    tree = ast.parse((INSTALLED / "_native.pyi").read_text(), feature_version=(3, 10))
    untold = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            known = [(argument.arg, argument.annotation) for argument in node.args.args if argument.arg != "self"]
            for name, annotation in [*known, ("return", node.returns)]:
                parts = set(ast.unparse(annotation).split(" | ")) if annotation is not None else {"object"}
                if parts & {"object", "tuple", "list", "Iterable"}:
                    untold.append(f"{node.name}: {name}")
    assert not untold
