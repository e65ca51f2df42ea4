"""fastsvm reduce --plot: the written set and smaller ones, measured on the same rows."""

import numpy as np
import pytest

from fastsvm_cli.benchmarks.quality import interval_95
from fastsvm_cli.comparisons.agreement import agreement
from fastsvm_cli.figures import reduce as reduce_figure
from fastsvm_cli.figures.reduce import Size, Sizes, draw, measure_sizes
from fastsvm_cli.figures.style import content
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.drawing import fits_a_column, points, texts

HOW = {"init": "greedy", "optimizer": "none", "finishing": False, "seed": 0}


def measured(models_folder, name, count, how=HOW, with_rows=True):
    model = load_model(str(models_folder / f"{name}.model"))
    rows = list(read_chunks(str(models_folder / f"{name}.rows"))) if with_rows else []
    picked = compile_reduced_set(model, count=count, fingerprint="", **how).model
    found = measure_sizes(model, picked, rows, fingerprint="", how=how, on_progress=lambda share, words: None)
    return model, picked, rows, found


@pytest.mark.full
@pytest.mark.parametrize("name, count, finishing", [("rings", 12, True), ("colors", 30, False)])
def test_eight_sizes_each_compiled_and_compared_by_itself(models_folder, name, count, finishing):
    how = {**HOW, "finishing": finishing}
    model, _picked, rows, found = measured(models_folder, name, count, how)
    counts = [each.vectors for each in found.sizes]
    assert len(counts) <= 8 and counts == sorted(set(counts)) and counts[-1] == count
    assert counts[0] <= max(2, model.header.nr_class)
    assert found.rows == sum(chunk.rows for chunk in rows) and found.exact.vectors == model.header.total_sv
    for each in (found.sizes[2], found.sizes[-1]):
        own = compile_reduced_set(model, count=each.vectors, fingerprint="", **how).model
        seen = agreement(own, model, rows)
        assert each.distance == seen.disagreement and each.finished == finishing
        assert each.distance_95 == interval_95(seen.different, seen.rows)
        assert 0 < each.seconds_95[0] <= each.seconds <= each.seconds_95[1]


@pytest.mark.full
def test_of_a_regression_it_is_the_difference_and_without_rows_of_the_support_vectors(models_folder):
    model, picked, rows, found = measured(models_folder, "waves", 20)
    share, (low, high) = agreement(picked, model, rows).share, found.sizes[-1].distance_95
    assert found.regression and found.sizes[-1].distance == pytest.approx(share) and low < share < high
    model, picked, _, found = measured(models_folder, "colors", 12, with_rows=False)
    assert found.rows == model.header.total_sv and not any(each.finished for each in found.sizes)
    assert found.sizes[-1].distance == agreement(picked, model, [model.vectors]).disagreement


@pytest.mark.full
def test_what_the_descents_would_take_too_long_for_goes_without_but_the_written(models_folder, monkeypatch):
    monkeypatch.setattr(reduce_figure, "FINISHING_SECONDS", 0.0)
    _, _, _, found = measured(models_folder, "rings", 8, {**HOW, "finishing": True})
    assert [each.finished for each in found.sizes] == [False] * (len(found.sizes) - 1) + [True]
    words = [text.get_text() for text in draw("rings.rows", found).legends[0].get_texts()]
    assert words == ["all vectors moved at the end", "best coefficients alone", "written: 8 vectors"]


def a_few(distances):
    sizes = []
    for at, share in enumerate(distances):
        time, interval = 1e-6 * (at + 1), interval_95(round(share * 1000), 1000)
        sizes.append(Size(10 * 2**at, share, interval, time, (0.9 * time, 2 * time), True))
    return Sizes(sizes, Size(5000, 0.0, (0.0, 0.0), 2e-5, (1.9e-5, 2.2e-5), False), 1000, False)


def test_numbers_stand_where_they_belong():
    found = a_few([0.02, 0.002, 0.0])
    figure = draw("rows", found)
    upper, lower = map(points, figure.axes)
    band = figure.axes[0].patches[0].get_extents().transformed(figure.axes[0].transData.inverted())
    zero = upper["finished"][2][0][1]
    border = band.y1  # the band of 0 has no scale
    assert border == pytest.approx(0.2 / 1.6)
    lows = [max(100 * each.distance_95[0], border) for each in found.sizes[:2]]
    highs = [100 * each.distance_95[1] for each in found.sizes]
    # Of each panel: what must be drawn -> numbers.
    for drawn, expected in (
        (np.concatenate(upper["finished"]), [(10, 2), (20, 0.2), (40, zero)]),
        (np.concatenate(lower["finished"]), [(10, 1.0), (20, 2.0), (40, 3.0)]),
        ([each[0][0] for each in (upper["picked"][0], lower["picked"][0])], [40, 40]),
        ([line[0, 1] for line in upper["interval of distance"][:2]], lows),
        ([line[1, 1] for line in upper["interval of distance"]], highs),
        (lower["interval of time"][1][:, 1], [1.8, 4.0]),
        (lower["exact model"][0][0][1], 20),
    ):
        assert np.allclose(drawn, expected, rtol=1e-6)
    for axis in figure.axes:
        heights = [line[0][1] for line in points(axis)["finished"]]
        assert axis.get_ylim()[0] < min(heights) and max(heights) < axis.get_ylim()[1]
    assert band.y0 < zero < band.y1 and figure.axes[0].get_yticklabels()[0].get_text() == "0"
    assert "exact model, 5,000 vectors" in texts(figure.axes[1])
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim() and fits_a_column(figure)
    assert content(figure, "svg") == content(draw("rows", found), "svg")


@pytest.mark.full
def test_all_or_none_or_one():
    for distances in ([0.0, 0.0, 0.0], [0.3], [0.0], [1.0, 0.9]):
        upper = draw("rows", a_few(distances)).axes[0]
        assert len(points(upper)["finished"]) == len(distances)
        assert any(text.get_text() == "0" for text in upper.get_yticklabels()) == (0.0 in distances)
