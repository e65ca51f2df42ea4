"""Models and data for the tests of prediction, made once."""

import random

import pytest
from libsvm.svmutil import svm_read_problem

from support.bad_rows import PRECOMPUTED, spoil
from support.compiling import compile_all
from support.open_rows import CASES, awkward
from support.paths import DATA
from support.reading import COMPRESS, dressed
from support.resuming import ROWS
from support.training import train, train_on


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with NAME.model, NAME.fast and NAME.rows for each case; the rows' numbers are hard to write."""
    folder = tmp_path_factory.mktemp("open")
    for name, (source, training, compiling, _) in CASES.items():
        y, x = svm_read_problem(str(DATA / f"{source}.train"))
        train(folder / f"{name}.model", x[:300], y[:300], training)
        command, *options = compiling.split()
        compile_all(folder, " ".join([command, *options, f"{name}.model", f"{name}.fast"]))
        (folder / f"{name}.rows").write_text("".join(awkward(random.Random(name), y[300:500], x[300:500])))
    compile_all(folder, "approx two.model plain")
    return folder


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder with a model of each kind, and data for them."""
    folder = tmp_path_factory.mktemp("models")
    for name, source, options in (
        ("rings", "rings.train", "-g 0.2 -c 10 -b 1"),
        ("colors", "colors.train", "-g 0.02 -c 1 -b 1"),
        ("waves", "waves.train", "-s 3 -g 0.05 -c 5 -b 1"),
    ):
        train_on(folder / f"{name}.model", source, options, 400)
        lines = (DATA / source).read_text().splitlines(keepends=True)[400 : 400 + ROWS]
        (folder / f"{name}.rows").write_text("".join(lines))
        (folder / f"{name}.bad").write_text(spoil(lines, random.Random(3))[0])
        (folder / f"{name}.dressed").write_text(dressed(lines, random.Random(5))[0])
        (folder / f"{name}.bare").write_text("".join(" ".join(line.split()[1:]) + "\n" for line in lines))
        dense = [
            [
                line.split()[0],
                *(dict(pair.split(":") for pair in line.split()[1:]).get(str(index), "0") for index in range(1, 9)),
            ]
            for line in lines
        ]
        (folder / f"{name}.csv").write_text("label,a,b\n" + "".join(",".join(row) + "\n" for row in dense))
        for kind, compress in COMPRESS.items():
            # Several streams in a row.
            (folder / f"{name}.{kind}").write_bytes(
                b"".join(compress("".join(lines[at : at + 37]).encode()) for at in range(0, ROWS, 37))
            )
    good = ["1 0:1 1:0.5 2:0.25 3:0.125\n", "-1 0:2 1:0.1 2:0.2 3:0.9\n"]
    (folder / "serials.model").write_text(PRECOMPUTED)
    (folder / "serials.bad").write_text(spoil(good * 100, random.Random(4), ("1 0:3 1:0.5", "foo"))[0])
    compile_all(
        folder,
        "approx --certify rings.model rings.cert",
        "approx rings.model rings.approx",
        "order rings.model rings.order",
        "order --method triangle colors.model colors.triangle",
        "reduce --ratio 0.1 waves.model waves.red",
        "order waves.model waves.order",
    )
    return folder
