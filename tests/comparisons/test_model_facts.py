"""`bound --json` reports the kind and the origin of every model."""

import json
import re

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli._native import fingerprint
from fastsvm_cli.models import Precision, load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.model_files import BORDERS, COMPILED, EXACT, ORDERED, REDUCED
from support.paths import GOLDEN


def facts(fastsvm, *paths):
    return json.loads(fastsvm("bound", "--json", *paths).out)["models"]


@pytest.mark.full
def test_every_kind_of_model_file_is_told(fastsvm):
    paths = [GOLDEN / name for name in EXACT + COMPILED + BORDERS + ORDERED + REDUCED]
    for path, found in zip(paths, facts(fastsvm, *paths), strict=True):
        text = path.read_bytes()
        first = text.split(b"\n", 1)[0].decode().split()
        compiled = first[0] == "fastsvm_model"
        assert found["kind"] == (first[1] if compiled else "LIBSVM"), path
        assert found["format_version"] == (int(first[2]) if compiled else None), path
        assert found["bytes"] == len(text) and found["fingerprint"] == fingerprint(text), path
        origin = re.search(rb"^(?:fingerprint|fastsvm_reduced 2) (\w{32})", text, re.M)
        assert found["compiled_from"] == (origin and origin[1].decode()), path
        assert found["range"] is None
        assert found["features"] <= found["largest_index"] or found["kernel_type"] == "precomputed", path


def test_a_range_that_a_model_embeds_is_told(fastsvm):
    (found,) = facts(fastsvm, GOLDEN / "version3" / "c_svc-certified.approx")
    assert found["range"] == [(GOLDEN / "version3" / "range").read_text()]


@pytest.mark.full
@pytest.mark.parametrize("name", ["c_svc-certified.approx", "nu_svc-certified.approx", "three_classes.reduced"])
def test_rows_proven_and_radii_are_those_of_every_pair(fastsvm, tmp_path, name):
    """Quantiles are of bins, 256 in a factor of 2."""
    rows, path = GOLDEN / "data", GOLDEN / "version2" / name
    (pair,) = json.loads(fastsvm("bound", "--json", rows, path).out)["pairs"]
    model, radii, proven = load_model(str(path)), [], 0
    for chunk in read_chunks(str(rows)):
        decisions = model.decisions(Precision.labels(), with_radius=True)
        model.decision_values(chunk, decisions)
        radii += np.asarray(decisions.radius).ravel().tolist()
        proven += chunk.rows - len(_native.undecided_rows(model.header.task(), decisions))
    assert (pair["rows_proven"], pair["radius_largest"]) == (proven, max(radii))
    for share, key in ((0.5, "radius_median"), (0.95, "radius_95")):
        exact = np.quantile(radii, share, method="inverted_cdf")
        assert exact <= pair[key] * 1.0001 and pair[key] <= exact * 2 ** (1 / 256) * 1.0001
