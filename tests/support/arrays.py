"""Rows of a file, and predictions for them, as arrays."""

from itertools import combinations

import numpy as np
from scipy.sparse import csr_matrix

from fastsvm_cli.text.read_rows import read_chunks


def sparse_rows(path, columns=None, first_index=1):
    """CSR (rows, columns) of a file, and labels. Column j is LIBSVM's feature first_index + j; columns end with the
    largest index by default."""
    parts, labels, width = [], [], 0
    for chunk in read_chunks(str(path)):
        parts.append((np.array(chunk.values), np.array(chunk.indices) - first_index, np.array(chunk.indptr)))
        labels.append(np.array(chunk.leading)[:, 0])
        width = max(width, chunk.max_index + 1 - first_index)
    (values, indices, indptr), (labels,) = parts[0], labels
    assert len(parts) == 1
    return csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, columns or width)), labels


def written_numbers(fastsvm, test, model, *options):
    """(rows, numbers) in the output of `fastsvm predict`"""
    out = fastsvm("predict", "-q", *options, test, model, "-").out
    return np.array([[float(word) for word in line.split()] for line in out.splitlines() if line[0] != "l"])


def in_sorted_order(numbers, label, signed=True):
    """LIBSVM's numbers of pairs in scikit-learn's order: sorted classes; for two, positive for the second. label: of a
    classification, or None."""
    if label is None:
        return numbers
    columns = {}
    for (i, j), column in zip(combinations(label, 2), numbers.T):
        columns[i, j], columns[j, i] = column, -column if signed else column
    return np.stack([columns[pair] for pair in combinations(sorted(label, reverse=len(label) == 2), 2)], axis=1)
