"""The record of a command's options, and the command."""

import json
from importlib import import_module

import pytest

from fastsvm_cli.cli import COMMANDS
from fastsvm_cli.console.option_types import Share
from support import forked
from support.paths import DATA, ROOT
from support.training import train_on


def test_what_does_not_go_together_is_refused_when_the_record_is_made():
    import click

    from fastsvm_cli.methods.reduce import METHOD

    assert METHOD.read_options({"ratio": 0.1}, None, "m").count(57) == 6
    with pytest.raises(click.UsageError, match="--vectors and --ratio do not go together"):
        METHOD.read_options({"ratio": 0.1, "vectors": 3}, None, "m")


#: (options without effect, part of the message)
WITHOUT_EFFECT = [
    ("predict --delim ; rows m out", "--delim goes with --dense"),
    ("predict --delim , rows m out", "--delim goes with --dense"),
    ("predict --block 3 rows m out", "--block goes with --dask"),
    ("predict --scale s --y-scale y --unlabelled rows m out", "whose rows have none"),
    ("predict --scale x.scale --y-scale y.scale rows c_svc.model out", "--y-scale is for regression models"),
    ("bound --delim ; rows", "--delim goes with --dense"),
    ("bound --scale x.scale c_svc.model", "--scale is about rows of data"),
    ("bound --dense c_svc.model", "--dense is about rows of data"),
    ("bound --unlabelled c_svc.model", "--unlabelled is about rows of data"),
    ("bound --max-line 3 c_svc.model", "--max-line is about rows of data"),
    ("approx --rank 2 linear.model out", "they go with degree 2"),
    ("approx --tolerance 0.1 linear.model out", "they go with degree 2"),
    ("border --raw three_classes.model out", "--raw is for models with probabilities"),
    ("border --raw --data rows one_class.model out", "--raw is for models with probabilities"),
    ("border --bandwidth 1 --density --local 1 rows out", "it does not go with --local"),
    ("bench --max-size 64 rows m", "--max-size goes with --try"),
    ("bench --degree 2 rows m", "--degree goes with --cross-validate"),
    ("bench --degree 2 --try rows m", "--degree goes with --cross-validate"),
    ("bench --cross-validate 3 --runs 5 rows", "--runs does not go with --cross-validate"),
    ("bench --cross-validate 3 --max-seconds 5 rows", "--max-seconds does not go with --cross-validate"),
    ("bench --cross-validate 3 --time-limit 3 rows", "--time-limit goes with --try"),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """The models above; no rows, because the message comes before they are read."""
    folder = tmp_path_factory.mktemp("options")
    for name in ("c_svc", "one_class", "three_classes"):
        (folder / f"{name}.model").write_bytes((ROOT / "tests" / "golden" / f"{name}.model").read_bytes())
    train_on(folder / "linear.model", "rings.train", "-t 0", 100)
    (folder / "x.scale").write_text("0.5 2\n" * 4)  # as write.svm of R's e1071 writes it
    (folder / "y.scale").write_text("1 3\n")
    return folder


@pytest.mark.full(few=2)
@pytest.mark.parametrize("words, reported", WITHOUT_EFFECT)
def test_an_option_without_effect_is_refused(directory, words, reported):
    done = forked.fastsvm(words.split(), cwd=directory, text=True)
    *_, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "") and last.startswith("Error: ") and reported in last, done.stderr
    assert not (directory / "out").exists()


@pytest.mark.full
def test_dense_rows_and_a_model_are_told_apart(directory, fastsvm, tmp_path):
    """Features can be called label and gamma, like lines of a model's header."""
    rows = [line.split() for line in (DATA / "rings.test").read_text().splitlines()[:30]]
    (tmp_path / "rows").write_text("".join(" ".join(row) + "\n" for row in rows))
    (tmp_path / "dense").write_text("".join(" ".join(word.split(":")[-1] for word in row) + "\n" for row in rows))
    train_on(tmp_path / "m", "rings.train", "-g 0.2", 100)
    found = json.loads(fastsvm("bound", "--json", "--dense", "--delim", " ", "dense", "m").out)["pairs"]
    (expected,) = json.loads(fastsvm("bound", "--json", "rows", "m").out)["pairs"]
    # bench reads no delimited rows.
    assert expected["next"] == ["fastsvm bench --try --budget 0.5% rows m"]
    assert found == [{**expected, "data": "dense", "next": ["fastsvm bench --try --budget 0.5% TEST m"]}]
    (tmp_path / "heading").write_text("label gamma\n1 0.5\n")
    assert "heading of delimited numbers" in fastsvm("bound", "--dense", "--delim", " ", "heading", "m", code=1).err
    for heading in ("label,a,b", "label,0,1"):
        (tmp_path / "heading").write_text(f"{heading}\n1,0.5,2\n")
        for words in ("bench heading m", "reduce --target 1% --data heading m o", "border --data heading m o"):
            assert "this looks like the heading of delimited numbers" in fastsvm(*words.split(), code=1).err


def test_empty_input_fails_where_it_is_to(fastsvm, tmp_path):
    train_on(tmp_path / "m", "rings.train", "-g 0.2", 100)
    (tmp_path / "empty").write_text("# no row\n")
    (tmp_path / "one").write_text("1 1:0.5\n")
    (tmp_path / "out").write_text("before\n")
    done = fastsvm("predict", "--fail-on-empty", "empty", "m", "out", code=1)
    assert done.err == "Error: empty: no row to predict found, expected some (--fail-on-empty)\n"
    assert (tmp_path / "out").read_text() == "before\n"
    assert fastsvm("predict", "empty", "m", "out").code == 0 and (tmp_path / "out").read_text() == ""
    assert fastsvm("predict", "--fail-on-empty", "one", "m", "out").code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_no_number_is_nan_and_none_but_a_limit_infinite(name):
    import click

    options = import_module(f"fastsvm_cli.commands.{name}").command.params
    numbers = [each for each in options if isinstance(each.type, (click.types.FloatParamType, Share))]
    for each in numbers:
        for word in ("nan", "inf") if each.name != "max_size" else ("nan",):
            with pytest.raises(click.BadParameter, match=word):
                each.type.convert(word, each, None)
        if each.name == "max_size":
            assert each.type.convert("inf", each, None) == float("inf")
    assert numbers or name == "export"  # export takes only whole numbers


@pytest.mark.full
def test_there_is_no_more_of_anything_than_the_core_can_count(fastsvm, directory, tmp_path):
    (tmp_path / "rows").write_text("".join((DATA / "rings.test").read_text().splitlines(keepends=True)[:20]))
    train_on(tmp_path / "m", "rings.train", "-g 0.2", 100)
    most = 10**23
    fastsvm("order", "-q", "--seed", most, "--points", most, "m", "geometry")
    fastsvm("order", "-q", "--method", "triangle", "--seed", most, "--lists", 3, "m", "triangle")
    for name in ("geometry", "triangle"):
        assert (
            fastsvm("predict", "-q", "--threads", most, "rows", name).out == fastsvm("predict", "-q", "rows", "m").out
        )
    assert len(fastsvm("predict", "-q", "--steps", most, "rows", "geometry").out.splitlines()) == 20
