#!/usr/bin/env bash
# From nothing to a comparison: installs into .venv, trains a model with LIBSVM, compiles it, predicts with both.
set -euo pipefail
. "$(dirname "$0")/environment.sh" "[libsvm]"
python scripts/make_data.py
exec python scripts/quickstart.py
