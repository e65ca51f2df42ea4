"""Run again, nothing is done twice, and a folder never looks whole that is not."""

import json
import os

import pytest

from fastsvm_cli.cluster import folder, work
from fastsvm_cli.cluster import manifest as manifests
from support.dasking import Client, parts, predict, run_here

BLOCK = 0.002


@pytest.fixture
def run(models, tmp_path, monkeypatch):
    """Two shards of some blocks, and a function that predicts them: what was said, and how many blocks were done."""
    monkeypatch.chdir(tmp_path)
    text = models["two"][1].read_bytes().splitlines(keepends=True)
    (tmp_path / "a.txt").write_bytes(b"".join(text[:150]))
    (tmp_path / "b.txt").write_bytes(b"".join(text[150:]))

    def again(*options, model="two", client=None, code=0, block=BLOCK, rows="*.txt", out="out"):
        client = client or Client()
        said = predict(
            "--dask", "local", "--block", block, *options, rows, models[model][0], out, client=client, code=code
        )
        return said, sum(map(len, client.tasks))

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
def test_whole_parts_are_kept(run, tmp_path):
    first, done = run()
    assert done > 5 and manifest()["complete"] and manifest()["summary"]["rows"] == 250
    before = (tmp_path / "out/manifest.json").stat()
    again, done_again = run()
    assert done_again == 0 and again.out == first.out and again.err == f"Kept: {done} of {done} parts.\n"
    assert (tmp_path / "out/manifest.json").stat().st_mtime_ns == before.st_mtime_ns
    assert sorted(os.listdir("out")) == sorted(
        [f for f in os.listdir("out") if f.startswith("part-")] + ["manifest.json"]
    )


@pytest.mark.full
def test_parts_that_are_not_whole_are_done_again(run, models, tmp_path):
    _, done = run()
    names = sorted(path.name for path in (tmp_path / "out").glob("part-*"))
    os.unlink(f"out/{names[0]}")
    os.truncate(f"out/{names[1]}", 3)
    content = (tmp_path / "out" / names[2]).read_bytes()
    (tmp_path / "out" / names[2]).write_bytes(content[:-2] + b"7\n")  # as long
    os.utime(f"out/{names[3]}")  # the same bytes, copied say
    said, done_again = run()
    assert done_again == 3 and f"3 of {done} parts are missing or not whole" in said.err
    assert parts(tmp_path / "out") == one(models, "two")


