"""Shards and OUT_DIR in an S3 store, with real workers."""

import bz2
import gzip
import lzma

import pytest

from support.dasking import run_here
from support.paths import FASTSVM
from support.processes import outcome


@pytest.fixture
def there(store, tmp_path):
    """(empty folder of the store, its URL), new for every test"""
    path = f"rows/{tmp_path.name}"
    yield path, f"s3://{path}"


def predict(*arguments, code=0):
    done = outcome([FASTSVM, "predict", *map(str, arguments)])
    assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
    return done


def content(store, path):
    store.invalidate_cache()
    return {name.rpartition("/")[2]: store.cat_file(name) for name in store.find(path)}


def output(store, path):
    """(the parts together, the names of the files)"""
    files = content(store, path)
    return b"".join(files[name] for name in sorted(files) if name.startswith("part-")), list(files)


@pytest.mark.full
def test_from_and_to_a_store_and_again(models, address, store, there, tmp_path):
    """A huge line is longer than many blocks; some parts after it are empty."""
    model, rows, _ = models["two"]
    path, url = there
    lines = rows.read_bytes().splitlines(keepends=True)
    huge = lines[150][:-1] + b" " * (1 << 20) + b"\n"
    buffers = {
        "a": (b"".join(lines[:40]), bytes),
        "b": (b"", bytes),
        "c.gz": (b"".join(lines[40:60]), gzip.compress),
        "d.xz": (b"".join(lines[60:80])[:-1], lzma.compress),
        "e.bz2": (b"".join(lines[80:100]), bz2.compress),
        "f": (b"".join(lines[100:150])[:-1], bytes),
        "g": (huge + b"".join(lines[151:160]), bytes),
        "h.gz": (b"", gzip.compress),
        "i": (b"".join(lines[160:])[:-1], bytes),
    }
    for name, (text, packed) in buffers.items():
        store.pipe_file(f"{path}/{name}", packed(text))
    one = run_here("predict", "--values", rows, model, tmp_path / "one")
    command = ("--values", "--block", 0.5, "--dask", address, f"{url}/*", model, f"{url}-out/today")

    def require_complete(printed):
        text, names = output(store, f"{path}-out/today")
        assert text == (tmp_path / "one").read_bytes() and printed.stdout == one.out
        assert len(names) == 2 * parts + 1 and "manifest.json" in names

    parts = len(buffers) + 2  # 1 MB by 0.5 MB
    require_complete(predict(*command))
    store.rm_file(f"{path}-out/today/part-00000-00000")
    store.pipe_file(f"{path}/c.gz", gzip.compress(buffers["c.gz"][0], 1))
    again = predict(*command)
    assert "Removed parts of another model, option or shard: 1." in again.stderr
    assert f"Kept: {parts - 2} of {parts} parts." in again.stderr
    require_complete(again)


@pytest.mark.full
def test_a_bad_row_in_a_store(models, address, store, there, tmp_path):
    model, rows, _ = models["two"]
    path, url = there
    lines = rows.read_bytes().splitlines(keepends=True)
    store.pipe_file(f"{path}/a", b"".join(lines[:125]))
    store.pipe_file(f"{path}/b", b"".join([*lines[125:200], b"1 3:x\n", *lines[200:]]))
    command = ("-q", "--block", 0.004, "--dask", address, f"{url}/?", model, f"{url}/out")
    printed = predict(*command, code=1).stderr.splitlines()
    assert printed[0].startswith(f"Error: {url}/b:76: ") and "1 of " in printed[1] and len(printed) == 2
    store.pipe_file(f"{path}/b", b"".join(lines[125:]))
    predict(*command)
    run_here("predict", "-q", rows, model, tmp_path / "one")
    assert output(store, f"{path}/out")[0] == (tmp_path / "one").read_bytes()


@pytest.mark.full
def test_what_is_not_there(models, address, store, there):
    model, rows, _ = models["value"]
    path, url = there
    out = f"{url}/out"
    for shards, to, why in (
        (f"{url}/no", out, f"Error: {url}/no: No such file or directory\n"),
        (f"{url}/no*", out, f"Error: {url}/no*: no file fits the pattern\n"),
        (rows, "s3://no-such-bucket/out", "no-such-bucket"),
        ("nostore://rows", out, "nostore"),
    ):
        done = predict("-q", "--dask", address, shards, model, to, code=1)
        assert why in done.stderr and done.stderr.count("\n") == 1 and not done.stdout
    assert not content(store, path)
