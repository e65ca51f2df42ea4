"""Files of the methods: hand-made or compiled ones, changed by the table model_changes.txt. tests/models damages golden
files."""

import numpy as np
import pytest

from fastsvm_cli.methods.border.borders import compile_density
from fastsvm_cli.models import parse_model
from support.checksums import line_with_checksum, with_checksum
from support.damage import made_good
from support.evaluation import error_of, parse, values
from support.messages import model_changes
from support.model_files import compiled_text, hand
from support.oracles import BorderFile, Machine, border_values, random_rows
from support.paths import GOLDEN

BORDER = with_checksum(
    b"fastsvm_model border 2\n"
    + hand().partition(b"SV\n")[0]
    + b"""fingerprint 0123456789abcdef
features 1:2 7
precision single
nr_border 2 0 1
level 0.0 -1.5 0.125
local 3
border
0.5 1 -0.25
1 2 3
-4 5e-05 6
7 8 9
0.1 0.2 0.3
-1 -2 -3
end
"""
)
SMALL = Machine(
    "c_svc", "rbf", [{1: 1.0}, {2: 0.5}], np.array([[0.5], [-0.5]]), [0.1], 0.5, label=[1, -1], nr_sv=[1, 1]
)
REDUCED = line_with_checksum(SMALL.text() + b"fastsvm_reduced 2 0123456789abcdef0123456789abcdef 30 8 0.25 12.5 -\n")


def density():
    rows = parse(random_rows(np.random.default_rng(3), 7, [1, 2, 3], density=0.8), [2, 1, 2, 4, 1, 4, 4])
    return compile_density([rows], "train", fingerprint="f", bandwidth=None, weight=2.5).to_text()


#: Section of the table -> the file that is changed. The section of raw rows names golden files.
BASES = {
    "maclaurin": compiled_text(),
    "certified": compiled_text(degree=2, certify=True, rank=2),
    "border": BORDER,
    "density": density(),
    "reduced": REDUCED,
}
CASES = {(section, case): words for section in (*BASES, "raw rows") for case, words in model_changes(section).items()}


@pytest.mark.parametrize("section, case", CASES)
def test_an_invalid_file_is_refused_in_one_clear_line(section, case):
    """With a valid checksum, so that the error itself is reported."""
    message, name, *changes = CASES[section, case]
    text = BASES[section] if section in BASES else (GOLDEN / "raw-rows" / name).read_bytes()
    again = parse_model(text, "m").to_text()
    assert again == text or section == "reduced"  # svm-train writes numbers in another way
    changed = text
    for old, new in changes:
        assert old in changed, old
        changed = changed.replace(old, new, 1)
    found = error_of(made_good(text, changed))
    assert found.startswith(message) if message.startswith("m:") else message in found, found


def test_a_hand_made_border_means_what_it_says():
    rows = [{1: 0.25, 7: 1.0}, {2: -3.0, 9: 1.0}, {}]
    found = values(parse_model(BORDER, "m"), parse(rows))
    np.testing.assert_allclose(found, border_values(BorderFile.read(BORDER), rows)[0].astype(float), rtol=1e-6)
    assert np.all(found[:, 1] == -1.5)
    # Double precision has larger numbers.
    double = with_checksum(BORDER.replace(b"single", b"double").replace(b"-4 5e-05 6", b"-4 1e+300 6"))
    assert parse_model(double, "m").to_text() == double


# ---- fastsvm's line of a reduced set


def test_the_line_is_read_back_and_changes_no_value():
    model, plain = parse_model(REDUCED, "m"), parse_model(SMALL.text(), "m")
    origin = model.origin
    assert model.fingerprint == "0123456789abcdef0123456789abcdef" and origin is not None
    assert (origin.radius, origin.weight, origin.count, origin.longest) == ([0.25], [12.5], 30, 8)
    assert model.to_text().splitlines()[-1].split()[:-1] == REDUCED.splitlines()[-1].split()[:-1]
    assert parse_model(REDUCED.replace(b"\n", b"\r\n"), "m").origin.radius == [0.25]
    assert plain.origin is None and not plain.certified and b"fastsvm" not in plain.to_text()
    rows = parse(random_rows(np.random.default_rng(30), 20, [1, 2, 3]))
    np.testing.assert_array_equal(values(plain, rows), values(model, rows))


def test_what_is_no_such_line_is_refused():
    line = REDUCED.removeprefix(SMALL.text())
    for damaged in (line + b"more\n", line * 2, line.replace(b"ced", b"cex")):
        error_of(SMALL.text() + damaged)
    assert "version '3'" in error_of(SMALL.text() + line.replace(b" 2 ", b" 3 ", 1))
    for kernel in ("linear", "precomputed"):  # the line belongs to RBF models
        machine = Machine("c_svc", kernel, [{0: 1}, {0: 2}], SMALL.coef, [0.1], label=[1, -1], nr_sv=[1, 1])
        error_of(line_with_checksum(machine.text() + line))
