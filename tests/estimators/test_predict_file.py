"""fastsvm_cli.predict_file: the bytes of `fastsvm predict`, and its errors."""

import json
import os
import signal
import subprocess
import sys
from itertools import count

import numpy as np
import pytest
from sklearn.svm import SVR

import fastsvm_cli
from support import forked
from support.outputs import timeless
from support.paths import FASTSVM, GOLDEN
from support.processes import PATIENCE, default_signals, wait_until


def _command(folder, out, *arguments):
    done = forked.fastsvm(["predict", "--json", *arguments, out], cwd=folder, text=True, check=True)
    return json.loads(timeless(done.stdout))


def predict_file(*arguments, **options):
    """fastsvm_cli.predict_file, without the times in its result."""
    reported = fastsvm_cli.predict_file(*arguments, **options)
    assert reported.pop("seconds") > 0 and reported.pop("rows_per_second") > 0
    return reported


#: Model, options of the command, arguments.
ALIKE = [
    ("rings.model", "", {}),
    ("rings.model.approx", "--values", {"values": np.True_, "n_threads": 2}),
    ("colors.model.approx", "-b 1", {"probability": 1, "values": np.False_, "n_threads": 1}),
    ("colors.model.approx", "-b 1 --exact colors.model", {"probability": True, "values": 0}),
    ("colors.model.approx", "--values --exact colors.model", {"values": 1}),
]


@pytest.mark.full(few=2)
@pytest.mark.parametrize("name, words, how", ALIKE)
def test_the_bytes_and_the_summary_of_the_command(folder, tmp_path, monkeypatch, name, words, how):
    monkeypatch.chdir(folder)
    test = f"{name.split('.')[0]}.test"
    expected = _command(folder, tmp_path / "theirs", *words.split(), test, name)
    how = how | ({"exact": "colors.model"} if "exact" in words else {})
    assert predict_file(test, name, tmp_path / "ours", **how) == expected
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_an_object_and_a_model_will_do(folder, tmp_path):
    test, model, exact = (folder / f"colors.{name}" for name in ("test", "model.approx", "model"))
    fast = fastsvm_cli.load(model, exact=exact)
    expected = predict_file(test, model, tmp_path / "a", exact=exact)
    assert predict_file(test, fast, tmp_path / "b") == expected
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    plain = predict_file(test, fast.model, tmp_path / "c")
    assert "rows_proven" not in plain and plain["rows"] == expected["rows"]


@pytest.mark.full(few=1)
@pytest.mark.parametrize("name", ["reduced", "raw"])
def test_an_exact_model_that_was_made_of_another_is_asked_by_itself(tmp_path, name):
    """As an object and as a path: answers are about the given model."""
    golden = GOLDEN / ("version2/c_svc.reduced" if name == "reduced" else "raw-rows/c_svc.folded")
    subprocess.run([FASTSVM, "approx", "-q", "--certify", "--degree", "1", golden, tmp_path / "m"], check=True)
    for exact in (golden, fastsvm_cli.load(golden), fastsvm_cli.load_model(str(golden))):
        reported = predict_file(
            GOLDEN / "data", tmp_path / "m", tmp_path / "out", exact=exact, values=True, probability=True
        )
        if exact is golden:
            expected, first = reported, (tmp_path / "out").read_bytes()
        assert reported == expected and reported["rows_evaluated"] and (tmp_path / "out").read_bytes() == first


def test_an_object_keeps_what_is_not_given_in_its_place(folder, tmp_path):
    """It keeps its exact model if a tolerance is given, and its calibrator if an exact model is given."""
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = X[:, 0] + X[:, 1] ** 2
    (tmp_path / "rows.csv").write_text("".join(",".join(map(repr, row)) + "\n" for row in X.tolist()))
    how = {"dense": True, "unlabelled": True}
    fast = fastsvm_cli.compile(SVR(gamma=0.1).fit(X, y), "approx", degree=1, certify=True, exact=1e-9)
    exact = fast.exact
    for given in ({}, {"tolerance": 1e-10}, {"exact": exact}):
        reported = fastsvm_cli.predict_file(tmp_path / "rows.csv", fast, tmp_path / "out", **how, **given)
        assert reported["rows_evaluated"] == 80
        assert np.loadtxt(tmp_path / "out") == pytest.approx(exact.predict(X), rel=1e-12, abs=1e-12)
    assert fast.tolerance == 1e-9 and fast.exact is exact


