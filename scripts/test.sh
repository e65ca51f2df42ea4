#!/usr/bin/env bash
# The tests, on a fresh clone: installs into .venv with the test extras, then runs pytest, on all cores: the fast ones or,
# with --full, all of them. Arguments go to pytest.
set -euo pipefail
. "$(dirname "$0")/environment.sh" "[test]"
exec pytest -n auto --dist worksteal "$@"
