"""fastsvm bench --try."""

import json
import shlex

import numpy as np
import pytest

from support.benching import by_name, first_rows
from support.training import train_on
from zoo.traits import specimen


@pytest.mark.full
def test_try_keeps_a_model_inside_the_budget_and_its_commands_work(fastsvm, bench, tmp_path):
    train_on(tmp_path / "my model", "rings.train", "-g 0.5 -c 1", 600)
    first_rows(tmp_path, "my rows", "rings.test", 3000)
    done = bench("--try --budget 10% --keep", "fast model", "my rows", "my model")
    # On a busy machine any model may be the fastest.
    assert done.out.startswith(("Fastest of ", "Keep the exact model: ")), str(done)
    commands = [line.strip() for line in done.out.splitlines() if line.startswith("  fastsvm")]
    assert commands[-1].endswith(" out")
    stored = (tmp_path / "fast model").read_bytes()
    exact = fastsvm("predict", "-q", "my rows", "my model").out.split()
    if len(commands) > 1:
        (tmp_path / "fast model").unlink()
    for command in commands:  # by the same clock of cascades
        program, *arguments = shlex.split(command)
        fastsvm(*(["predict"] if program == "fastsvm-predict" else []), *arguments)
    assert (tmp_path / "fast model").read_bytes() == stored
    labels = (tmp_path / "out").read_text().split()
    assert 100 * sum(a != b for a, b in zip(exact, labels, strict=True)) / 3000 <= 10


#: Trait -> a method that is tried. Expansions of several classes are too large files for --max-size.
TRIED = {"linear": "approx", "polynomial": "approx", "sigmoid": None, "precomputed": None}
TRIED |= dict.fromkeys(("epsilon_svr", "one_class", "four_classes"), "approx --degree 2")


@pytest.mark.full
@pytest.mark.parametrize("trait", TRIED)
def test_try_with_no_budget_changes_no_label_whatever_the_model(bench, tmp_path, trait):
    found, expected = specimen(trait), TRIED[trait]
    (tmp_path / "m").write_bytes(found.model)
    (tmp_path / "rows").write_bytes(found.data)
    document = json.loads(bench("--json --try --max-size 0.0006 --budget 0 --keep kept rows m").out)
    records = by_name(document)
    tried = [name for name, record in records.items() if record["role"] == "compiled"]
    assert expected in tried if expected else not [name for name in tried if "order" not in name], tried
    whys = [record["failed"] for record in records.values() if record["failed"]]
    assert all(why.endswith(" of file") for why in whys), whys
    assert whys or trait != "four_classes"
    picked = records[document["picked"]]
    assert picked["distance"] == 0 and document["conclusion"].startswith(("Fastest of ", "Keep the exact model: "))
    assert (tmp_path / "kept").stat().st_size == (picked["size"] or (tmp_path / "m").stat().st_size)


@pytest.mark.full
def test_the_budget_of_a_regression_is_of_the_standard_deviation(bench, fastsvm, directory):
    """By the values that predict prints."""
    fastsvm("approx", "-q", "--degree", 1, "waves.model", "rough")
    exact, rough = (
        np.array(fastsvm("predict", "-q", "waves.rows", each).out.split(), float) for each in ("waves.model", "rough")
    )
    share = np.sqrt(np.mean((rough - exact) ** 2)) / exact.std()
    for budget, inside in ((1.01 * share, True), (0.99 * share, False)):
        done = bench(f"--json -q --budget {budget} waves.rows waves.model rough")
        records = by_name(json.loads(done.out))
        record = records["rough"]
        assert record["distance"] == pytest.approx(share, rel=1e-3)
        assert record["rms_difference"] == pytest.approx(share * exact.std(), rel=1e-3)
        assert record["largest_distance"] == pytest.approx(np.abs(rough - exact).max() / exact.std(), rel=1e-3)
        assert ("rough, fastsvm-predict" in records) == inside
    assert "labels" not in done.err


@pytest.mark.full
def test_without_time_nothing_is_concluded(bench, directory):
    document = json.loads(bench("--json --try --time-limit 1e-9 rows other.model").out)
    assert len(document["not_tried"]) >= 5 and [case["name"] for case in document["cases"]] == ["exact model"]
    assert document["conclusion"] == "Keep the exact model: no other was tried."


@pytest.mark.full
def test_rows_of_the_training_are_warned_of_even_if_quiet(bench, tmp_path):
    train_on(tmp_path / "m", "rings.train", "-g 0.5 -c 1", 600)
    first_rows(tmp_path, "rows", "rings.train", 600)
    done = bench("-q --try --budget 5% rows m")
    assert done.err.startswith("Warning: ") and "support vectors are among the rows to calibrate on" in done.err
    assert done.err.count("\n") == 1
