"""The parts in order equal the output of one `predict`, byte for byte; so does the summary."""

import bz2
import gzip
import json
import lzma
import shutil

import fsspec
import pytest

from support.dasking import parts, predict, run_here
from support.outputs import timeless

#: (kind, options)
OUTPUTS = [
    ("two", ["-b", "1"]),
    ("three", ["--values"]),
    ("three", ["-b", "1"]),
    ("value", ["--values"]),
    ("one", []),
    ("compiled", []),
    ("certified", ["--values", "--json"]),
    ("certified", ["-b", "1"]),
    ("certified value", []),
    ("ordered", ["--json"]),
    ("ordered", ["--steps", "2", "--values"]),
]


def compare(folder, rows, model, *options, block, data=None):
    """data: the rows as one file, for the plain run. Returns the Finished of the run on Dask."""
    one = run_here("predict", *options, data or rows, model, folder / "one")
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    on_dask = predict("--dask", "local", "--block", block, *options, rows, model, out)
    assert parts(out) == (folder / "one").read_bytes()
    assert (timeless(on_dask.out), on_dask.err) == (timeless(one.out), one.err)
    return on_dask


@pytest.mark.full(few=4)
@pytest.mark.parametrize("kind, options", OUTPUTS)
def test_one_run_in_parts(kind, options, models, tmp_path):
    model, rows, more = models[kind]
    compare(tmp_path, rows, model, *more, *options, block=0.001)
    assert len(list((tmp_path / "out").glob("part-*"))) > 3


def test_shards_of_all_kinds(models, tmp_path):
    model, rows, _ = models["two"]
    lines, shards = rows.read_bytes().splitlines(keepends=True), tmp_path / "shards"
    shards.mkdir()
    buffers = {
        "a": b"".join(lines[:40]),
        "b": b"",
        "c.gz": gzip.compress(b"".join(lines[40:80])),
        "d, the last line without an end": b"".join(lines[80:90])[:-1],
        "e.xz": lzma.compress(b"".join(lines[90:99])[:-1]),
        "f": b"".join(lines[99:120]).replace(b"\n", b"\r\n"),
        "g.bz2": bz2.compress(b"".join(lines[120:125])),
        "h, a huge line": lines[125][:-1] + b" " * 9000 + b"\n" + b"".join(lines[126:]),
        "i.gz": gzip.compress(b""),
    }
    for name, text in buffers.items():
        (shards / name).write_bytes(text)
    for block in (0.00007, 0.001, 1):
        compare(tmp_path, shards / "*", model, block=block, data=rows)


@pytest.mark.parametrize("how", ["skip", "nan"])
def test_bad_rows_are_counted_and_named_by_their_shard(how, models, tmp_path):
    model, rows, _ = models["two"]
    lines = rows.read_bytes().splitlines(keepends=True)
    for at in (0, 3, *range(60, 80), 120):
        lines[at] = b"1 x\n" if at % 2 else b"\n"
    (tmp_path / "rows").write_bytes(b"".join(lines))
    printed = compare(tmp_path, tmp_path / "rows", model, "--on-bad-row", how, block=0.0005)
    assert f"Bad rows: 23 of {len(lines)}" in printed.err and f"{tmp_path}/rows:61: " in printed.err
    compare(tmp_path, tmp_path / "rows", model, "--on-bad-row", how, "--json", "-b", 1, block=0.003)


@pytest.mark.parametrize("options", [[], ["--on-bad-row", "skip"]])
def test_dense_rows_are_as_long_as_the_first_good_one(options, models, tmp_path):
    model, rows, _ = models["two"]
    lines = []
    for line in rows.read_bytes().splitlines():
        label, *words = line.split()
        values = dict(word.split(b":") for word in words)
        lines.append(b";".join([label, *(values.get(b"%d" % feature, b"0") for feature in range(1, 9))]) + b"\n")
    if options:
        lines[0], lines[100] = b"1;x\n", b"1;2;3;4\n"
    (tmp_path / "rows").write_bytes(b"".join(lines))
    compare(tmp_path, tmp_path / "rows", model, "--dense", "--delim", ";", *options, block=0.001)
    (tmp_path / "rows").write_bytes(b"".join([*lines, b"1;2;3;4\n"]))
    if not options:
        printed = predict(
            *("--dask", "local", "--block", 0.001, "--dense", "--delim", ";"),
            *(tmp_path / "rows", model, tmp_path / "out"),
            code=1,
        )
        assert f"Error: {tmp_path}/rows:{len(lines) + 1}: " in printed.err


