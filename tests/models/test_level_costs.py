"""The cheaper level decides a row, by the costs of the running instruction set."""

import sys

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models.base import ExactModel
from support.paths import SCRIPTS

sys.path.append(str(SCRIPTS))

from measure_exact import two_classes

GRID, SINGLE, DOUBLE = 0, 1, 2  # indices of level_rows
ROWS = 90


def bits(n, features, ones, seed):
    rng = np.random.default_rng(seed)
    out = np.zeros((n, features))
    for row in out:
        row[rng.choice(features, ones, replace=False)] = 1
    return out


def decided(model: ExactModel, chunk):
    out = _native.Decisions(1, False, True)
    model.decision_values(chunk, out)
    return list(out.level_rows)


@pytest.mark.parametrize("build", _native.instruction_sets())
def test_wide_and_sparse_bits_take_the_grid_where_it_meets_only_the_ones(best_instruction_set, build):
    assert _native.select_instruction_set(build)
    model, chunk = two_classes(bits(600, 1000, 20, 1), bits(ROWS, 1000, 20, 2), 0.03)
    in_codes = _native.GridTiles.of(model.svm_model, list(range(600))).features_per_word == 16
    level = GRID if in_codes else DOUBLE
    assert decided(model, chunk)[level] > 0.9 * ROWS


def test_rows_off_the_grid_are_those_that_single_precision_decides(instruction_set):
    rows = bits(ROWS, 40, 20, 4)
    rows[::2] += 0.25 * (rows[::2] > 0)
    model, chunk = two_classes(bits(600, 40, 20, 3), rows, 0.03)
    grid, single, double, reference = decided(model, chunk)
    assert grid + single + double + reference == ROWS
    assert grid <= ROWS // 2 and single <= ROWS // 2 and grid + single > 0.9 * ROWS


@pytest.mark.parametrize("share", [0.3, 0.5, 0.6, 0.7, 0.9])
def test_values_have_the_same_bits_in_tiles_and_entry_by_entry(instruction_set, share):
    """Explicit zeros make a row full, which then meets the vectors in tiles."""
    rng = np.random.default_rng(5)
    vectors, rows = rng.normal(size=(200, 50)), rng.normal(size=(ROWS, 50)) * (rng.random((ROWS, 50)) < share)
    model, sparse = two_classes(vectors, rows, 0.02)
    full = "".join("0 " + " ".join(f"{c + 1}:{v!r}" for c, v in enumerate(row)) + "\n" for row in rows.tolist())
    values = []
    for chunk in (sparse, _native.parse(full.encode())[0]):
        out = _native.Decisions(1)
        model.evaluator.fast_values(chunk, out)
        values.append(np.asarray(out.value).copy())
    assert (values[0] == values[1]).all()
