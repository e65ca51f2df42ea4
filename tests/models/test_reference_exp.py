"""The reference sum's exponentials are those of this process's C library, bit for bit."""

import json
import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from fastsvm_cli import _native
from support.evaluation import parse, reference
from support.hostile import hostile_machine, hostile_rows
from support.in_process import both, mirrored
from support.oracles import data_text
from support.processes import PATIENCE

pytestmark = pytest.mark.usefixtures("best_instruction_set", "serial_libsvm")
BUILDS = ["baseline", "avx2", "avx512", "avx512_vnni"]
LN2 = 0.6931471805599453

# For a separate process, which may have another exp: per build the chosen loop, and how many of its results differ from
# exp in a bit. All NaNs are equal.
COMPARE = """
import ctypes, json
import numpy as np
from fastsvm_cli import _native

exp = ctypes.CDLL(None).exp  # one that is loaded before the C library's, where there is one
exp.restype, exp.argtypes = ctypes.c_double, [ctypes.c_double]
x = np.load("arguments.npy")
library = np.array([exp(each) for each in x.tolist()])
found = {}
for build in ("baseline", "avx2", "avx512", "avx512_vnni"):
    if _native.select_instruction_set(build):
        loop = _native.library_exp()
        lanes = np.array(_native.exp_in_lanes(loop, x)) if loop else library
        same = (lanes.view(np.int64) == library.view(np.int64)) | (np.isnan(lanes) & np.isnan(library))
        found[build] = [loop, int((~same).sum())]
print(json.dumps(found))
"""


def hard_arguments(rng, n):
    """All of e^x's range and beyond; both ends of rows of glibc's table; its other paths."""
    edges = [0, 5e-324, 2.0**-54, 2.0**-53, 512, 708.3, 708.4, 709.78, 745.13, 745.14, 746, 1024, 1e308, np.inf]
    edges = np.array([near for edge in edges for near in (np.nextafter(edge, 0), edge, np.nextafter(edge, np.inf))])
    rows = (rng.integers(-95000, 95000, n) + rng.choice([-0.5, 0, 0.5], n)) * (LN2 / 128)
    return np.concatenate(
        [
            edges,
            -edges,
            [np.nan],
            rows * (1 + rng.choice([-1, 0, 1], n) * 2.0**-52),
            -rng.random(n),
            -30 * rng.random(n),
            rng.uniform(-760, 720, n),
            rng.choice([-1, 1], n) * 10 ** rng.uniform(-20, 3, n),
        ]
    )


