"""fastsvm border, and predict with its models: what they print. messages.txt has what border refuses."""

import os
import re

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model

from fastsvm_cli.models import parse_model
from support.bordering import as_row, check_samples, compiled, samples_of, two_sided
from support.evaluation import parse, values
from support.oracles import BorderFile, Machine, data_text, random_machine
from support.training import train, train_on


def held_out(done):
    """Labels that differ on rows held out: (their number, their share in %)."""
    total, wrong, percent = re.search(
        r"differ on (\d+) rows of \S+, held out: (\d+) \(([\d.e-]+) %\)", done.out
    ).groups()
    assert float(percent) == pytest.approx(100 * int(wrong) / int(total), rel=0.01)
    return int(wrong), float(percent)


def disagreement(fastsvm, rows, *models):
    ours, exact = (fastsvm("predict", "-q", rows, model).out.split() for model in models)
    assert set(ours) == {"1", "-1"}
    return np.mean([a != b for a, b in zip(ours, exact, strict=True)])


@pytest.mark.full
def test_train_border_predict(fastsvm, tmp_path, wavy):
    model, rows, test = wavy
    done = fastsvm("border", "--data", rows, model)
    lines, total = done.out.splitlines(), svm_load_model(str(model)).get_nr_sv()
    assert lines[0] == f"{total} support vectors -> 100 border samples in 2 features"
    assert os.listdir(tmp_path) == ["wavy.model.border"]
    assert re.fullmatch(r"[\d.]+ (bytes|KB) -> [\d.]+ (bytes|KB): wavy.model.border", lines[1]), str(done)
    assert lines[2].startswith(f"labels that differ on 750 rows of {rows}, held out: ")
    assert held_out(done)[1] < 2
    assert lines[3].startswith(f"Trial on {total} support vectors: ") and len(lines) == 4
    assert disagreement(fastsvm, test, "wavy.model.border", model) < 0.02
    text = (tmp_path / "wavy.model.border").read_text()
    assert check_samples(Machine.read(model.read_bytes()), BorderFile.read(text.encode())) == 100
    piped = fastsvm("border", "--data", rows, "-", input=model.read_bytes())
    assert piped.out == text and "border samples in 2 features" in piped.err and ": standard output\n" in piped.err
    quiet = fastsvm("border", "-q", "--tolerance", 1e-300, "--data", rows, model, "warned")  # warns without -q
    assert quiet.out == quiet.err == "" and samples_of(tmp_path / "warned")[0] < 100


@pytest.mark.full
def test_seed_threads_and_samples(fastsvm, tmp_path, wavy):
    (tmp_path / "train").write_text("".join(wavy[1].read_text().splitlines(keepends=True)[:300]))
    for options in ((wavy[0],), ("--bandwidth", "adaptive", "-W", 20, "train")):
        one, again, other = (
            fastsvm("border", "-q", "--seed", seed, "--threads", threads, *options, "-").out
            for seed, threads in ((3, 1), (3, 2), (4, 2))
        )
        assert one == again != other, options
    for count in (1, 7):
        fastsvm("border", "-q", "--samples", count, wavy[0], "few")
        assert samples_of(tmp_path / "few") == [count]


@pytest.mark.full
def test_target_takes_as_many_samples_as_it_needs(fastsvm, tmp_path, wavy):
    model, rows, _ = wavy
    counts = []
    for target in (0.1, 0.03, 0.01):
        done = fastsvm("border", "--target", target, "--data", rows, model, "b")
        assert held_out(done)[1] <= 100 * target and "target" not in done.err, str(done)
        counts += samples_of(tmp_path / "b")
    assert counts == sorted(counts) and counts[0] < counts[-1] < 1000, counts
    done = fastsvm("border", "--target", 1e-9, "--tolerance", 1e-300, "--data", rows, model, "b")
    assert "the target of 1e-07 % was not met" in done.err, str(done)


def test_local_is_taken_where_it_is_better(fastsvm, tmp_path, wavy):
    done = fastsvm("border", "--local", 5, "--samples", 30, "--data", wavy[1], wavy[0], "b")
    local = BorderFile.read((tmp_path / "b").read_bytes()).local
    (wrong, _), (alone, _) = map(held_out, (done, fastsvm("border", "--samples", 30, "--data", wavy[1], wavy[0], "a")))
    assert local == (5 if wrong < alone else 1) and wrong <= alone
    assert ("5 of the nearest samples answer together" in done.out) == (local == 5)
    assert ("the nearest sample alone is as good as 5" in done.out) == (local == 1)


