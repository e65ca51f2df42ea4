"""Cascades of trained models: labels of stages and of the exact model, files, and what is refused."""

import os
import re
import subprocess

import numpy as np
import pytest
from scipy.stats import beta

from fastsvm_cli import _native
from fastsvm_cli.methods.cascade.stages import _Pursuit
from fastsvm_cli.models import LABELS, load_model
from fastsvm_cli.text.read_rows import read_chunks
from support import forked
from support.benching import first_rows
from support.cascading import Stages
from support.messages import cases
from support.paths import DATA, PROGRAM
from support.processes import PATIENCE
from support.training import train_on

#: Options of svm-train, --budget of cascade, and the kinds of stages that it chooses.
CASES = {name: words for name, *words in cases("cascades")}
CASCADE = ("cascade", "--rows", "1000000")
every_case = pytest.mark.parametrize("name", CASES)
#: Beside usual rows: empty, an unknown feature, unknown ones alone, longer than any calibrated one.
UNUSUAL = "0\n1 1:0.5 2:0.5 3:0.25 900:0.5\n-1 700:1 900:2\n1 1:50 2:-50 8:1e5\n0 3:1e300\n"


def run(folder, *words, code=0, **given):
    done = forked.fastsvm(words, cwd=folder, text=True, **given)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder, done = tmp_path_factory.mktemp("cascades"), set()

    def make(name):
        """Return the folder, with name (a model), name.cascade, name.printed, and rows."""
        data, options, budget = CASES[name]
        if name not in done:
            done.add(name)
            train_on(folder / name, f"{data}.train", options, 1500)
            first_rows(folder, f"{data}.test", f"{data}.test", 3000)
            train = (DATA / f"{data}.train").read_text().splitlines(keepends=True)[:500]
            (folder / f"{data}.rows").write_text("".join([*train[:100], UNUSUAL, *train]))
            words = [*CASCADE, "--budget", budget, "--data", f"{data}.test", name]
            (folder / f"{name}.printed").write_text(run(folder, *words).stdout)
        return folder, load_model(str(folder / f"{name}.cascade")), folder / f"{data}.rows"

    return make


def chunk_of(path):
    (chunk,) = read_chunks(str(path))
    return chunk


@pytest.mark.full(few=1)
@every_case
def test_a_row_has_the_label_of_its_stage_or_of_the_exact_model(made, name):
    folder, model, rows = made(name)
    chunk, cascade = chunk_of(rows), model.cascade()
    winner, stopped = map(np.array, cascade.label(chunk))
    expected = np.full(chunk.rows, -1)
    for number, stage in enumerate(model.stages):
        its, margin = map(np.asarray, cascade.margins(chunk, number))
        stops = (expected < 0) & (margin > stage.threshold)
        expected[stops] = its[stops]
        assert stopped[number] == stops.sum()
    assert np.array_equal(winner, expected) and (winner[103:105] == -1).all() and (winner >= 0).mean() > 0.5
    decisions = model.decisions(LABELS)
    model.decision_values(chunk, decisions, LABELS)
    assert sum(decisions.level_rows) == (winner < 0).sum()
    assert decisions.reference_rows == decisions.level_rows[-1] > 0  # of UNUSUAL
    exact = run(folder, "predict", rows, name).stdout.split()
    labels = ["1", "-1"] if model.header.label is None else list(map(str, model.header.label))
    answer = [labels[position] if position >= 0 else theirs for position, theirs in zip(winner, exact)]
    assert run(folder, "predict", rows, f"{name}.cascade").stdout.split() == answer
    subprocess.run([PROGRAM, "-q", rows, f"{name}.cascade", "native"], cwd=folder, check=True, timeout=PATIENCE)
    assert (folder / "native").read_text().split() == answer
    # The budget is many times the difference that the part of equal rows allows.
    assert sum(map(str.__ne__, answer, exact)) <= 3 * model.budget * len(exact)
    for options in (["--values"], *[["-b", "1"]] * model.header.has_probability):
        ours, theirs = (run(folder, "predict", *options, rows, each).stdout for each in (f"{name}.cascade", name))
        assert ours == theirs


