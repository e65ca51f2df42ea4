"""The command lines of commands/PIPELINES.md, section by section."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from support.building import require
from support.pages import PAGES, blocks, sections
from support.paths import DATA, GOLDEN
from support.processes import outcome

PAGE = PAGES["fastsvm_cli/commands/PIPELINES.md"]
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def libsvm_tools():
    """LIBSVM's tools/ of Debian."""
    require("svm-easy")


@pytest.fixture
def shell(tmp_path):
    """Output of lines of shell, as one script that ends at the first failure."""
    (tmp_path / "data").symlink_to(DATA)

    def run(*lines):
        done = outcome(["bash", "-c", "\n".join(["set -eo pipefail", *lines])], cwd=tmp_path, env=ENVIRONMENT)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def lines_of(level, heading):
    """Lines of a section; measurements of `bench --try` are brief."""
    found = [line for block in blocks(sections(PAGE, level)[heading].split("\n### ")[0], "console") for line in block]
    return [line[2:].replace("bench --try", "bench --try --max-size 0.01") for line in found if line.startswith("$ ")]


def reported_by_bench(printed):
    """The commands of the answer of `bench --try`."""
    scaled = re.findall(r"^ +(svm-scale .*)$", printed, re.M)[:1]
    return " && ".join([*scaled, re.findall(r"^ +((?:fastsvm|svm)[- ]predict .* out)$", printed, re.M)[0]])


def written(folder, name):
    return (folder / name).read_text().splitlines()


def differing(folder, one, other):
    one, other = written(folder, one), written(folder, other)
    assert len(one) == len(other) > 0
    return sum(a != b for a, b in zip(one, other)) / len(one)


@pytest.mark.full
def test_from_raw_data_to_a_model_inside_the_budget(libsvm_tools, shell, tmp_path):
    printed = shell(*lines_of(2, "From raw data to a model inside a budget"))
    assert printed.startswith("No error.\n") and "\nNo error.\n" in PAGE
    assert (len(written(tmp_path, "train")), len(written(tmp_path, "test"))) == (2000, 1000)
    assert sorted(written(tmp_path, "train") + written(tmp_path, "test")) == sorted(written(DATA, "rings.train"))
    assert len(written(tmp_path, "best")[0].split()) == 3 and len(written(tmp_path, "sample.out")) == 12
    shell(
        "svm-scale -r range data/rings.test > scaled && svm-predict scaled model theirs",
        "fastsvm predict --scale range data/rings.test model exact && cmp exact theirs",
        "fastsvm predict --scale range test model first",
        f"cp out whole && {reported_by_bench(printed)} && mv out second && mv whole out",
    )
    assert differing(tmp_path, "first", "second") <= 0.005 and len(written(tmp_path, "out")) == 6000


#: A copy of Debian's svm-easy that runs: with the programs' places, without gnuplot.
EASY = r"""
svm-subset data/rings.train 150 train test
sed -e 's|"\.\./svm-|"/usr/bin/svm-|' -e 's|"\./grid.py"|"python3 /usr/bin/svm-grid"|' /usr/bin/svm-easy > easy.in
sed -e 's|"/usr/bin/gnuplot"|"null"|' -e '/^assert os.path.exists(g[rn]/d' easy.in > easy.py
"""


@pytest.mark.full
def test_after_easy(libsvm_tools, shell, tmp_path):
    printed = shell(EASY, *lines_of(3, "After easy.py"))
    assert "Output model: train.model" in printed and "Output prediction: test.predict" in printed
    for name in ("train.range", "train.model", "test.predict"):
        assert f"`{name}`" in sections(PAGE, 3)["After easy.py"] and (tmp_path / name).is_file()
    shell(reported_by_bench(printed))
    assert differing(tmp_path, "exact", "out") <= 0.005


@pytest.mark.full
def test_fastsvm_predict_in_the_place_of_svm_predict(svm_predict, shell):
    lines = lines_of(2, "Instead of svm-predict in your tool")
    one, other = shell(*lines, f"{svm_predict} data/rings.test model theirs && cmp out theirs").splitlines()
    assert one == other


@pytest.mark.full
def test_a_nightly_audit_tells_that_labels_differ(shell):
    lines = lines_of(2, "A nightly job that watches its drift")
    assert "drift" not in shell(*lines)
    assert shell(*(line.replace("--degree 3", "--degree 1") for line in lines)).endswith("drift\n")


@pytest.mark.full
def test_parts_give_the_bytes_of_one_process(svm_scale, shell, tmp_path):
    """The page's own lines compare them."""
    lines = lines_of(2, "In parts: split, xargs, GNU parallel")
    assert len(re.findall(r"cmp one \w+", "\n".join(lines))) > 6
    if shutil.which("parallel") is None:
        lines = [line for line in lines if not line.startswith("cmp one six") and "parallel" not in line]
    shell(*(line.replace("--block 64M", "--block 100k") for line in lines))
    assert len(written(tmp_path, "one")) == 6000 and len(list(tmp_path.glob("shards/*.gz"))) == 6


@pytest.mark.full
def test_what_parts_lose_is_as_the_page_says(shell, tmp_path):
    model = GOLDEN / "c_svc.model"
    shell(
        f"head -n 50 data/rings.test > rows && fastsvm predict -q -b 1 rows {model} one && split -n l/3 rows part.",
        f"ls part.?? | xargs -I{{}} fastsvm predict -q -b 1 {{}} {model} {{}}.out",
        "cat part.??.out | sed '1!{/^labels /d}' > two && cmp one two",
    )
    lines = (DATA / "rings.test").read_text().splitlines(keepends=True)
    (tmp_path / "rows").write_text("".join([*lines[:30], "foo\n", *lines[30:60]]))
    for command, code, printed, name in (
        (f"ls rows | xargs -I{{}} fastsvm predict -q {{}} {model} {{}}.out", 123, 0, "rows:31"),
        (f"split -l 20 --filter='fastsvm predict -q - {model}' rows", 1, 30, "standard input:11"),
    ):
        done = outcome(["bash", "-c", command], cwd=tmp_path, env=ENVIRONMENT)
        assert (done.returncode, len(done.stdout.splitlines())) == (code, printed)
        assert f"Error: {name}: 'foo' found, expected a label" in done.stderr
    assert not (tmp_path / "rows.out").exists()
    assert all(words in PAGE for words in ("`sed '1!{/^labels /d}'`", "xargs says 123", "with 1, as"))
