"""Compressed files and pipes: detected by content, read as they arrive, refused in one line if damaged."""

import os
import random
import re
import select
import subprocess
import threading
import time
import zlib

import pytest

import fastsvm_cli
from fastsvm_cli.errors import FileError
from fastsvm_cli.text.files import Content
from fastsvm_cli.text.read_rows import read_chunks
from support.messages import cases
from support.model_files import REGRESSION
from support.paths import PROGRAM
from support.processes import PATIENCE
from support.reading import COMPRESS, SAMPLE, SIZES, plain_rows, read, rows_in

# ---- compressed files


@pytest.fixture(params=COMPRESS)
def kind(request):
    return request.param


def test_compressed_files_are_known_by_their_content_whatever_their_name(tmp_path, kind):
    for name in ("data.gz", "data.xz", "data.txt"):
        (tmp_path / name).write_bytes(COMPRESS[kind](SAMPLE.encode()))
        for size in SIZES:
            assert read(tmp_path / name, size=size) == (plain_rows(SAMPLE)[0], None)
    (tmp_path / "data.gz").write_text(SAMPLE)
    assert read(tmp_path / "data.gz") == (plain_rows(SAMPLE)[0], None)


def test_compressed_streams_one_after_the_other_are_one_file(file, kind):
    cuts = [0, 10, 10, 11, len(SAMPLE)]  # within lines, and an empty stream
    content = b"".join(COMPRESS[kind](SAMPLE[a:b].encode()) for a, b in zip(cuts, cuts[1:]))
    assert read(file(content)) == (plain_rows(SAMPLE)[0], None)
    row, whole = (1.0, [(1, 2.0)]), COMPRESS[kind](b"1 1:2\n")
    assert read(file(whole * 3000)) == ([row] * 3000, None)
    if kind != "bzip2":  # zeros are padding
        assert read(file(whole + bytes(8) + whole + bytes(512))) == ([row] * 2, None)
    assert read(file(COMPRESS[kind](b""))) == ([], None)
    assert read(file(COMPRESS[kind](b"1 1:2"))) == ([row], None)
    path = file(COMPRESS[kind](b"1 1:2\nx\n"))
    assert read(path) == ([row], f"{path}:2: 'x' found, expected a label")


def test_a_compressed_file_that_is_damaged_anywhere_is_an_error_of_one_line(file, kind):
    content, (rows, _) = COMPRESS[kind](SAMPLE.encode()), plain_rows(SAMPLE)
    places = range(0, len(content), 1 + len(content) // 60)
    cut = [content[:at] for at in places if at >= 6]
    changed = [content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :] for at in places]
    longer = [content + rest for rest in (b"1 1:2\n", b"\x1f\x8b", b"BZh9", b"junk")]
    refused = 0
    for text in cut + changed + longer:
        path = file(text)
        found, message = read(path)
        assert found == rows[: len(found)]
        if message is None:  # a time stamp, for example
            assert text in changed and found == rows
        else:
            assert message.startswith(str(path)) and message.isprintable()
            assert text not in cut or message == f"{path}: the {kind} data ends too early"
            assert text not in longer or "data is damaged" in message or "data ends too early" in message
            refused += text in changed
    assert refused > 40


