"""Models of every kind that LIBSVM trains."""

import random

import pytest
from libsvm.svmutil import svm_save_model, svm_train

from support.model_files import KERNELS, TYPES


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """trained(svm_type, kernel, classes, probability) -> the path of a model that LIBSVM trained."""
    folder, rng = tmp_path_factory.mktemp("trained"), random.Random(11)
    rows = [
        {j: round(rng.gauss(0, 1), 3) for j in sorted(rng.sample(range(1, 9), rng.randint(2, 6)))} for _ in range(60)
    ]
    scores = [row.get(1, 0) - row.get(2, 0) + 0.5 * row.get(3, 0) ** 2 + rng.gauss(0, 0.3) for row in rows]

    def train(svm_type, kernel="rbf", classes=2, probability=False):
        path = folder / f"{svm_type}-{kernel}-{classes}-{probability}"
        if not path.exists():
            y = (
                scores
                if "svr" in svm_type
                else [sum(s > cut for cut in (-0.7, 0, 0.7)[: classes - 1]) * 10 - 5 for s in scores]
            )
            svm_save_model(
                str(path), svm_train(y, rows, f"-q {TYPES[svm_type]} {KERNELS[kernel]} -b {int(probability)}")
            )
        return path

    return train
