"""Run a script, or a module, in which scikit-learn's SVMs are patched: `python -m fastsvm_cli.patch script.py`."""

import sys
from argparse import REMAINDER, ArgumentParser
from pathlib import Path
from runpy import run_module, run_path

from fastsvm_cli.estimators.patching import patch


def main() -> None:
    """Patch scikit-learn, then run what the command line names."""
    parser = ArgumentParser("python -m fastsvm_cli.patch", description="Run a script with scikit-learn's SVMs patched.")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line per call on standard error")
    parser.add_argument("-m", action="store_true", dest="module", help="SCRIPT is the name of a module")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("args", metavar="ARGS", nargs=REMAINDER)
    given = parser.parse_args()
    patch(verbose=given.verbose)
    sys.argv = [given.script, *given.args]
    if given.module:
        run_module(given.script, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(given.script).resolve().parent)
        run_path(given.script, run_name="__main__")


if __name__ == "__main__":
    main()
else:
    sys.modules[__name__] = patch  # type: ignore[assignment]  # fastsvm_cli.patch stays the function
