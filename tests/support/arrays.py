"""Rows of a file, and predictions for them, as arrays."""

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
