#!/usr/bin/env bash
# Check style, types, imports (the contracts in pyproject.toml), the promised interface and the reference's option lists,
# up to the first failure. --fix first applies ruff's fixes and formats. Installs the tools, and the typed packages that
# mypy reads, into build/lint once. Python 3.11 or later.
set -euo pipefail
cd "$(dirname "$0")/.."
tools="ruff==0.17.6 mypy==2.4.1 clang-format==23.1.5 import-linter==2.17 griffe==2.4.1"
tools+=" numpy==2.4.6 click==8.5.1 rich==15.0.0 matplotlib==3.11.2 onnx==1.23.2 dask==2026.8.0 distributed==2026.8.0"
if [ $# -gt 1 ] || { [ $# = 1 ] && [ "$1" != --fix ]; }; then
  echo "usage: scripts/lint.sh [--fix]" >&2
  exit 2
fi
if [ "$(cat build/lint/tools 2>/dev/null)" != "$tools" ]; then
  echo "Installing $tools into build/lint ..." >&2
  python3 -m venv build/lint || { echo "python3 cannot make a virtual environment: apt-get install python3-venv" >&2; exit 1; }
  # shellcheck disable=SC2086  # a word each
  build/lint/bin/python -m pip install --quiet --disable-pip-version-check --no-compile $tools # most are read, not run
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
lint-imports --no-cache --no-logo
python scripts/update_surface.py --check
python scripts/update_reference.py --check
