#!/usr/bin/env bash
# Every test, on a fresh clone: installs into .venv with the test extras, then runs pytest, on all cores. Arguments go to
# pytest.
set -euo pipefail
. "$(dirname "$0")/environment.sh" "[test]"
exec pytest -n auto "$@"
