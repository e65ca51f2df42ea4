"""A row alone, whose reference sum takes vectors side by side, has the label that it has among others."""

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_predict

import fastsvm_cli

KERNELS = {
    "rbf": "kernel_type rbf\ngamma 0.3",
    "polynomial": "kernel_type polynomial\ndegree 3\ngamma 0.5\ncoef0 1",
    "sigmoid": "kernel_type sigmoid\ngamma 0.2\ncoef0 0.1",
}


def cancelling(path, kernel, classes, features, rng):
    """Write a model whose decision values are rounding alone: each vector is in two classes, in another order."""
    n = 37
    x = rng.normal(size=(n, len(features)))
    x[rng.random(x.shape) < 0.1] = 0
    coef = rng.normal(size=(n, classes - 1))
    pairs = classes * (classes - 1) // 2
    head = [
        "svm_type c_svc",
        KERNELS[kernel],
        f"nr_class {classes}",
        f"total_sv {classes * n}",
        "rho" + " 0" * pairs,
        "label " + " ".join(map(str, range(1, classes + 1))),
        "nr_sv" + f" {n}" * classes,
        "SV",
    ]
    lines = []
    for c in range(classes):
        for at in rng.permutation(n):
            # Opposite coefficients in the two classes of a pair.
            own = [coef[at, min(c, other)] * (1 if c < other else -1) for other in range(classes) if other != c]
            entries = " ".join(f"{i}:{value!r}" for i, value in zip(features, x[at].tolist()) if value)
            lines.append(" ".join(map(repr, map(float, own))) + " " + entries)
    path.write_text("\n".join(head + lines) + "\n")


@pytest.mark.parametrize("features", [range(1, 8), (2, 3, 5, 9, 10)], ids=["consecutive", "gaps"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_labels_that_rounding_decides(tmp_path, kernel, classes, features):
    rng = np.random.default_rng(classes)
    cancelling(tmp_path / "m", kernel, classes, list(features), rng)
    fast = fastsvm_cli.load(tmp_path / "m", n_features_in=12)
    X = rng.normal(size=(60, 12))
    X[rng.random(X.shape) < 0.2] = 0
    X[:20, 10:] = 0
    X[20:25] = rng.normal(size=(5, 12))  # without zeros
    together, alone = fast.predict(X), [fast.predict(X[at : at + 1])[0] for at in range(len(X))]
    assert (together == alone).all() and len(set(alone)) > 1
    rows = [{i + 1: value for i, value in enumerate(row) if value} for row in X.tolist()]
    expected = svm_predict([], rows, svm_load_model(str(tmp_path / "m")), "-q")[0]
    assert alone == expected
