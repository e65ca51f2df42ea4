"""fastsvm bench --try and --cross-validate."""

import itertools
import json
import shlex
import shutil

import numpy as np
import pytest
from libsvm.svmutil import svm_predict as libsvm_predict
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from fastsvm_cli.text.read_rows import read_chunks
from support.benching import ONE_THREAD, by_name, first_rows, run, train
from support.paths import DATA


@pytest.mark.full
def test_try_keeps_a_model_inside_the_budget_and_its_commands_work(fastsvm, bench, directory, tmp_path):
    model = train(tmp_path, "my model", "rings.train", "-g 0.5 -c 1", 1200)
    shutil.copy(DATA / "rings.test", tmp_path / "my rows")
    done = bench("--try", "--budget", "10%", "--keep", "fast model", "my rows", "my model")
    # On a busy machine any model may be the fastest.
    assert done.out.startswith(("Fastest of ", "Keep the exact model: ")), str(done)
    commands = [line.strip() for line in done.out.splitlines() if line.startswith("  fastsvm")]
    assert commands[-1].endswith(" out")
    stored = (tmp_path / "fast model").read_bytes()
    exact = fastsvm("predict", "-q", "my rows", model).out.split()
    if len(commands) > 1:
        (tmp_path / "fast model").unlink()
    for command in commands:  # by the same clock of cascades
        program, *arguments = shlex.split(command)
        fastsvm(*(["predict"] if program == "fastsvm-predict" else []), *arguments, env=ONE_THREAD)
    assert (tmp_path / "fast model").read_bytes() == stored
    assert 100 * sum(a != b for a, b in zip(exact, (tmp_path / "out").read_text().split(), strict=True)) / 6000 <= 10


def precomputed(folder):
    y, x = svm_read_problem(str(DATA / "rings.train"))
    rows = np.array([[row.get(i, 0.0) for i in range(1, 9)] for row in x[:60]])
    lines = [
        "".join([f"{label:g} 0:{at}", *(f" {to}:{value:.6g}" for to, value in enumerate(row @ rows[:40].T, 1))]) + "\n"
        for at, (label, row) in enumerate(zip(y, rows), 1)
    ]
    (folder / "pre.train").write_text("".join(lines[:40])), (folder / "pre.rows").write_text("".join(lines))
    svm_save_model(str(folder / "m"), svm_train(*svm_read_problem(str(folder / "pre.train")), "-q -t 4 -c 1"))
    return folder / "pre.rows"


KINDS = [
    ("linear", "rings", "-t 0"),
    ("polynomial", "rings", "-t 1 -d 2 -g 0.5 -r 1 -c 5"),
    ("sigmoid", "rings", "-t 3 -g 0.01"),
    ("precomputed", None, None),
    ("regression", "waves", "-s 3 -g 0.1"),
    ("one-class", "rings", "-s 2 -n 0.3 -g 0.5"),
    ("three classes", "colors", "-g 0.05"),
]


@pytest.mark.full
@pytest.mark.parametrize("kind, source, options", KINDS, ids=[kind for kind, _, _ in KINDS])
def test_try_with_no_budget_changes_no_label_whatever_the_model(bench, directory, tmp_path, kind, source, options):
    if source is None:
        rows = precomputed(tmp_path)
    else:
        y, x = svm_read_problem(str(DATA / f"{source}.train"))
        few = [at for at, label in enumerate(y) if kind != "three classes" or label in (1, 2, 3)][:50]
        svm_save_model(str(tmp_path / "m"), svm_train([y[at] for at in few], [x[at] for at in few], f"-q {options}"))
        rows = directory / ("rows" if source == "rings" else f"{source}.rows")
    done = bench("--json", "--try", "--max-size", 0.0006, "--budget", 0, "--keep", "kept", rows, "m")
    document = json.loads(done.out)
    records = by_name(document)
    tried = [name for name, record in records.items() if record["role"] == "compiled"]
    expected = {"linear": "approx", "polynomial": "approx"}
    expected |= dict.fromkeys(("regression", "one-class", "three classes"), "approx --degree 2")
    assert expected[kind] in tried if kind in expected else not [name for name in tried if "order" not in name], tried
    whys = [record["failed"] for record in records.values() if record["failed"]]
    assert all(why.endswith(" of file") for why in whys), whys
    assert bool(whys) == (kind in ("regression", "one-class", "three classes"))
    picked = records[document["picked"]]
    assert picked["distance"] == 0 and document["conclusion"].startswith(("Fastest of ", "Keep the exact model: "))
    assert (tmp_path / "kept").stat().st_size == (picked["size"] or (tmp_path / "m").stat().st_size)


@pytest.mark.full
def test_the_budget_of_a_regression_is_of_the_standard_deviation(bench, directory, tmp_path):
    """By the values that predict prints."""
    run("approx", "-q", "--degree", 1, "waves.model", tmp_path / "rough", cwd=directory)

    def values(model):
        return np.array(run("predict", "-q", directory / "waves.rows", model, cwd=directory).stdout.split(), float)

    exact, rough = values("waves.model"), values(tmp_path / "rough")
    share = np.sqrt(np.mean((rough - exact) ** 2)) / exact.std()
    files = directory / "waves.rows", directory / "waves.model", "rough"
    for budget, inside in ((1.01 * share, True), (0.99 * share, False)):
        done = bench("--json", "-q", "--budget", budget, *files)
        record = by_name(json.loads(done.out))["rough"]
        assert record["distance"] == pytest.approx(share, rel=1e-3)
        assert record["rms_difference"] == pytest.approx(share * exact.std(), rel=1e-3)
        assert record["largest_distance"] == pytest.approx(np.abs(rough - exact).max() / exact.std(), rel=1e-3)
        assert ("rough, fastsvm-predict" in by_name(json.loads(done.out))) == inside
    assert "labels" not in done.err


