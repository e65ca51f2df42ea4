"""The public interface changes only when announced."""

import subprocess
import sys

import pytest

from support.places import ROOT


@pytest.mark.full
def test_the_surface_is_what_its_file_says():
    """On a difference: announce it in CHANGELOG.md, then run scripts/update_surface.py."""
    script = ROOT / "scripts" / "update_surface.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"announce it in CHANGELOG.md, run {script.name}\n{done.stdout}{done.stderr}"
