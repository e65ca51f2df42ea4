"""`bound --json` reports the kind and the origin of every model."""

import json
import re

import pytest

from fastsvm_cli.text.fingerprint import fingerprint
from support.model_files import BORDERS, COMPILED, EXACT, ORDERED, REDUCED
from support.paths import GOLDEN


def facts(fastsvm, path):
    (found,) = json.loads(fastsvm("bound", "--json", path).out)["models"]
    return found


@pytest.mark.parametrize("name", EXACT + COMPILED + BORDERS + ORDERED + REDUCED)
def test_every_kind_of_model_file_is_told(fastsvm, name):
    path = GOLDEN / name
    text = path.read_bytes()
    first = text.split(b"\n", 1)[0].decode().split()
    found = facts(fastsvm, path)
    compiled = first[0] == "fastsvm_model"
    assert found["kind"] == (first[1] if compiled else "LIBSVM")
    assert found["format_version"] == (int(first[2]) if compiled else None)
    assert found["bytes"] == len(text) and found["fingerprint"] == fingerprint(text)
    origin = re.search(rb"^(?:fingerprint|fastsvm_reduced 2) (\w{32})", text, re.M)
    assert found["compiled_from"] == (origin and origin[1].decode())
    assert found["features"] <= found["largest_index"] or found["kernel_type"] == "precomputed"


def test_a_range_that_a_model_embeds_is_told(fastsvm, tmp_path):
    text = "x\n-1 1\n" + "".join(f"{feature} 0 5\n" for feature in range(1, 9))
    (tmp_path / "range").write_text(text)
    fastsvm("approx", "-q", "--scale", "range", GOLDEN / "c_svc.model", "carried")
    assert facts(fastsvm, "carried")["range"] == [text]
    assert facts(fastsvm, GOLDEN / "c_svc.model")["range"] is None