@pytest.mark.full
def test_without_time_nothing_is_concluded(bench, directory, tmp_path):
    model = train(tmp_path, "m", "rings.train", "-g 0.5 -c 1", 250)
    document = json.loads(bench("--json", "--try", "--time-limit", 1e-9, directory / "rows", model).out)
    assert len(document["not_tried"]) >= 5 and [case["name"] for case in document["cases"]] == ["exact model"]
    assert document["conclusion"] == "Keep the exact model: no other was tried."
    shown = bench("--try", "--time-limit", 1e-9, directory / "rows", model).out
    count = len(document["not_tried"])
    assert shown.startswith(f"{count} of {count} not tried in 1e-09 s of processor time (")


@pytest.mark.full
def test_splits_are_disjoint_and_stratified_and_as_accurate_as_libsvm(tmp_path, monkeypatch):
    from fastsvm_cli.benchmarks import cross_validation
    from fastsvm_cli.methods.training import train as train_by_fastsvm

    path = first_rows(tmp_path, "train", "colors.train", 203)
    y, x = svm_read_problem(str(path))
    keys = [tuple(sorted(row.items())) for row in x]
    place_of = {key: at for at, key in enumerate(keys)}
    trained = []
    monkeypatch.setattr(cross_validation, "train", lambda *given: trained.append(given[:2]) or train_by_fastsvm(*given))
    splits = cross_validation.cross_validate(
        list(read_chunks(str(path))), str(path), 4, cost=2.0, gamma=0.05, degree=2, folder=str(tmp_path), seed=3
    )
    assert len(splits) == len(trained) == 4
    if len(place_of) < len(keys):
        pytest.fail("rows of the test data are not unique")
    held_out, correct = [], []
    for split, (labels, rows) in zip(splits, trained):
        taken = [place_of[tuple(sorted(row.items()))] for row in rows]
        assert labels == [y[at] for at in taken] and len(set(taken)) == len(taken)
        mine = sorted(set(range(len(y))) - set(taken))
        held_out.append(mine)
        machine = svm_train(labels, rows, "-q -g 0.05 -c 2")
        predicted, _, _ = libsvm_predict([y[at] for at in mine], [x[at] for at in mine], machine, "-q")
        correct.append(sum(a == y[at] for a, at in zip(predicted, mine)))
        assert split.rows == len(mine)
        assert split.exact == pytest.approx(correct[-1] / len(mine)) and split.vectors == machine.get_nr_sv()
    assert sorted(itertools.chain(*held_out)) == list(range(len(y)))
    for label in set(y):
        counts = [sum(y[at] == label for at in mine) for mine in held_out]
        assert max(counts) - min(counts) <= 1, (label, counts)
    assert [split.rows for split in splits] != [0] and held_out[0] != list(range(len(held_out[0])))


@pytest.mark.full
def test_cross_validation_at_the_console(fastsvm, tmp_path):
    def cross(*args, **more):
        return fastsvm("bench", "--cross-validate", *args, env=ONE_THREAD, **more)

    path = first_rows(tmp_path, "train", "rings.train", 240)
    displayed = json.loads(cross(3, "--json", "-c", 5, path).out)
    assert displayed["gamma"] == 1 / 8 and displayed["cost"] == 5
    assert (
        displayed["degree"] == 2
        and len(displayed["splits"]) == 3
        and sum(split["rows"] for split in displayed["splits"]) == 240
    )
    for key in ("exact", "compiled", "disagreement"):
        assert displayed[key] == pytest.approx(sum(split[key] * split["rows"] for split in displayed["splits"]) / 240)
    again = json.loads(cross(3, "--json", "-c", 5, "-g", 0.125, "--seed", 0, path).out)
    other = json.loads(cross(3, "--json", "-c", 5, "--seed", 1, path).out)
    assert again == displayed and other["splits"] != displayed["splits"]
    table = cross(3, "-c", 5, path).out
    assert all(
        f"{100 * split['exact']:.2f} %" in line for split, line in zip(displayed["splits"], table.splitlines()[3:])
    )
    assert len(table.splitlines()) == 7
    done = cross(3, DATA / "waves.train", code=1)
    assert len(done.err.splitlines()) == 1 and "classes" in done.err
    assert "or more, one for each split" in cross(200, path, code=1).err


@pytest.mark.full
def test_rows_of_the_training_are_warned_of_even_if_quiet(bench, tmp_path):
    train(tmp_path, "m", "rings.train", "-g 0.5 -c 1", 1200)
    done = bench("-q", "--try", "--budget", "5%", first_rows(tmp_path, "rows", "rings.train", 1200), tmp_path / "m")
    assert done.err.startswith("Warning: ") and "support vectors are among the rows to calibrate on" in done.err
    assert done.err.count("\n") == 1
    assert bench("-q", "--try", "--budget", "5%", DATA / "rings.test", tmp_path / "m").err == ""