def test_scaled_and_unlabelled_rows(models, tmp_path):
    model, rows, _ = models["two"]
    (tmp_path / "range").write_text("x\n-1 1\n1 -2 2\n")  # without feature 2
    printed = compare(tmp_path, rows, model, "--scale", tmp_path / "range", block=0.001)
    assert "values left out" in printed.err
    bare = b"".join(line.partition(b" ")[2] for line in rows.read_bytes().splitlines(keepends=True))
    (tmp_path / "bare").write_bytes(bare)
    assert compare(tmp_path, tmp_path / "bare", model, "--unlabelled", block=0.001).out.count("Accuracy") == 0


def test_the_least_feature_that_the_range_does_not_hold_is_named_whatever_the_part(models, tmp_path):
    model, _, _ = models["two"]
    (tmp_path / "range").write_text("x\n-1 1\n1 -2 2\n")
    unknown = [None, 5, None, 3, 9, None, 7]
    (tmp_path / "rows").write_text("".join("1 1:1" + (f" {index}:1" if index else "") + "\n" for index in unknown))
    printed = compare(tmp_path, tmp_path / "rows", model, "--scale", tmp_path / "range", block=0.000001)
    assert "(the first: 3)" in printed.err


@pytest.mark.parametrize("way", ["out", "link", "one"])
def test_parts_are_no_shards_of_their_own_directory(way, models, tmp_path, monkeypatch):
    """Links to the directory or to a part are refused too."""
    monkeypatch.chdir(tmp_path)
    model, rows, _ = models["two"]
    predict("--dask", "local", "--block", 0.002, rows, model, "out")
    (tmp_path / "link").symlink_to("out")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "part-1").symlink_to(tmp_path / "out/part-00000-00001")
    before = parts(tmp_path / "out")
    printed = predict("--dask", "local", f"{way}/part-*", model, "out", code=1)
    assert "it is in the output directory, and an input; name another directory" in printed.err
    assert parts(tmp_path / "out") == before


def test_json_of_a_regression_is_that_of_one_run(models, tmp_path):
    """A regression's sums may differ in the last digits."""
    model, rows, options = models["certified value"]
    one = run_here("predict", "--json", *options, rows, model, tmp_path / "one")
    printed = predict("--dask", "local", "--block", 0.001, "--json", *options, rows, model, tmp_path / "out")
    found, expected = json.loads(timeless(printed.out)), json.loads(timeless(one.out))
    for key in ("mean_squared_error", "squared_correlation"):
        assert found.pop(key) == pytest.approx(expected.pop(key), rel=1e-9)
    assert found == expected


def test_a_model_in_place_of_rows_is_one_line(models, tmp_path):
    model, _, _ = models["two"]
    printed = predict("--dask", "local", model, model, tmp_path / "out", code=1)
    assert printed.err == f"Error: {model}: it is a model file, expected rows of data\n"
    assert not (tmp_path / "out").exists()
    compare(tmp_path, model, model, "--on-bad-row", "skip", block=1)  # with all lines skipped


def test_nothing_in_nothing_out(models, tmp_path):
    (tmp_path / "rows").write_bytes(b"")
    compare(tmp_path, tmp_path / "rows", models["two"][0], "-b", 1, block=1)
    compare(tmp_path, tmp_path / "rows", models["value"][0], block=1)


def test_a_store_that_only_renames(models, tmp_path):
    """Parts have temporary names there too."""
    model, rows, _ = models["two"]
    store = fsspec.filesystem("memory")
    store.pipe_file("/in/a b", rows.read_bytes())
    run_here("predict", "-q", rows, model, tmp_path / "one")
    command = ("--dask", "local", "--block", 0.002, "memory://in/*", model, "memory://out")

    def found():
        return b"".join(store.cat_file(name) for name in sorted(store.glob("/out/part*")))

    try:
        predict(*command)
        assert found() == (tmp_path / "one").read_bytes()
        names = {name.rpartition("/")[2] for name in store.ls("/out", detail=False)}
        assert names == {"manifest.json"} | {name for name in names if name.startswith(("part-", "receipt-"))}
        part = store.cat_file("/out/part-00000-00002")
        store.pipe_file("/out/part-00000-00002", part[:-2] + b"7\n")
        assert predict(*command).done == ["part-00000-00002"]
        assert found() == (tmp_path / "one").read_bytes()
        assert "it is a directory" in predict("--dask", "local", "memory://in", model, "memory://o", code=1).err
        assert "no file fits" in predict("--dask", "local", "memory://in/x*", model, "memory://o", code=1).err
        assert "in the output directory" in predict(*command[:4], "memory://out/*", model, "memory://out", code=1).err
    finally:
        store.rm("/in", recursive=True)
        store.rm("/out", recursive=True)
