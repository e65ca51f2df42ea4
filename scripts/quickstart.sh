#!/usr/bin/env bash
# Install into .venv, train a model with LIBSVM, compile it, and compare their predictions.
set -euo pipefail
. "$(dirname "$0")/environment.sh" "[libsvm]"
python scripts/make_data.py
exec python scripts/quickstart.py
