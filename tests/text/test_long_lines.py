"""Lines that are too long are bad rows and take no memory; lines of models have a limit, too."""

import gzip
import zlib

import pytest

from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.text import read_rows
from fastsvm_cli.text.read_rows import Position, read_chunks
from support.bad_rows import too_long
from support.messages import A_MODEL, DATA_FILE
from support.paths import FASTSVM
from support.processes import peak_memory
from support.reading import COMPRESS


@pytest.mark.parametrize("kind, size", [(None, 1), (None, 100), ("gzip", 7), ("bzip2", 4096), ("xz", 1 << 20)])
def test_a_line_that_is_too_long_is_named_after_the_rows_before_it(file, kind, size):
    good = "1 1:1 2:2\n" * 30
    for longest in (20, 5000):
        for extra, end in ((1, "\n"), (1, ""), (3 * longest, "\n"), (60_000, ""), (0, "\n")):
            text = (good + "1 " + "1" * (longest + extra - 2) + end + (good if end else "")).encode()
            path, position = file(COMPRESS[kind](text) if kind else text), Position()
            rows, message = 0, None
            try:
                for chunk in read_chunks(str(path), max_line=longest, size=size, place=position):
                    rows += chunk.rows
            except FastsvmError as error:
                message = str(error)
            assert rows == 30 and message.startswith(f"{path}:31: {too_long(longest) if extra else chr(39)}")
            assert not extra or (position.offset, position.lines) == (len(good), 30)


@pytest.mark.full
def test_a_line_without_end_takes_no_memory(fastsvm, model, tmp_path):
    """A megabyte or two of gzip hold a line of 300 MB."""
    packer = zlib.compressobj(1, wbits=31)
    with open(tmp_path / "endless.gz", "wb") as file:
        file.write(packer.compress(b"1 1:1\n"))
        for _ in range(300):
            file.write(packer.compress(b"1" * 1_000_000))
        file.write(packer.flush())
    (tmp_path / "short").write_text("1 1:1\n")
    for options, longest in (([], 256), (["--max-line", 20], 20)):
        done = fastsvm("predict", "-q", *options, "endless.gz", model(), "out", code=1)
        assert done.err == f"Error: endless.gz:2: {too_long(longest * 1e6)}\n"
    words = "predict -q --on-bad-row nan --max-line 20".split()
    small, passed = (peak_memory(FASTSVM, *words, name, model(), cwd=tmp_path) for name in ("short", "endless.gz"))
    assert passed < small + (80 << 20)
    assert fastsvm(*words, "endless.gz", model()).out.splitlines()[1:] == ["nan"]


@pytest.mark.full
def test_wide_rows_are_read_up_to_the_longest_line_and_bound_reads_them_too(fastsvm, model, tmp_path):
    (tmp_path / "wide").write_text("1 " + " ".join(f"{index}:1" for index in range(1, 200_000)) + "\n")
    assert fastsvm("predict", "-q", "--max-line", 3, "wide", model()).out.count("\n") == 1
    fastsvm("bound", "--max-line", 3, "wide")
    for command in (["predict", "--max-line", 1, "wide", model()], ["bound", "--max-line", 1, "wide"]):
        assert "Error: wide:1: a line of more than 1 MB found" in fastsvm(*command, code=1).err


def test_a_line_of_a_model_has_an_end_too(tmp_path, monkeypatch):
    """LIBSVM's buffer for a line ends at 2^30 bytes."""
    assert read_rows.MAX_MODEL_LINE == 1 << 30
    monkeypatch.setattr(read_rows, "MAX_MODEL_LINE", 3 << 20)
    (tmp_path / "m").write_bytes(b"\n".join(b"x" * length for length in [2 << 20, 3 << 20, 1 << 20]))
    assert read_rows.read_bytes(str(tmp_path / "m")) == (tmp_path / "m").read_bytes()
    (tmp_path / "m").write_bytes(b"\n".join(b"x" * length for length in [100, 100, (3 << 20) + 1]))
    with pytest.raises(FastsvmError, match=":3: a line of more than 3 MiB found, expected a model"):
        read_rows.read_bytes(str(tmp_path / "m"))


def test_what_is_no_model_is_known_by_its_first_line(fastsvm, model, tmp_path):
    """Before it is read: a sparse file of two terabytes, and zeros that gzip holds in few bytes."""
    (tmp_path / "data").write_text("1 1:1\n")
    with open(tmp_path / "rows", "wb") as file:
        file.write(b"1 1:1\n")
        file.truncate(1 << 41)
    (tmp_path / "m.gz").write_bytes(gzip.compress(bytes(50_000_000), 1))
    for words, message in (
        (["predict", "data", "rows"], f"rows:1: {DATA_FILE}"),
        (["approx", "rows"], f"rows:1: {DATA_FILE}; svm-train rows makes a model of it"),
        (
            ["predict", "--exact", "rows", "data", model("two_classes", "approx-certified"), "out"],
            f"rows:1: {DATA_FILE}",
        ),
        (["predict", "-q", "data", "m.gz"], f"m.gz:1: '{'?' * 40}' found, {A_MODEL}"),
    ):
        assert fastsvm(*words, code=1).err == f"Error: {message}\n"
