# Make .venv, and install fastsvm, or the wheel FASTSVM_WHEEL, into it. Usage:
# . scripts/environment.sh ["[EXTRAS]"]
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for tool in python3 g++; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install g++ python3-dev python3-venv" >&2; exit 1; }
done
if [ ! -x .venv/bin/python ]; then
  python3 -m venv .venv || { echo "python3 cannot make a virtual environment: apt-get install python3-venv" >&2; exit 1; }
fi
echo "Installing fastsvm into .venv (a minute or two the first time) ..." >&2
# In CI, most installed modules are never loaded: compiling them all takes half a minute.
.venv/bin/python -m pip install --quiet --use-pep517 --disable-pip-version-check ${CI:+--no-compile} \
  "${FASTSVM_WHEEL:-.}${1:-}"
export PATH="$PWD/.venv/bin:$PATH"
