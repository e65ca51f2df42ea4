"""fastsvm reduce --plot: the written set and smaller ones, measured on the same rows."""

import json
import os

import numpy as np
import pytest

from fastsvm_cli.benchmarks import sizes as sizes_file
from fastsvm_cli.benchmarks.quality import interval_95
from fastsvm_cli.benchmarks.sizes import Size, Sizes, measure_sizes
from fastsvm_cli.comparisons.agreement import agreement
from fastsvm_cli.figures.reduce import draw
from fastsvm_cli.figures.style import content
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import load_model
from fastsvm_cli.text.read_rows import read_chunks
from support.benching import ONE_THREAD
from support.drawing import with_gid

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


def test_of_a_regression_it_is_the_difference_beside_the_spread(models_folder):
    model, picked, rows, found = measured(models_folder, "waves", 20)
    assert found.regression
    seen = agreement(picked, model, rows)
    assert found.sizes[-1].distance == pytest.approx(seen.share)
    low, high = found.sizes[-1].distance_95
    assert low < seen.share < high


def test_without_rows_they_are_the_support_vectors_of_any_number_of_classes(models_folder):
    model, picked, _, found = measured(models_folder, "colors", 12, with_rows=False)
    assert found.rows == model.header.total_sv and not any(each.finished for each in found.sizes)
    assert found.sizes[-1].distance == agreement(picked, model, [model.vectors]).disagreement


def test_what_the_descents_would_take_too_long_for_goes_without_but_the_written(models_folder, monkeypatch):
    monkeypatch.setattr(sizes_file, "FINISHING_SECONDS", 0.0)
    _, _, _, found = measured(models_folder, "rings", 8, {**HOW, "finishing": True})
    assert [each.finished for each in found.sizes] == [False] * (len(found.sizes) - 1) + [True]
    words = [text.get_text() for text in draw("rings.rows", found).legends[0].get_texts()]
    assert words == ["all vectors moved at the end", "best coefficients alone", "written: 8 vectors"]


def a_few(distances):
    sizes = [
        Size(
            10 * 2**at,
            share,
            interval_95(round(share * 1000), 1000),
            1e-6 * (at + 1),
            (0.9e-6 * (at + 1), 2e-6 * (at + 1)),
            True,
        )
        for at, share in enumerate(distances)
    ]
    return Sizes(sizes, Size(5000, 0.0, (0.0, 0.0), 2e-5, (1.9e-5, 2.2e-5), False), 1000, False)


def test_numbers_stand_where_they_belong():
    found = a_few([0.02, 0.002, 0.0])
    figure = draw("rows", found)
    upper, lower = figure.axes
    for axis, heights in ((upper, [np.log10(2), np.log10(0.2), None]), (lower, [1.0, 2.0, 3.0])):
        marks = with_gid(axis, "finished")
        assert [line.get_xdata()[0] for line in marks] == [10, 20, 40]
        for line, height in zip(marks, heights):
            if height is not None:
                assert line.get_ydata()[0] == pytest.approx(height)
            assert axis.get_ylim()[0] < line.get_ydata()[0] < axis.get_ylim()[1]
        (ring,) = with_gid(axis, "picked")
        assert ring.get_xdata()[0] == 40
    zero = with_gid(upper, "finished")[2].get_ydata()[0]
    band = upper.patches[0].get_extents().transformed(upper.transData.inverted())
    assert band.y0 < zero < band.y1 and upper.get_yticklabels()[0].get_text() == "0"
    spans = [line.get_ydata() for line in with_gid(upper, "interval of distance")]
    for each, (low, high) in zip(found.sizes[:2], spans):
        border = 10 ** (np.log10(0.2) - 0.2) / 100  # the band of 0 has no scale
        assert (10**low / 100, 10**high / 100) == pytest.approx((max(each.distance_95[0], border), each.distance_95[1]))
    assert 10 ** spans[2][1] / 100 == pytest.approx(interval_95(0, 1000)[1])
    times = [line.get_ydata() for line in with_gid(lower, "interval of time")]
    assert times[1] == pytest.approx([1.8, 4.0])
    assert with_gid(lower, "exact model")[0].get_ydata()[0] == pytest.approx(20)
    assert "exact model, 5,000 vectors" in [text.get_text() for text in lower.texts]
    assert upper.get_xlim() == lower.get_xlim()
    whole = figure.get_tightbbox(figure.canvas.get_renderer())
    assert whole.x0 >= 0 and whole.x1 <= 3.3 and whole.y0 >= 0 and whole.y1 <= figure.get_size_inches()[1]
    assert content(figure, "svg") == content(draw("rows", found), "svg")