@pytest.fixture
def compared(tmp_path):
    """Output of COMPARE in a process with this environment."""
    np.save(tmp_path / "arguments.npy", hard_arguments(np.random.default_rng(2), 50000))

    def run(**environment):
        done = subprocess.run(
            [sys.executable, "-c", COMPARE],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.mark.full
def test_the_chosen_loop_has_the_librarys_bits(compared):
    for build, (loop, wrong) in compared().items():
        assert wrong == 0, (build, loop)


def test_glibcs_exp_is_found():
    name, version = platform.libc_ver()
    if name != "glibc" or tuple(map(int, version.split("."))) < (2, 28):
        pytest.skip("another C library")
    # glibc's loop is one of the best build of this processor, whatever FASTSVM_INSTRUCTIONS says.
    assert _native.select_instruction_set(_native.instruction_sets()[0]) and _native.library_exp() != ""


def test_both_loops_are_told_apart():
    """At most one is this library's: they differ in some roundings."""
    if not _native.select_instruction_set("avx2"):
        pytest.skip("this machine has no avx2")
    x = -30 * np.random.default_rng(1).random(100000)
    plain, fused = (np.array(_native.exp_in_lanes(loop, x)) for loop in ("plain", "fused"))
    assert 0 < (plain != fused).sum() < 300
    assert np.abs(plain / fused - 1).max() < 3e-16
    assert _native.select_instruction_set("baseline")
    with pytest.raises(ValueError, match="no such loop"):
        _native.exp_in_lanes("fused", x)


@pytest.mark.full
def test_glibc_without_fused_multiply_adds_is_found_too(compared):
    """glibc detects them when it is loaded, unless told not to."""
    off = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX2_Usable,-FMA_Usable,-FMA4_Usable"
    found = compared(GLIBC_TUNABLES=off)
    if _native.library_exp() == "fused" and found[_native.instruction_set()][0] == "fused":
        pytest.skip("this C library takes no such advice")
    assert all(wrong == 0 for _, wrong in found.values())
    if _native.library_exp():
        assert {loop for loop, _ in found.values()} == {"plain"}


@pytest.fixture(scope="session")
def other_exp(tmp_path_factory):
    """A library to preload, whose exp rounds to nearest."""
    folder = tmp_path_factory.mktemp("exp")
    (folder / "exp.c").write_text("#include <math.h>\ndouble exp(double x) { return (double)expl(x); }\n")
    made = subprocess.run(
        [*"g++ -x c -O1 -fno-builtin -shared -fPIC".split(), "-o", "exp.so", "exp.c", "-lm"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        pytest.skip(f"no compiler: {made.stderr}")
    return str(folder / "exp.so")


@pytest.mark.full
def test_of_another_library_the_library_itself_is_called(compared, other_exp):
    found = compared(LD_PRELOAD=other_exp)
    assert {loop for loop, _ in found.values()} == {""}


def test_lines_are_those_of_svm_predict_on_the_same_library(svm_predict, fastsvm, tmp_path, other_exp):
    """The two libraries differ on rows whose probabilities rounding decides."""
    machine, rows = mirrored(np.random.default_rng(3), "rbf")
    machine.probA, machine.probB = [-1e15], [0.3]
    (tmp_path / "model").write_bytes(machine.text())
    (tmp_path / "rows").write_bytes(data_text(rows))
    lines = []
    for preload in (os.environ.get("LD_PRELOAD", ""), other_exp):
        environment = {"LD_PRELOAD": preload}
        subprocess.run(
            [svm_predict, "-q", "-b", "1", "rows", "model", "theirs"],
            cwd=tmp_path,
            env={**os.environ, **environment},
            check=True,
        )
        fastsvm("predict", "-q", "-b", "1", "rows", "model", "ours", env=environment)
        lines.append((tmp_path / "ours").read_bytes())
        assert lines[-1] == (tmp_path / "theirs").read_bytes()
    assert lines[0] != lines[1]


@pytest.mark.full(few=3)
@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "sigmoid"])
def test_hostile_sums_are_libsvms_bit_for_bit(tmp_path, build, kernel):
    if not _native.select_instruction_set(build):
        pytest.skip(f"this machine has no {build}")
    for seed in range(40):
        rng = np.random.default_rng(seed)
        machine, x = hostile_machine(rng, kernel)
        rows = [row for _ in range(4) for row in hostile_rows(rng, x)]
        model, theirs = both(machine, tmp_path)
        expected, chunk = theirs.values(rows), parse(rows)
        for count in (1, 8, len(rows)):
            np.testing.assert_array_equal(reference(model, chunk.slice(0, count)), expected[:count])


@pytest.mark.parametrize("build", BUILDS)
def test_exponentials_beyond_the_lanes_are_the_librarys(tmp_path, build):
    """Some rows of a register are so far that glibc takes another path, or e^x underflows."""
    if not _native.select_instruction_set(build):
        pytest.skip(f"this machine has no {build}")
    rng = np.random.default_rng(5)
    machine, _ = mirrored(rng, "rbf", n=40, d=2)
    machine.gamma = 1.0
    machine.coef *= 10.0 ** rng.uniform(0, 300, machine.coef.shape)
    rows = [{1: float(rng.choice([0, 1, 22, 23, 26, 27, 28, 40]) + rng.normal())} for _ in range(100)]
    model, theirs = both(machine, tmp_path)
    expected = theirs.values(rows)
    assert len({*expected[:, 0].tolist()}) > 50
    np.testing.assert_array_equal(reference(model, parse(rows)), expected)
