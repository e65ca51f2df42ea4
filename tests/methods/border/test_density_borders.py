"""fastsvm border without a model: borders of density estimates of data."""

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem

from support import oracles
from support.bordering import as_row, numbers, samples_of, trained_model
from support.oracles import BorderFile, Machine, border_values, data_text


@pytest.mark.full
@pytest.mark.parametrize("options", [("--bandwidth", 0.15), ("--bandwidth", "adaptive", "-W", 12)], ids=str)
def test_borders_of_density_estimates(fastsvm, tmp_path, wavy, options):
    rows = wavy[1].read_text().splitlines(keepends=True)[:400]
    (tmp_path / "train").write_text("".join(rows))
    done = fastsvm("border", *options, "--samples", 60, "train")
    assert done.out.startswith("400 training rows -> 60 border samples in 2 features\n")
    assert "support vectors" not in done.out and "Trial" not in done.out
    border = BorderFile.read((tmp_path / "train.border").read_bytes())
    y, x = svm_read_problem(str(tmp_path / "train"))
    x, y = numbers(x, 2), np.array(y)
    bandwidth, weight = (None, options[3]) if len(options) > 2 else (options[1], None)

    def f(z):
        return oracles.density(x, y if border.header["label"] == ["1", "-1"] else -y, z, bandwidth, weight)

    assert border.levels == [0.0] and max(abs(float(f(sample[0]))) for sample in border.samples[0]) <= 1e-4
    for sample in border.samples[0][:5]:
        np.testing.assert_allclose(
            sample[1].astype(float), oracles.slope(f, sample[0], 1e-7).astype(float), rtol=1e-3, atol=1e-3
        )
    unseen = wavy[2].read_text().splitlines(keepends=True)[:80]
    lines = fastsvm("predict", "-q", "-b", 1, "-", "train.border", input="".join(unseen)).out.splitlines()
    assert lines[0] == f"labels {' '.join(border.header['label'])}"
    rows = [
        as_row([float(word.split(":")[1]) for word in line.split()[1:]]) if "2:" in line and "1:" in line else {}
        for line in unseen
    ]
    found, (values, gaps) = np.array([line.split() for line in lines[1:]], float), border_values(border, rows)
    clear = (gaps[:, 0] > 1e-12) & np.array([bool(row) for row in rows])
    t = np.tanh(values[:, 0].astype(float))
    assert clear.sum() > 60 and found[clear, 1:] == pytest.approx(
        np.clip(np.stack([(1 + t) / 2, (1 - t) / 2], axis=1), 1e-7, 1 - 1e-7)[clear], abs=2e-6
    )
    agree = np.mean(
        [
            np.sign(float(f(np.array([row.get(1, 0.0), row.get(2, 0.0)])))) == np.sign(t)
            for row, t, good in zip(rows, t, clear)
            if good
        ]
    )
    assert agree > 0.95


@pytest.mark.full
@pytest.mark.parametrize("labels", [[-1, 1], [1, -1], [2, 1], [-1, 1, 5], [0, 7, 3]])
def test_labels_of_density_borders_are_in_svm_trains_order(fastsvm, tmp_path, labels):
    rng = np.random.default_rng(16)
    y = labels + rng.choice(labels, 60).tolist()
    x = [
        {1: float(c + v), 2: float(c % 3 + w)}
        for c, (v, w) in zip(map(labels.index, y), 0.3 * rng.standard_normal((len(y), 2)))
    ]
    (tmp_path / "train").write_bytes(data_text(x, y))
    fastsvm("border", "-q", "--bandwidth", 0.4, "--samples", 15, "train", "b")
    border = BorderFile.read((tmp_path / "b").read_bytes())
    model = Machine.read(trained_model(x, y, "-c 1", tmp_path / "m").read_bytes())
    assert list(map(int, border.header["label"])) == model.label
    assert border.header["nr_sv"] == [str(y.count(label)) for label in model.label]
    assert len(border.samples) == len(labels) * (len(labels) - 1) // 2 and min(map(len, border.samples)) > 0
    found = list(map(int, fastsvm("predict", "-q", "train", "b").out.split()))
    assert np.mean(np.array(found) == y) > 0.9
    assert (
        np.mean(
            np.array(
                [line.split()[0] for line in fastsvm("predict", "-q", "-b", 1, "train", "b").out.splitlines()[1:]], int
            )
            == y
        )
        > 0.9
    )


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    [
        ("--bandwidth", 1e-200),
        ("--bandwidth", 1e-3),
        ("--bandwidth", 1e200),
        ("--bandwidth", "adaptive", "-W", 0.01),
        ("--bandwidth", "adaptive", "-W", 59.999),
    ],
    ids=str,
)
def test_extreme_bandwidths_end_in_a_model_or_one_line(fastsvm, tmp_path, wavy, options):
    (tmp_path / "train").write_text("".join(wavy[1].read_text().splitlines(keepends=True)[:60]))
    done = fastsvm("border", *options, "train", "b", code=None)
    assert done.code in (0, 1, 2) and "RuntimeWarning" not in done.err, str(done)
    if done.code == 2:
        assert "neither 'adaptive' nor a number from" in done.err
    elif done.code:
        assert done.err.startswith("Error: train") and done.err.count("\n") == 1
    else:
        fastsvm("predict", "-q", "-b", 1, "train", "b")


@pytest.mark.full
def test_rows_without_features_have_no_border(fastsvm, tmp_path):
    (tmp_path / "train").write_text("1\n-1\n1\n-1\n")
    done = fastsvm("border", "--bandwidth", 1, "train", "b")
    assert "no border between the rows" in done.err
    assert samples_of(tmp_path / "b") == [0] and fastsvm("predict", "-q", "train", "b").out.count("\n") == 4
