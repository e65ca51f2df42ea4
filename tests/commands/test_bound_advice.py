"""`bound` grades a model, tries approx, and names a command that works as typed."""

import json
import shlex

import pytest

from support.messages import cases
from support.paths import DATA
from support.training import train_on

#: Model -> training rows, options, and the program that `bound` names.
MODELS = {name: words for name, *words in cases("advice of bound")}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("advice")
    for name, (rows, options, _) in MODELS.items():
        train_on(folder / f"{name} model", rows, options, 200)
    for name, rows in (("rings test", "rings.test"), ("waves test", "waves.train")):
        (folder / name).write_text("".join((DATA / rows).read_text().splitlines(keepends=True)[:500]))
    return folder


def report(fastsvm, *words):
    return json.loads(fastsvm("bound", "--json", *words).out)


@pytest.mark.full(few=2)
@pytest.mark.parametrize("with_rows", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_the_next_command_works_as_it_is_typed(fastsvm, directory, name, with_rows):
    test, model = directory / f"{MODELS[name][0].split('.')[0]} test", directory / f"{name} model"
    found = report(fastsvm, *[test] * with_rows, model)
    facts = found["pairs" if with_rows else "models"][0]
    assert ("next" in found["models"][0]) != with_rows
    assert facts["next"][0].split()[1] == MODELS[name][2]
    for typed in facts["next"]:
        program, *words = shlex.split(typed)
        assert program == "fastsvm"
        fastsvm(*(str(test) if word == "TEST" else word for word in words))
    shown = fastsvm("bound", *[test] * with_rows, model).out
    assert all(each in shown for each in facts["next"]) and len(shown.splitlines()) <= 14
    lines = shown.splitlines()
    first = 2 if "grade" in facts else 1
    assert lines[first] == f"  next:  {facts['next'][0]}" and ("  grade: " in lines[1]) == ("grade" in facts)


@pytest.mark.parametrize("name", ["small", "large"])
def test_approx_is_tried_on_rows(fastsvm, directory, name):
    """The count is compared with predictions by both files."""
    test, model = directory / "rings test", directory / f"{name} model"
    (pair,) = report(fastsvm, test, model)["pairs"]
    fastsvm("approx", "-q", model, "compiled")
    one, other = (fastsvm("predict", "-q", test, file).out.split() for file in (model, "compiled"))
    assert pair["rows_tried"] == 500 and pair["share_tried"] == sum(a != b for a, b in zip(one, other)) / 500
    assert pair["grade"] == ("below" if name == "small" else "far") and (pair["ratio"] < 1) == (name == "small")


def test_a_training_file_gets_advice(fastsvm):
    (data,) = report(fastsvm, DATA / "rings.train")["data"]
    assert data["next"] == [f"svm-train -c C -g GAMMA {DATA / 'rings.train'} && fastsvm bound rings.train.model"]
    (data,) = json.loads(fastsvm("bound", "--json", "-", input=(DATA / "rings.train").read_bytes()).out)["data"]
    assert data["next"] == ["fastsvm bound MODEL"]
