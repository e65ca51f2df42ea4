"""fastsvm bound --plot: each degree proves as many rows as its certified model."""

import json
from functools import cache

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.comparisons.norms import ProvenRows
from fastsvm_cli.figures.bound import Proven, draw
from fastsvm_cli.figures.style import content
from fastsvm_cli.methods.approx import grade as by_degree_file
from fastsvm_cli.methods.approx.grade import by_degree
from fastsvm_cli.models import load_model
from fastsvm_cli.models.base import Precision
from fastsvm_cli.text.read_rows import read_chunks
from support.drawing import boxes_of, fits_a_column, points


@pytest.fixture(scope="module")
def measured(models_folder):
    """measured(name) -> [(degree, size, ProvenRows)]"""

    @cache
    def of(name):
        found = by_degree(load_model(str(models_folder / f"{name}.model")))
        seen = [ProvenRows(each.model) for each in found]
        for chunk in read_chunks(str(models_folder / f"{name}.rows")):
            for each in seen:
                each.add(chunk)
        return [(each.degree, each.size, rows) for each, rows in zip(found, seen)]

    return of


def entries(figure):
    """Texts of the legend."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


def proven(degree, size, seen):
    return Proven.of(f"degree {degree}", degree, size, seen)


@pytest.mark.full
def test_as_many_rows_are_proven_as_bound_tells_of_the_certified_model(models_folder, measured, fastsvm):
    for name, degree in (("rings", 4), ("colors", 3)):
        file = models_folder / f"{name}.{degree}"
        reported = json.loads(fastsvm("bound", "--json", models_folder / f"{name}.rows", file).out)["pairs"][0]
        ((size, seen),) = [(size, seen) for own, size, seen in measured(name) if own == degree]
        assert (seen.proven, seen.rows) == (reported["rows_proven"], reported["rows"])
        assert seen.largest == pytest.approx(reported["radius_largest"]) and size == file.stat().st_size


@pytest.mark.full
def test_the_curve_counts_rows_by_their_radius(models_folder):
    model = load_model(str(models_folder / "colors.3"))
    seen = ProvenRows(model)
    radii, decided = [], []
    for chunk in read_chunks(str(models_folder / "colors.rows")):
        seen.add(chunk)
        decisions = model.decisions(Precision.labels(), with_radius=True)
        model.decision_values(chunk, decisions)
        radii += np.asarray(decisions.radius).max(axis=1).tolist()
        open_rows = _native.undecided_rows(model.header.task(), decisions)
        decided += (~np.isin(range(chunk.rows), open_rows)).tolist()
    radii, decided = np.array(radii), np.array(decided)
    curve = seen.curve()
    assert curve[-1][1:] == (len(radii), decided.sum()) and 0 < decided.sum() < len(radii)
    for radius, rows, those in curve:
        assert np.sum(radii <= radius / 2 ** (1 / 32) * 0.999) <= rows <= np.sum(radii <= radius * 1.001)
        assert those <= np.sum(decided[radii <= radius * 1.001])
    assert [radius for radius, _, _ in curve] == sorted(radius for radius, _, _ in curve)
    assert np.quantile(radii, 0.5, method="inverted_cdf") <= seen.quantile(0.5) * 1.001


@pytest.mark.full
def test_a_line_for_each_degree_ends_at_the_share_it_proves(measured):
    found = [proven(*each) for each in measured("rings")]
    assert [each.degree for each in found] == [1, 2, 3, 4]
    figure = draw("rings.rows", "rings.model", found)
    curves = points(figure.axes[0])
    for each in found:
        (line,), (every,) = curves[f"proven {each.words}"], curves[f"rows {each.words}"]
        assert line[-1, 1] == pytest.approx(100 * each.proven / each.rows) and every[-1, 1] == 100
        assert (np.diff(line[:, 1]) >= 0).all() and (line[:, 1] <= every[:, 1]).all()
    assert found[1].proven < found[3].proven, "the data tells the degrees apart"
    boxes = boxes_of(figure, figure.legends[0].get_texts())
    assert len(boxes) == len(found) + 2
    assert not any(box.overlaps(other) for at, box in enumerate(boxes) for other in boxes[:at])
    assert fits_a_column(figure)
    assert content(figure, "svg") == content(draw("rings.rows", "rings.model", found), "svg")


def test_percents_say_all_of_all_rows_alone():
    one = Proven("degree 2", 2, 1000, 100_000, 99_999, [(0.1, 100_000, 99_999)], 0.1, 0.1)
    for number, words in ((100_000, "100 %"), (99_999, "99.9990 %"), (0, "0 %"), (50_000, "50.0 %"), (7, "0.0070 %")):
        found = entries(draw("d", "m", [one._replace(proven=number)]))
        assert found[0].startswith(f"degree 2: {words}"), (words, found)
    assert found[0] == "degree 2: 0.0070 % (95 %: 0.0034 % to 0.014 %), 1 KB"


@pytest.mark.full
def test_a_regression_has_radii_alone(measured):
    found = [proven(*each) for each in measured("waves")]
    figure = draw("waves.rows", "waves.model", found)
    assert not any(name.startswith("proven") for name in points(figure.axes[0])) and "all rows" not in entries(figure)
    assert points(figure.axes[0])["rows degree 3"][0][-1, 1] == 100
    assert any(f"radius of half: {found[2].median:.2g}" in text for text in entries(figure))


@pytest.mark.full
def test_what_is_too_large_is_left_out(models_folder, monkeypatch):
    model = load_model(str(models_folder / "rings.model"))
    sizes = [each.size for each in by_degree(model)]
    monkeypatch.setattr(by_degree_file, "MOST_BYTES", sizes[2] * 1.3)
    found = by_degree(model)
    assert [each.model is None for each in found] == [False, False, False, True]
    assert found[3].skipped.endswith("B") or found[3].skipped.endswith("bytes")
    monkeypatch.setattr(by_degree_file, "MOST_SECONDS", 0.0)
    assert all(each.model is None and each.skipped for each in by_degree(model))