@pytest.mark.full(few=1)
@every_case
def test_margins_are_those_of_the_files_numbers(made, name):
    _, model, rows = made(name)
    chunk, stages = chunk_of(rows).slice(60, 180), Stages(model)
    assert [each[:3] for each in stages.stages] == [(s.degree, s.vectors, s.threshold) for s in model.stages]
    for number in range(len(stages.stages)):
        winner, margin = map(np.asarray, model.cascade().margins(chunk, number))
        theirs, expected = stages.elected(number, chunk)
        sure = expected > 0.01
        assert np.array_equal(winner[sure], theirs[sure]) and sure.mean() > 0.8
        assert margin[sure] == pytest.approx(expected[sure], rel=1e-3, abs=1e-2)
        assert (margin[np.asarray(chunk.squared_norms) > stages.longest] == -np.inf).all()


def test_a_rows_answer_depends_on_that_row_alone(made, all_threads):
    _, model, rows = made("binary")
    chunk, cascade = chunk_of(rows), model.cascade()
    expected = np.array(cascade.label(chunk)[0])
    order = np.random.default_rng(2).permutation(chunk.rows).tolist()
    for threads in (1, 2, 5):
        _native.set_threads(threads)
        assert np.array_equal(cascade.label(chunk.select(order))[0], expected[order])
    assert [cascade.label(chunk.select([row]))[0][0] for row in order[:60]] == expected[order[:60]].tolist()


@pytest.mark.full
def test_the_same_seed_gives_the_same_file_and_threads_do_not_matter(made):
    folder, _, _ = made("binary")
    text = (folder / "binary.cascade").read_bytes()
    for options, same in ((["--threads", 1], True), (["--threads", 3, "--seed", 0], True), (["--seed", 1], False)):
        run(folder, *CASCADE, "--budget", "1%", "--data", "rings.test", "binary", "again", *options)
        assert ((folder / "again").read_bytes() == text) == same


def test_the_summary(made):
    folder, model, _ = made("binary")
    stages = "".join(r"stage \d: .*(vectors|polynomial|linear).* answers [\d.]+ % of the rows\n" for _ in model.stages)
    assert re.fullmatch(
        stages + r"exact model: \d+ support vectors, [\d.]+ %\n"
        r"[\d.]+ KB -> [\d.]+ KB: binary.cascade\n"
        r"[\d.]+ kernel evaluations a row, [\d.]+ times as fast as the exact model"
        r" \(for a run of 1,000,000 rows, with reading\)\n"
        r"guaranteed with 95 % confidence: at most 1 % of rows like these differ;"
        rf" in the test {model.differing} of {model.tested} did \([\d.]+ %\)\n",
        (folder / "binary.printed").read_text(),
    )
    assert beta.ppf(0.95, model.differing + 1, model.tested - model.differing) <= model.budget == 0.01


@pytest.mark.full
def test_rows_without_labels_from_a_pipe(made):
    folder, _, _ = made("binary")
    rows = re.sub(r"^\S+ ", "", (folder / "rings.test").read_text(), flags=re.M)
    words = [*CASCADE, "--data", "-", "--unlabelled", "--budget", "1%", "--confidence", "99.99%", "binary", "-"]
    done = run(folder, *words, input=rows, env={**os.environ, "COLUMNS": "40"})
    assert done.stdout.startswith("fastsvm_model cascade 2\n") and "standard output" in done.stderr
    assert "guaranteed with 99.99 % confidence: at most 1 % of rows" in done.stderr


def test_pursuit_takes_the_best_term_and_solves_every_prefix():
    rng = np.random.default_rng(3)
    design, targets = rng.normal(size=(50, 12)), rng.normal(size=(50, 2))
    pursuit = _Pursuit(design.T @ design, design.T @ targets, forced=2, most=6)

    def fit(terms):
        return np.linalg.lstsq(design[:, terms], targets, rcond=None)

    assert pursuit.order[:2] == [0, 1]
    for count in range(3, 9):
        chosen, last = pursuit.order[: count - 1], pursuit.order[count - 1]
        assert last == min(set(range(12)) - {*chosen}, key=lambda term: fit([*chosen, term])[1].sum())
        assert np.allclose(pursuit.weights(count), fit([*chosen, last])[0], rtol=0, atol=1e-6)
