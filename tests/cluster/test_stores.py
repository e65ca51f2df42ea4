"""Shards and OUT_DIR in an S3 store, with real workers."""

import gzip

import pytest

from support.dasking import run_here
from support.paths import FASTSVM
from support.processes import outcome


def predict(*arguments):
    done = outcome([FASTSVM, "predict", *map(str, arguments)])
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.full
def test_from_and_to_a_store_and_again(models, address, store, tmp_path):
    """A huge line is longer than many blocks; some parts after it are empty."""
    model, rows, _ = models["two"]
    lines = rows.read_bytes().splitlines(keepends=True)
    buffers = {
        "a": b"".join(lines[:40]),
        "b": b"",
        "c.gz": gzip.compress(b"".join(lines[40:100])),
        "d": b"".join(lines[100:150])[:-1],
        "e": lines[150][:-1] + b" " * (1 << 20) + b"\n" + b"".join(lines[151:160]),
        "f": b"".join(lines[160:])[:-1],
    }
    for name, text in buffers.items():
        store.pipe_file(f"rows/{name}", text)
    one = run_here("predict", "--values", rows, model, tmp_path / "one")
    command = ("--values", "--block", 0.5, "--dask", address, "s3://rows/*", model, "s3://rows-out/today")
    parts = len(buffers) + 2  # 1 MB by 0.5 MB

    def require_complete(printed):
        store.invalidate_cache()
        names = sorted(store.find("rows-out/today"))
        text = b"".join(store.cat_file(name) for name in names if "/part-" in name)
        assert text == (tmp_path / "one").read_bytes() and printed.stdout == one.out
        assert len(names) == 2 * parts + 1 and "rows-out/today/manifest.json" in names

    require_complete(predict(*command))
    store.rm_file("rows-out/today/part-00000-00000")
    store.pipe_file("rows/c.gz", gzip.compress(b"".join(lines[40:100]), 1))
    again = predict(*command)
    assert "Removed parts of another model, option or shard: 1." in again.stderr
    assert f"Kept: {parts - 2} of {parts} parts." in again.stderr
    require_complete(again)
