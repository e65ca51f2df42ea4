"""Every kind of model file, cut off, extended, or changed in a byte, word or line: refused in one line, or still a
model. Golden files of a new kind are included."""

import pickle
import random
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from support.checksums import CHANGED, with_checksum
from support.damage import FILES, KINDS, SHORTEST, compiled, kind_of, made_good
from support.evaluation import HAND, ROWS, error_of, values
from support.model_files import hand, mutations
from support.processes import PATIENCE
from support.profiles import calm

every_kind = pytest.mark.parametrize("kind", KINDS)
#: The shortest file of every kind; all files with --full.
every_file = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SHORTEST.values() else pytest.mark.full) for name in FILES]
)


def outcome(text):
    """Return the reason, or None for a model, which is written back and answers."""
    try:
        model = parse_model(text, "m")
    except ModelFormatError as error:
        message = str(error)
        assert message.startswith("m:") and message.isprintable() and len(message) < 300, ascii(message)
        return message
    assert b"kernel_type precomputed" in text or values(model, ROWS).shape == (4, model.pairs)
    if text.isascii():
        assert parse_model(model.to_text(), "again").to_text() == model.to_text()
    return None


# ---- cut off, extended


@every_file
def test_a_file_cut_off_at_any_byte_is_refused(name):
    text = FILES[name]
    first_line, last_line = text.index(b"\n") + 1, text.rindex(b"\n", 0, len(text) - 1) + 1
    for cut in range(len(text)):
        if cut == last_line and kind_of(text) not in (kind_of(text[:cut]), kind_of(text[:first_line])):
            assert outcome(text[:cut]) is None  # a LIBSVM model without fastsvm's line
            continue
        serials = kind_of(text) == "svm_type" and b"kernel_type precomputed" in text
        if serials and cut == len(text) - 1:
            assert outcome(text[:cut]) is None  # a serial, a blank, and no line end
            continue
        message = error_of(text[:cut])
        if compiled(text) and cut >= first_line:
            assert message == "m: the last line is not 'end': the file is cut off, or has been added to"
        elif kind_of(text) == "svm_type" and cut >= last_line:
            without_serial = serials and text[:cut].endswith(b" ")
            reported = "without a serial" if without_serial else "no line end" if cut > last_line else "the file ends"
            assert reported in message


@every_file
def test_a_file_without_a_line_or_with_one_twice_is_refused(name):
    text = FILES[name]
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        for damaged in (b"".join(lines[:at] + lines[at + 1 :]), b"".join(lines[: at + 1] + lines[at:])):
            good = made_good(text, damaged)
            if not compiled(text) or line.startswith((b"prob", b"raw_rows")):  # models may lack these
                outcome(good)
            elif good != text:
                error_of(good)
            if compiled(text) and 0 < at < len(lines) - 2:
                assert error_of(damaged) == f"m: {CHANGED}"


@every_kind
def test_a_file_that_was_added_to_is_refused(kind):
    text = FILES[SHORTEST[kind]]
    for added in (b"end\n", b"x", b"1 2 3\n", b"\x00", b"1 2 3\nend\n", *((b"\n", b" ") if compiled(text) else ())):
        if kind == "svm_type":  # as in LIBSVM
            assert "text found after" in parse_model(text + added, "m", warn=False).notes[0][1]
        else:
            error_of(text + added)


# ---- bytes, words and numbers


