"""fastsvm border, and predict with its models: arguments, streams, exit codes."""

import gzip
import os
import re

import pytest
from libsvm.svmutil import svm_load_model, svm_read_problem

from support.bordering import TEXT, check_samples, samples_of, trained_model
from support.messages import no_label, sentences
from support.oracles import BorderFile, Machine
from support.paths import DATA


def cut_model(
    path,
    *,
    head="c_svc\nkernel_type rbf\ngamma 0.5",
    rho="0.1",
    classes="label 1 -1\nnr_sv 2 1\n",
    rows=("0.5 1:1 2:0.5", "0.25 2:1", "-0.75 1:-1"),
    nr_class=2,
):
    path.write_text(
        f"svm_type {head}\nnr_class {nr_class}\ntotal_sv {len(rows)}\nrho {rho}\n{classes}SV\n"
        + "".join(row + "\n" for row in rows)
    )
    return path


@pytest.fixture(scope="module")
def one_class(tmp_path_factory):
    y, x = svm_read_problem(str(DATA / "rings.train"))
    x = [{1: row.get(1, 0.0), 2: row.get(2, 0.0)} for row in x[:400]]
    return trained_model(x, [1] * 400, "-s 2 -n 0.2 -g 5", tmp_path_factory.mktemp("one") / "one.model")


@pytest.mark.full
def test_train_border_predict(fastsvm, tmp_path, wavy):
    model, train, test = wavy
    done = fastsvm("border", "--data", train, model)
    lines, total = done.out.splitlines(), svm_load_model(str(model)).get_nr_sv()
    assert lines[0] == f"{total} support vectors -> 100 border samples in 2 features"
    assert os.listdir(tmp_path) == ["wavy.model.border"]
    assert re.fullmatch(r"[\d.]+ (bytes|KB) -> [\d.]+ (bytes|KB): wavy.model.border", lines[1]), str(done)
    measured = re.fullmatch(rf"labels that differ on 750 rows of {train}, held out: (\d+) \(([\d.e-]+) %\)", lines[2])
    assert float(measured[2]) == pytest.approx(100 * int(measured[1]) / 750, rel=0.01) and float(measured[2]) < 2
    assert (
        re.fullmatch(rf"Trial on {total} support vectors: [\d.e+-]+ times as fast as the exact model\.", lines[3])
        and len(lines) == 4
    ), str(done)
    ours, exact = (fastsvm("predict", "-q", test, name).out.split() for name in ("wavy.model.border", model))
    assert sum(a != b for a, b in zip(ours, exact, strict=True)) < 0.02 * len(exact) and set(ours) == {"1", "-1"}
    machine = Machine.read(model.read_bytes())
    assert check_samples(machine, (tmp_path / "wavy.model.border").read_bytes()) == 100


@pytest.mark.full
def test_pipes_standard_output_and_quiet(fastsvm, tmp_path, wavy):
    model = wavy[0]
    fastsvm("border", "-q", model, "named")
    text = (tmp_path / "named").read_text()
    done = fastsvm("border", model, "-")
    assert done.out == text and "border samples in 2 features" in done.err and ": standard output\n" in done.err
    assert fastsvm("border", "-", input=gzip.compress(model.read_bytes())).out == text
    (tmp_path / "rows").write_text("1 1:0.5\n")
    labels = fastsvm("predict", "-q", "rows", "named").out
    assert labels == fastsvm("predict", "-q", "rows", "-", input=text).out and labels.strip() in ("1", "-1")
    done = fastsvm("border", "-q", "--tolerance", 1e-300, "--data", wavy[1], model, "warned")  # warns without -q
    assert done.out == done.err == "" and sorted(os.listdir(tmp_path)) == ["named", "rows", "warned"]
    assert samples_of(tmp_path / "warned")[0] < 100


