"""`bound --json` reports the kind and the origin of every model."""

import json
import re

import pytest

from fastsvm_cli._native import fingerprint
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