def test_bad_rows(folder, tmp_path):
    (tmp_path / "rows").write_text("1 1:1\n1 x\n1 2:1\n")
    (tmp_path / "out").write_text("as it was")
    arguments = (tmp_path / "rows", folder / "rings.model", tmp_path / "out")
    with pytest.raises(fastsvm_cli.FastsvmError, match=r"rows:2: 'x' found"):
        fastsvm_cli.predict_file(*arguments)
    assert (tmp_path / "out").read_text() == "as it was"
    with pytest.warns(UserWarning, match=r"rows:2: 'x' found"):
        found = fastsvm_cli.predict_file(*arguments, on_bad_row="nan")
    assert found["bad_rows"] == 1 and (tmp_path / "out").read_text().split()[1] == "nan"
    with pytest.warns(UserWarning):
        fastsvm_cli.predict_file(*arguments, on_bad_row="skip")
    assert len((tmp_path / "out").read_text().split()) == 2


def test_progress_and_what_its_callback_raises(folder, tmp_path):
    seen, out = [], tmp_path / "out"
    test, model = folder / "rings.test", folder / "rings.model"
    fastsvm_cli.predict_file(test, model, out, on_progress=lambda *at: seen.append(at))
    rows, size = [at[0] for at in seen], os.path.getsize(test)
    assert rows == sorted(rows) and rows[-1] == 6000 and seen[-1][1:] == (size, size)
    assert fastsvm_cli.predict_file(test, model, out, on_progress=False)["rows"] == 6000
    out.write_text("as it was")

    def enough(rows, done, total):
        raise TimeoutError(rows)

    with pytest.raises(TimeoutError):
        fastsvm_cli.predict_file(test, model, out, on_progress=enough)
    assert out.read_text() == "as it was" and os.listdir(tmp_path) == ["out"]


def test_ctrl_c(folder, tmp_path):
    """During reading, Ctrl-C raises KeyboardInterrupt and leaves the output unchanged."""
    fifo, out = tmp_path / "fifo", tmp_path / "out"
    os.mkfifo(fifo)
    out.write_text("as it was")
    code = f"""
import fastsvm_cli
try:
    fastsvm_cli.predict_file({str(fifo)!r}, {str(folder / "rings.model")!r}, {str(out)!r},
                             on_progress=lambda *at: print(*at, flush=True))
except KeyboardInterrupt:
    print("interrupted")
"""
    start = dict(cwd=tmp_path, stdout=subprocess.PIPE, text=True, preexec_fn=default_signals)
    child = subprocess.Popen([sys.executable, "-c", code], **start)
    with open(fifo, "w") as rows:
        rows.write("1 1:0.5\n" * 10)
        rows.flush()
        assert child.stdout.readline().split()[0] == "10"
        child.send_signal(signal.SIGINT)
        assert child.stdout.read() == "interrupted\n" and child.wait(PATIENCE) == 0
    assert out.read_text() == "as it was"
    assert wait_until(lambda: sorted(os.listdir(tmp_path)) == ["fifo", "out"])


def test_what_is_raised_between_blocks_ends_a_prediction_of_arrays(folder, monkeypatch):
    """As Ctrl-C is. The object answers the next call."""
    fast, X = fastsvm_cli.load(folder / "rings.model", n_threads=2), np.random.default_rng(0).random((100_000, 8))
    blocks, chunk = count(), fast._chunk

    def interrupted(*of):
        if next(blocks) == 2:
            raise KeyboardInterrupt
        return chunk(*of)

    monkeypatch.setattr(fast, "_chunk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fast.predict(X)
    monkeypatch.undo()
    assert len(fast.predict(X[:1000])) == 1000
