"""Helpers for tests of border models."""

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem

from support import oracles
from support.checksums import with_checksum
from support.evaluation import parse, values
from support.oracles import BorderFile, data_text, random_machine
from support.paths import DATA
from support.training import train

TEXT = with_checksum(b"""fastsvm_model border 2
svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 4
rho 0.25 -0.5 0.125
label 1 -1 7
nr_sv 2 1 1
fingerprint 0123456789abcdef
features 1:2 7
precision single
nr_border 2 0 1
level 0.0 -1.5 0.125
local 3
border
0.5 1 -0.25
1 2 3
-4 5e-05 6
7 8 9
0.1 0.2 0.3
-1 -2 -3
end
""")
KERNELS = {
    "linear": {},
    "rbf": {"gamma": 0.4},
    "sigmoid": {"gamma": 0.3, "coef0": -0.2},
    "constant": {"gamma": 0.5, "coef0": 1.0, "degree": 0},
    "straight": {"gamma": 0.5, "coef0": 1.0, "degree": 1},
    "polynomial": {"gamma": 0.5, "coef0": -0.3, "degree": 3},
}
CASES = [
    (svm_type, classes, probability)
    for svm_type, many in (("c_svc", (2, 3, 5)), ("nu_svc", (2, 4)), ("one_class", (2,)))
    for classes in many
    for probability in (False, True)
]


def values_of(model, rows):
    return values(model, parse(rows))


def numbers(rows, d):
    return np.array([[row.get(i, 0.0) for i in range(1, d + 1)] for row in rows])


def as_row(z):
    return dict(enumerate(z, 1))


def machine_of(rng, name, vectors, svm_type="c_svc", **options):
    return random_machine(
        rng, svm_type, "polynomial" if name in ("constant", "straight") else name, vectors, **options, **KERNELS[name]
    )


def samples_of(path):
    return [len(samples) for samples in BorderFile.read(path.read_bytes()).samples]


def check_samples(machine, text, *, tolerance=1e-4, raw=False):
    """Every sample is a root, its normal the gradient. Returns the number of samples."""
    border = BorderFile.read(text)
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
            )
            np.testing.assert_allclose(
                samples[at, 1].astype(float), expected.astype(float), atol=2e-5 * float(np.abs(expected).max()) + 1e-6
            )
    return sum(map(len, border.samples))


def plane(labels_of, n=1500):
    """Two features of data/rings, crowded towards 0."""
    out = []
    for name in ("rings.train", "rings.test"):
        x = numbers([dict(row) for row in svm_read_problem(str(DATA / name))[1][:n]], 2) ** 3
        out.append((x, labels_of(x)))
    return out


def plane_labels(x):
    return np.where(np.sin(12 * x[:, 0]) + np.sin(12 * x[:, 1]) > 0.3, 1, -1)


def trained_model(rows, labels, options, path):
    return train(path, rows, [float(v) for v in labels], options)


def wavy_files(folder):
    """(model file, training file, unseen rows)"""
    (x, y), (unseen, _) = plane(plane_labels)
    rows = list(map(as_row, x.tolist()))
    (folder / "train").write_bytes(data_text(rows, y.tolist()))
    (folder / "test").write_bytes(data_text(list(map(as_row, unseen.tolist()))))
    return trained_model(rows, y, "-g 20 -c 100", folder / "wavy.model"), folder / "train", folder / "test"
