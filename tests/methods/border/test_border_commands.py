"""fastsvm border, and predict with its models: what they print and refuse."""

import os
import re
import warnings

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from support.bordering import as_row, border_of, check_samples, compiled, samples_of, two_sided
from support.evaluation import parse, values
from support.messages import sentences
from support.oracles import BorderFile, Machine, data_text, random_machine, random_rows
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
def test_seed_threads_and_samples(fastsvm, tmp_path, wavy, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
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
    assert "a one-class model needs --data" in fastsvm("border", "one", code=2).err
    fastsvm("border", "-q", "--data", "train", "one", "b")
    assert check_samples(machine, BorderFile.read((tmp_path / "b").read_bytes())) >= 50
    assert disagreement(fastsvm, "train", "b", "one") < 0.1


# ---- warnings and refusals


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


@pytest.fixture
def files(tmp_path, wavy):
    """The words of messages.txt."""
    for name, text in {
        "empty": "",
        "unlabelled": "1:0.5 2:2\n1:3 2:3\n",
        "fraction": "1.5 1:1\n2 1:3\n",
        "single": "2 1:1\n2 1:3\n",
        "big": "1e300 1:1\n1 1:3\n",
        "out": "before\n",
    }.items():
        (tmp_path / name).write_text(text)
    for name, path in zip(("model", "m", "train"), (wavy[0], *wavy[:2])):
        (tmp_path / name).symlink_to(path)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("words, error", sentences("border rows"))
def test_rows_that_make_no_border_are_refused_in_one_line(fastsvm, tmp_path, files, words, error):
    done = fastsvm("border", *words.split(), "out", code=1)
    assert done.err.startswith("Error: ") and error in done.err and done.err.count("\n") == 1 and done.out == ""
    assert (tmp_path / "out").read_text() == "before\n"


@pytest.mark.full(few=4)
@pytest.mark.parametrize("options, words", [*sentences("border"), *sentences("density")])
def test_wrong_usage_is_exit_code_2(fastsvm, tmp_path, files, options, words):
    done = fastsvm("border", *options.split(), "m", code=2)
    assert words in done.err and done.out == "" and not (tmp_path / "m.border").exists(), str(done)


def test_labels_that_the_model_does_not_know_are_no_error(fastsvm, tmp_path, wavy):
    lines = wavy[1].read_text().splitlines()
    for label in ("8", "2.5"):
        (tmp_path / "other").write_text("".join(f"{label} {line.split(None, 1)[1]}\n" for line in lines))
        fastsvm("border", "-q", "--data", "other", wavy[0], "b")
        assert samples_of(tmp_path / "b") == [100]


# ---- odd models


def odd(rows, kernel="rbf", rho=0.1, coef=(0.5, 0.25, -0.75), **parameters):
    coef = np.array(coef[: len(rows)])[:, None]
    return Machine("c_svc", kernel, rows, coef, [rho], **parameters, label=[1, -1], nr_sv=[2, 1][: len(rows)])


PLANE = [{1: 1.0, 2: 0.5}, {2: 1.0}, {1: -1.0}]
ODD = {
    "all on one side": odd(PLANE, rho=-9.0, gamma=0.5),
    "identical vectors": odd([{1: 1.0, 2: 1.0}] * 3, gamma=0.5),
    "zero vectors": odd([{}] * 3, gamma=0.5),
    "no coefficients": odd(PLANE, coef=(0.0,) * 3, gamma=0.5),
    "gamma 0": odd(PLANE, gamma=0.0),
    "gamma below 0": odd(PLANE, gamma=-0.5),
    "huge values": odd([{j: v * 1e200 for j, v in row.items()} for row in PLANE], gamma=0.5),
    "huge coefficients": odd(PLANE, coef=(1e300, 1e300, -1e308), gamma=0.5),
    "huge and linear": odd([{j: v * 1e200 for j, v in row.items()} for row in PLANE], "linear"),
    "steep polynomial": odd([{1: 9.0, 2: 0.5}, {2: 1.0}, {1: -9.0}], "polynomial", degree=400, gamma=9.0, coef0=1.0),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_models_give_a_model_that_can_be_read_or_an_error(name):
    """Without samples, labels are the exact model's."""
    machine = ODD[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            border = border_of(machine)
        except ModelFormatError:
            return
        found = compiled(machine).model
    answers = values(found, parse(machine.vectors))
    assert np.isfinite(answers).all()
    if not len(border.samples[0]):
        exact = values(parse_model(machine.text(), "m"), parse(machine.vectors))
        assert ((answers > 0) == (exact > 0)).all()


@pytest.mark.parametrize("classes", [2, 4])
def test_models_without_support_vectors_answer_as_they_are(classes):
    machine = random_machine(np.random.default_rng(3), "c_svc", "rbf", [], nr_class=classes, gamma=0.5)
    rows = parse(random_rows(np.random.default_rng(4), 5, [1, 2]))
    exact, border = parse_model(machine.text(), "m"), compiled(machine).model
    assert ((values(exact, rows) > 0) == (values(border, rows) > 0)).all()


def test_a_model_without_a_border_among_many_features_is_written(fastsvm, tmp_path):
    """Without samples there are no numbers; 500 features are more than the file's bytes."""
    rows = [dict.fromkeys(range(1, 501), 0.1 * sign) for sign in (1, -1)]
    (tmp_path / "m").write_bytes(
        odd(rows, rho=-5.0, coef=(1.0, -1.0), gamma=0.5).text().replace(b"nr_sv 2 1", b"nr_sv 1 1")
    )
    done = fastsvm("border", "m", "m.border")
    assert "0 border samples" in done.out and "have no border" in done.err
    assert fastsvm("predict", "-", "m.border", input=b"1 1:0.1\n1 2:0.1\n").out == "1\n1\n"
