"""Shards and OUT_DIR in an S3 store, with real workers."""

import bz2
import gzip
import lzma
import subprocess

import pytest

from support.dasking import run_here
from support.paths import FASTSVM
from support.processes import PATIENCE


@pytest.fixture
def there(store, tmp_path):
    """(empty folder of the store, its URL), new for every test"""
    path = f"rows/{tmp_path.name}"
    yield path, f"s3://{path}"


def predict(*arguments, code=0, **words):
    done = subprocess.run(
        [FASTSVM, "predict", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, **words
    )
    assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
    return done


def content(store, path):
    store.invalidate_cache()
    return {name.rpartition("/")[2]: store.cat_file(name) for name in store.find(path)}


@pytest.mark.full
def test_shards_of_all_kinds(models, address, store, there, tmp_path):
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
    text = b"".join(part if part.endswith(b"\n") or not part else part + b"\n" for part, _ in buffers.values())
    (tmp_path / "rows").write_bytes(text)
    for options in (["-b", 1], ["--values"]):
        one = run_here("predict", *options, tmp_path / "rows", model, tmp_path / "one")
        out = f"{url}-out"  # the second run replaces the parts of the first
        done = predict(*options, "--block", 0.1, "--dask", address, f"{url}/*", model, out)
        found = content(store, f"{path}-out")
        found_parts = [found[name] for name in sorted(found) if name.startswith("part")]
        assert b"".join(found_parts) == (tmp_path / "one").read_bytes() and done.stdout == one.out
        assert len(found_parts) == len(buffers) + 10 and len(found) == 2 * len(found_parts) + 1  # 1 MB by 0.1 MB


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
    after = content(store, f"{path}/out")
    run_here("predict", "-q", rows, model, tmp_path / "one")
    parts = b"".join(each for name, each in after.items() if name.startswith("part-"))
    assert parts == (tmp_path / "one").read_bytes()


@pytest.mark.full
def test_what_is_not_there(models, address, store, there):
    model, rows, _ = models["value"]
    path, url = there
    out = f"{url}/out"
    for shards, why in ((f"{url}/no", "No such file or directory"), (f"{url}/no*", "no file fits the pattern")):
        done = predict("--dask", address, shards, model, out, code=1)
        assert done.stderr == f"Error: {shards}: {why}\n" and not done.stdout
    done = predict("--dask", address, rows, model, "s3://no-such-bucket/out", code=1)
    assert "no-such-bucket" in done.stderr.splitlines()[-1] and not done.stdout
    done = predict("--dask", address, "nostore://rows", model, out, code=1)
    assert done.stderr.count("\n") == 1 and "nostore" in done.stderr and not done.stdout
    assert not content(store, path)
