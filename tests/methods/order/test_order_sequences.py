"""fastsvm order: sequences, seeds, folded vectors."""

import gzip

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_read_problem, svm_train

from support.paths import DATA
from support.training import train


@pytest.mark.full
def test_sequences_are_reproducible(fastsvm, trained, ordered, tmp_path):
    model, test = trained["rings"]

    def made(*options):
        return fastsvm("order", "-q", *options, model, "-").out

    drawn = made("--sequence", "sgma", "--seed", 1)
    assert drawn == made("--sequence", "sgma", "--seed", 1) != made("--sequence", "sgma")
    greedy = made("--sequence", "greedy", "--seed", 5, "--threads", 1)
    assert greedy == ordered("rings", "geometry").read_text()
    assert "\nsequence sgma\n" in drawn and "\nsequence greedy\n" in greedy
    labels = fastsvm("predict", "-q", test, model).out
    assert fastsvm("predict", "-q", test, "-", input=drawn).out == labels
    for options, printed in (
        (["--sequence", "sgma", "--points", 17], "17 points in sgma order"),
        (["--method", "triangle", "--lists", 7], "7 lists by distance"),
    ):
        assert printed in fastsvm("order", *options, model, "o").out
    assert fastsvm("predict", "-q", test, "o").out == labels and "\nnr_lists 7\n" in (tmp_path / "o").read_text()


def folded_means(train_file):
    """w+ and w- of a linear SVM: means of its support vectors weighted by coefficient."""
    y, x = svm_read_problem(str(train_file))
    model = svm_train(y, x, "-q -t 0 -c 1")
    out = []
    for sign in (1, -1):
        mean, total = {}, 0.0
        for (a,), row in zip(model.get_sv_coef(), model.get_SV()):
            if sign * a > 0:
                total += abs(a)
                for index, value in row.items():
                    mean[index] = mean.get(index, 0.0) + abs(a) * value
        out.append({index: value / total for index, value in mean.items() if index > 0})
    return out


@pytest.mark.full
def test_folding_begins_with_both_weight_vectors_of_a_linear_model(fastsvm, tmp_path):
    lines = {
        name: [line for line in (DATA / f"colors.{name}").read_text().splitlines(keepends=True) if line[0] in "13"]
        for name in ("train", "test")
    }
    for name, rows in lines.items():
        (tmp_path / name).write_text("".join(rows[:400]))
    y, x = svm_read_problem(str(tmp_path / "train"))
    total = svm_load_model(str(train(tmp_path / "m", x, y, "-g 0.05"))).get_nr_sv()
    done = fastsvm("order", "--fold", "train", "--points", 20, "m", "o")
    assert "22 points in greedy order, 2 of them folded" in done.out
    lines = (tmp_path / "o").read_text().splitlines()
    assert "nr_folded 2" in lines and "nr_points 22" in lines
    points = lines[lines.index("points") + 1].split()
    assert points[:2] == [str(total), str(total + 1)] and len(points) == 22
    rows = [line.split() for line in lines[lines.index("SV") + 1 + total : lines.index("points")]]
    for row, expected in zip(rows, folded_means(tmp_path / "train"), strict=True):
        assert row[0] == "0"
        assert {int(i): float(v) for i, v in (word.split(":") for word in row[1:])} == pytest.approx(expected, abs=1e-9)
    assert fastsvm("predict", "-q", "test", "o").out == fastsvm("predict", "-q", "test", "m").out
    values = [
        np.array(
            [line.split()[1] for line in fastsvm("predict", "-q", *options, "--values", "test", name).out.splitlines()],
            float,
        )
        for options, name in ((["--steps", 2], "o"), ([], "m"))
    ]
    assert np.corrcoef(*values)[0, 1] > 0.5  # two points are informative


@pytest.mark.full
def test_the_file_to_fold_is_data_like_any_other(fastsvm, trained, tmp_path):
    model = trained["rings"][0]
    lines = (DATA / "rings.train").read_text().splitlines()[:200]
    (tmp_path / "plain").write_text("\n".join(lines) + "\n1\n")
    fastsvm("order", "-q", "--fold", "plain", model, "o")
    expected = (tmp_path / "o").read_text()
    (tmp_path / "comments").write_text("\n".join(line + " # a comment" for line in lines) + "\n1 # nothing\n")
    (tmp_path / "z.gz").write_bytes(gzip.compress((tmp_path / "plain").read_bytes()))
    for path in ("comments", "z.gz"):
        (tmp_path / "o").unlink()
        fastsvm("order", "-q", "--fold", path, model, "o")
        assert (tmp_path / "o").read_text() == expected, path


@pytest.mark.full
@pytest.mark.parametrize("text", ["", "1 1:1\n1 2:1\n", "1 x\n"], ids=["empty", "one class", "no data"])
def test_a_file_that_cannot_be_folded_is_one_line_with_its_name(fastsvm, trained, tmp_path, text):
    (tmp_path / "train").write_text(text)
    done = fastsvm("order", "--fold", "train", trained["rings"][0], "o", code=1)
    assert done.err.startswith("Error: train:"), str(done)
    assert done.err.count("\n") == 1 and not (tmp_path / "o").exists(), str(done)
