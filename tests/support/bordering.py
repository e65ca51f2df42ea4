"""Helpers for tests of border models."""

import numpy as np
import pytest

from fastsvm_cli.methods.border.borders import compile_border
from fastsvm_cli.models import parse_model
from support import oracles
from support.oracles import BorderFile, data_text, random_machine, random_rows
from support.training import train

KERNELS = {
    "linear": {},
    "rbf": {"gamma": 0.4},
    "sigmoid": {"gamma": 0.3, "coef0": -0.2},
    "constant": {"gamma": 0.5, "coef0": 1.0, "degree": 0},
    "straight": {"gamma": 0.5, "coef0": 1.0, "degree": 1},
    "polynomial": {"gamma": 0.5, "coef0": -0.3, "degree": 3},
}


def numbers(rows, d):
    return np.array([[row.get(i, 0.0) for i in range(1, d + 1)] for row in rows])


def as_row(z):
    return dict(enumerate(z, 1))


def machine_of(rng, name, vectors, svm_type="c_svc", **options):
    kernel = "polynomial" if name in ("constant", "straight") else name
    return random_machine(rng, svm_type, kernel, vectors, **options, **KERNELS[name])


def two_sided(rows, coefficient, gamma):
    """Classes of equal size, one after the other, with these coefficients and rho 0."""
    half = len(rows) // 2
    coef = np.repeat([coefficient, -coefficient], half)[:, None]
    return oracles.Machine("c_svc", "rbf", rows, coef, [0.0], gamma=gamma, label=[1, -1], nr_sv=[half, half])


def compiled(machine, **options):
    return compile_border(parse_model(machine.text(), "m"), fingerprint="f", **options)


def border_of(machine, **options):
    """The border in its file."""
    text = compiled(machine, **options).model.to_text()
    assert parse_model(text, "again").to_text() == text
    return BorderFile.read(text)


def samples_of(path):
    return [len(samples) for samples in BorderFile.read(path.read_bytes()).samples]


def check_samples(machine, border, *, tolerance=1e-4, raw=False):
    """Every sample is a root, its normal the gradient. Returns the number of samples."""
    for p, samples in enumerate(border.samples):
        points = border.points(p)
        if not points:
            continue
        likely = machine.probA is not None and machine.classification and not raw
        assert border.levels[p] == pytest.approx(-machine.probB[p] / machine.probA[p] if likely else 0.0, rel=1e-15)
        f = oracles.decision_values(machine, points)[:, p] - border.levels[p]
        assert np.all(np.abs(f) <= tolerance), float(np.abs(f).max())
        for at in range(0, len(points), max(1, len(points) // 2)):
            z = samples[at, 0]
            step = 1e-6 * max(1.0, float(np.abs(z).max()))
            expected = oracles.slope(
                lambda at: oracles.decision_values(machine, [dict(zip(border.features, at))])[0, p], z, step
            ).astype(float)
            near = 2e-5 * float(np.abs(expected).max()) + 1e-6
            np.testing.assert_allclose(samples[at, 1].astype(float), expected, atol=near)
    return sum(map(len, border.samples))


def wavy_files(folder):
    """(model file, training file, unseen rows): two features, crowded towards 0, and a known border."""
    rng, files = np.random.default_rng(0), []
    for name in ("train", "test"):
        x = rng.uniform(0, 1, (1500, 2)) ** 3
        y = np.where(np.sin(12 * x[:, 0]) + np.sin(12 * x[:, 1]) > 0.3, 1, -1).tolist()
        rows = list(map(as_row, x.tolist()))
        (folder / name).write_bytes(data_text(rows, y))
        files.append((rows, y))
    return train(folder / "wavy.model", *files[0], "-g 20 -c 100"), folder / "train", folder / "test"


def labelled(rng, n, d, labels, *, apart=0.5, density=1.0):
    """(rows, labels): each label once in this order, then random ones; classes are apart."""
    y = labels + rng.choice(labels, n - len(labels)).tolist()
    rows = random_rows(rng, n, list(range(1, d + 1)), density=density)
    return [{j: v + apart * labels.index(label) for j, v in row.items()} for label, row in zip(y, rows)], y
