#!/usr/bin/env bash
# Install a wheel without a compiler, and use it: check_wheel.sh WHEEL [PYTHON [REQUIREMENT ...]]. Requirements fix
# versions of other packages, such as numpy==1.24.*.
set -euo pipefail
wheel=$(realpath "$1"); python=${2:-python3}; shift; [ $# = 0 ] || shift
root=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
export CC=/bin/false CXX=/bin/false PATH="$folder/venv/bin:$PATH"
pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: "$wheel" "$@"
cd "$folder"
[ -f "$root/data/rings.train" ] || python "$root/scripts/make_data.py"
model=$root/tests/golden/c_svc.model rows=$root/tests/golden/data
fastsvm approx --certify "$model" made
fastsvm predict -q "$rows" made out
fastsvm-predict -q "$rows" made native && cmp out native
fastsvm predict -q --exact "$model" "$rows" made proven
fastsvm predict -q "$rows" "$model" exact && cmp exact proven
fastsvm reduce -q --ratio 0.5 "$model" reduced && fastsvm border -q "$model" border && fastsvm order -q "$model" ordered
fastsvm bench --runs 1 "$rows" "$model" made >table 2>note && grep -q "exact model" table
grep -q "pip install 'fastsvm\[libsvm\]'" note
fastsvm-config --libs >/dev/null
python - <<END
import fastsvm_cli, numpy, platform, scipy
from fastsvm_cli import _native
assert _native.library_exp() or platform.libc_ver()[0] != "glibc", "exp is not the C library's"
assert len(fastsvm_cli.load("$model").predict(numpy.zeros((3, 8)))) == 3
print("Python", platform.python_version(), "numpy", numpy.__version__, "scipy", scipy.__version__, "works")
END
