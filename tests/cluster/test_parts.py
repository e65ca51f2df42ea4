"""The parts in order equal the output of one `predict`, byte for byte; so does the summary."""

import bz2
import gzip
import lzma
import re
import shutil
from pathlib import Path

import fsspec
import pytest

from support.dasking import parts, predict, run_here
from support.messages import cases
from support.outputs import timeless

#: (kind, options). Other kinds and options: the interface `dask` of the zoo.
OUTPUTS = cases("outputs in parts")


def compare(folder, rows, model, *options, block, data=None):
    """data: the rows as one file, for the plain run. Returns the Finished of the run on Dask."""
    one = run_here("predict", *options, data or rows, model, folder / "one")
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    on_dask = predict("--dask", "local", "--block", block, *options, rows, model, out)
    assert parts(out) == (folder / "one").read_bytes()
    # A regression's sums may differ in the last digits.
    printed, expected = (re.sub(r"\d+\.\d{9,}", lambda x: f"{float(x[0]):.9g}", each.out) for each in (on_dask, one))
    assert (timeless(printed), on_dask.err) == (timeless(expected), one.err)
    return on_dask


@pytest.mark.full(few=2)
@pytest.mark.parametrize("kind, options", OUTPUTS)
def test_one_run_in_parts(kind, options, models, tmp_path):
    model, rows, more = models[kind]
    compare(tmp_path, rows, model, *more, *options, block=0.001)
    assert len(list((tmp_path / "out").glob("part-*"))) > 3


@pytest.mark.full
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


def spoilt(lines):
    for at in (0, 3, *range(60, 80), 120):
        lines[at] = b"1 x\n" if at % 2 else b"\n"
    return lines


def dense(lines):
    def of(line):
        label, *words = line.split()
        values = dict(word.split(b":") for word in words)
        return b";".join([label, *(values.get(b"%d" % feature, b"0") for feature in range(1, 9))]) + b"\n"

    return [of(line) for line in lines]


def with_unknown_features(lines):
    return [b"1 1:1" + (b" %d:1" % index if index else b"") + b"\n" for index in (0, 5, 0, 3, 9, 0, 7)]


#: {rows: (made of lines, options, size of a block in MB, words in standard error)}
ROWS = {
    "bad, left out": (spoilt, "--on-bad-row skip", 0.0005, "Bad rows: 23 of 250"),
    "bad, nan": (spoilt, "--on-bad-row nan", 0.0005, "rows:61: "),  # named by their shard
    "bad, in JSON": (spoilt, "--on-bad-row nan --json -b 1", 0.003, "rows:61: "),
    "dense": (dense, "--dense --delim ;", 0.001, ""),
    # Rows are as long as the first good one.
    "dense, the first row bad": (
        lambda lines: [b"1;x\n", *dense(lines[:100]), b"1;2;3;4\n", *dense(lines)],
        "--dense --delim ; --on-bad-row skip",
        0.001,
        "Bad rows: 2 of 352",
    ),
    "scaled": (list, "--scale range", 0.001, "values left out"),
    # The least one is named, whatever its part.
    "unknown features": (with_unknown_features, "--scale range", 0.000001, "(the first: 3)"),
    "unlabelled": (lambda lines: [line.partition(b" ")[2] for line in lines], "--unlabelled", 0.001, ""),
    "none": (lambda lines: [], "-b 1", 1, ""),
}


@pytest.mark.full(few=4)
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_all_kinds(name, models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, rows, _ = models["two"]
    make, options, block, words = ROWS[name]
    Path("range").write_text("x\n-1 1\n1 -2 2\n")  # without feature 2
    Path("rows").write_bytes(b"".join(make(rows.read_bytes().splitlines(keepends=True))))
    printed = compare(tmp_path, "rows", model, *options.split(), block=block)
    assert words in printed.err and (name == "unlabelled") <= ("Accuracy" not in printed.out)


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


def test_a_model_in_place_of_rows_is_one_line(models, tmp_path):
    model, _, _ = models["two"]
    printed = predict("--dask", "local", model, model, tmp_path / "out", code=1)
    assert printed.err == f"Error: {model}: it is a model file, expected rows of data\n"
    assert not (tmp_path / "out").exists()
    compare(tmp_path, model, model, "--on-bad-row", "skip", block=1)  # with all lines skipped


def test_another_exact_model_is_refused_though_no_row_needs_it(models, tmp_path):
    fast, other = models["certified"][0], models["three"][0]
    (tmp_path / "rows").write_text("")
    words = ["--exact", other, tmp_path / "rows", fast, tmp_path / "out"]
    printed = predict("--dask", "local", *words, code=1)
    why = f"{other}: this is not the model that {fast} was compiled from (their fingerprints differ)"
    assert printed.err == f"Error: {why}\n" and not (tmp_path / "out").exists()


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
        store.pipe_file("/in/c", b"1 1:0.5\n1 3:x\n")
        for shards, to, why in (
            ("memory://in", "memory://o", "it is a directory"),
            ("memory://in/no", "memory://o", "memory://in/no: No such file or directory"),
            ("memory://in/x*", "memory://o", "memory://in/x*: no file fits the pattern"),
            ("memory://out/*", "memory://out", "in the output directory"),
            ("memory://in/c", "memory://o", "memory://in/c:2: "),
            ("nostore://in", "memory://o", "nostore"),
            (rows, "nostore://o", "nostore"),
        ):
            assert why in predict("--dask", "local", shards, model, to, code=1).err
    finally:
        store.rm("/in", recursive=True)
        store.rm("/out", recursive=True)