@pytest.mark.parametrize("distances", [[0.0, 0.0, 0.0], [0.3], [0.0], [1.0, 0.9]])
def test_all_or_none_or_one(distances):
    upper = draw("rows", a_few(distances)).axes[0]
    assert len(with_gid(upper, "finished")) == len(distances)
    assert any(text.get_text() == "0" for text in upper.get_yticklabels()) == (0.0 in distances)


@pytest.mark.full
def test_the_command_writes_the_same_model_with_and_without_a_figure(models_folder, fastsvm, tmp_path):
    words = ["reduce", "--vectors", 12, "--data", models_folder / "rings.rows", models_folder / "rings.model"]
    before = fastsvm(*words, "a", env=ONE_THREAD)
    done = fastsvm(*words[:-1], "--plot", "p.svg", words[-1], "b", env=ONE_THREAD)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert done.out.replace(": b\n", ": a\n") == before.out
    svg = (tmp_path / "p.svg").read_text()
    assert "rings.rows: 300 rows" in svg and "written: 12 vectors" in svg
    words = ["reduce", "-q", "--target", 0.1, "--no-finish", "--plot", "q.pdf", models_folder / "colors.model", "c"]
    fastsvm(*words, env=ONE_THREAD)
    assert (tmp_path / "q.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "words, code, reported",
    [
        (["--vectors", 5, "--plot", "p.gif"], 2, "none of them"),
        (["--lossless", "--plot", "p.svg"], 2, "does not go with --lossless"),
        (["--vectors", 5, "--plot", "nowhere/p.svg"], 1, "No such file"),
        (["--vectors", 5, "--plot", "rings.model.svg"], 1, "would replace the input"),
    ],
)
def test_a_figure_that_cannot_be_is_refused_before_any_work(models_folder, fastsvm, tmp_path, words, code, reported):
    (tmp_path / "rings.model.svg").write_bytes((models_folder / "rings.model").read_bytes())
    done = fastsvm("reduce", *words, "rings.model.svg", code=code)
    assert reported in done.err and os.listdir(tmp_path) == ["rings.model.svg"], str(done)


def test_from_python_there_is_no_figure(models_folder):
    import fastsvm_cli

    with pytest.raises(TypeError, match="plot"):
        fastsvm_cli.compile(str(models_folder / "rings.model"), method="reduce", vectors=5, plot="p.svg")


@pytest.mark.parametrize("command", [["bound", "rings.rows", "rings.4"], ["reduce", "--vectors", "4", "rings.model"]])
def test_without_matplotlib_it_is_one_line_and_nothing_is_done(models_folder, fastsvm, tmp_path, command):
    (tmp_path / "block" / "matplotlib").mkdir(parents=True)
    (tmp_path / "block" / "matplotlib" / "__init__.py").write_text("raise ImportError('none')\n")
    paths = [models_folder / word if "." in word else word for word in command[1:]]
    done = fastsvm(command[0], "--plot", "p.svg", *paths, env={"PYTHONPATH": str(tmp_path / "block")}, code=1)
    assert done.err == "Error: --plot needs matplotlib: pip install 'fastsvm[plot]'\n" and done.out == ""
    assert os.listdir(tmp_path) == ["block"]


@pytest.mark.full
def test_json_stays_json(models_folder, fastsvm):
    assert json.loads(
        fastsvm("bound", "--json", "--plot", "p.svg", models_folder / "rings.rows", models_folder / "rings.4").out
    )


@pytest.mark.full
def test_where_the_home_directory_cannot_be_written_nothing_is_said_of_it(models_folder, fastsvm, tmp_path):
    words = ["--plot", tmp_path / "p.svg", models_folder / "rings.rows", models_folder / "rings.2"]
    done = fastsvm("bound", *words, env={**ONE_THREAD, "MPLCONFIGDIR": "/dev/null/none", "TMPDIR": str(tmp_path)})
    assert done.err == "" and os.listdir(tmp_path) == ["p.svg"]
