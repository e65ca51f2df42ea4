"""The same rows for any cut into chunks and among threads. Files read in part, closed, missing."""

import gzip
import itertools
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.errors import FileError
from fastsvm_cli.text.read_rows import read_bytes, read_chunks, read_start
from support.paths import FASTSVM
from support.processes import peak_memory, wait_until
from support.profiles import calm
from support.reading import COMPRESS, SIZES, THREADS, UNLIMITED, plain_rows, read, rows_in

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
    lines = draw(st.lists(lines_of_data(), max_size=12))
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


def fingerprint(text, **options):
    chunk, error, fields, consumed = _native.parse(text, **options)
    views = [bytes(view) for view in (chunk.leading, chunk.indptr, chunk.indices, chunk.values, chunk.squared_norms)]
    return views, chunk.rows, chunk.max_index, error, fields, chunk.gaps


@calm(25)
@given(st.lists(lines_of_data(), min_size=1, max_size=12).map("".join), st.floats(0, 1), st.one_of(st.none(), BROKEN))
def test_rows_and_errors_do_not_depend_on_the_number_of_threads(text, where, broken):
    text = text.encode()
    # Several pieces of a quarter megabyte, so that five threads have work.
    copies = 1_400_000 // len(text) + 1
    before = int(where * copies)
    error = b"" if broken is None else broken.encode() + b"\n"
    text = text * before + error + text * (copies - before)
    results = []
    for threads in THREADS:
        _native.set_threads(threads)
        results.append(fingerprint(text, svmlight=True))
    assert (results[0][3] is None) == (broken is None)
    rows, read = results[0][1], text[: len(text) // copies * before] if broken is not None else text
    lines = [line.lstrip(b" \t") for line in read.splitlines()]
    if broken is not None:
        assert results[0][3][0] == len(lines) + 1
    assert rows == sum(not line.startswith(b"#") for line in lines) == len(lines) - sum(gap[1] for gap in results[0][5])
    assert results[1] == results[0] and results[2] == results[0]


@pytest.mark.full
def test_the_first_of_several_errors_is_reported_whoever_finds_it(file, long_text):
    lines = long_text.splitlines(keepends=True)
    for at, broken in ((19_000, "late\n"), (12_345, "1 2:1 1:1 # error\n"), (13_000, "\n")):
        lines.insert(at, broken)
    path = file("".join(lines))
    expected = plain_rows(long_text)[0][:12_345]
    for size, threads in itertools.product((4096, UNLIMITED), THREADS):
        _native.set_threads(threads)
        assert read(path, size=size) == (
            expected,
            f"{path}:12346: index 1 found after index 2, expected increasing indices",
        )


def test_a_line_longer_than_a_chunk_is_one_row(file):
    entries = [(i, float(i % 7)) for i in range(1, 20_000)]
    text = "1 1:1\n2 " + " ".join(f"{i}:{v:g}" for i, v in entries) + "\n3 1:1\n"
    for size in (7, 4096, 50_000, UNLIMITED):
        assert read(file(text), size=size) == ([(1.0, [(1, 1.0)]), (2.0, entries), (3.0, [(1, 1.0)])], None)


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
    content = long_text.encode() + b"no line end\x00\xff"
    for path in (file(content), *(file(compress(content)) for compress in COMPRESS.values())):
        assert read_bytes(str(path)) == content
        start = read_start(str(path))
        assert content.startswith(start) and len(start) >= 1000
    assert read_bytes(str(file(b""))) == read_start(str(file(b""))) == b""
    assert read_start(str(file(b"no line end"))) == b"no line end"


@pytest.mark.parametrize("compress", [None, *COMPRESS])
def test_files_are_closed_when_they_have_been_read(file, compress):
    content = b"1 1:2\n" * 1000
    path = str(file(COMPRESS[compress](content) if compress else content))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        assert sum(chunk.rows for chunk in read_chunks(path)) == 1000
        read_bytes(path)
        read_start(path)
    assert wait_until(lambda: len(os.listdir("/proc/self/fd")) <= before)  # a thread may still be ending


@pytest.mark.parametrize("compress", [None, *COMPRESS])
def test_a_reader_that_stops_early_lets_go_of_the_file(file, compress):
    content = b"1 1:2\n" * 2000
    path = str(file((COMPRESS[compress](content) if compress else content) * 500))  # beyond what is decompressed ahead
    files, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        chunks = read_chunks(path, size=1000)
        assert next(chunks).rows > 0
        chunks.close()
        assert len(read_start(path)) > 0
    assert wait_until(lambda: len(os.listdir("/proc/self/fd")) <= files and threading.active_count() <= threads)


@pytest.mark.parametrize(
    "name, words",
    [("no", "No such file or directory"), ("no/where", "No such file or directory"), ("", "Is a directory")],
)
def test_files_that_cannot_be_read_are_named(tmp_path, name, words):
    path = str(tmp_path / name) if name else str(tmp_path)
    for read_it in (lambda: list(read_chunks(path)), lambda: read_bytes(path), lambda: read_start(path)):
        with pytest.raises(FileError) as caught:
            read_it()
        assert str(caught.value) == f"{path}: {words}"


def test_a_path_that_does_not_print_is_shown_in_one_line(tmp_path):
    for name in ("a\nb", "\x1b[31m", "\udcff"):
        with pytest.raises(FileError) as caught:
            list(read_chunks(str(tmp_path / name)))
        assert str(caught.value).isprintable() and str(caught.value).endswith(": No such file or directory")


# ---- memory


RBF = (
    "svm_type c_svc\n"
    "kernel_type rbf\n"
    "gamma 0.5\n"
    "nr_class 2\n"
    "total_sv 2\n"
    "rho 0.25\n"
    "label 1 -1\n"
    "nr_sv 1 1\n"
    "SV\n"
    "1 1:1 3:0.5\n"
    "-1 2:1 {}:0.25\n"
)


@pytest.mark.full
@pytest.mark.parametrize("model", ["exact", "compiled"])
def test_a_huge_index_takes_no_memory(fastsvm, tmp_path, model):
    for name, index in (("small", 4), ("huge", 2_000_000_000)):
        (tmp_path / name).write_text("1 1:1\n-1 2:1\n1\n-1 3:0.5\n" + f"1 1:0.5 {index}:0.125\n")
        (tmp_path / f"{name}.exact").write_text(RBF.format(index))
        fastsvm("approx", "-q", f"{name}.exact", f"{name}.compiled")
    combinations = (("small", "small"), ("huge", "small"), ("huge", "huge"))
    peaks = [
        peak_memory(FASTSVM, "predict", "-q", data, f"{support}.{model}", cwd=tmp_path)
        for data, support in combinations
    ]
    assert max(peaks) < peaks[0] + (32 << 20)


@pytest.mark.full
@pytest.mark.parametrize("compress", [None, "gzip"])
def test_memory_does_not_grow_with_the_file(tmp_path, compress):
    (tmp_path / "model").write_text(RBF.format(4))
    for name, rows in (("short", 2_000_000), ("long", 9_000_000)):  # the short one fills every buffer
        content = b"1 1:1\n" * rows
        (tmp_path / name).write_bytes(content if compress is None else gzip.compress(content, 1))
    short, long = (peak_memory(FASTSVM, "predict", "-q", name, "model", cwd=tmp_path) for name in ("short", "long"))
    assert long < short + (24 << 20)
