"""Other compressors' formats are named, with the command to type; zstd is read where Python can."""

import sys

import numpy as np
import pytest

from fastsvm_cli.errors import FileError
from fastsvm_cli.text.read_rows import read_chunks
from support.messages import table, unescaped
from support.reading import read, rows_in


def test_other_compressors_are_named_with_what_to_type(fastsvm, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for start, name, tool in table("messages.txt", "other compressors"):
        (tmp_path / "my rows").write_bytes(content := unescaped(start).encode("latin-1") + b"rest")
        found = f"{name} data found, expected text, or gzip, bzip2, xz or zstd; type: {tool}"
        assert read("my rows")[1] == f"my rows: {found} 'my rows' | fastsvm ... -"
    done = fastsvm("predict", "-", model(), input=content, code=1)
    assert done.err.splitlines()[-1] == f"Error: standard input: {found} | fastsvm ... -"
    assert found in fastsvm("approx", "my rows", code=1).err


def test_a_label_that_begins_like_another_format_is_a_label(tmp_path):
    (tmp_path / "data").write_text("7\n7 1:1\n")
    assert [rows_in(chunk) for chunk in read_chunks(str(tmp_path / "data"))] == [[(7.0, []), (7.0, [(1, 1.0)])]]


def test_zstd_is_named_where_python_cannot_read_it(tmp_path, monkeypatch):
    (tmp_path / "z").write_bytes(b"\x28\xb5\x2f\xfdrest")
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises(
        FileError,
        match=r"zstd data found, which this Python cannot read \(3.14 can, or pip install backports.zstd\); "
        r"type: zstdcat \S+ \| fastsvm \.\.\. -$",
    ):
        list(read_chunks(str(tmp_path / "z")))


@pytest.mark.full
def test_zstd_files(tmp_path):
    try:
        from compression import zstd
    except ImportError:
        zstd = pytest.importorskip("backports.zstd")
    sample = "".join(f"{at % 3} {at + 1}:{at}.5\n" for at in range(3000)).encode()
    whole = zstd.compress(sample)
    skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    for content in (
        whole,
        zstd.compress(sample[:1000]) + zstd.compress(sample[1000:]),
        skippable + whole,
        zstd.compress(b"") + whole,
    ):
        (tmp_path / "z").write_bytes(content)
        assert np.concatenate(
            [np.asarray(chunk.values) for chunk in read_chunks(str(tmp_path / "z"), size=4096)]
        ).tolist() == [at + 0.5 for at in range(3000)]
    for cut in range(5, len(whole), 97):
        (tmp_path / "z").write_bytes(whole[:cut])
        with pytest.raises(FileError, match=r"the zstd data (ends too early|is damaged)"):
            list(read_chunks(str(tmp_path / "z")))
    (tmp_path / "z").write_bytes(zstd.compress(bytes(300_000_000)))  # a few kilobytes
    with pytest.raises(Exception, match=":1: a line of more than 1 MB found"):
        list(read_chunks(str(tmp_path / "z"), max_line=1_000_000))
