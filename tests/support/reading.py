"""The reader in its plainest words: the rows of a chunk as lists."""

import bz2
import gzip
import lzma

COMPRESS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


def rows_in(chunk):
    """[(first number or None, [(index, value)])]"""
    labels, starts, indices, values = (
        view.tolist() for view in (chunk.leading, chunk.indptr, chunk.indices, chunk.values)
    )
    assert len(starts) == chunk.rows + 1 and starts[0] == 0 and starts[-1] == len(indices) == len(values)
    return [
        (labels[r][0] if labels[r] else None, list(zip(indices[a:b], values[a:b])))
        for r, (a, b) in enumerate(zip(starts, starts[1:]))
    ]
