"""fastsvm bound --plot: each degree proves as many rows as its certified model."""

import json
import shutil

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.comparisons.proven_rows import ProvenRows
from fastsvm_cli.figures.bound import Proven, draw
from fastsvm_cli.figures.style import content
from fastsvm_cli.methods.approx import by_degree as by_degree_file
from fastsvm_cli.methods.approx.by_degree import by_degree
from fastsvm_cli.models import load_model
from fastsvm_cli.models.base import Precision
from fastsvm_cli.text.read_rows import read_chunks
from support.drawing import boxes_of, with_gid


def measured(models_folder, name):
    """[(degree, size, ProvenRows)]"""
    found = [
        (each.degree, each.size, ProvenRows(each.model))
        for each in by_degree(load_model(str(models_folder / f"{name}.model")))
    ]
    for chunk in read_chunks(str(models_folder / f"{name}.rows")):
        for _, _, seen in found:
            seen.add(chunk)
    return found


def proven(degree, size, seen):
    own = None if seen.model.header.regression else seen.proven
    return Proven(
        f"degree {degree}", degree, size, seen.rows, own, seen.curve(), seen.quantile(0.5), seen.quantile(0.95)
    )


@pytest.mark.full
@pytest.mark.parametrize(
    "name, degree, file", [("rings", 2, "rings.2"), ("rings", 4, "rings.4"), ("colors", 3, "colors.3")]
)
def test_as_many_rows_are_proven_as_bound_tells_of_the_certified_model(models_folder, fastsvm, name, degree, file):
    reported = json.loads(fastsvm("bound", "--json", models_folder / f"{name}.rows", models_folder / file).out)[
        "pairs"
    ][0]
    (found,) = [(size, seen) for own, size, seen in measured(models_folder, name) if own == degree]
    assert found[1].proven == reported["rows_proven"] and found[1].rows == reported["rows"]
    assert found[1].largest == pytest.approx(reported["radius_largest"])
    assert found[0] == (models_folder / file).stat().st_size


def test_the_curve_counts_rows_by_their_radius(models_folder):
    model = load_model(str(models_folder / "colors.3"))
    seen = ProvenRows(model)
    radii, decided = [], []
    for chunk in read_chunks(str(models_folder / "colors.rows")):
        seen.add(chunk)
        decisions = model.decisions(Precision.labels(), with_radius=True)
        model.decision_values(chunk, decisions)
        radii += np.asarray(decisions.radius).max(axis=1).tolist()
        open_rows = set(_native.undecided_rows(model.header.task(), decisions))
        decided += [row not in open_rows for row in range(chunk.rows)]
    radii, decided = np.array(radii), np.array(decided)
    curve = seen.curve()
    assert curve[-1][1:] == (len(radii), decided.sum()) and 0 < decided.sum() < len(radii)
    for radius, rows, those in curve:
        assert np.sum(radii <= radius / 2 ** (1 / 32) * 0.999) <= rows <= np.sum(radii <= radius * 1.001)
        assert those <= np.sum(decided[radii <= radius * 1.001])
    assert [radius for radius, _, _ in curve] == sorted(radius for radius, _, _ in curve)
    assert np.quantile(radii, 0.5, method="inverted_cdf") <= seen.quantile(0.5) * 1.001


@pytest.mark.full
def test_a_line_for_each_degree_ends_at_the_share_it_proves(models_folder):
    found = [proven(*each) for each in measured(models_folder, "rings")]
    assert [each.degree for each in found] == [1, 2, 3, 4]
    figure = draw("rings.rows", "rings.model", found)
    curves, bars = figure.axes
    for each, bar in zip(found, bars.patches):
        (line,), (every,) = with_gid(curves, f"proven {each.words}"), with_gid(curves, f"rows {each.words}")
        share = 100 * each.proven / each.rows
        assert line.get_ydata()[-1] == pytest.approx(share) == bar.get_width()
        assert every.get_ydata()[-1] == 100
        assert all(np.diff(line.get_ydata()) >= 0) and all(line.get_ydata() <= every.get_ydata())
    shares = [each.proven for each in found]
    assert shares[1] < shares[3], "the data tells the degrees apart"
    texts = [text for text in bars.texts if text.get_text()]
    boxes = boxes_of(figure, texts)
    assert not any(box.overlaps(other) for at, box in enumerate(boxes) for other in boxes[:at])
    whole = figure.get_tightbbox(figure.canvas.get_renderer())
    assert whole.x0 >= 0 and whole.x1 <= 3.3 and whole.y0 >= 0
    assert content(figure, "svg") == content(draw("rings.rows", "rings.model", found), "svg")


