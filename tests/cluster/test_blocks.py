"""Shards are cut without reading their text, and every line is in exactly one block."""

import bz2
import gzip
import lzma
import os
import tracemalloc

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.cluster import stores
from fastsvm_cli.cluster.stores import ShardChanged, Text, count_lines, cut
from fastsvm_cli.errors import FastsvmError, FileError
from support.messages import cases
from support.profiles import calm


def text_of(block, layer=7):
    """Lines of a block, read in small pieces."""
    content, out = Text(block), b""
    with memoryview(bytearray(layer)) as space:
        while got := content.read_into(space):
            out += bytes(space[:got])
    content.close()
    return out


LINES = st.lists(st.text("ab1 \r", max_size=6), max_size=12).map("\n".join).map(str.encode)


@calm()
@given(text=LINES, size=st.integers(1, 30), buffer=st.integers(1, 9), last=st.booleans())
def test_every_line_is_in_one_block(text, size, buffer, last, tmp_path_factory):
    text += b"\n" * last
    path = tmp_path_factory.mktemp("cut") / "rows"
    path.write_bytes(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stores, "BUFFER_BYTES", buffer)
        every = cut(str(path), size)
        found = [text_of(block) for block in every]
        assert b"".join(found) == text
        assert [count_lines(block) for block in every] == [lines.count(b"\n") for lines in found]
        assert all(lines.endswith(b"\n") for lines in [each for each in found if each][:-1])


@pytest.mark.full
def test_names_sort_into_the_order_of_the_input(tmp_path):
    (tmp_path / "a").write_bytes(b"1" * 123_456)
    (tmp_path / "b").write_bytes(b"1")
    names = [block.part for block in cut(f"{tmp_path}/*", 1)]
    assert names == sorted(names) and len(set(names)) == len(names) == 123_457


def test_too_many_blocks_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "MOST", 9)
    (tmp_path / "a").write_bytes(b"1" * 10)
    with pytest.raises(FastsvmError, match="--block"):
        cut(str(tmp_path / "a"), 1)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_shards_are_one_block(compress, tmp_path):
    text = b"1 1:2\n" * 5000
    path = tmp_path / "rows"  # found by content, not by name
    path.write_bytes(compress(text))
    assert [text_of(block, 4096) for block in cut(str(path), 10)] == [text]
    path.write_bytes(compress(text)[:-9])
    with pytest.raises(FileError, match="ends too early"):
        text_of(*cut(str(path), 10))


def test_what_others_compress_is_named(tmp_path):
    path = tmp_path / "rows.zip"
    path.write_bytes(b"PK\x03\x04" + bytes(50))
    with pytest.raises(FileError, match="unzip"):
        cut(str(path), 10)
    (block,) = cut(str(path), 100)
    with pytest.raises(FileError, match="unzip"):
        text_of(block)


@pytest.mark.parametrize("now", [b"1 1:2\n1 1:3\n1 1:4\n", b""])
def test_a_shard_that_changed_is_not_read_on(now, tmp_path):
    """Before a block, or while it is read."""
    path = tmp_path / "rows"
    path.write_bytes(b"1 1:2\n1 1:3\n")
    (whole,), (_, second) = cut(str(path), 100), cut(str(path), 6)
    content = Text(whole)
    with memoryview(bytearray(100)) as layer:
        assert content.read_into(layer) == 12
        path.write_bytes(now)
        with pytest.raises(ShardChanged):
            content.read_into(layer)
    with pytest.raises(ShardChanged):
        text_of(second)


@pytest.mark.parametrize("now", [b"1 1:2\n1 1:3\n1 1:4\n", b"1 1:2\n1 1:4\n"])
def test_a_shard_of_a_store_that_changed_is_not_read(now, monkeypatch):
    """Another size, or the same size and another mark. The block may have no line."""
    monkeypatch.setattr(stores, "CHANGE_MARKS", ("created",) if len(now) == 12 else ())
    store = fsspec.filesystem("memory")
    store.pipe_file("/changed/rows", b"1 1:2\n1 1:3\n")
    try:
        _, second = cut("memory://changed/rows", 7)
        assert text_of(second) == b""
        store.pipe_file("/changed/rows", now)
        with pytest.raises(ShardChanged):
            text_of(second)
    finally:
        store.rm("/changed", recursive=True)


@pytest.mark.full
def test_a_large_block_is_read_in_buffers(tmp_path):
    """Also a single long line, or well-compressed zeros."""
    size = 40 << 20
    (tmp_path / "a").write_bytes(b"1 1:2" + b" " * size + b"\n1 1:3\n")
    (tmp_path / "b").write_bytes(gzip.compress(bytes(size)))
    tracemalloc.start()
    try:
        with memoryview(bytearray(1 << 16)) as layer:
            for block in (*cut(str(tmp_path / "a"), size // 2), *cut(str(tmp_path / "b"), size)):
                content = Text(block)
                while content.read_into(layer):
                    pass
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_what_cannot_be_read_in_blocks_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    os.mkdir("folder")
    for name, why in cases("what cannot be read in blocks"):
        with pytest.raises(FileError, match=why):
            cut(name, 10)


@pytest.mark.parametrize("position", [".", "a [b]*"])
def test_patterns_name_files_in_order(position, tmp_path, monkeypatch):
    """Also in a folder whose own name is a pattern."""
    tmp_path /= position
    tmp_path.mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for name in ("b", "a10", "a9", "[c]"):
        (tmp_path / name).write_text(name)
    (tmp_path / "a_folder").mkdir()
    assert [block.name for block in cut("a*", 10)] == [str(tmp_path / name) for name in ("a10", "a9")]
    assert [block.name for block in cut("[c]", 10)] == [str(tmp_path / "[c]")]  # a file with that name exists
    assert [block.name for block in cut("../*/b", 10) if block.name.startswith(str(tmp_path))]
    with pytest.raises(FileError, match=r"^none: No such file"):
        cut("none", 10)


def test_what_a_file_of_a_store_is_known_by():
    for reported, state in cases("states of files in stores"):
        assert stores.state_of(reported) == state
