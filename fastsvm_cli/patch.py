"""A script in which scikit-learn's SVMs are patched: `python -m fastsvm_cli.patch script.py`."""

import sys
from argparse import REMAINDER, ArgumentParser
from os.path import abspath, dirname
from runpy import run_path

from fastsvm_cli.estimators.patching import patch

if __name__ == "__main__":
    parser = ArgumentParser("python -m fastsvm_cli.patch", description="Run a script with scikit-learn's SVMs patched.")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line per call on standard error")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("args", metavar="ARGS", nargs=REMAINDER)
    given = parser.parse_args()
    patch(verbose=given.verbose)
    sys.argv, sys.path[0] = [given.script, *given.args], dirname(abspath(given.script))
    run_path(given.script, run_name="__main__")
else:
    sys.modules[__name__] = patch  # type: ignore[assignment]  # fastsvm_cli.patch stays the function
