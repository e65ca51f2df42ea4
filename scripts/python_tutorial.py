#!/usr/bin/env python3
"""The Python interface from a fitted SVC to a stream of rows, on generated data. Runs for a few seconds; needs
scikit-learn.

  python_tutorial.py
"""

import os
import pickle
import tempfile
import time

import numpy as np
from sklearn.svm import SVC

import fastsvm_cli


def step(title: str) -> None:
    print(f"\n## {title}")


def rings(rows: int, seed: int) -> "tuple[np.ndarray, np.ndarray]":
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 8))
    inside = ((X - 0.5) ** 2).sum(axis=1) < 0.64
    return X, np.where(inside ^ (rng.random(rows) < 0.05), "ball", "shell")


def microseconds(call, X) -> float:
    start = time.perf_counter()
    call(X)
    return (time.perf_counter() - start) / len(X) * 1e6


def main() -> None:
    X, y = rings(3000, seed=1)
    T, truth = rings(20_000, seed=2)

    step("A fitted estimator, compiled")
    # certify=True lets the expansion prove labels.
    svc = SVC(C=10, gamma=0.1).fit(X, y)
    fast = fastsvm_cli.compile(svc, "approx", degree=2, certify=True)
    print(f"{len(svc.support_)} support vectors -> {fast}")
    fast.predict(T[:1])  # one-time initialisation
    slow = microseconds(svc.predict, T[:2000])
    quick = microseconds(fast.predict, T)
    print(f"SVC.predict {slow:.1f} microseconds a row, this one {quick:.2f}")
    print(f"accuracy {svc.score(T, truth):.4f} before, {fast.score(T, truth):.4f} now")

    step("How much it changes")
    # On your own rows: the agreement, and which labels are proven.
    print(fast.agreement(T))
    print(f"proven: {fast.proven(T).mean():.1%} of the rows")

    step("No label changed")
    # Unproven rows go to the exact model. method="exact" needs no certificate: LIBSVM's labels, from all vectors.
    sure = fastsvm_cli.compile(svc, "approx", degree=2, certify=True, exact=True)
    exact = fastsvm_cli.compile(svc, method="exact")
    for name, each in (("proven or exact", sure), ("exact", exact)):
        each.predict(T[:1])
        different = int(np.sum(each.predict(T) != svc.predict(T)))
        print(f"{name}: {different} labels differ, {microseconds(each.predict, T):.2f} microseconds a row")

    step("A LIBSVM model file, and the commands")
    with tempfile.TemporaryDirectory() as folder:
        model, rows, out = (os.path.join(folder, name) for name in ("rings.model", "rings.test", "labels"))
        names = fastsvm_cli.to_libsvm(svc, model)
        print(f"labels in the file: {names}")
        number = {name: label for label, name in names.items()}
        with open(rows, "w") as file:
            for x, name in zip(T[:5000], truth):
                entries = " ".join(f"{j}:{value!r}" for j, value in enumerate(x.tolist(), 1))
                file.write(f"{number[name]} {entries}\n")
        found = fastsvm_cli.predict_file(rows, model, out)
        print(f"predict_file: {found['rows']} rows, accuracy {found['accuracy']:.4f}")
        loaded = fastsvm_cli.load(model, n_features_in=8)
        same = np.array_equal(loaded.predict(T[:5000]), np.loadtxt(out))
        print(f"load(model).predict gives the same labels: {same}")

    step("A stream of batches")
    # Batches may have any size and type.
    counts = np.zeros(2, dtype=int)
    for seed in range(5):
        batch, _ = rings(4000, seed)
        counts += np.bincount(np.searchsorted(fast.classes_, fast.predict(batch.astype(np.float32))), minlength=2)
    print(dict(zip(fast.classes_.tolist(), counts.tolist())))

    step("One row at a time")
    # A float64 array, (1, n_features), is the fastest input.
    one, taken = T[:1], []
    for _ in range(1000):
        taken.append(microseconds(fast.predict, one))
    theirs = [microseconds(svc.predict, one) for _ in range(200)]
    print(f"{np.median(taken):.1f} microseconds a row, and {np.median(theirs):.0f} of SVC.predict")

    step("Kept for another process")
    # joblib.dump and pickle keep class names, scalers and the exact model; save() writes only the model's file.
    stored = pickle.dumps(sure)
    print(f"{len(stored)} bytes; the same labels: {np.array_equal(pickle.loads(stored).predict(T), sure.predict(T))}")


if __name__ == "__main__":
    main()
