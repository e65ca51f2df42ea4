"""Where things are: the checkout, its data and golden models, the command under test."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
#: Models and rows of every format version, never edited.
GOLDEN = TESTS / "golden"
DATA = ROOT / "data"
SCRIPTS = ROOT / "scripts"
#: The command as installed beside the interpreter that runs the tests.
FASTSVM = str(Path(sys.executable).parent / "fastsvm")