def test_a_damaged_file_that_is_no_model_has_one_message_everywhere(fastsvm, tmp_path, monkeypatch):
    """Its first line, decompressed, is that of no model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_bytes(b"1 1:1\n")
    whole = COMPRESS["gzip"](b"1 1:2\n" * 20)
    for text, why in ((whole[:-3], "ends too early"), (whole * 2 + b"junk", "is damaged")):
        (tmp_path / "model").write_bytes(text)
        for name, path in (("model", "model"), ("standard input", "-")):
            message = f"Error: {name}: the gzip data {why}\n"
            assert fastsvm("predict", "data", path, "-", input=text, code=1).err == message
            done = subprocess.run([PROGRAM, "data", path, "-"], input=text, capture_output=True)
            assert done.returncode == 1 and done.stderr.decode() == message
        with pytest.raises(FileError, match=f"model: the gzip data {why}"):
            fastsvm_cli.load("model")


def test_compressed_standard_input_is_read(fastsvm, tmp_path, kind):
    (tmp_path / "model").write_bytes(REGRESSION)
    assert fastsvm("predict", "-q", "-", "model", input=COMPRESS[kind](b"0 1:2\n0 1:3\n")).out == "2\n3\n"
    cut = fastsvm("predict", "-q", "-", "model", input=COMPRESS[kind](b"0 1:2\n0 1:3\n")[:-3], code=1)
    assert cut.err == f"Error: standard input: the {kind} data ends too early\n"


def test_content_is_gone_on_with_at_any_place(file, kind):
    """Also at the end of a stream."""
    text = SAMPLE.encode()
    path = file(COMPRESS[kind](text[:100]) + COMPRESS[kind](text[100:]))
    for start in (0, 50, 99, 100, 101, len(text)):
        with Content(str(path), start) as content:
            assert b"".join(iter(lambda: content.read(1 << 20), b"")) == text[start:]


# ---- pipes


@pytest.fixture
def pipe():
    """(path of a pipe's reading end, its writing end as a file)"""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb"), os.fdopen(writer, "wb", buffering=0) as file:
        yield f"/dev/fd/{reader}", file


def feed(writer, buffers, pause=0.0):
    def work():
        for buffer in buffers:
            writer.write(buffer)
            time.sleep(pause)
        writer.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def buffers_of(content, rng, longest):
    at = 0
    while at < len(content):
        step = rng.randint(1, longest)
        yield content[at : at + step]
        at += step


@pytest.mark.parametrize("compress, longest, pause, times", cases("buffers in a pipe"))
def test_buffers_of_any_size_in_a_pipe_give_the_same_rows(pipe, compress, longest, pause, times):
    path, writer = pipe
    content = (COMPRESS[compress](SAMPLE.encode()) if compress else SAMPLE.encode()) * times
    thread = feed(writer, buffers_of(content, random.Random(5), longest), pause)
    assert read(path) == (plain_rows(SAMPLE)[0] * times, None)
    thread.join(PATIENCE)


@pytest.mark.parametrize("start", [b"\x1f", b"BZ"])
def test_a_pipe_that_begins_like_a_compressed_file_and_ends_is_text(pipe, start):
    path, writer = pipe
    thread = feed(writer, [bytes([byte]) for byte in start], 0.002)
    rows, message = read(path)
    thread.join(PATIENCE)
    assert rows == [] and re.fullmatch(rf"{path}:1: '[ -~]+' found, expected a label", message)


@pytest.mark.parametrize("compress", [None, "gzip"])
def test_every_line_of_a_slow_pipe_is_yielded_before_the_next_is_written(pipe, compress):
    path, writer = pipe
    packer = zlib.compressobj(wbits=31)

    def put(text):
        writer.write(packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH) if compress else text)

    put(b"1 1:1\n")
    chunks = read_chunks(path)
    safety = threading.Timer(PATIENCE, writer.close)  # ends a reader that waits for more
    safety.start()
    assert rows_in(next(chunks)) == [(1.0, [(1, 1.0)])]
    put(b"2 1:1\n3 1:")
    assert rows_in(next(chunks)) == [(2.0, [(1, 1.0)])]
    put(b"1\n4 1:1\n")
    assert rows_in(next(chunks)) == [(3.0, [(1, 1.0)]), (4.0, [(1, 1.0)])]
    assert safety.is_alive()
    safety.cancel()
    writer.write(packer.flush() if compress else b"")
    writer.close()
    assert list(chunks) == []


@pytest.mark.parametrize("compress", [None, "gzip"])
@pytest.mark.parametrize("flags", [0, os.O_NONBLOCK], ids=["waiting", "told not to wait"])
def test_no_read_waits_for_a_pipe(monkeypatch, compress, flags):
    """A stop just before such a read would take effect after the next row, or never. Event loops leave standard input
    so that it does not wait: an empty pipe is not at its end."""
    reader, writer = os.pipe2(flags)
    standard_input, empty, read_early, found = os.dup(0), threading.Event(), [], []

    def noting(read):
        def noted(file, *arguments):
            read_early.extend([file] * (not flags and not select.select([file], [], [], 0)[0]))
            try:
                return read(file, *arguments)
            except BlockingIOError:
                empty.set()
                raise

        return noted

    for name in ("read", "readv"):
        monkeypatch.setattr(os, name, noting(getattr(os, name)))
    text = b"".join(b"1 1:%d\n" % number for number in range(1000))
    text, first = COMPRESS[compress](text) if compress else text, 3
    try:
        os.dup2(reader, 0)
        thread = threading.Thread(target=lambda: found.extend(chunk.rows for chunk in read_chunks("-")))
        thread.start()
        for buffer in (text[:first], text[first:100], text[100:], b""):
            # The reader has reached the end, or soon will.
            assert empty.wait(PATIENCE if flags else 0.05) == bool(flags)
            empty.clear()
            os.write(writer, buffer) if buffer else os.close(writer)
        thread.join(PATIENCE)
    finally:
        os.dup2(standard_input, 0)
        for file in (reader, standard_input):
            os.close(file)
    assert sum(found) == 1000 and not read_early
