"""`predict --dask --audit`: parts whose sampled rows the exact model answers too."""

import json

import pytest

from support.dasking import parts, predict, run_here

BLOCK = 0.002


@pytest.fixture
def audited(models, tmp_path):
    """Runs `predict --dask`: (Finished, audited rows, differing ones, bound)."""
    run_here("reduce", "-q", "--ratio", "0.05", models["two"][0], tmp_path / "reduced")
    words = ["--exact", models["two"][0], models["two"][1], tmp_path / "reduced"]

    def run(*options, code=0, out="out", here=False, **how):
        command = ("predict", "--json", "--audit", *options, *words, tmp_path / out)
        where = ("--dask", "local", "--block", BLOCK)
        printed = run_here(*command, code=code) if here else predict(*where, *command[1:], code=code, **how)
        reported = json.loads(printed.out)
        return printed, (reported["audited"], reported["audit_differing"], reported["audit_upper"])

    return run


def test_all_rows_give_the_counts_of_one_run(audited, tmp_path):
    _, one = audited("1", out="one", here=True)
    printed, found = audited("1")
    assert found == one and found[:2] == (250, one[1]) and one[1] > 0 and len(printed.done) > 4
    assert parts(tmp_path / "out") == (tmp_path / "one").read_bytes()
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["summary"]["audited"] == 250


def test_a_sample_is_of_every_part_and_the_same_again(audited, tmp_path):
    printed, found = audited("20%", "--seed", 3)
    assert 0 < found[0] < 125 and audited("20%", "--seed", 3, out="other")[1] == found
    reported = [json.loads(path.read_text())["tally"]["audited"] for path in (tmp_path / "out").glob("receipt*")]
    assert sum(reported) == found[0] and len(set(reported)) > 1
    again, stored = audited("20%", "--seed", 3)
    assert stored == found and again.done == []
    assert audited("20%", "--seed", 4)[0].done == printed.done


def test_killed_and_run_again_it_counts_the_same(audited, tmp_path):
    _, expected = audited("30%", out="expected")

    def stop(block):
        if block.number == 3:
            raise RuntimeError("the worker fails")

    with pytest.raises(json.JSONDecodeError):
        audited("30%", code=1, before=stop)
    printed, found = audited("30%")
    assert found == expected and len(printed.done) == 1 and parts(tmp_path / "out") == parts(tmp_path / "expected")


def test_beyond_the_limit_the_exit_code_is_3(audited):
    assert "(--max-disagreement)" in audited("1", "--max-disagreement", "0.01%", code=3)[0].err
    assert "(--max-disagreement)" not in audited("1", "--max-disagreement", "99%")[0].err


def test_a_cascade_asks_the_model_that_it_holds(models, tmp_path):
    model, rows, _ = models["two"]
    run_here("cascade", "-q", "--rows", "1000000", "--budget", "20%", "--data", rows, model, tmp_path / "cascade")
    words = ("--json", "--audit", "1", rows, tmp_path / "cascade")
    one = json.loads(run_here("predict", *words, tmp_path / "one").out)
    reported = json.loads(predict("--dask", "local", "--block", BLOCK, *words, tmp_path / "out").out)
    assert reported["audited"] == 250 and reported["audit_differing"] == one["audit_differing"]
