"""The public interface changes only when announced."""

import sys

import pytest

from support.paths import ROOT
from support.processes import outcome


@pytest.mark.full
def test_the_surface_is_what_its_file_says():
    """On a difference: announce it in CHANGELOG.md, then run scripts/update_surface.py."""
    script = ROOT / "scripts" / "update_surface.py"
    done = outcome([sys.executable, script, "--check"])
    assert done.returncode == 0, f"announce it in CHANGELOG.md, run {script.name}\n{done.stdout}{done.stderr}"
