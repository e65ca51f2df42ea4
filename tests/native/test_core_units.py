"""Units of the core, by tests in C++ beside them."""

import pytest

from fastsvm_cli import _native


@pytest.mark.full
@pytest.mark.parametrize("build", _native.instruction_sets())
def test_units_of_the_core(core_units, build):
    core_units(FASTSVM_INSTRUCTIONS=build)
