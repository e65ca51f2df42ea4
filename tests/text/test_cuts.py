"""The same rows for any cut into chunks and among threads. Files read in part, closed, missing."""

import gzip
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.errors import FileError
from fastsvm_cli.text.read_rows import read_bytes, read_chunks, read_start
from support.paths import FASTSVM
from support.processes import peak_memory, wait_until
from support.profiles import calm
from support.reading import COMPRESS, SIZES, plain_rows, read, rows_in
from zoo.traits import specimen

# ---- the same rows for any cut

NUMBERS = st.one_of(
    st.sampled_from(["0", "1", "-1", "+2.5", "1e-3", ".5", "3."]),
    st.floats(-1e6, 1e6).map(repr),
    st.integers(-999, 999).map(str),
)
COMMENTS = st.sampled_from(["", "", "", " #", " # 3:4", " #a:b:c # d:e ::::", "\t#:"])
ENDS = st.sampled_from(["\n", "\n", "\r\n", " \n", "\t\r\n"])
BROKEN = st.sampled_from(
    ["", "1 2:1 1:1", "1 x", "1 1:2:3", ":1", "1 1:", "1 1:2 qid:1", "1 5:5 5:5", "\t", "1 3000000000:1"]
)


@st.composite
def lines_of_data(draw):
    indices = sorted(draw(st.sets(st.one_of(st.integers(0, 30), st.integers(0, 2**31 - 1)), max_size=6)))
    blank = draw(st.sampled_from([" ", " ", "  ", "\t"]))
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["#", "# 1 1:1", " \t# qid:", "#1:1"])) + draw(ENDS)
    qid = draw(st.sampled_from([[], [], [], ["qid:7"], ["qid:-12"]]))
    return (
        blank.join([draw(NUMBERS), *qid, *(f"{index}:{draw(NUMBERS)}" for index in indices)])
        + draw(COMMENTS)
        + draw(ENDS)
    )


@st.composite
def texts_of_data(draw):
    lines = draw(st.lists(lines_of_data(), max_size=12)) * draw(st.sampled_from([1, 1, 3]))
    if draw(st.integers(0, 3)) == 0:  # rows that repeat indices
        lines = [line for line in lines for _ in range(3)]
    if draw(st.integers(0, 2)) == 0:
        lines.insert(draw(st.integers(0, len(lines))), draw(BROKEN) + draw(ENDS))
    text = "".join(lines)
    return text[:-1] if draw(st.booleans()) and text.endswith("\n") else text


@calm(150)
@given(texts_of_data())
def test_rows_and_errors_are_those_of_a_plain_reader_at_every_chunk_size(file, text):
    rows, line = plain_rows(text)
    path = file(text)
    found = [read(path, size=size) for size in SIZES]
    assert found[0][0] == rows
    assert (line is None) == (found[0][1] is None) and (line is None or found[0][1].startswith(f"{path}:{line}: "))
    assert all(other == found[0] for other in found)
    path.unlink()


def test_chunks_hold_about_the_bytes_asked_for(file, long_text):
    path = file(long_text)
    sizes = [chunk.rows for chunk in read_chunks(str(path), size=10_000)]
    assert len(sizes) > len(long_text) / 10_000 / 2 and sum(sizes) == 20_000


@pytest.mark.full
def test_a_chunk_stays_as_it_is_while_the_next_ones_are_read(file, long_text):
    chunks = list(read_chunks(str(file(long_text)), size=4096))
    assert [row for chunk in chunks for row in rows_in(chunk)] == plain_rows(long_text)[0]


def test_reading_reports_the_bytes_taken(file, long_text):
    for content in (long_text.encode(), gzip.compress(long_text.encode())):
        path, taken = file(content), []
        list(read_chunks(str(path), on_read=taken.append, size=4096))
        assert taken == sorted(taken) and taken[-1] == len(content)


@pytest.mark.full
def test_the_whole_content_or_its_start_can_be_had(file, long_text):
    content = long_text[:200_000].encode() + b"no line end\x00\xff"
    for path in (file(content), *(file(compress(content)) for compress in COMPRESS.values())):
        assert read_bytes(str(path)) == content
        start = read_start(str(path))
        assert content.startswith(start) and len(start) >= 1000
    assert read_bytes(str(file(b""))) == read_start(str(file(b""))) == b""
    assert read_start(str(file(b"no line end"))) == b"no line end"


@pytest.mark.parametrize("compress", [None, *COMPRESS])
def test_files_are_closed_when_they_have_been_read_or_a_reader_stops_early(file, compress):
    content = b"1 1:2\n" * 2000
    path = str(file((COMPRESS[compress](content) if compress else content) * 500))  # beyond what is decompressed ahead
    files, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        chunks = read_chunks(path, size=1000)
        assert next(chunks).rows > 0
        chunks.close()
        assert len(read_start(path)) > 0 and sum(chunk.rows for chunk in read_chunks(path)) == 1_000_000
        read_bytes(path)
    assert wait_until(lambda: len(os.listdir("/proc/self/fd")) <= files and threading.active_count() <= threads)


def test_files_that_cannot_be_read_are_named_in_one_line(tmp_path):
    missing = "No such file or directory"
    for name, words in (("no", missing), ("no/where", missing), (".", "Is a directory"), ("a\nb", missing)):
        path = f"{tmp_path}/{name}"
        for read_it in (lambda path: list(read_chunks(path)), read_bytes, read_start):
            with pytest.raises(FileError) as caught:
                read_it(path)
            assert str(caught.value).endswith(f": {words}") and str(caught.value).isprintable()
            assert name == "a\nb" or str(caught.value) == f"{path}: {words}"


# ---- memory


@pytest.mark.full
@pytest.mark.parametrize("kind", ["exact", "approx"])
def test_a_huge_index_takes_no_memory(model, tmp_path, kind):
    """The index is in a row, or in the model too."""
    peaks = []
    for trait in ("two_classes", "unknown_features", "gaps"):
        (tmp_path / trait).write_bytes(specimen(trait).data)
        peaks.append(peak_memory(FASTSVM, "predict", "-q", trait, model(trait, kind), cwd=tmp_path))
    assert max(peaks) < peaks[0] + (32 << 20)


@pytest.mark.full
@pytest.mark.parametrize("compress", [None, "gzip"])
def test_memory_does_not_grow_with_the_file(model, tmp_path, compress):
    short, long = 2_000_000, 6_000_000  # the short one fills every buffer
    for rows in (short, long):
        content = b"1 1:1\n" * rows
        (tmp_path / f"{rows}").write_bytes(content if compress is None else gzip.compress(content, 1))
    peaks = {
        rows: peak_memory(FASTSVM, "predict", "-q", f"{rows}", model(), "/dev/null", cwd=tmp_path)
        for rows in (short, long)
    }
    assert peaks[long] < peaks[short] + (24 << 20)
