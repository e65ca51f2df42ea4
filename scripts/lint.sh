#!/usr/bin/env bash
# Check style and types, up to the first failure. --fix first applies ruff's fixes and formats. Installs the tools into
# build/lint once.
set -euo pipefail
cd "$(dirname "$0")/.."
tools="ruff==0.17.6 mypy==2.4.1 clang-format==23.1.5"
if [ $# -gt 1 ] || { [ $# = 1 ] && [ "$1" != --fix ]; }; then
  echo "usage: scripts/lint.sh [--fix]" >&2
  exit 2
fi
if [ "$(cat build/lint/tools 2>/dev/null)" != "$tools" ]; then
  echo "Installing $tools into build/lint ..." >&2
  python3 -m venv build/lint || { echo "python3 cannot make a virtual environment: apt-get install python3-venv" >&2; exit 1; }
  # shellcheck disable=SC2086  # a word each
  build/lint/bin/python -m pip install --quiet --disable-pip-version-check $tools
  echo "$tools" > build/lint/tools
fi
export PATH="$PWD/build/lint/bin:$PATH"
mapfile -t core < <(find fastsvm_cli/native \( -name '*.h' -o -name '*.cpp' \) | sort)
if [ "${1:-}" = --fix ]; then
  ruff check --quiet --fix-only .
  ruff format --quiet .
  clang-format -i "${core[@]}"
fi
ruff check --quiet .
ruff format --check .
clang-format --dry-run -Werror "${core[@]}"
mypy
