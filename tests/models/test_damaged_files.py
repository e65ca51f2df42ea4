"""The damage table: every kind of model file, damaged in every way, is refused in one line, or still a model. Golden
files of a new kind are included."""

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
from support.evaluation import ROWS, error_of, values
from support.model_files import mutations
from support.processes import PATIENCE
from support.profiles import calm

#: What becomes of a damaged file: it is a model; it is refused or a model. Otherwise a part of the message.
READ, ANY = "read", "any"
ENDS = "the last line is not 'end': the file is cut off, or has been added to"
#: What replaces a number.
NO_NUMBERS = [b"x", b"nan", b"inf", b"-inf", b"1e999", b"0x", b"1\x00", b"--1", b"1:1:1", b"9" * 5000]
JUNK = [b"\x1b[31m", b"\r", b"\x0b", b"\x00", b"\x85", b"\xe2\x80\xa8", b"\x7f", b"\x1c"]


def outcome(text):
    """Return the reason, or None for a model, which is written back and answers."""
    try:
        model = parse_model(text, "m", warn=False)
    except ModelFormatError as error:
        message = str(error)
        assert message.startswith("m:") and message.isprintable() and len(message) < 300, ascii(message)
        return message
    assert b"kernel_type precomputed" in text or values(model, ROWS).shape == (4, model.pairs)
    if text.isascii():
        assert parse_model(model.to_text(), "again", warn=False).to_text() == model.to_text()
    return None


def header_lines(text):
    """(position, key) of each header line but the first."""
    for at, line in enumerate(text.split(b"\n")[1:], 1):
        key, *words = line.split()
        if not words or not key.decode().isidentifier():
            return
        yield at, key


# ---- damage: (damaged file, what becomes of it)


def cut_off_at_any_byte(text):
    first_line, last_line = text.index(b"\n") + 1, text.rindex(b"\n", 0, len(text) - 1) + 1
    serials = kind_of(text) == "svm_type" and b"kernel_type precomputed" in text
    for cut in range(len(text)):
        reason = ""
        if cut == last_line and kind_of(text) not in (kind_of(text[:cut]), kind_of(text[:first_line])):
            reason = READ  # a LIBSVM model without fastsvm's line
        elif serials and cut == len(text) - 1:
            reason = READ  # a serial, a blank, and no line end
        elif compiled(text) and cut >= first_line:
            reason = ENDS
        elif kind_of(text) == "svm_type" and cut >= last_line:
            without_serial = serials and text[:cut].endswith(b" ")
            reason = "without a serial" if without_serial else ANY if cut > last_line else "the file ends"
        elif not compiled(text) and text.rindex(b"\n", 0, last_line - 1) < cut < last_line:
            reason = ANY  # in the last vector: read with a warning
        yield text[:cut], reason


def without_a_line_or_with_one_twice(text):
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        for damaged in (b"".join(lines[:at] + lines[at + 1 :]), b"".join(lines[: at + 1] + lines[at:])):
            good = made_good(text, damaged)
            lacking = not compiled(text) or line.startswith((b"prob", b"raw_rows"))  # models may lack these
            if lacking or good != text:
                yield good, ANY if lacking else ""
            if compiled(text) and 0 < at < len(lines) - 2:
                yield damaged, CHANGED


def what_is_no_number(text):
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        words = line.split(b" ")
        numbers = [i for i, word in enumerate(words) if re.fullmatch(rb"[-+]?\d+(\.\d*)?(e[-+]\d+)?\n?", word)]
        if line.startswith((b"checksum", b"fingerprint", b"fastsvm_")) or not numbers:
            continue
        for word, position in zip(NO_NUMBERS, [numbers[0], numbers[-1]] * 5):
            other = word + b"\n" * words[position].endswith(b"\n")
            changed = b" ".join([*words[:position], other, *words[position + 1 :]])
            yield made_good(text, b"".join([*lines[:at], changed, *lines[at + 1 :]])), f"m:{at + 1}: "


def added_text(text):
    for added in (b"end\n", b"x", b"1 2 3\n", b"\x00", b"1 2 3\nend\n", *((b"\n", b" ") if compiled(text) else ())):
        yield text + added, READ if kind_of(text) == "svm_type" else ""  # as in LIBSVM


def unknown_and_empty_keys(text):
    unknown = "unknown key 'flavour'; is this another program's model?"
    for at, key in header_lines(text):
        lines = text.split(b"\n")
        yield (
            made_good(text, b"\n".join([*lines[: at + 1], b"flavour sweet", *lines[at + 1 :]])),
            f"m:{at + 2}: {unknown}",
        )
        for line in (key, lines[at] + b" 1") if compiled(text) else ():  # LIBSVM reads on into the next line
            yield made_good(text, b"\n".join([*lines[:at], line, *lines[at + 1 :]])), ""


def versions_that_never_were(text):
    for version in (b"0", b"00", b"01", b"-1", b"3", b"2.0", b"x", b"", b"2 2", b"9" * 5000) if compiled(text) else ():
        yield with_checksum(text.replace(b" 2\n", b" " + version + b"\n", 1)), ""


def bytes_that_are_not_text(text):
    lines = text.split(b"\n")
    for at, line in enumerate(lines[:-3]):
        for position in (0, len(line) // 2, len(line)):
            for junk in JUNK:
                changed = [*lines[:at], line[:position] + junk + line[position:], *lines[at + 1 :]]
                yield made_good(text, b"\n".join(changed)), ANY
    for junk in JUNK:
        yield b"hello " + junk + b" world\n" + text, ""


def any_one_byte_changed(text):
    for changed in mutations(text, random.Random(kind_of(text)), 1 + len(text) // 400):
        yield made_good(text, changed), ANY


OF_EVERY_FILE = [cut_off_at_any_byte, without_a_line_or_with_one_twice, what_is_no_number]
OF_EVERY_KIND = [added_text, unknown_and_empty_keys, versions_that_never_were]
THOROUGH = [bytes_that_are_not_text, any_one_byte_changed]


def assert_refused(text, damage):
    becomes = []
    for damaged, reason in damage(text):
        becomes.append(found := outcome(damaged))
        fits = reason == ANY or (found is None if reason == READ else found is not None and reason in found)
        assert fits, (damage.__name__, damaged, reason, found)
    return becomes


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SHORTEST.values() else pytest.mark.full) for name in FILES]
)
def test_a_damaged_file_is_refused(name):
    for damage in (*OF_EVERY_FILE, *(OF_EVERY_KIND if name in SHORTEST.values() else [])):
        assert_refused(FILES[name], damage)


@pytest.mark.full
@pytest.mark.parametrize("name", [*SHORTEST.values(), "version3/c_svc.border"])
def test_a_file_with_changed_bytes_is_refused_or_is_a_model(name):
    for damage in THOROUGH:
        becomes = assert_refused(FILES[name], damage)
    assert len(becomes) - becomes.count(None) > 500 and becomes.count(None) > 30


# ---- memory


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


# ---- the command


@pytest.mark.parametrize("kind", KINDS)
def test_svm_predict_reads_models_with_a_line_of_fastsvms_and_refuses_compiled_ones(tmp_path, svm_predict, kind):
    text = FILES[SHORTEST[kind]]
    (tmp_path / "rows").write_text("1 1:1\n")
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