@pytest.mark.parametrize("took_long", [True, False])
def test_what_may_not_have_reached_the_disk_is_known_by_its_checksum(took_long, run, tmp_path, monkeypatch):
    """A part that took long is on the disk when it is noted; of others a failure of power leaves what it likes, under
    the same name, size and time."""
    on_disk = []
    monkeypatch.setattr(folder, "sync", lambda file: on_disk.append(os.readlink(f"/proc/self/fd/{file}")))
    monkeypatch.setattr(work, "_SYNC_SECONDS", -1.0 if took_long else 1e9)
    _, done = run()
    assert sum("/.part-" in name for name in on_disk) == (done if took_long else 0)
    assert any("/.manifest.json." in name for name in on_disk)
    part = tmp_path / "out/part-00000-00001"
    status, text = part.stat(), part.read_bytes()
    part.write_bytes(text[:-2] + b"7\n")
    os.utime(part, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert run()[1] == (0 if took_long else 1)


def test_a_changed_model_or_option_costs_all_parts(run, models, tmp_path):
    _, done = run()
    said, done_again = run(model="compiled")
    assert done_again == done and said.err.startswith(f"model changed: all {done} parts are done again.\n")
    said, done_again = run("--values", model="compiled")
    assert done_again == done and f"--values changed: all {done} parts" in said.err
    assert parts(tmp_path / "out") == one(models, "compiled", "--values")
    assert run("--values", "--threads", 2, "-q", model="compiled")[1] == 0


def test_a_changed_shard_costs_its_own_parts(run, models, tmp_path):
    _, done = run()
    text = (tmp_path / "b.txt").read_bytes()
    (tmp_path / "b.txt").write_bytes(text.replace(b"1:0", b"1:1", 1))
    own = sum(record["shard"].endswith("b.txt") for record in manifest()["parts"])
    said, done_again = run()
    assert done_again == own and said.err.startswith(f"shard b.txt changed: {own} of {done} parts are done again.\n")
    (tmp_path / "c.txt").write_bytes(text)
    said, done_again = run()
    assert done_again == own and said.err == f"Kept: {done} of {done + own} parts.\n"
    assert parts(tmp_path / "out") == one(models, "two")
    os.unlink("c.txt")  # its parts are stale then
    said, done_again = run()
    assert done_again == 0 and len(list((tmp_path / "out").glob("part-*"))) == done
    assert parts(tmp_path / "out") == one(models, "two")


def test_another_cut(run, models, tmp_path):
    _, done = run()
    said, done_again = run(block=1)
    assert done_again == 2 and "--block changed: all 2 parts" in said.err
    assert parts(tmp_path / "out") == one(models, "two") and len(manifest()["parts"]) == 2
    run(block=BLOCK)
    assert parts(tmp_path / "out") == one(models, "two") and len(manifest()["parts"]) == done


def test_what_becomes_of_bad_rows_matters_to_parts_that_have_some(run, tmp_path):
    text = (tmp_path / "b.txt").read_bytes()
    (tmp_path / "b.txt").write_bytes(text + b"1 x\n")
    said, done = run(code=1)
    assert "Error: b.txt:101: " in said.err and "Error: 1 of" in said.err and not manifest()["complete"]
    for options, wanted in [(["--on-bad-row", "skip"], 1), (["--on-bad-row", "nan"], 1), (["--max-line", 300], 0)]:
        said, done_again = run(*(options if wanted else ["--on-bad-row", "nan", *options]))
        assert done_again == (wanted or 1) and manifest()["complete"], said


def test_a_folder_that_is_being_changed_does_not_look_whole(run, models, tmp_path, monkeypatch):
    monkeypatch.setattr("fastsvm_cli.cluster.crew._TOGETHER", 1)
    run()
    seen = []

    def look(blocks):  # one task after the other
        seen.append(manifest()["complete"])
        if len(seen) == 2:
            raise KeyboardInterrupt

    run("-b", 1, client=Client(look), code=130)
    assert seen == [False, False] and not manifest()["complete"]
    run("-b", 1)
    assert parts(tmp_path / "out") == one(models, "two", "-b", 1) and manifest()["complete"]


def test_the_journal_of_a_client_that_was_killed_is_read(run, tmp_path, monkeypatch):
    monkeypatch.setattr(manifests, "SECONDS", 0.0)
    _, total = run()
    before = manifest()
    # What SIGKILL leaves: the manifest of the beginning, journals, a lease of a process that has ended.
    for path in (tmp_path / "out").glob("*"):
        path.unlink()

    class Killed(BaseException):
        pass

    done = []

    def kill(blocks):
        if len(done) >= 3:
            raise Killed
        done.append(blocks)

    monkeypatch.setattr("fastsvm_cli.cluster.crew._TOGETHER", 1)
    monkeypatch.setattr("fastsvm_cli.cluster.crew._ROOM", 0)
    monkeypatch.setattr("fastsvm_cli.cluster.lease.Lease.release", lambda self: self._end.set())
    with pytest.raises(Killed):
        run(client=Client(kill))
    assert not manifest()["complete"] and len(list((tmp_path / "out").glob(".manifest-*.jsonl"))) >= 1
    kept = sum(len(path.read_text().splitlines()) for path in (tmp_path / "out").glob(".manifest-*.jsonl"))
    lease = tmp_path / "out/.fastsvm-lease"
    lease.write_text(json.dumps({**json.loads(lease.read_text()), "begun": "0"}))
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fastsvm_cli.cluster.lease._SETTLE", 0.0)
    said, done_again = run()
    assert done_again == total - kept < total and "Taken over from process" in said.err
    assert {record["part"] for record in manifest()["parts"]} == {record["part"] for record in before["parts"]}
    assert sorted(path.name for path in (tmp_path / "out").glob(".*")) == []


@pytest.mark.parametrize(
    "files, why",
    [
        ({"part-00000-00000": "1\n"}, "of which no manifest.json tells"),
        ({"part-00000": "1\n", "_SUCCESS": ""}, "it holds part-00000, of which no manifest.json tells"),
        ({"manifest.json": "{}"}, "is not what fastsvm wrote there"),
        ({"manifest.json": "\xff"}, "is not what fastsvm wrote there"),
        ({"manifest.json": '{"fastsvm_parts": 2}'}, "version 2"),
        ({"manifest.json": '{"fastsvm_parts": 1, "complete": true, "jobs": {}, "parts": [7]}'}, "is not what"),
    ],
)
def test_what_is_none_of_ours_is_refused(files, why, run, tmp_path):
    (tmp_path / "out").mkdir()
    for name, text in files.items():
        (tmp_path / "out" / name).write_text(text, "latin-1")
    said, _ = run(code=1)
    assert said.err.startswith("Error: out: ") and why in said.err and len(said.err.splitlines()) == 1
    assert sorted(os.listdir("out")) == sorted(files)


def test_other_files_are_left_alone(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/README").write_text("mine")
    (tmp_path / "out/.part-00000-00000.fastsvm-other-1-ab.tmp").write_text("a killed worker's")
    run()
    assert (tmp_path / "out/README").read_text() == "mine" and not list((tmp_path / "out").glob(".*"))
