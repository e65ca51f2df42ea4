#!/usr/bin/env python3
"""Train a kernel Fisher discriminant or a least squares SVM, and write it as a LIBSVM model.

    scripts/kernel_fisher.py --gamma 0.05 [--method fisher|ls-svm] [--ridge 1] train_file [model_file]

Two classes, RBF kernel, f(z) = sum_i a_i K(x_i, z) + b. In the c_svc model, every row is a support vector with a
coefficient of any sign, and rho = -b. n rows need n^2 numbers of memory; 5,000 take seconds.

    fisher    Mika, Raetsch, Mueller (2001): min |xi|^2 + R |a|^2, where K a + b = y + xi, y is 1 and -1, and xi adds up
              to 0 over each class
    ls-svm    Suykens, Vandewalle (1999): min |xi|^2 + R a'K a, where K a + b = y + xi; so (K + R I) a + b = y and
              sum a = 0. Their gamma is 1 / R

Default model_file: <train_file>.model in the current directory. Needs fastsvm installed.
"""

import argparse
import os
import sys

import numpy as np
from libsvm_training import Kernel, dense, kernel_matrix, read_rows

from fastsvm_cli import _native

METHODS = ("fisher", "ls-svm")


def fit(gram, y, method, ridge):
    """Return (a, b). gram: (n, n); y: (n) of 1 and -1; ridge: R."""
    n = len(y)
    if method == "ls-svm":
        system = np.zeros((n + 1, n + 1))
        system[:n, :n], system[n, :n], system[:n, n] = gram, 1, 1
        system[np.arange(n), np.arange(n)] += ridge
        solved = np.linalg.solve(system, np.append(y, 0.0))
        return solved[:n], solved[n]
    outputs = np.hstack([gram, np.ones((n, 1))])  # (n, n + 1): maps (a, b) to f at the rows
    classes = np.column_stack([y > 0, y < 0]).astype(float)  # (n, 2): sums xi over each class
    system = np.zeros((n + 3, n + 3))
    system[: n + 1, : n + 1] = outputs.T @ outputs
    system[np.arange(n), np.arange(n)] += ridge
    system[: n + 1, n + 1 :] = outputs.T @ classes
    system[n + 1 :, : n + 1] = system[: n + 1, n + 1 :].T
    solved = np.linalg.solve(system, np.concatenate([outputs.T @ y, classes.T @ y]))
    return solved[:n], solved[n]


def classes_of(labels):
    """Return (y, labels). y is 1 for the first row's label, as in LIBSVM."""
    first = labels[0]
    others = np.unique(labels[labels != first])
    if len(others) != 1 or any(label != int(label) for label in (first, *others)):
        sys.exit(f"Error: {1 + len(others)} classes found, expected 2, with integers for labels")
    return np.where(labels == first, 1.0, -1.0), (int(first), int(others[0]))


def model_text(y, labels, a, b, kernel_lines, vectors):
    """vectors: features of each row. LIBSVM requires the first class's rows first."""
    order = np.argsort(-y, kind="stable")
    positive = int((y > 0).sum())
    head = (
        f"svm_type c_svc\n{kernel_lines}nr_class 2\ntotal_sv {len(y)}\nrho {float(-b)!r}\n"
        f"label {labels[0]} {labels[1]}\nnr_sv {positive} {len(y) - positive}\nSV\n"
    )
    return head.encode() + b"".join(b"%s %s\n" % (repr(float(a[row])).encode(), vectors[row]) for row in order)


def rbf_model_text(chunk, gamma, method, ridge):
    y, labels = classes_of(np.asarray(chunk.leading)[:, 0])
    x = dense(chunk, chunk.max_index)
    a, b = fit(kernel_matrix(Kernel("rbf", gamma), x, x), y, method, ridge)
    vectors = [line.partition(b" ")[2] for line in _native.format_rows(chunk).split(b"\n")]
    return model_text(y, labels, a, b, f"kernel_type rbf\ngamma {gamma!r}\n", vectors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=METHODS, default="fisher")
    parser.add_argument("-g", "--gamma", type=float, required=True)
    parser.add_argument("--ridge", type=float, default=1.0, metavar="R")
    parser.add_argument("train_file")
    parser.add_argument("model_file", nargs="?")
    options = parser.parse_args()
    text = rbf_model_text(read_rows(options.train_file), options.gamma, options.method, options.ridge)
    with open(options.model_file or os.path.basename(options.train_file) + ".model", "wb") as file:
        file.write(text)


if __name__ == "__main__":
    main()
