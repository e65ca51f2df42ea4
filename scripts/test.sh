#!/usr/bin/env bash
# Install into .venv with the test extras, and run pytest: the fast tests or, with --full, all (--examples 0.25: with
# fewer random examples). Arguments go to pytest.
set -euo pipefail
. "$(dirname "$0")/environment.sh" "[test]"
exec pytest -n auto --dist worksteal "$@"
