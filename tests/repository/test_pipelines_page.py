"""The command lines of commands/PIPELINES.md, section by section."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from support.pages import PAGES, blocks, sections
from support.paths import DATA, GOLDEN, ROOT, SCRIPTS
from support.processes import outcome

PAGE = PAGES["fastsvm_cli/commands/PIPELINES.md"]
TOOLS = ("svm-checkdata", "svm-subset", "svm-grid", "svm-easy")
#: Options of `bench --try`, whose measurements are not tested.
BRIEF = "--max-size 0.01"


@pytest.fixture(scope="module")
def libsvm_tools():
    """LIBSVM's tools/ of Debian. Missing: as svm_predict."""
    missing = [name for name in TOOLS if not Path("/usr/bin", name).is_file()]
    if missing and os.environ.get("CI"):
        pytest.fail(f"{missing[0]} is not installed: .ci/run should have installed libsvm-tools")
    if missing:
        pytest.skip(f"{missing[0]} is not installed (Debian: libsvm-tools)")


def environment():
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def run(folder, lines):
    """Output of lines of shell, as one script that ends at the first failure."""
    (folder / "data").symlink_to(DATA)
    script = "\n".join(["set -eo pipefail", *lines])
    done = outcome(["bash", "-c", script], cwd=folder, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def lines_of(text):
    lines = [line[2:] for block in blocks(text, "console") for line in block if line.startswith("$ ")]
    return [line.replace("bench --try", f"bench --try {BRIEF}") for line in lines]


def written(folder, name):
    return (folder / name).read_text().splitlines()


def reported_by_bench(printed):
    """The commands of the answer of `bench --try`."""
    scaled = re.findall(r"^ +(svm-scale .*)$", printed, re.M)[:1]
    return " && ".join([*scaled, re.findall(r"^ +((?:fastsvm|svm)[- ]predict .* out)$", printed, re.M)[0]])


def differing(one, other):
    assert len(one) == len(other) > 0
    return sum(a != b for a, b in zip(one, other)) / len(one)


@pytest.mark.full
def test_from_raw_data_to_a_model_inside_the_budget(libsvm_tools, tmp_path):
    text = sections(PAGE, 2)["From raw data to a model inside a budget"].split("\n### ")[0]
    printed = run(tmp_path, lines_of(text))
    shown = [line for block in blocks(text, "console") for line in block if not line.startswith("$ ")]
    assert shown == ["No error."] and printed.startswith("No error.\n")
    assert len(written(tmp_path, "train")) == 2000 and len(written(tmp_path, "test")) == 1000
    assert sorted(written(tmp_path, "train") + written(tmp_path, "test")) == sorted(written(DATA, "rings.train"))
    assert len(written(tmp_path, "best")[0].split()) == 3 and len(written(tmp_path, "sample.out")) == 12
    reported = reported_by_bench(printed)
    scaled = (
        r"svm-scale -r range test > test.scale && (fastsvm-predict (--exact model )?test.scale fast.model|svm-predict"
    )
    scaled += r" test.scale model) out"
    assert re.fullmatch(rf"fastsvm predict --scale range (--exact model )?test fast.model out|{scaled}", reported)
    compare = [
        "svm-scale -r range data/rings.test > scaled",
        "svm-predict scaled model theirs",
        "fastsvm predict --scale range data/rings.test model exact && cmp exact theirs",
        "fastsvm predict --scale range test model first",
        "cp out whole",
        f"{reported} && mv out second && mv whole out",
    ]
    (tmp_path / "data").unlink()
    run(tmp_path, compare)
    assert differing(written(tmp_path, "first"), written(tmp_path, "second")) <= 0.005
    assert len(written(tmp_path, "out")) == 6000


@pytest.mark.full
def test_after_easy(libsvm_tools, tmp_path):
    text = sections(PAGE, 3)["After easy.py"]
    printed = run(tmp_path, lines_of(text))
    assert "Output model: train.model" in printed and "Output prediction: test.predict" in printed
    named = {name for row in re.findall(r"^\| (`.*?) +\|", text, re.M) for name in re.findall("`(.*?)`", row)}
    assert {"train.range", "train.model"} < named
    assert all((tmp_path / name).is_file() for name in named - {"train.scale.png"})  # drawn by gnuplot
    (tmp_path / "data").unlink()
    run(tmp_path, [reported_by_bench(printed)])
    assert differing(written(tmp_path, "exact"), written(tmp_path, "out")) <= 0.005


@pytest.mark.full
def test_fastsvm_predict_in_the_place_of_svm_predict(svm_predict, tmp_path):
    lines = lines_of(sections(PAGE, 2)["Instead of svm-predict in your tool"])
    printed = run(tmp_path, [*lines, f"{svm_predict} data/rings.test model theirs && cmp out theirs"]).splitlines()
    assert len(printed) == 2 and printed[0] == printed[1]


def test_a_nightly_audit_tells_that_labels_differ(tmp_path):
    lines = lines_of(sections(PAGE, 2)["A nightly job that watches its drift"])
    assert "drift" not in run(tmp_path, lines)
    (tmp_path / "data").unlink()
    assert run(tmp_path, [line.replace("--degree 3", "--degree 1") for line in lines]).endswith("drift\n")


@pytest.mark.full
def test_parts_give_the_bytes_of_one_process(svm_scale, tmp_path):
    """The page's own lines compare them."""
    lines = lines_of(sections(PAGE, 2)["In parts: split, xargs, GNU parallel"])
    compared = [word for line in lines if line.startswith("cmp ") for word in re.findall(r"cmp one (\w+)", line)]
    assert compared == [re.search(r"> (\w+)$", line)[1] for line in lines if re.search("split.*>|xargs|parallel", line)]
    if shutil.which("parallel") is None:
        lines = [line for line in lines if not line.startswith("cmp one six") and "parallel" not in line]
    run(tmp_path, [line.replace("--block 64M", "--block 100k") for line in lines])
    assert len(written(tmp_path, "one")) == 6000 and len(list(tmp_path.glob("shards/*.gz"))) == 6


def test_what_parts_lose_is_as_the_page_says(tmp_path):
    page = sections(PAGE, 2)["In parts: split, xargs, GNU parallel"]
    lines = (DATA / "rings.test").read_text().splitlines(keepends=True)
    model = GOLDEN / "c_svc.model"
    run(
        tmp_path,
        [
            "head -n 50 data/rings.test > rows",
            f"fastsvm predict -q -b 1 rows {model} one",
            "split -n l/3 rows part.",
            f"ls part.?? | xargs -I{{}} fastsvm predict -q -b 1 {{}} {model} {{}}.out",
            "cat part.??.out | sed '1!{/^labels /d}' > two && cmp one two",
        ],
    )
    assert "`sed '1!{/^labels /d}'`" in page
    (tmp_path / "rows").write_text("".join([*lines[:30], "foo\n", *lines[30:60]]))
    for command, code, name in (
        (f"ls rows | xargs -I{{}} fastsvm predict -q {{}} {model} {{}}.out", 123, "rows:31"),
        (f"split -l 20 --filter='fastsvm predict -q - {model}' rows", 1, "standard input:11"),
    ):
        done = outcome(["bash", "-c", command], cwd=tmp_path, env=environment())
        assert done.returncode == code and f"Error: {name}: 'foo' found, expected a label" in done.stderr
        assert len(done.stdout.splitlines()) == (30 if command.startswith("split") else 0)
    assert not (tmp_path / "rows.out").exists() and "xargs says 123" in page and "with 1, as" in page


@pytest.mark.full
def test_the_script_that_times_parts_compares_their_outputs(tmp_path):
    script = [sys.executable, ROOT / SCRIPTS / "measure_parts.py", "--copies", "3", "--runs", "1", "--jobs", "2"]
    words = [*script, "--folder", tmp_path, DATA / "colors.train", GOLDEN / "c_svc.model"]
    done = outcome(words)
    assert done.returncode == 0, done.stderr
    head, *times = done.stdout.splitlines()
    assert head == "0.2 MB, 2 jobs, outputs equal"
    assert [line.split("  ")[-1] for line in times if "parallel" not in line][-1].startswith("ls shards/*.gz | xargs")
    assert os.listdir(tmp_path) == []