@pytest.mark.full
@every_kind
def test_a_file_with_any_one_byte_changed_is_refused_or_is_a_model(kind):
    text = FILES[SHORTEST[kind]]
    printed = [outcome(made_good(text, each)) for each in mutations(text, random.Random(kind), 1 + len(text) // 400)]
    assert len(printed) - printed.count(None) > 500 and printed.count(None) > 30


#: Replacements of a number.
NO_NUMBERS = [b"x", b"nan", b"inf", b"-inf", b"1e999", b"0x", b"1\x00", b"--1", b"1:1:1", b"9" * 5000]


@every_file
def test_what_is_no_number_is_refused_with_its_line_wherever_it_is(name):
    text = FILES[name]
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        words = line.split(b" ")
        numbers = [i for i, word in enumerate(words) if re.fullmatch(rb"[-+]?\d+(\.\d*)?(e[-+]\d+)?\n?", word)]
        if line.startswith((b"checksum", b"fingerprint", b"fastsvm_")) or not numbers:
            continue
        for word, position in zip(NO_NUMBERS, [numbers[0], numbers[-1]] * 5):
            other = word + b"\n" * words[position].endswith(b"\n")
            changed = b" ".join([*words[:position], other, *words[position + 1 :]])
            message = error_of(made_good(text, b"".join([*lines[:at], changed, *lines[at + 1 :]])))
            assert message.startswith(f"m:{at + 1}: "), (line, word)


def header_lines(text):
    """(number, key) of each header line but the first."""
    for number, line in enumerate(text.split(b"\n")[1:], 2):
        key, *values = line.split()
        if not values or not key.decode().isidentifier():
            return
        yield number, key


@every_kind
def test_a_header_with_an_unknown_key_or_one_without_its_value_is_refused(kind):
    text = FILES[SHORTEST[kind]]
    for number, key in header_lines(text):
        lines = text.split(b"\n")
        lines.insert(number, b"flavour sweet")
        message = error_of(made_good(text, b"\n".join(lines)))
        assert message == f"m:{number + 1}: unknown key 'flavour'; is this another program's model?"
        lines = text.split(b"\n")
        lines[number - 1] = key
        if kind.startswith("fastsvm_model"):  # LIBSVM reads on into the next line
            error_of(made_good(text, b"\n".join(lines)))
            lines[number - 1] = text.split(b"\n")[number - 1] + b" 1"
            error_of(made_good(text, b"\n".join(lines)))


@every_kind
def test_a_version_that_never_was_is_refused(kind):
    text = FILES[SHORTEST[kind]]
    if not compiled(text):
        return
    for version in (b"0", b"00", b"01", b"-1", b"3", b"2.0", b"x", b"", b"2 2", b"9" * 5000):
        error_of(with_checksum(text.replace(b" 2\n", b" " + version + b"\n", 1)))


JUNK = [b"\x1b[31m", b"\r", b"\x0b", b"\x00", b"\x85", b"\xe2\x80\xa8", b"\x7f", b"\x1c"]


@pytest.mark.full(few=2)
@every_kind
def test_bytes_that_are_not_text_never_reach_the_terminal(kind):
    text = FILES[SHORTEST[kind]]
    lines = text.split(b"\n")
    for at, line in enumerate(lines[:-3]):
        for position in (0, len(line) // 2, len(line)):
            for junk in JUNK:
                changed = [*lines[:at], line[:position] + junk + line[position:], *lines[at + 1 :]]
                outcome(made_good(text, b"\n".join(changed)))
    for junk in JUNK:
        error_of(b"hello " + junk + b" world\n" + text)


READS = """
import pickle, resource, sys
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
texts = pickle.load(sys.stdin.buffer)
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for text in texts:
    try:
        parse_model(text, "m")
    except ModelFormatError:
        pass
"""


def test_a_small_file_that_announces_billions_takes_no_memory():
    """Each count in each header, one at a time, and billions of features."""
    ranges = " ".join(f"{first}:{first + 9_999_999}" for first in range(1, 400_000_000, 10_000_001)).encode()
    texts = []
    for name in SHORTEST.values():
        text = FILES[name]
        for _, key in header_lines(text):
            line = re.search(rb"\n%s .*" % key, text)[0]
            for changed in {
                re.sub(rb" \d+(?= |$)", b" 2147483647", line, count=1),
                b"\nfeatures " + ranges if key == b"features" else line,
            } - {line}:
                if key.startswith((b"nr_", b"total_sv", b"features", b"certified")):
                    texts.append(made_good(text, text.replace(line, changed, 1)))
    assert len(texts) > 20
    given = dict(input=pickle.dumps(texts), capture_output=True, timeout=PATIENCE)
    done = subprocess.run([sys.executable, "-I", "-c", READS], **given)
    assert done.returncode == 0, done.stderr.decode()[-500:]


@every_kind
def test_the_command_refuses_a_damaged_file_in_one_line_and_keeps_what_was_there(fastsvm, tmp_path, svm_predict, kind):
    text = FILES[SHORTEST[kind]]
    (tmp_path / "rows").write_text("1 1:1\n")
    (tmp_path / "out").write_text("before\n")
    for damaged in (text[: len(text) // 2], made_good(text, text.replace(b"\nrho ", b"\nrho x", 1))):
        (tmp_path / "bad").write_bytes(damaged)
        done = fastsvm("predict", "rows", "bad", "out", code=1)
        assert done.err.startswith("Error: bad:") and done.err.count("\n") == 1 and done.out == "", str(done)
        assert (tmp_path / "out").read_text() == "before\n"
    (tmp_path / "good").write_bytes(text)
    stock = subprocess.run([svm_predict, "rows", "good", "theirs"], cwd=tmp_path, capture_output=True, text=True)
    assert stock.returncode == compiled(text)
    assert not compiled(text) or "unknown text in model file: [fastsvm_model]" in stock.stderr


# ---- any text


@calm(500)
@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"svm_type ", b"svm_type c_svc\n", b"fastsvm_model ", b"fastsvm_model maclaurin 2\n"]),
    st.sampled_from([b"", b"\nend\n", b"\nSV\n", b"\n"]),
)
def test_junk_is_refused(junk, start, end):
    error_of(start + junk + end)
    if start.endswith(b"2\n"):
        error_of(with_checksum(start + junk + end))


@calm(300)
@given(st.permutations(range(9)), st.lists(st.integers(0, 8), max_size=3))
def test_a_header_in_any_order_is_read_and_one_with_lines_missing_is_refused(order, missing):
    lines, body = HAND.split("SV\n")[0].splitlines(keepends=True), HAND[HAND.index("SV\n") :]
    lines = lines + ["coef0 3\n"]
    stored = [lines[i] for i in order if i not in missing]
    text = ("".join(stored) + body).encode()
    needed = set(range(8))
    if needed <= set(order) - set(missing):
        assert parse_model(text, "m").to_text() == hand()
    else:
        error_of(text)
