"""fastsvm's own files: any change but of line ends is reported first."""

import random
import subprocess

import pytest

from fastsvm_cli.models import parse_model
from fastsvm_cli.text.fingerprint import fingerprint
from support.checksums import CHANGED, line_with_checksum, with_checksum
from support.evaluation import ROWS, error_of
from support.evaluation import values as values_of
from support.paths import GOLDEN

TO_USE_IT = ", or delete this line to use the file as a LIBSVM model and no more"
COMPILED = sorted(path.name for path in (GOLDEN / "version2").iterdir() if path.suffix not in (".reduced", ".folded"))
REDUCED = sorted(path.name for path in (GOLDEN / "version2").glob("*.reduced"))


def read(name):
    return (GOLDEN / "version2" / name).read_bytes()


def changes(text, first, last, rng):
    """Every byte from `first` up to `last` with one bit flipped, left out, or doubled."""
    for at in range(first, last):
        yield at, text[:at] + bytes([text[at] ^ 1 << rng.randrange(8)]) + text[at + 1 :]
        yield at, text[:at] + text[at + 1 :]
        yield at, text[: at + 1] + text[at:]


@pytest.mark.full(few=1)
@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_model_with_any_byte_changed_is_refused_in_one_sentence(name):
    text = read(name)
    for at, changed in changes(text, text.index(b"\n") + 1, text.rindex(b"checksum"), random.Random(name)):
        if changed.replace(b"\r\n", b"\n") != text:
            assert error_of(changed) == f"m: {CHANGED}", (at, changed)


@pytest.mark.parametrize("name", COMPILED)
def test_the_first_and_the_last_two_lines_are_guarded_as_well(name):
    text = read(name)
    for first, last in ((0, text.index(b"\n") + 1), (text.rindex(b"checksum"), len(text))):
        for _, changed in changes(text, first, last, random.Random(name)):
            if changed.replace(b"\r\n", b"\n") != text:
                error_of(changed)


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


@pytest.mark.parametrize("name", COMPILED + REDUCED)
def test_the_shell_finds_the_same_digits(name):
    path = GOLDEN / "version2" / name
    if name in REDUCED:
        count = len(read(name)) - 33  # 32 digits and the line end
        command, written = f"head -c {count} {path} | sha256sum", read(name).split()[-1]
    else:
        command, written = f"head -n -2 {path} | sha256sum", read(name).split()[-2]
    assert subprocess.run(command, shell=True, capture_output=True, check=True).stdout[:32] == written


@pytest.mark.parametrize("name", COMPILED + REDUCED)
def test_a_copy_with_other_line_ends_is_read(name):
    text = read(name)
    model, copy = parse_model(text, "m"), parse_model(text.replace(b"\n", b"\r\n"), "m")
    assert copy.to_text() == model.to_text() == text
    assert (values_of(copy, ROWS) == values_of(model, ROWS)).all()


def test_a_copy_with_other_line_ends_is_still_guarded():
    for name in ("c_svc.approx", "c_svc.reduced"):
        text = read(name)
        at = text.index(b"gamma 0.") + len(b"gamma 0.")
        assert CHANGED in error_of((text[:at] + b"9" + text[at + 1 :]).replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    "byte, name", [(b"\r", "a carriage return"), (b"\v", "a vertical tab"), (b"\f", "a form feed")]
)
def test_bytes_that_only_some_programs_take_for_blanks_are_errors(byte, name):
    for old in (b"expansion 0 0", b"gamma 0.15", b"center\n", b"fingerprint "):
        text = with_checksum(
            read("c_svc.approx").replace(old, old.replace(b" ", byte, 1) if b" " in old else byte + old, 1)
        )
        assert error_of(text).endswith(f": {name} found inside a line, expected blanks or tabs between words")


@pytest.mark.full(few=1)
@pytest.mark.parametrize("name", REDUCED)
def test_a_reduced_set_with_any_byte_changed_is_refused_in_one_sentence(name):
    text = read(name)
    line = text.rindex(b"fastsvm_reduced")
    number = text.count(b"\n")
    for at, changed in changes(text, len(b"svm_type "), line - 1, random.Random(name)):
        if changed.replace(b"\r\n", b"\n") != text:
            assert f": {CHANGED}{TO_USE_IT}" in error_of(changed), (at, changed)
    for _, changed in changes(text, line, len(text), random.Random(name)):
        if changed.replace(b"\r\n", b"\n") != text:
            error_of(changed)
    radius = text.index(b" 0.", line)
    assert error_of(text[:radius] + text[radius:].replace(b"0.", b"1.", 1)) == f"m:{number}: {CHANGED}{TO_USE_IT}"


def test_a_libsvm_model_of_raw_rows_with_any_byte_changed_is_refused_in_one_sentence():
    text = read("epsilon_svr.folded")
    line = text.rindex(b"fastsvm_folded")
    for first, last in ((len(b"svm_type "), line - 1), (line, len(text))):
        for at, changed in changes(text, first, last, random.Random(first)):
            if changed.replace(b"\r\n", b"\n") != text:
                assert first == line or f": {CHANGED}{TO_USE_IT}" in error_of(changed), (at, changed)
                error_of(changed)
    assert parse_model(text.replace(b"\n", b"\r\n"), "m").to_text() == text
    number = text.count(b"\n")
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


def test_a_flipped_digit_proves_nothing(fastsvm, tmp_path):
    exact, text = GOLDEN / "c_svc.model", read("c_svc-certified.approx")
    (tmp_path / "good").write_bytes(text)
    (tmp_path / "out").write_text("before\n")
    assert "Proven" in fastsvm("predict", "--exact", exact, GOLDEN / "data", "good", "other").err
    (tmp_path / "bad").write_bytes(text.replace(b"rho -0.2", b"rho -9.2", 1))
    done = fastsvm("predict", "--exact", exact, GOLDEN / "data", "bad", "out", code=1)
    assert done.err == f"Error: bad: {CHANGED}\n" and done.out == "" and (tmp_path / "out").read_text() == "before\n"


@pytest.mark.parametrize("name", ["c_svc.approx", "c_svc.border", "c_svc.reduced", "epsilon_svr.folded"])
def test_a_file_of_version_1_is_refused_whatever_its_kind(name):
    """Development versions before 0.1.0 wrote it, without a checksum."""
    text = read(name)
    if name.endswith((".reduced", ".folded")):
        before, _, line = text.rstrip().rpartition(b"\n")
        words = line.split()
        old = before + b"\n" + b" ".join([words[0], b"1", *words[2:-1]]) + b"\n"
        number, found = text.count(b"\n"), f"version 1 of the line '{words[0].decode()}'"
    else:
        first, _, rest = text[: text.rindex(b"checksum")].partition(b" 2\n")
        old, number, found = first + b" 1\n" + rest + b"end\n", 1, "version 1 of the format"
    why = "which was written before release 0.1.0: compile the model again"
    assert error_of(old) == f"m:{number}: {found} found, {why}"


def test_the_digits_do_not_depend_on_how_many_bytes_there_are():
    """Nor on a partial last block."""
    from hashlib import sha256

    for size in (0, 1, 55, 56, 64, 1 << 20, (1 << 22) - 1, 1 << 22, (1 << 22) + 1):
        text = b"0123456789\n" * (size // 11) + b"x" * (size % 11)
        assert fingerprint(text) == fingerprint(memoryview(text)) == sha256(text).hexdigest()[:32]
