"""Random models and rows."""

import numpy as np

from support.oracles.machine import Machine


def random_rows(rng, n: int, indices: "list[int]", *, density=1.0, scale=1.0, offset=0.0) -> "list[dict]":
    """Rows with a share `density` of the indices; some are duplicates or, about the origin, zero vectors."""
    rows = [
        {i: float(offset + scale * rng.standard_normal()) for i in indices if rng.random() < density} for _ in range(n)
    ]
    for r in range(n):
        if n > 4 and rng.random() < 0.1:
            rows[r] = dict(rows[rng.integers(n)])
        elif n > 4 and offset == 0 and rng.random() < 0.05:
            rows[r] = {}
    return rows


def random_machine(
    rng, svm_type: str, kernel: str, vectors: "list[dict]", *, nr_class=2, probability=False, **parameters
) -> Machine:
    """An untrained model: any coefficients make a decision function."""
    n, classification = len(vectors), svm_type in ("c_svc", "nu_svc")
    classes = nr_class if classification else 2
    pairs = classes * (classes - 1) // 2
    machine = Machine(
        svm_type,
        kernel,
        vectors,
        rng.standard_normal((n, classes - 1)),
        rng.normal(0, 0.5, pairs).tolist(),
        **parameters,
    )
    if classification:
        cuts = np.sort(rng.integers(0, n + 1, classes - 1))
        machine.nr_sv = np.diff([0, *cuts, n]).tolist()
        machine.label = [
            int(v) for v in rng.permutation([1, -1, 0, 7, -3, 1000000, *range(100, 100 + classes)])[:classes]
        ]
    if probability and classification:
        machine.probA, machine.probB = (-rng.uniform(0.3, 3, pairs)).tolist(), rng.normal(0, 0.3, pairs).tolist()
    elif probability and svm_type == "one_class":
        machine.marks = np.sort(rng.normal(0, 1, 10)).tolist()
    elif probability:
        machine.probA = [float(rng.uniform(0.1, 1))]
    return machine
