"""The record of a command's options, and the command."""

from importlib import import_module

import pytest

from fastsvm_cli.cli import COMMANDS
from fastsvm_cli.console.exact_model import CompilerOptions
from fastsvm_cli.console.options import Options


def records(module):
    """The records that a command's file uses."""
    kinds = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Options)]
    return [kind for kind in kinds if kind not in (Options, CompilerOptions)]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "bound"])
def test_a_record_has_the_parameters_of_its_command(name):
    module = import_module(f"fastsvm_cli.commands.{name}")
    (record,) = records(module)
    named = [word for kind in record.__mro__ for word in vars(kind).get("__annotations__", {})]
    assert sorted(named) == sorted(each.name for each in module.command.params)
    assert record.check is not Options.check or name == "approx"  # whose faults all need the model


def test_what_does_not_go_together_is_refused_when_the_record_is_made():
    import click

    from fastsvm_cli.commands.reduce import ReduceOptions

    given = dict(vectors=None, ratio=0.1, target=None, data_file=None, scale_file=None, y_scale_file=None)
    given |= dict(plot_file=None, lossless=False, init="greedy", optimizer="none", finishing=True)
    assert ReduceOptions(**given).count(57) == 6
    with pytest.raises(click.UsageError, match="--vectors and --ratio do not go together"):
        ReduceOptions(**given | {"vectors": 3})
