"""Models that were cut off, or of which single bytes were changed, are refused or are models."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from support.evaluation import HAND, ROWS, fault_of
from support.model_files import BORDERS, COMPILED, EXACT, ORDERED, VERSION_2, compiled_text, hand, mutations, values_of
from support.places import GOLDEN
from support.profiles import calm
from support.sealing import CHANGED, sealed

# ---- cut off


@pytest.mark.full(few=2)
@pytest.mark.parametrize("name", EXACT)
def test_an_exact_model_cut_off_at_any_byte_is_refused(name):
    text = (GOLDEN / name).read_bytes()
    last_row = text.rindex(b"\n", 0, len(text) - 1) + 1
    for cut in range(len(text)):
        message = fault_of(text[:cut])
        if cut >= last_row:
            assert "support vectors found, expected" in message and message.endswith(
                "cut off" if cut > last_row else "the file ends"
            )


@pytest.mark.full(few=7)
@pytest.mark.parametrize("name", COMPILED + ORDERED + BORDERS)
def test_a_compiled_model_cut_off_at_any_byte_is_refused(name):
    text = (GOLDEN / name).read_bytes()
    first_line = text.index(b"\n") + 1
    for cut in range(len(text)):
        message = fault_of(text[:cut])
        if cut >= first_line:
            assert message == "m: the last line is not 'end': the file is cut off, or has been added to"


@pytest.mark.full(few=14)
@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_model_without_any_one_of_its_lines_is_refused(name):
    lines = (GOLDEN / name).read_bytes().splitlines(keepends=True)
    for at, line in enumerate(lines):
        text = b"".join(lines[:at] + lines[at + 1 :])
        if name.startswith(VERSION_2) and at and at < len(lines) - 2:
            assert fault_of(text) == f"m: {CHANGED}"
            text = sealed(text)
        if not line.startswith(b"prob"):  # a model without them is a model
            fault_of(text)


@pytest.mark.full(few=15)
@pytest.mark.parametrize("name", COMPILED + ORDERED + BORDERS)
def test_a_compiled_model_with_any_line_twice_is_refused(name):
    lines = (GOLDEN / name).read_bytes().splitlines(keepends=True)
    for at in range(len(lines)):
        text = b"".join(lines[: at + 1] + lines[at:])
        fault_of(text)
        if name.startswith(VERSION_2) and at < len(lines) - 2:
            fault_of(sealed(text))


@pytest.mark.parametrize("added", [b"\n", b" ", b"end\n", b"x", b"1 2 3\n", b"\x00"])
def test_a_compiled_model_that_was_added_to_is_refused(added):
    fault_of(compiled_text() + added)


# ---- single bytes


MUTATED = [
    "c_svc.approx",
    "nu_svr.approx",
    "one_class.approx",
    "c_svc-certified.approx",
    "three_classes-compressed.approx",
    "epsilon_svr.model",
    "hand",
]
MUTATED += ["version2/c_svc.approx", "version2/c_svc-certified.approx"]


@pytest.mark.full
@pytest.mark.parametrize("name", MUTATED)
def test_a_model_with_any_one_byte_changed_is_refused_or_is_a_model(name):
    text = hand() if name == "hand" else (GOLDEN / name).read_bytes()
    refused = accepted = 0
    for mutant in mutations(text, random.Random(name), 1 + len(text) // 1000):
        if name.startswith(VERSION_2):  # as it is, it is refused: test_checksums.py
            mutant = sealed(mutant)
        try:
            model = parse_model(mutant, "m")
        except ModelFormatError as fault:
            assert str(fault).startswith("m:") and len(str(fault).splitlines()) == 1
            refused += 1
            continue
        assert values_of(model, [ROWS]).shape == (4, model.pairs)
        if mutant.isascii():
            assert parse_model(model.to_text(), "again").to_text() == model.to_text()
        accepted += 1
    assert refused > 1000 and accepted > 200


@calm(500)
@given(
    st.binary(max_size=200),
    st.sampled_from(
        [
            b"",
            b"svm_type ",
            b"svm_type c_svc\n",
            b"fastsvm_model ",
            b"fastsvm_model maclaurin 1\n",
            b"fastsvm_model maclaurin 2\n",
        ]
    ),
    st.sampled_from([b"", b"\nend\n", b"\nSV\n", b"\n"]),
)
def test_junk_is_refused(junk, start, end):
    fault_of(start + junk + end)
    if start.endswith(b"2\n"):
        fault_of(sealed(start + junk + end))


@calm(300)
@given(st.permutations(range(9)), st.lists(st.integers(0, 8), max_size=3))
def test_a_header_in_any_order_is_read_and_one_with_lines_missing_is_refused(order, missing):
    lines, body = HAND.split("SV\n")[0].splitlines(keepends=True), HAND[HAND.index("SV\n") :]
    lines = lines + ["coef0 3\n"]
    kept = [lines[i] for i in order if i not in missing]
    text = ("".join(kept) + body).encode()
    needed = set(range(8))
    if needed <= set(order) - set(missing):
        assert parse_model(text, "m").to_text() == hand()
    else:
        fault_of(text)
