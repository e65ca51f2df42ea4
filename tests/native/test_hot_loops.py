"""Assembly of the hot loops: whole registers of the instruction set."""

import platform
import re

import pytest

from support.building import run
from support.paths import ROOT

NATIVE = ROOT / "fastsvm_cli" / "native"
AVX2 = ["-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mlzcnt"]
# Moves of half or a quarter of a register, as in loops over longer vectors.
PIECES = re.compile(r"\s(vmov[lh]p[sd]|vmovq|vmovs[sd]|vpinsr[dq]|vpextr[dq]|vinsertps|vextractps)\s")

pytestmark = [pytest.mark.full, pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions of x86-64")]


def assembly(source):
    """AVX2 assembly of a file of simd/: function name -> lines."""
    words = ["-std=c++17", "-O3", *AVX2, "-DFASTSVM_ISA=avx2", f"-I{NATIVE}", "-S", "-o-", NATIVE / "simd" / source]
    functions: dict[str, list[str]] = {}
    name = ""
    for line in run("g++", *words).splitlines():
        if match := re.match(r"(_Z[\w.]+):", line):
            name = match[1]
        functions.setdefault(name, []).append(line)
    return functions


def blocks(lines):
    """Innermost loops: lines from a label to the jump back to it."""
    start: dict[str, int] = {}
    for at, line in enumerate(lines):
        if match := re.match(r"(\.L\d+):", line):
            start[match[1]] = at
        elif (match := re.match(r"\tj\w+\t(\.L\d+)", line)) and match[1] in start:
            body = [each for each in lines[start[match[1]] : at + 1] if re.match(r"\t\w", each)]
            if not any(re.match(r"\tj", each) for each in body[:-1]):
                yield body


def assert_tiles(functions, kind, most):
    """Innermost loops with twelve sums in registers, of at most this many instructions."""
    found = [lines for name, lines in functions.items() if kind in name]
    assert found, kind
    for lines in found:
        loops = [body for body in blocks(lines) if sum("vfmadd" in line for line in body) >= 12]
        assert loops, kind
        for body in loops:
            assert sum("vfmadd" in line for line in body) == 12 and len(body) <= most
            assert not [line for line in body if PIECES.search(line) or ("%rsp" in line and "vmov" in line)]


def test_a_tile_of_six_rows_multiplies_and_adds_registers_and_little_else():
    functions = assembly("tiles.cpp")
    for kind in ("single_sums_rows", "single_rows", "double_sums_rows", "double_dots_rows"):
        # Two registers of vectors, six numbers of rows.
        assert_tiles(functions, f"{kind}ILi6E", 26)


def test_a_tile_of_three_rows_or_polynomials_multiplies_and_adds_registers_and_little_else():
    # Rows: for two columns, two registers of rows and three coefficients. Polynomials: two registers of coefficients
    # and three numbers of rows.
    functions = assembly("polynomials.cpp")
    for top, most in (("d", 27), ("f", 32)):  # coefficients of single precision are converted
        assert_tiles(functions, f"5DenseILi2E{top}E", 25)  # conversion has its own loop
        assert_tiles(functions, f"dense_panelI{top}E", most)
