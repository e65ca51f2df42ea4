"""Shards are cut without a look at their text, and every line is in one block."""

import bz2
import gzip
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.cluster import block_content, shards
from fastsvm_cli.cluster.block_content import BlockContent, ShardChanged, count_lines
from fastsvm_cli.cluster.blocks import MOST, cut
from fastsvm_cli.cluster.shards import Shard, list_shards, mark_of
from fastsvm_cli.errors import FastsvmError, FileError
from support.profiles import calm


def text_of(block, room=7):
    """What a block's lines are, read in small pieces."""
    content, out = BlockContent(block), b""
    with memoryview(bytearray(room)) as space:
        while got := content.read_into(space):
            out += bytes(space[:got])
    content.close()
    return out


LINES = st.lists(st.text("ab1 \r", max_size=6), max_size=12).map("\n".join).map(str.encode)


@calm()
@given(text=LINES, size=st.integers(1, 30), piece=st.integers(1, 9), last=st.booleans())
def test_every_line_is_in_one_block(text, size, piece, last, tmp_path_factory):
    text += b"\n" * last
    path = tmp_path_factory.mktemp("cut") / "rows"
    path.write_bytes(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_content, "_PIECE_BYTES", piece)
        blocks = cut(list_shards(str(path), size), size)
        found = [text_of(block) for block in blocks]
        assert b"".join(found) == text
        assert [count_lines(block) for block in blocks] == [lines.count(b"\n") for lines in found]
        for block, lines in zip(blocks, found):
            begins = [0] if text else []
            begins += [at + 1 for at, c in enumerate(text) if c == 10 and at + 1 < len(text)]
            own = [at for at in begins if block.start <= at < block.end]
            assert len(lines.split(b"\n")) - lines.endswith(b"\n") == len(own) if own else not lines


def test_blocks_cover_their_shards():
    shards = [Shard("a", 10, "", True), Shard("b", 0, "", False), Shard("c", 25, "", False), Shard("d", 8, "", True)]
    found = [(block.part, block.start, block.end) for block in cut(shards, 4)]
    assert found == [
        ("part-00000-00000", 0, 4),
        ("part-00000-00001", 4, 8),
        ("part-00000-00002", 8, 10),
        ("part-00001-00000", 0, 0),
        ("part-00002-00000", 0, 25),
        ("part-00003-00000", 0, 4),
        ("part-00003-00001", 4, 8),
    ]


@pytest.mark.full
def test_names_sort_into_the_order_of_the_input():
    blocks = cut([Shard("a", 123_456, "", True)] + [Shard("b", 1, "", True)] * 100_001, 1)
    names = [block.part for block in blocks]
    assert names == sorted(names) and len(set(names)) == len(names)


def test_too_many_blocks_are_refused():
    with pytest.raises(FastsvmError, match="--block"):
        cut([Shard("a", MOST + 1, "", True)], 1)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_shards_are_one_block(compress, tmp_path):
    text = b"1 1:2\n" * 5000
    path = tmp_path / "rows"  # known by its content, not by its name
    path.write_bytes(compress(text))
    blocks = cut(list_shards(str(path), 10), 10)
    assert [text_of(block, 4096) for block in blocks] == [text]
    path.write_bytes(compress(text)[:-9])
    with pytest.raises(FileError, match="ends too early"):
        text_of(*cut(list_shards(str(path), 10), 10))


def test_what_others_compress_is_named(tmp_path):
    path = tmp_path / "rows.zip"
    path.write_bytes(b"PK\x03\x04" + bytes(50))
    with pytest.raises(FileError, match="unzip"):
        list_shards(str(path), 10)
    (block,) = cut(list_shards(str(path), 100), 100)
    with pytest.raises(FileError, match="unzip"):
        text_of(block)


@pytest.mark.parametrize("now", [b"1 1:2\n1 1:3\n1 1:4\n", b""])
def test_a_shard_that_changed_is_not_read_on(now, tmp_path):
    path = tmp_path / "rows"
    path.write_bytes(b"1 1:2\n1 1:3\n")
    blocks = cut(list_shards(str(path), 6), 6)
    path.write_bytes(now)
    with pytest.raises(ShardChanged):
        text_of(blocks[1])


@pytest.mark.parametrize("now", [b"1 1:2\n1 1:3\n1 1:4\n", b"1 1:2\n1 1:4\n"])
def test_a_shard_of_a_store_that_changed_is_not_read(now, monkeypatch):
    """Another size, or the same and another mark."""
    import fsspec

    monkeypatch.setattr(shards, "_MARKS", ("created",))
    store = fsspec.filesystem("memory")
    store.pipe_file("/changed/rows", b"1 1:2\n1 1:3\n")
    try:
        blocks = cut(list_shards("memory://changed/rows", 6), 6)
        assert text_of(blocks[1]) == b"1 1:3\n"
        if len(now) > 12:
            monkeypatch.setattr(shards, "_MARKS", ())
            for block in blocks:
                block.shard.mark = ""
        store.pipe_file("/changed/rows", now)
        with pytest.raises(ShardChanged):
            text_of(blocks[1])
    finally:
        store.rm("/changed", recursive=True)


def test_a_huge_line_is_read_once(tmp_path):
    """Blocks in the middle of a line look for no line end beyond their own bytes."""
    path, size = tmp_path / "rows", 1 << 20
    path.write_bytes(b"1 1:2" + b" " * (5 * size) + b"\n1 1:3\n")
    blocks = cut(list_shards(str(path), size), size)
    read = []
    for block in blocks:
        taken = []
        content = BlockContent(block, taken.append)
        with memoryview(bytearray(size)) as room:
            while content.read_into(room):
                pass
        read.append(taken[-1])
    assert read[0] > 5 * size and max(read[1:5]) <= size + block_content._PIECE_BYTES


def test_what_cannot_be_read_in_blocks_is_refused(tmp_path, monkeypatch):
    import os

    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    os.mkdir("folder")
    for name, why in [
        ("-", "standard input"),
        ("fifo", "no regular file"),
        ("folder", r"a pattern: 'folder/\*'"),
        ("none", "No such file"),
        ("none*", "no file fits"),
        ("nonsense://x", "not known"),
    ]:
        with pytest.raises(FileError, match=why):
            list_shards(name, 10)


@pytest.mark.parametrize("place", [".", "a [b]*"])
def test_patterns_name_files_in_order(place, tmp_path, monkeypatch):
    """In a folder, too, whose own name would be a pattern."""
    tmp_path /= place
    tmp_path.mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for name in ("b", "a10", "a9", "[c]"):
        (tmp_path / name).write_text(name)
    (tmp_path / "a_folder").mkdir()
    assert [shard.name for shard in list_shards("a*", 10)] == [str(tmp_path / name) for name in ("a10", "a9")]
    assert [shard.name for shard in list_shards("[c]", 10)] == [str(tmp_path / "[c]")]  # it is there under that name
    assert [shard.name for shard in list_shards("../*/b", 10) if shard.name.startswith(str(tmp_path))]
    with pytest.raises(FileError, match=r"^none: No such file"):
        list_shards("none", 10)


@pytest.mark.parametrize(
    "told, mark",
    [
        ({"ETag": '"ab"', "mtime": 7}, "ab"),
        ({"mtime": 7.5, "size": 3}, "7.5"),
        ({"modificationTime": 1700000000123}, "1700000000123"),  # webhdfs
        ({"Last-Modified": "Tue"}, "Tue"),  # http
        ({"mtime": None, "size": 3}, ""),
    ],
)
def test_what_a_file_of_a_store_is_known_by(told, mark):
    assert mark_of(told) == mark
