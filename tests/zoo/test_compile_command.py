"""The commands write the file that fastsvm_cli.compile makes, of every kind."""

import pytest

from support import forked
from zoo.kinds import KINDS, compiled

COMPILED = [kind for kind in KINDS if KINDS[kind].method != "exact"]


def words(kind, folder, trait):
    """fastsvm's words for this kind."""
    of = KINDS[kind]
    method = ["order", "--method", of.method] if of.method in ("geometry", "triangle") else [of.method]
    for name, value in of.options.items():
        option = "--" + name.replace("_", "-")
        method += [option] if value is True else [option, str(value)]
    if of.method == "border":
        method += ["--data", folder / f"{trait}-labelled"]
    return [*method, "-q"]


@pytest.mark.parametrize("kind", COMPILED)
def test_the_command_writes_the_same_file(tmp_path, kind):
    trait = "two_classes" if "rbf" in KINDS[kind].kernels else "linear"
    ours = compiled(trait, kind, tmp_path)
    forked.fastsvm([*words(kind, tmp_path, trait), tmp_path / f"{trait}-exact", "theirs"], cwd=tmp_path, check=True)
    assert (tmp_path / "theirs").read_bytes() == ours.read_bytes()
