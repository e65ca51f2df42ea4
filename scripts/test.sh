#!/usr/bin/env bash
# Install into .venv with the test extras, and run pytest: the fast tests or, with --full, all (--examples 0.4: with fewer
# random examples). Arguments go to pytest.
set -euo pipefail
. "$(dirname "$0")/environment.sh" "[test]"
# Tests write thousands of small files: in memory, if that has 4 GB and may run programs.
if memory=$(mktemp -d /dev/shm/fastsvm-tests.XXXXXX 2>/dev/null); then
  trap 'rm -rf "$memory"' EXIT
  [ "$(df -Pk /dev/shm | awk 'END { print $4 }')" -gt 4000000 ] && cp "$(type -P true)" "$memory" &&
    "$memory/true" 2>/dev/null && export TMPDIR=$memory
fi
pytest -n auto --dist worksteal "$@"
