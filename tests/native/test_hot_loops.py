"""What the compiler makes of the hot loops: registers of the instruction set, and nothing moved in pieces."""

import platform
import re
import subprocess

import pytest

from support.places import ROOT

NATIVE = ROOT / "fastsvm_cli" / "native"
AVX2 = ["-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mlzcnt"]
# Moves of a half or a quarter of a register, which a loop over longer vectors is made of.
PIECES = re.compile(r"\s(vmov[lh]p[sd]|vmovq|vmovs[sd]|vpinsr[dq]|vpextr[dq]|vinsertps|vextractps)\s")

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions of x86-64")


@pytest.fixture(scope="module")
def tiles(tmp_path_factory):
    """The functions of simd/tiles.cpp as AVX2's assembly: name -> lines."""
    out = tmp_path_factory.mktemp("assembly") / "tiles.s"
    command = ["g++", "-std=c++17", "-O3", *AVX2, "-DFASTSVM_ISA=avx2", f"-I{NATIVE}", "-S", "-o", str(out)]
    subprocess.run([*command, str(NATIVE / "simd" / "tiles.cpp")], check=True)
    functions: dict[str, list[str]] = {}
    name = ""
    for line in out.read_text().splitlines():
        if match := re.match(r"(_Z\w+):", line):
            name = match[1]
        functions.setdefault(name, []).append(line)
    return functions


def blocks(lines):
    """The innermost loops: lines from a label to the jump back to it."""
    start: dict[str, int] = {}
    for at, line in enumerate(lines):
        if match := re.match(r"(\.L\d+):", line):
            start[match[1]] = at
        elif (match := re.match(r"\tj\w+\t(\.L\d+)", line)) and match[1] in start:
            body = [each for each in lines[start[match[1]] : at + 1] if re.match(r"\t\w", each)]
            if not any(re.match(r"\tj", each) for each in body[:-1]):
                yield body


@pytest.mark.full
@pytest.mark.parametrize("kind", ["single_sums_rows", "single_rows", "double_sums_rows", "double_dots_rows"])
def test_a_tile_of_six_rows_multiplies_and_adds_registers_and_little_else(tiles, kind):
    found = [lines for name, lines in tiles.items() if f"{kind}ILi6E" in name]
    assert found
    for lines in found:
        loops = [body for body in blocks(lines) if sum("vfmadd" in line for line in body) >= 12]
        assert loops
        for body in loops:  # twelve sums, two registers of vectors, six numbers of rows
            assert sum("vfmadd" in line for line in body) == 12 and len(body) <= 26
            assert not [line for line in body if PIECES.search(line) or ("%rsp" in line and "vmov" in line)]