@pytest.mark.full
def test_seed_threads_and_samples(fastsvm, tmp_path, wavy, colors, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    (tmp_path / "train").write_text("".join(wavy[1].read_text().splitlines(keepends=True)[:300]))
    for options in ((), ("--bandwidth", "adaptive", "-W", 20)):
        file = "train" if options else wavy[0]
        one, again, other = (
            fastsvm("border", "-q", "--seed", seed, "--threads", threads, *options, file, "-").out
            for seed, threads in ((3, 1), (3, 2), (4, 2))
        )
        assert one == again != other and one.startswith("fastsvm_model border 2\n"), options
    fastsvm("border", "-q", "--samples", 7, colors, "few")
    assert max(samples_of(tmp_path / "few")) == 7 and len(samples_of(tmp_path / "few")) == 6
    fastsvm("border", "-q", "--samples", 1, wavy[0], "one")
    assert samples_of(tmp_path / "one") == [1]


@pytest.mark.full
def test_target_takes_as_many_samples_as_it_needs(fastsvm, tmp_path, wavy):
    model, train, _ = wavy
    counts = []
    for target in (0.1, 0.03, 0.01):
        done = fastsvm("border", "--target", target, "--data", train, model, "b")
        assert float(re.search(r"held out: \d+ \(([\d.e-]+) %\)", done.out)[1]) <= 100 * target, str(done)
        assert "target" not in done.err, str(done)
        counts += samples_of(tmp_path / "b")
    assert counts == sorted(counts) and counts[0] < counts[-1] < 1000, counts
    done = fastsvm("border", "--target", 1e-9, "--tolerance", 1e-300, "--data", train, model, "b")
    assert "the target of 1e-07 % was not met" in done.err, str(done)


@pytest.mark.full
def test_local_is_taken_where_it_is_better(fastsvm, tmp_path, wavy):
    done = fastsvm("border", "--local", 5, "--samples", 30, "--data", wavy[1], wavy[0], "b")
    border = BorderFile.read((tmp_path / "b").read_bytes())
    alone = fastsvm("border", "--samples", 30, "--data", wavy[1], wavy[0], "a")
    different = [int(re.search(r"held out: (\d+)", each.out)[1]) for each in (done, alone)]
    assert border.local == (5 if different[0] < different[1] else 1) and different[0] <= different[1]
    assert (
        "local: 5 of the nearest samples answer together"
        if border.local == 5
        else "local: the nearest sample alone is as good as 5 of them"
    ) in done.out


@pytest.mark.full(few=4)
@pytest.mark.parametrize("options, words", sentences("border"))
def test_wrong_usage_is_exit_code_2(fastsvm, tmp_path, options, words):
    cut_model(tmp_path / "m")
    done = fastsvm("border", *options.split(), "m", code=2)
    assert words in done.err and done.out == "" and os.listdir(tmp_path) == ["m"], str(done)


@pytest.mark.full
def test_one_class_models_need_data(fastsvm, tmp_path, one_class):
    assert "a one-class model needs --data TRAIN_FILE" in fastsvm("border", one_class, code=2).err
    assert os.listdir(tmp_path) == []
    rows = "".join(" ".join(line.split()[:3]) + "\n" for line in (DATA / "rings.train").read_text().splitlines()[:400])
    (tmp_path / "train").write_text(rows)
    fastsvm("border", "-q", "--data", "train", one_class, "b")
    assert check_samples(Machine.read(one_class.read_bytes()), (tmp_path / "b").read_bytes()) >= 50
    ours, exact = (fastsvm("predict", "-q", "train", name).out.split() for name in ("b", one_class))
    assert sum(a != b for a, b in zip(ours, exact, strict=True)) < 40 and set(ours) == {"1", "-1"}


@pytest.mark.full
def test_rows_that_make_no_border_are_refused_in_one_line(fastsvm, tmp_path, wavy):
    (tmp_path / "empty").write_text("")
    (tmp_path / "unlabelled").write_text("1:0.5 2:2\n1:3 2:3\n")
    (tmp_path / "fraction").write_text("1.5 1:1\n2 1:3\n")
    (tmp_path / "single").write_text("2 1:1\n2 1:3\n")
    (tmp_path / "big").write_text("1e300 1:1\n1 1:3\n")
    (tmp_path / "out").write_text("before\n")
    for words, error in (
        (["--data", "nowhere", wavy[0]], "nowhere: No such file or directory"),
        (["--data", "empty", wavy[0]], "empty: no rows found"),
        (["--data", wavy[0], wavy[0]], f"wavy.model:1: {no_label('svm_type')}"),
        (["--data", "unlabelled", wavy[0]], f"unlabelled:1: {no_label('1:0.5')}"),
        (["--bandwidth", 1, "empty"], "empty: no rows found"),
        (["--bandwidth", 1, "unlabelled"], f"unlabelled:1: {no_label('1:0.5')}"),
        (["--bandwidth", 1, wavy[0]], "expected a label"),
        (["--bandwidth", 1, "fraction"], "fraction: a label 1.5 found, expected whole numbers"),
        (["--bandwidth", 1, "big"], "big: a label 1e+300 found"),
        (["--bandwidth", 1, "single"], "single: rows of 1 class found, expected 2 or more"),
        (
            ["--bandwidth", "adaptive", "-W", 1500, wavy[1]],
            "1500 rows of the classes 1 and -1 found, expected more than the weight 1500",
        ),
    ):
        done = fastsvm("border", *words, "out", code=1)
        assert done.err.startswith("Error: "), str(done)
        assert error in done.err and done.err.count("\n") == 1 and done.out == "", str(done)
        assert (tmp_path / "out").read_text() == "before\n"


@pytest.mark.full
def test_a_border_has_no_probabilities_and_no_tolerance(fastsvm, tmp_path, wavy):
    (tmp_path / "b").write_bytes(TEXT)
    done = fastsvm("predict", "-b", 1, wavy[2], "b", "out", code=1)
    assert done.err.startswith("Error: b: ") and done.err.count("\n") == 1
    fastsvm("predict", "--tolerance", 0.1, wavy[2], "b", "out", code=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.full
@pytest.mark.parametrize("rho", [0.5, -0.5])
def test_models_without_support_vectors_answer_as_they_are(fastsvm, tmp_path, rho):
    cut_model(tmp_path / "m", rho=rho, classes="label 3 1\nnr_sv 0 0\n", rows=())
    done = fastsvm("border", "m", "b")
    assert done.out.startswith("0 support vectors -> 0 border samples in 0 features\n")
    assert (
        fastsvm("predict", "-q", "-", "b", input="1 1:1\n").out
        == fastsvm("predict", "-q", "-", "m", input="1 1:1\n").out
    )
    cut_model(tmp_path / "m", rho="", classes="label 3\nnr_sv 0\n", rows=(), nr_class=1)
    fastsvm("border", "m", "b")
    assert fastsvm("predict", "-q", "-", "b", input="1 1:1\n1\n").out == "3\n3\n"


ODD = {
    "all on one side": dict(rho="-9"),
    "identical vectors": dict(rows=("0.5 1:1 2:1", "0.5 1:1 2:1", "-0.5 1:1 2:1")),
    "zero vectors": dict(rows=("0.5", "0.5", "-0.5")),
    "a class without vectors": dict(
        rho="0.1 0.1 0.1",
        classes="label 1 -1 7\nnr_sv 2 0 1\n",
        rows=("0.5 0.5 1:1 2:0.5", "0.25 0.1 2:1", "-0.75 -0.3 1:-1"),
        nr_class=3,
    ),
    "no coefficients": dict(rows=("0 1:1", "0 1:2", "0 1:3")),
    "gamma 0": dict(head="c_svc\nkernel_type rbf\ngamma 0"),
    "gamma below 0": dict(head="c_svc\nkernel_type rbf\ngamma -0.5"),
    "huge values": dict(rows=("0.5 1:1e200 2:1e200", "0.25 2:1e200", "-0.75 1:-1e200")),
    "huge coefficients": dict(rows=("1e300 1:1 2:0.5", "1e300 2:1", "-1e308 1:-1")),
    "huge and linear": dict(
        head="c_svc\nkernel_type linear", rows=("0.5 1:1e200 2:1e200", "0.25 2:1e200", "-0.75 1:-1e200")
    ),
    "steep polynomial": dict(
        head="c_svc\nkernel_type polynomial\ndegree 400\ngamma 9\ncoef0 1",
        rows=("0.5 1:9 2:0.5", "0.25 2:1", "-0.75 1:-9"),
    ),
}


@pytest.mark.full
@pytest.mark.parametrize("name", ODD)
def test_odd_models_give_a_model_that_can_be_read_or_one_line(fastsvm, tmp_path, name):
    path = cut_model(tmp_path / "m", **ODD[name])
    done = fastsvm("border", "m", "b", code=None)
    assert done.code in (0, 1, 2) and "RuntimeWarning" not in done.err and "nan" not in done.out, str(done)
    if done.code:
        assert done.err.startswith("Error: m:") and done.err.count("\n") == 1, str(done)
        return
    rows = "".join(
        "0 " + line.split(None, line.count(" ") - line.count(":") + 1)[-1] + "\n"
        for line in path.read_text().splitlines()
        if ":" in line
    )
    ours, exact = (fastsvm("predict", "-q", "-", model, input=rows).out for model in ("b", "m"))
    assert ours.count("\n") == exact.count("\n") and (ours == exact or sum(samples_of(tmp_path / "b")))
    if not sum(samples_of(tmp_path / "b")):
        assert "have no border between the rows" in done.err or "have no root within" in done.err, str(done)


@pytest.mark.full
def test_few_border_points_one_hot_data_and_poor_agreement_are_warned_of(fastsvm, tmp_path, colors):
    rows = [f"{a} 1:{b + i / 30}" for a, b in (("0.5", 1.0), ("-0.5", -2.0)) for i in range(30)]
    cut_model(tmp_path / "line", classes="label 1 -1\nnr_sv 30 30\n", rows=rows)
    done = fastsvm("border", "line", "b")
    assert "1 of 1 pairs have fewer samples than requested" in done.err, str(done)
    assert 1 <= samples_of(tmp_path / "b")[0] < 100, str(done)
    assert (
        fastsvm("border", colors, "b").err.count("Warning: most features have one value besides 0, as one-hot data has")
        == 1
    )
    y, x = svm_read_problem(str(DATA / "rings.train"))
    done = fastsvm("border", trained_model(x[:600], y[:600], "-g 0.5 -c 10", tmp_path / "rings"), "b")
    assert "poor agreement is to be expected" in done.err
    assert "one-hot" not in done.err and float(re.search(r"\(([\d.]+) %\)", done.out)[1]) > 5


@pytest.mark.full
def test_labels_that_the_model_does_not_know_are_no_error(fastsvm, tmp_path, wavy):
    lines = wavy[1].read_text().splitlines()
    for label in ("8", "2.5"):
        (tmp_path / "other").write_text("".join(f"{label} {line.split(None, 1)[1]}\n" for line in lines))
        fastsvm("border", "-q", "--data", "other", wavy[0], "b")
        assert samples_of(tmp_path / "b") == [100]


@pytest.mark.full
def test_a_model_without_a_border_among_many_features_is_written(fastsvm, tmp_path):
    """Without samples there are no numbers; 500 features are more than the file's bytes."""
    rows = [" ".join([str(sign)] + [f"{index}:{0.1 * sign}" for index in range(1, 501)]) for sign in (1, -1)]
    model = cut_model(tmp_path / "m", rho="-5", classes="label 1 -1\nnr_sv 1 1\n", rows=rows)
    done = fastsvm("border", model, "m.border")
    assert "0 border samples" in done.out and "have no border" in done.err
    assert fastsvm("predict", model, "m.border", code=1).err  # a model is not data
    assert fastsvm("predict", "-", "m.border", input=b"1 1:0.1\n1 2:0.1\n").out == "1\n1\n"
