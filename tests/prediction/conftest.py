"""Models of the zoo and data for the tests of prediction, made once."""

import random

import numpy as np
import pytest

from support.bad_rows import PRECOMPUTED, spoil
from support.messages import cases
from support.open_rows import awkward
from support.oracles import random_rows
from support.reading import COMPRESS, dressed
from support.resuming import ROWS
from zoo.kinds import compiled
from zoo.traits import specimen

#: Name -> trait, and end of a file's name -> kind.
MODELS = {name: words for name, *words in cases("models of predictions")}


@pytest.fixture(scope="session")
def models(tmp_path_factory, zoo):
    """A folder with models of every kind, rows for them in every form, and rows whose numbers are hard to write."""
    folder = tmp_path_factory.mktemp("models")
    for name, (trait, kinds) in MODELS.items():
        for end, kind in {"model": "exact", **kinds}.items():
            (folder / f"{name}.{end}").write_bytes(compiled(trait, kind, zoo).read_bytes())
        rng, random_numbers = random.Random(name), np.random.default_rng(7)
        rows = random_rows(random_numbers, ROWS, range(1, 6), density=0.8)
        labels = [rng.choice(specimen(trait).machine.label or [0.5, -1.5]) for _ in rows]
        (folder / f"{name}.awkward").write_text("".join(awkward(rng, labels[:200], rows[:200])))
        entries = [" ".join(f"{index}:{value:.6g}" for index, value in row.items()) for row in rows]
        lines = [f"{label} {row}\n" for label, row in zip(labels, entries)]
        (folder / f"{name}.rows").write_text("".join(lines))
        (folder / f"{name}.bad").write_text(spoil(lines, rng)[0])
        (folder / f"{name}.dressed").write_text(dressed(lines, rng)[0])
        (folder / f"{name}.bare").write_text("".join(row + "\n" for row in entries))
        dense = ([label, *(row.get(index, 0) for index in range(1, 6))] for label, row in zip(labels, rows))
        (folder / f"{name}.csv").write_text("label,a,b\n" + "".join(",".join(map(str, row)) + "\n" for row in dense))
        for kind, compress in COMPRESS.items():
            # Several streams in a row.
            streams = ("".join(lines[at : at + 37]).encode() for at in range(0, ROWS, 37))
            (folder / f"{name}.{kind}").write_bytes(b"".join(map(compress, streams)))
    (folder / "no.rows").write_text("")
    (folder / "foo.rows").write_text("foo\n" * 3000)
    good = ["1 0:1 1:0.5 2:0.25 3:0.125\n", "-1 0:2 1:0.1 2:0.2 3:0.9\n"]
    (folder / "serials.model").write_text(PRECOMPUTED)
    (folder / "serials.bad").write_text(spoil(good * 100, random.Random(4), ("1 0:3 1:0.5", "foo"))[0])
    return folder