def test_percents_say_all_of_all_rows_alone():
    one = Proven("degree 2", 2, 1000, 100_000, 99_999, [(0.1, 100_000, 99_999)], 0.1, 0.1)
    for number, words in ((100_000, "100 %"), (99_999, "99.9990 %"), (0, "0 %"), (50_000, "50.0 %"), (7, "0.0070 %")):
        texts = [text.get_text() for text in draw("d", "m", [one._replace(proven=number)]).axes[1].texts]
        assert any(text.startswith(words) for text in texts), (words, texts)


@pytest.mark.full
def test_a_regression_has_radii_alone(models_folder, fastsvm, tmp_path):
    found = [proven(*each) for each in measured(models_folder, "waves")]
    figure = draw("waves.rows", "waves.model", found)
    assert not figure.axes[1].patches and not figure.legends
    assert with_gid(figure.axes[0], "rows degree 3")[0].get_ydata()[-1] == 100
    assert any(f"radius of half: {found[2].median:.2g}" in text.get_text() for text in figure.axes[1].texts)


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "model, words",
    [
        ("rings.model", ["degree 1", "degree 2", "degree 3", "degree 4"]),
        ("rings.4", ["degree 4"]),
        ("rings.red", ["reduced set"]),
        ("linear.model", ["degree 1"]),
    ],
)
def test_the_command_draws_and_prints_what_it_did(models_folder, fastsvm, tmp_path, model, words):
    before = fastsvm("bound", models_folder / "rings.rows", models_folder / model).out
    done = fastsvm("bound", "--plot", "p.svg", models_folder / "rings.rows", models_folder / model)
    assert done.out == before and done.err == ""
    svg = (tmp_path / "p.svg").read_text()
    assert [f"degree {p}" for p in (1, 2, 3, 4) if f">degree {p}<" in svg] == [each for each in words if "deg" in each]
    assert "rings.rows: 300 rows" in svg and ("reduced set" in svg) == (model == "rings.red")


@pytest.mark.full
def test_data_may_come_from_a_pipe(models_folder, fastsvm, tmp_path):
    rows = (models_folder / "rings.rows").read_bytes()
    fastsvm("bound", "--plot", "p.png", "-", models_folder / "rings.4", input=rows)
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "words, code, reported",
    [
        (["--plot", "p.gif", "rings.rows", "rings.model"], 2, "none of them"),
        (["--plot", "p.svg", "rings.rows"], 2, "one model on one data file: name these two"),
        (["--plot", "p.svg", "rings.4", "rings.model"], 2, "these are two models"),
        (["--plot", "p.svg", "rings.rows", "colors.rows"], 2, "these are two data files"),
        (["--plot", "p.svg", "rings.rows", "sigmoid.model"], 1, "a sigmoid kernel found"),
        (["--plot", "p.svg", "rings.rows", "rings.approx"], 1, "no radii found"),
        (["--plot", "p.svg", "empty", "rings.4"], 1, "no rows found"),
        (["--plot", "rings.svg", "rings.svg", "rings.4"], 1, "would replace the input"),
        (["--plot", "nowhere/p.svg", "rings.rows", "rings.4"], 1, "No such file"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line_and_writes_nothing(
    models_folder, fastsvm, tmp_path, words, code, reported
):
    for name in words[2:]:
        if name == "empty":
            (tmp_path / name).touch()
        else:
            shutil.copy(models_folder / ("rings.rows" if name == "rings.svg" else name), tmp_path / name)
    done = fastsvm("bound", *words, code=code)
    assert reported in done.err and done.err.count("Error: ") == 1 and not (tmp_path / "p.svg").exists(), str(done)


def test_what_is_too_large_is_left_out(models_folder, monkeypatch):
    model = load_model(str(models_folder / "rings.model"))
    sizes = [each.size for each in by_degree(model)]
    monkeypatch.setattr(by_degree_file, "MOST_BYTES", sizes[2] * 1.3)
    found = by_degree(model)
    assert [each.model is None for each in found] == [False, False, False, True]
    assert found[3].skipped.endswith("B") or found[3].skipped.endswith("bytes")
    monkeypatch.setattr(by_degree_file, "MOST_SECONDS", 0.0)
    assert all(each.model is None and each.skipped for each in by_degree(model))
