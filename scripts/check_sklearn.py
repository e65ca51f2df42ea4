#!/usr/bin/env python3
"""Run scikit-learn's own tests of support vector machines and calibration under fastsvm's patch, and with the engine
answering every call.

  check_sklearn.py PYTHON...

PYTHON: interpreters with scikit-learn, pandas, pytest and this package, one per version:
  python3 -m venv OLD; OLD/bin/pip install scikit-learn==1.3.0 "numpy<2" pandas pytest .
Exit code 1 if a test fails only under the patch, or the engine answered no call.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

TESTS = ["sklearn.svm.tests", "sklearn.tests.test_calibration"]
CHILD = f"""
import os, sys, pytest, sklearn
how, report = sys.argv[1:]
calls = [0, 0]
if how != "without":
    from fastsvm_cli.estimators import patching
    from fastsvm_cli.sklearn import patch
    if how == "always":
        patching.LEAST_VALUES = patching.ROWS_BEFORE = patching.VALUES_BEFORE = 0
    numbers = patching.Engine.numbers
    def counted(*arguments):
        calls[0] += 1
        found = numbers(*arguments)
        calls[1] += len(found[1])
        return found
    patching.Engine.numbers = counted
    patch()
pytest.main(["-q", "-p", "no:cacheprovider", "--junitxml", report, "--pyargs", *{TESTS}], plugins=[])
print("\\nversion and calls:", sklearn.__version__, *calls)
"""


def run(python, how):
    """Return (version, {test: outcome}, calls that the engine answered, rows that it left)."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        words = [python, "-c", CHILD, how, str(report)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        found = [line for line in done.stdout.splitlines() if line.startswith("version and calls:")]
        if not found or not report.exists():
            sys.exit(f"{python}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        ended = {
            f"{case.get('classname')}::{case.get('name')}": case[0].tag if len(case) else "passed"
            for case in ElementTree.parse(report).iter("testcase")
        }
    version, calls, left = found[-1].split()[3:]
    return version, ended, int(calls), int(left)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", nargs="+")
    worse = False
    for python in parser.parse_args().python:
        version, before, *_ = run(python, "without")
        passing = {test for test, end in before.items() if end == "passed"}
        print(f"scikit-learn {version}: {len(before)} tests, {len(passing)} pass without the patch", flush=True)
        for how, words in ("patched", "with it"), ("always", "with every call answered"):
            _, after, calls, left = run(python, how)
            lost = sorted(test for test in passing if after.get(test) != "passed")
            print(f"  {len(passing) - len(lost)} of them {words}: {calls} calls, {left} rows left to scikit-learn")
            for test in lost:
                print(f"    {test}: {after.get(test, 'missing')}")
            worse = worse or bool(lost) or (how == "always" and not calls)
    return int(worse)


if __name__ == "__main__":
    sys.exit(main())
