"""A second run repeats no work, and an incomplete folder never looks complete."""

import json
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.dasking import parts, predict, run_here
from support.messages import cases

BLOCK = 0.002


@pytest.fixture
def run(models, tmp_path, monkeypatch):
    """Predicts two shards of several blocks: (Finished, number of blocks done)."""
    monkeypatch.chdir(tmp_path)
    text = models["two"][1].read_bytes().splitlines(keepends=True)
    (tmp_path / "a.txt").write_bytes(b"".join(text[:150]))
    (tmp_path / "b.txt").write_bytes(b"".join(text[150:]))

    def again(*options, model="two", code=0, block=BLOCK, rows="*.txt", **how):
        words = ("--dask", "local", "--block", block, *options, rows, models[model][0], "out")
        printed = predict(*words, code=code, **how)
        return printed, len(printed.done)

    return again


def manifest():
    return json.loads(Path("out/manifest.json").read_text())


def require_complete(models, model="two", options=()):
    """The folder holds the parts of this run, all that the manifest names, and nothing else."""
    Path("rows").write_bytes(b"".join(path.read_bytes() for path in sorted(Path().glob("*.txt"))))
    run_here("predict", "-q", *options, "rows", models[model][0], "one")
    assert parts(Path("out")) == Path("one").read_bytes()
    reported = manifest()
    made = {name: Path("out", name).read_bytes() for name in reported["parts"]}
    assert reported["complete"] and list(made) == sorted(made)
    assert reported["summary"]["rows"] == len(Path("rows").read_bytes().splitlines())
    for name, text in made.items():
        each = reported["parts"][name]
        assert (each["size"], each["crc32"]) == (len(text), f"{zlib.crc32(text):08x}")
    others = [f"receipt-{name.partition('-')[2]}.json" for name in made] + ["manifest.json"]
    assert sorted(os.listdir("out")) == sorted([*made, *others])


# ---- what is done again


@dataclass(frozen=True)
class Change:
    """do: before the second run; it gets the names of the parts. done, kept, removed: parts that the second run makes,
    keeps and removes; n: those of the first run, b: those of b.txt."""

    do: Callable = lambda names: None
    done: str = "0"
    kept: str = "n"
    removed: str = "0"
    options: tuple = ()
    model: str = "two"
    block: float = BLOCK


def spoil(names):
    """A power failure can leave any bytes under the same name, size and time."""
    path = Path("out", names[2])
    status, text = path.stat(), path.read_bytes()
    path.write_bytes(text[:-2] + b"7\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def change_b(names):
    text = Path("b.txt").read_bytes()
    Path("b.txt").write_bytes(text.replace(b"1:0", b"1:1", 1))


def damage_receipt(names):
    Path("out", names[4].replace("part", "receipt")).with_suffix(".json").write_bytes(b"{")


def add_c(names):
    Path("c.txt").write_bytes(Path("b.txt").read_bytes())


CHANGES = {
    "nothing": Change(),
    "options that change no answer": Change(options=("--threads", "2", "--max-line", "300")),
    "a part is gone": Change(lambda names: os.unlink(f"out/{names[0]}"), "1", "n - 1"),
    "a part is cut": Change(lambda names: os.truncate(f"out/{names[1]}", 3), "1", "n - 1"),
    "a byte of a part": Change(spoil, "1", "n - 1"),
    "the time of a part": Change(lambda names: os.utime(f"out/{names[3]}")),
    "a damaged receipt": Change(damage_receipt, "1", "n - 1", "1"),
    "another model": Change(done="n", kept="0", removed="n", model="compiled"),
    "another option": Change(done="n", kept="0", removed="n", options=("--values",)),
    "another cut": Change(done="2", kept="0", removed="n", block=1),
    "a shard changed": Change(change_b, "b", "n - b", "b"),
    "a shard more": Change(add_c, "b"),
    "a shard less": Change(lambda names: os.unlink("b.txt"), "0", "n - b", "b"),
}


@pytest.mark.full(few=5)
@pytest.mark.parametrize("name", CHANGES)
def test_a_second_run_makes_the_parts_that_changed(run, models, name):
    change = CHANGES[name]
    first, n = run()
    require_complete(models)
    b = sum(each["shard"].endswith("b.txt") for each in manifest()["parts"].values())
    assert n > 5 and 0 < b < n
    change.do(sorted(manifest()["parts"]))
    printed, done = run(*change.options, model=change.model, block=change.block)
    made, kept, removed = (eval(each, {"n": n, "b": b}) for each in (change.done, change.kept, change.removed))
    told = [f"Removed parts of another model, option or shard: {removed}."] if removed else []
    told += [f"Kept: {kept} of {kept + made} parts."] if kept else []
    assert done == made and printed.err.splitlines()[: len(told)] == told
    require_complete(models, change.model, change.options)
    assert name != "nothing" or printed.out == first.out


def test_what_becomes_of_bad_rows_matters_to_parts_that_have_some(run, tmp_path):
    text = (tmp_path / "b.txt").read_bytes()
    (tmp_path / "b.txt").write_bytes(text + b"1 x\n")
    printed, done = run(code=1)
    assert "Error: b.txt:101: " in printed.err and "Error: 1 of" in printed.err and not manifest()["complete"]
    for options in (["skip"], ["nan"], ["nan", "--max-line", 300]):
        printed, done_again = run("--on-bad-row", *options)
        assert done_again == 1 and manifest()["complete"], printed


def test_a_folder_that_is_being_changed_does_not_look_whole_and_holds_one_run(run, models, tmp_path):
    """Once this run can write parts, those of the run before, with another option, are gone."""
    run()
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("part*")}
    seen = []

    def look(block):
        now = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("part*")}
        seen.append((manifest()["complete"], any(before.get(name) == text for name, text in now.items())))
        if len(seen) == 3:
            raise MemoryError

    run("-b", 1, before=look)
    assert len(seen) > 3 and set(seen) == {(False, False)}
    require_complete(models, options=("-b", 1))


@pytest.mark.parametrize("files, why", cases("folders that are none of ours"))
def test_what_is_none_of_ours_is_refused(files, why, run, tmp_path):
    (tmp_path / "out").mkdir()
    for name, text in files.items():
        (tmp_path / "out" / name).write_text(text, "latin-1")
    printed, _ = run(code=1)
    assert printed.err.startswith("Error: out: ") and why in printed.err and len(printed.err.splitlines()) == 1
    assert sorted(os.listdir("out")) == sorted(files)


def test_other_files_are_left_alone(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/README").write_text("mine")
    (tmp_path / "out/.mine.tmp").write_text("mine")
    (tmp_path / "out/.part-00000-00000.other-1-ab.tmp").write_text("a killed worker's")
    run()
    assert (tmp_path / "out/README").read_text() == "mine"
    assert [path.name for path in (tmp_path / "out").glob(".*")] == [".mine.tmp"]


def test_a_first_row_of_more_columns_makes_the_other_shards_parts_stale(run, tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("1,0.5,0.25\n" * 40)
    run("--dense", rows="*.csv")
    (tmp_path / "a.csv").write_text("1,0.5,0.25,0\n" * 40)
    printed, _ = run("--dense", rows="*.csv", code=1)
    assert "Error: b.csv:1: 2 values found, expected 3 " in printed.err