def test_one_class_models_need_data(fastsvm, tmp_path):
    rng = np.random.default_rng(1)
    rows = [as_row(row) for row in rng.uniform(0, 1, (400, 2)).tolist()]
    (tmp_path / "train").write_bytes(data_text(rows))
    machine = Machine.read(train(tmp_path / "one", rows, [1] * 400, "-s 2 -n 0.2 -g 5").read_bytes())
    fastsvm("border", "-q", "--data", "train", "one", "b")
    assert check_samples(machine, BorderFile.read((tmp_path / "b").read_bytes())) >= 50
    assert disagreement(fastsvm, "train", "b", "one") < 0.1


# ---- warnings


@pytest.mark.full
def test_few_border_points_one_hot_data_and_poor_agreement_are_warned_of(fastsvm, tmp_path):
    line = two_sided([{1: a * (1 + i / 30)} for a in (1, -1) for i in range(30)], 0.5, 0.5)
    (tmp_path / "line").write_bytes(line.text())
    done = fastsvm("border", "line", "b")
    assert "1 of 1 pairs have fewer samples than requested" in done.err, str(done)
    assert 1 <= samples_of(tmp_path / "b")[0] < 100, str(done)
    one_hot = "most features have one value besides 0"
    train_on(tmp_path / "colors", "colors.train", "-g 0.05", 300)
    assert fastsvm("border", "colors", "b").err.count(one_hot) == 1
    train_on(tmp_path / "rings", "rings.train", "-g 0.5 -c 10", 600)
    done = fastsvm("border", "rings", "b")
    assert "poor agreement is to be expected" in done.err and one_hot not in done.err
    assert float(re.search(r"\(([\d.]+) %\)", done.out)[1]) > 5


def test_labels_that_the_model_does_not_know_are_no_error(fastsvm, tmp_path, wavy):
    lines = wavy[1].read_text().splitlines()
    (tmp_path / "other").write_text("".join(f"2.5 {line.split(None, 1)[1]}\n" for line in lines[:200]))
    fastsvm("border", "-q", "--samples", 20, "--data", "other", wavy[0], "b")
    assert samples_of(tmp_path / "b") == [20]


# ---- odd models


def odd(rows, rho=0.1, coef=(0.5, 0.25, -0.75), gamma=0.5):
    coef = np.array(coef[: len(rows)])[:, None]
    return Machine("c_svc", "rbf", rows, coef, [rho], gamma, label=[1, -1], nr_sv=[len(rows) - 1, 1])


PLANE = [{1: 1.0, 2: 0.5}, {2: 1.0}, {1: -1.0}]
ODD = {
    "all on one side": odd(PLANE, -9.0),
    "identical vectors": odd([{1: 1.0, 2: 1.0}] * 3),
    "zero vectors": odd([{}] * 3),
    "no coefficients": odd(PLANE, coef=(0.0,) * 3),
    "gamma 0": odd(PLANE, gamma=0.0),
    "no vectors": random_machine(np.random.default_rng(3), "c_svc", "rbf", [], nr_class=4, gamma=0.5),
}


@pytest.mark.parametrize("name", ODD)
def test_models_without_a_border_answer_as_they_are(name):
    machine = ODD[name]
    found, rows = compiled(machine).model, parse([*machine.vectors, {}, {1: 3.0}])
    assert not any(map(len, BorderFile.read(found.to_text()).samples))
    assert ((values(found, rows) > 0) == (values(parse_model(machine.text(), "m"), rows) > 0)).all()


def test_a_model_without_a_border_among_many_features_is_written(fastsvm, tmp_path):
    """Without samples there are no numbers; 500 features are more than the file's bytes."""
    rows = [dict.fromkeys(range(1, 501), 0.1 * sign) for sign in (1, -1)]
    (tmp_path / "m").write_bytes(odd(rows, -5.0, (1.0, -1.0)).text())
    done = fastsvm("border", "m", "m.border")
    assert "0 border samples" in done.out and "have no border" in done.err
    assert fastsvm("predict", "-", "m.border", input=b"1 1:0.1\n1 2:0.1\n").out == "1\n1\n"
