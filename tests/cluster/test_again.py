"""A second run repeats no work, and an incomplete folder never looks complete."""

import json
import os

import pytest

from support.dasking import parts, predict, run_here

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
    with open("out/manifest.json") as file:
        return json.load(file)


def one(models, model, *options):
    with open("rows", "wb") as file:
        file.write(b"".join(open(name, "rb").read() for name in sorted(os.listdir(".")) if name.endswith(".txt")))
    run_here("predict", "-q", *options, "rows", models[model][0], "one")
    with open("one", "rb") as file:
        return file.read()


@pytest.mark.full
def test_whole_parts_are_kept(run):
    first, done = run()
    reported = manifest()
    assert done > 5 and reported["complete"] and reported["summary"]["rows"] == 250 and len(reported["parts"]) == done
    again, done_again = run()
    assert done_again == 0 and again.out == first.out and again.err == f"Kept: {done} of {done} parts.\n"
    assert manifest() == reported
    names = [name.partition("-")[2] for name in os.listdir("out") if name.startswith("part-")]
    others = [f"receipt-{name}.json" for name in names] + ["manifest.json"]
    assert sorted(os.listdir("out")) == sorted([f"part-{name}" for name in names] + others)


def test_the_manifest_tells_what_the_parts_are(run, tmp_path):
    import zlib

    run()
    reported = manifest()["parts"]
    assert list(reported) == sorted(path.name for path in (tmp_path / "out").glob("part*"))
    for name, each in reported.items():
        content = (tmp_path / "out" / name).read_bytes()
        assert (each["size"], each["crc32"]) == (len(content), f"{zlib.crc32(content):08x}")


@pytest.mark.full
def test_parts_that_are_not_whole_are_done_again(run, models, tmp_path):
    """A power failure can leave any bytes under the same name, size and time."""
    _, done = run()
    names = sorted(path.name for path in (tmp_path / "out").glob("part-*"))
    os.unlink(f"out/{names[0]}")
    os.truncate(f"out/{names[1]}", 3)
    part = tmp_path / "out" / names[2]
    status, text = part.stat(), part.read_bytes()
    part.write_bytes(text[:-2] + b"7\n")
    os.utime(part, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.utime(f"out/{names[3]}")  # the same bytes, as after a copy
    (tmp_path / "out" / names[4].replace("part", "receipt")).with_suffix(".json").write_bytes(b"{")
    assert run()[0].done == [*names[:3], names[4]]
    assert parts(tmp_path / "out") == one(models, "two") and manifest()["complete"]


def test_a_changed_model_or_option_costs_all_parts(run, models, tmp_path):
    _, done = run()
    printed, done_again = run(model="compiled")
    assert done_again == done
    assert printed.err.startswith(f"Removed parts of another model, option or shard: {done}.\n")
    assert run("--values", model="compiled")[1] == done
    assert parts(tmp_path / "out") == one(models, "compiled", "--values")
    assert run("--values", "--threads", 2, "-q", model="compiled")[1] == 0


def test_a_changed_shard_costs_its_own_parts(run, models, tmp_path):
    _, done = run()
    text = (tmp_path / "b.txt").read_bytes()
    (tmp_path / "b.txt").write_bytes(text.replace(b"1:0", b"1:1", 1))
    own = sum(each["shard"].endswith("b.txt") for each in manifest()["parts"].values())
    printed, done_again = run()
    assert done_again == own and printed.err.endswith(f"Kept: {done - own} of {done} parts.\n")
    (tmp_path / "c.txt").write_bytes(text)
    printed, done_again = run()
    assert done_again == own and printed.err == f"Kept: {done} of {done + own} parts.\n"
    assert parts(tmp_path / "out") == one(models, "two")
    os.unlink("c.txt")  # its parts are stale now
    printed, done_again = run()
    assert done_again == 0 and len(list((tmp_path / "out").glob("part-*"))) == done
    assert parts(tmp_path / "out") == one(models, "two") and len(os.listdir("out")) == 2 * done + 1


def test_another_cut(run, models, tmp_path):
    _, done = run()
    assert run(block=1)[1] == 2
    assert parts(tmp_path / "out") == one(models, "two") and len(manifest()["parts"]) == 2
    run(block=BLOCK)
    assert parts(tmp_path / "out") == one(models, "two") and len(manifest()["parts"]) == done


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
    assert parts(tmp_path / "out") == one(models, "two", "-b", 1) and manifest()["complete"]


@pytest.mark.parametrize(
    "files, why",
    [
        ({"part-00000-00000": "1\n"}, "it holds part-00000-00000, which has no receipt-*.json"),
        ({"part-00000": "1\n", "_SUCCESS": ""}, "it holds part-00000, which has no receipt-*.json"),
        ({"parts.txt": "1\n"}, "it holds parts.txt, which has no receipt-*.json"),
        ({"manifest.json": "{}"}, "is not what fastsvm wrote there"),
        ({"manifest.json": "\xff"}, "is not what fastsvm wrote there"),
        ({"manifest.json": "[7]"}, "is not what fastsvm wrote there"),
    ],
)
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
