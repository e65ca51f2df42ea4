"""Types of the installed package, for type checkers."""

import ast
import inspect
from pathlib import Path
from typing import get_args

import fastsvm_cli
from fastsvm_cli import _native
from fastsvm_cli.estimators.compile import CompileOptions, Method
from fastsvm_cli.methods import names
from support.option_types import option_types

INSTALLED = Path(fastsvm_cli.__file__).parent


def test_the_stub_of_the_package_has_its_public_names_and_no_others():
    assert (INSTALLED / "py.typed").is_file()
    stub = ast.parse((INSTALLED / "__init__.pyi").read_text()).body
    homes = {node.names[0].asname: node.module for node in stub if isinstance(node, ast.ImportFrom)}
    assert homes == fastsvm_cli._HOMES and set(homes) == set(fastsvm_cli.__all__)
    assert all(getattr(fastsvm_cli, name) is not None and name in dir(fastsvm_cli) for name in homes)


def test_the_stub_of_the_core_has_types():
    """`object` or a bare `tuple` gives a type checker no information."""
    tree = ast.parse((INSTALLED / "_native.pyi").read_text(), feature_version=(3, 10))
    names, untold = {each.name for each in tree.body if isinstance(each, (ast.ClassDef, ast.FunctionDef))}, []
    for node in (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)):
        types = [each.annotation for each in node.args.args if each.arg != "self"] + [node.returns]
        words = {word for each in types for word in (ast.unparse(each).split(" | ") if each else ["object"])}
        untold += [node.name] * bool(words & {"object", "tuple", "list", "Iterable"})
    assert not untold and names >= {name for name, each in vars(_native).items() if callable(each) and name[0] != "_"}


def test_the_options_of_compile_are_those_of_the_methods():
    named = set(inspect.signature(fastsvm_cli.compile).parameters)
    expected = {name: each for name, each in option_types().items() if name not in named}
    (options,) = (
        node
        for node in ast.parse((INSTALLED / "estimators" / "compile.py").read_text()).body
        if isinstance(node, ast.ClassDef)
    )
    lines = [node for node in options.body if isinstance(node, ast.AnnAssign)]
    assert {ast.unparse(line.target): ast.unparse(line.annotation) for line in lines} == expected
    assert set(expected) == set(CompileOptions.__annotations__) and {*get_args(Method)} == {"exact", "auto", *names()}
