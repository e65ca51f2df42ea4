#!/usr/bin/env python3
"""Write LIBSVM's precomputed-kernel file of data, for kernels that LIBSVM lacks.

    scripts/precompute_kernel.py --gamma 0.5 train > train.kernel                   exponential: exp(-gamma |x - z|)
    scripts/precompute_kernel.py --gamma 0.5 --against train test > test.kernel     rows of `test` against `train`'s

    svm-train -t 4 train.kernel kernel.model
    fastsvm order --kernel exponential --gamma 0.5 --vectors train kernel.model
    fastsvm predict test kernel.model.order out                                     svm-predict's labels of test.kernel

A row is `label 0:serial 1:K(x, x_1) 2:K(x, x_2) ...`, with all digits. n rows against n take about 20 n^2 bytes. Needs
fastsvm installed.
"""

import argparse
import sys

import numpy as np

from fastsvm_cli import _native, read_chunks
from fastsvm_cli.errors import FastsvmError


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", choices=["exponential", "normalized-polynomial"], default="exponential")
    parser.add_argument("-g", "--gamma", type=float, required=True)
    parser.add_argument("-r", "--coef0", type=float, default=1.0)
    parser.add_argument("-d", "--degree", type=int, default=3)
    parser.add_argument("--against", metavar="TRAIN_FILE", help="the rows of the columns; the data itself unless named")
    parser.add_argument("data_file")
    options = parser.parse_args()
    rows = list(read_chunks(options.data_file))
    columns = list(read_chunks(options.against)) if options.against else rows
    kernel = _native.Kernel(options.kernel.replace("-", "_"), options.gamma, options.coef0, options.degree)
    # A model of one support vector, of coefficient 1, has the kernel values as LIBSVM would compute them.
    header, found = _native.Header("epsilon_svr", "precomputed", 2, 1, [0.0]), _native.Decisions(1)
    serial = 0
    for chunk in rows:
        for row in range(chunk.rows):
            serial += 1
            vector = chunk.slice(row, row + 1)
            vector = _native.Chunk.from_csr(np.ones(1), vector.indptr, vector.indices, vector.values)
            model, values = _native.LibsvmFile(header, vector, kernel).model(), []
            for column in columns:
                model.reference_values(column, found)
                values += found.value.tolist()
            label = chunk.leading[row, 0]
            print(
                f"{int(label) if label == int(label) else label!r} 0:{serial} "
                + " ".join(f"{at}:{value!r}" for at, (value,) in enumerate(values, 1))
            )


if __name__ == "__main__":
    try:
        main()
    except FastsvmError as error:
        sys.exit(f"Error: {error}")
    except BrokenPipeError:
        sys.stderr.close()
