"""Paths: the checkout, its data and golden models, the command under test."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
#: Models and rows of every format version; they are never edited.
GOLDEN = TESTS / "golden"
DATA = ROOT / "data"
SCRIPTS = ROOT / "scripts"
#: The command installed beside the interpreter that runs the tests.
FASTSVM = str(Path(sys.executable).parent / "fastsvm")
#: The native program.
PROGRAM = str(Path(sys.executable).parent / "fastsvm-predict")
