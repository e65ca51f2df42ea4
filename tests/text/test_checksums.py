"""fastsvm's own files: any change but of line ends is reported first."""

import random
import subprocess

import pytest

from fastsvm_cli._native import fingerprint
from fastsvm_cli.models import parse_model
from support.bad_rows import NO_BLANKS
from support.checksums import CHANGED, line_with_checksum, with_checksum
from support.evaluation import ROWS, error_of
from support.evaluation import values as values_of
from support.paths import GOLDEN

TO_USE_IT = ", or delete this line to use the file as a LIBSVM model and no more"
FILES = sorted((GOLDEN / "version2").iterdir(), key=lambda path: path.stat().st_size, reverse=True)
#: The shortest file of each kind.
SHORTEST = sorted({path.suffix: path.name for path in FILES}.values())
REDUCED, FOLDED = ([name for name in SHORTEST if name.endswith(end)] for end in (".reduced", ".folded"))


def read(name):
    return (GOLDEN / "version2" / name).read_bytes()


def changes(text, first, last, rng):
    """Every byte from `first` up to `last` with one bit flipped, left out, or doubled."""
    for at in range(first, last):
        yield at, text[:at] + bytes([text[at] ^ 1 << rng.randrange(8)]) + text[at + 1 :]
        yield at, text[:at] + text[at + 1 :]
        yield at, text[: at + 1] + text[at:]


@pytest.mark.full(few=1)
@pytest.mark.parametrize("name", SHORTEST)
def test_a_file_with_any_byte_changed_is_refused_in_one_sentence(name):
    """But in the first line and the last ones, whose errors say more."""
    text = read(name)
    if name in REDUCED + FOLDED:
        head, line = len(b"svm_type "), text.rindex(b"fastsvm_")
        expected, guarded = f": {CHANGED}{TO_USE_IT}", range(head, line - 1)
    else:
        head, expected = 0, f"m: {CHANGED}"
        guarded = range(text.index(b"\n") + 1, text.rindex(b"checksum"))
    for at, changed in changes(text, head, len(text), random.Random(name)):
        if changed.replace(b"\r\n", b"\n") != text and not (head and at == line - 1):
            message = error_of(changed)
            assert at not in guarded or message.endswith(expected), (at, changed)


def test_the_lines_of_the_checksum_are_not_needed_twice_nor_missing_nor_moved():
    text = read("c_svc.approx")
    line = text[text.rindex(b"checksum") : -len(b"end\n")]
    for changed in (
        text.replace(line, b""),
        text.replace(line, line * 2),
        text.replace(line, b"checksum\n"),
        text.replace(line, line.upper()),
        text.replace(line, line[:-1] + b" \n"),
    ):
        assert error_of(changed) == f"m: {CHANGED}"
    assert "unknown key 'checksum'" in error_of(with_checksum(text.replace(b"precision", line + b"precision")))
    for word in (b"svm_type c_svc", b"gamma 0.15"):  # the sum of another file
        other = with_checksum(text.replace(word, word + b" "))
        assert other != text
        assert error_of(text.replace(line, other[other.rindex(b"checksum") : -len(b"end\n")])) == f"m: {CHANGED}"


@pytest.mark.parametrize("name", SHORTEST)
def test_a_copy_with_other_line_ends_is_read_and_still_guarded(name):
    text = read(name)
    model, copy = parse_model(text, "m"), parse_model(text.replace(b"\n", b"\r\n"), "m")
    assert copy.to_text() == model.to_text() == text
    assert (values_of(copy, ROWS) == values_of(model, ROWS)).all()
    at = text.index(b"rho ") + len(b"rho ")
    assert CHANGED in error_of((text[:at] + b"9" + text[at:]).replace(b"\n", b"\r\n"))


def test_bytes_that_only_some_programs_take_for_blanks_are_errors():
    for byte, name in ((byte.encode(), name) for byte, name in NO_BLANKS.items()):
        for old in (b"expansion 0 0", b"gamma 0.15", b"center\n", b"fingerprint "):
            new = old.replace(b" ", byte, 1) if b" " in old else byte + old
            text = with_checksum(read("c_svc.approx").replace(old, new, 1))
            assert error_of(text).endswith(f": {name} found inside a line, expected blanks or tabs between words")


def test_the_line_of_a_model_of_raw_rows_is_checked():
    text = read("epsilon_svr.folded")
    line, number = text.rindex(b"fastsvm_folded"), text.count(b"\n")
    later = "version '3' of the line 'fastsvm_folded' found, this fastsvm reads 2"
    assert error_of(text.replace(b"_folded 2", b"_folded 3")) == f"m:{number}: {later}"
    for vectors in (b"1 0:1e300\n-1 0:3\n", b"1\n-1\n"):  # serials that are invalid or missing must not be looked up
        serials = b"svm_type epsilon_svr\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0.1\nSV\n" + vectors
        assert error_of(line_with_checksum(serials + b"fastsvm_folded 2 a b c\n")) == (
            "m:9: the line 'fastsvm_folded' found after a model with a precomputed kernel, which no scaling is folded"
            " into"
        )
    short = line_with_checksum(text[:line] + b"fastsvm_folded 2 a b\n")
    assert error_of(short) == f"m:{number}: 4 words in the line 'fastsvm_folded' found, expected 5"


def test_a_changed_reduced_set_without_its_line_is_a_libsvm_model(svm_predict, fastsvm, tmp_path):
    text = read("c_svc.reduced").replace(b"rho -0", b"rho 0", 1)
    (tmp_path / "edited").write_bytes(text)
    done = fastsvm("predict", GOLDEN / "data", "edited", "out", code=1)
    assert done.err == f"Error: edited:{text.count(10)}: {CHANGED}{TO_USE_IT}\n" and not (tmp_path / "out").exists()
    (tmp_path / "plain").write_bytes(text[: text.rindex(b"fastsvm_reduced")])
    assert not parse_model((tmp_path / "plain").read_bytes(), "m").certified
    assert fastsvm("predict", "-q", GOLDEN / "data", "plain").out
    (tmp_path / "rows").write_text("1 1:1\n-1 2:1\n")
    for name in ("edited", "plain"):  # svm-predict ignores the line
        subprocess.run([svm_predict, "rows", name, "theirs"], cwd=tmp_path, check=True, capture_output=True)
    assert fastsvm("predict", "-q", "rows", "plain").out == (tmp_path / "theirs").read_text()


@pytest.mark.parametrize("name, where", [("c_svc.approx", "format"), ("c_svc.reduced", "line 'fastsvm_reduced'")])
def test_a_file_of_version_1_is_refused_whatever_its_kind(name, where):
    """Development versions before 0.1.0 wrote it, without a checksum."""
    text = read(name)
    first = b"fastsvm_reduced" if name.endswith("reduced") else b"fastsvm_model maclaurin"
    number = text[: text.index(first)].count(b"\n") + 1
    why = "which was written before release 0.1.0: compile the model again"
    found = error_of(text.replace(first + b" 2", first + b" 1"))
    assert found == f"m:{number}: version 1 of the {where} found, {why}"


def test_the_digits_do_not_depend_on_how_many_bytes_there_are():
    """Nor on a partial last block."""
    from hashlib import sha256

    for size in (0, 1, 55, 56, 64, 1 << 20, (1 << 22) - 1, 1 << 22, (1 << 22) + 1):
        text = b"0123456789\n" * (size // 11) + b"x" * (size % 11)
        assert fingerprint(text) == fingerprint(memoryview(text)) == sha256(text).hexdigest()[:32]
