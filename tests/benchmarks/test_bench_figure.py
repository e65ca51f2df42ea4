"""The figure of bench: methods, intervals, labels without overlap, shapes distinct in grey."""

import json
import sys

import matplotlib
import numpy as np
import pytest

from fastsvm_cli.figures import content, draw, mark_of, name_of
from support.drawing import bench_document, boxes_of, fits_a_column, points, texts, with_gid
from support.paths import SCRIPTS
from support.processes import outcome

CLOCKS = {"end to end": "end_to_end", "scoring": "scoring"}


def shown(document, clock):
    """{number: case} of the cases in a panel."""
    return {
        at: case
        for at, case in enumerate(document["cases"])
        if case["failed"] is None and case["role"] != "start-up" and case[CLOCKS[clock]] is not None
    }


def panels(figure):
    return dict(zip(CLOCKS, figure.axes))


@pytest.fixture(scope="module", params=range(2))
def document(request):
    return bench_document(request.param)


@pytest.fixture(scope="module")
def figure(document):
    return draw(document)


def test_every_case_and_both_intervals_are_where_their_numbers_say(document, figure):
    """The right axis is the speed beside the reference."""
    for (clock, axis), twin in zip(panels(figure).items(), figure.axes[2:]):
        cases, key = shown(document, clock), CLOCKS[clock]
        rows = document["rows"] if clock == "end to end" else 1
        distant = [case for case in cases.values() if case["distance"]]
        found, seen = points(axis), {gid for gid in points(axis) if gid.startswith("case ")}
        assert seen == {f"case {at}" for at in cases}
        heights = {f"case {at}": rows / case[key]["median"] for at, case in cases.items()}
        assert {gid: found[gid][0][0][1] for gid in heights} == pytest.approx(heights)
        places = {f"case {at}": 100 * case["distance"] for at, case in cases.items() if case["distance"]}
        assert {gid: found[gid][0][0][0] for gid in places} == pytest.approx(places)
        for gid in seen:
            (((x, y),),) = found[gid]
            assert axis.get_xlim()[0] < x < axis.get_xlim()[1] and axis.get_ylim()[0] < y < axis.get_ylim()[1]
        times = sorted(tuple(rows / end for end in case[key]["interval_95"][::-1]) for case in cases.values())
        assert np.allclose(sorted(tuple(line[:, 1]) for line in found["interval of time"]), times, rtol=1e-9)
        highs = sorted(100 * case["distance_95"][1] for case in distant)
        assert sorted(line[1, 0] for line in found["interval of distance"]) == pytest.approx(highs)
        reference = next(at for at, case in cases.items() if case["name"] == document["references"][clock])
        y = found[f"case {reference}"][0][0][1]
        assert twin.transData.inverted().transform(axis.transData.transform((0, y)))[1] == pytest.approx(1)
        assert twin.get_ylabel().startswith(f"speed, {'svm-predict' if clock == 'end to end' else 'libsvm'} = 1")
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()


def test_labels_are_of_what_matters_and_overlap_nowhere(document, figure):
    """The pick, the reference, the exact model and the front, where there is room; the pick comes first."""
    renderer = figure.canvas.get_renderer()
    for clock, axis in panels(figure).items():
        named = (document["picked"], *document["front"][clock])
        cases = list(shown(document, clock).values())
        wanted = [case for case in cases if case["role"] in ("reference", "exact") or case["name"] in named]
        found = [text for text in axis.texts if text.get_gid() == "label"]
        assert {text.get_text() for text in found} <= {name_of(case) for case in wanted}
        boxes, inside = boxes_of(figure, found), axis.get_window_extent(renderer)
        marks = [line.get_window_extent(renderer) for line in axis.lines if str(line.get_gid()).startswith("case ")]
        for at, (text, box) in enumerate(zip(found, boxes)):
            beside = [*boxes[:at], *(marks if text.get_weight() != "bold" else [])]
            assert not any(box.overlaps(other) for other in beside), text.get_text()
            assert inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        (bold,) = [text.get_text() for text in found if text.get_weight() == "bold"]
        assert bold == name_of(next(case for case in cases if case["name"] == document["picked"]))


def test_the_legend_has_every_method_and_hides_none_in_a_columns_width(document, figure):
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts()]
    there = {mark_of(case).words for case in document["cases"] if case["failed"] is None and case["role"] != "start-up"}
    assert sorted(words) == sorted(there | {"Pareto front", "picked"})
    renderer = figure.canvas.get_renderer()
    box = legend.get_window_extent(renderer)
    assert not any(box.overlaps(axis.get_tightbbox(renderer)) for axis in figure.axes)
    assert fits_a_column(figure) and figure.get_size_inches()[1] < 5
    assert {text.get_fontsize() for text in figure.findobj(matplotlib.text.Text) if text.get_text()} == {7.0}


@pytest.mark.full
@pytest.mark.parametrize("seed, equal", [(0, 1.0), (1, 0.8), (2, 0.0)])
def test_what_does_not_differ_is_spread_over_a_band_of_its_own(seed, equal):
    document = bench_document(seed, equal=equal)
    axes = list(panels(draw(document)).values())
    band = axes[0].patches[0].get_extents().transformed(axes[0].transData.inverted()) if axes[0].patches else None
    places = []
    for at, case in enumerate(document["cases"]):
        lines = [(axis, line) for axis in axes for line in with_gid(axis, f"case {at}")]
        if lines and not case["distance"]:
            (x,) = {line.get_xdata()[0] for _, line in lines}  # the same in both panels
            assert band.x0 < x < band.x1
            places.append({axis: axis.transData.transform(line.get_xydata()[0]) * 72 / 300 for axis, line in lines})
    for at, one in enumerate(places):
        for other in places[:at]:
            for axis in set(one) & set(other):
                assert np.hypot(*(one[axis] - other[axis])) > 3, "two marks on one another (points of print)"
    words = [text.get_text() for text in axes[1].get_xticklabels()]
    assert words[0].startswith("0 (< ") and (len(words) > 1) == any(case["distance"] for case in document["cases"])


def test_shapes_alone_tell_the_methods_apart():
    cases = [case for case in bench_document(0)["cases"] if case["role"] != "start-up"]
    marks = {mark_of(case).words: mark_of(case) for case in cases}
    assert len(marks) == 14
    luma = (0.2126, 0.7152, 0.0722)
    looks = {(mark.marker, round(np.dot(luma, matplotlib.colors.to_rgb(mark.face)), 1)) for mark in marks.values()}
    assert len(looks) == len(marks)
    filled = [mark.marker for words, mark in marks.items() if "," not in words]
    assert len(set(filled)) == len(filled)


@pytest.mark.full
def test_the_same_numbers_make_the_same_bytes(tmp_path):
    """Also by the script, from what --json printed. Drawing leaves matplotlib as it was."""
    document, before = bench_document(1), dict(matplotlib.rcParams)
    svg = content(draw(document), "svg")
    assert svg.startswith(b"<?xml") and content(draw(document), "pdf").startswith(b"%PDF")
    assert dict(matplotlib.rcParams) == before
    (tmp_path / "b.json").write_text(json.dumps(document))
    outcome([sys.executable, str(SCRIPTS / "draw_bench.py"), "b.json", "b.svg"], cwd=tmp_path, check=True)
    assert (tmp_path / "b.svg").read_bytes() == svg


@pytest.mark.full
def test_names_of_files_are_drawn_as_they_are():
    document = bench_document(0)
    names = [r"a$\frac$b_x", "na\N{LATIN SMALL LETTER I WITH DIAERESIS}ve", "caf\udce9\n", "x" * 70, "\u65e5\u672c"]
    for name, case in zip(names, [case for case in document["cases"] if case["role"] == "compiled"]):
        case.update(name=name, made_by=None, failed=None)
    document.update(picked=names[0], front=dict.fromkeys(CLOCKS, tuple(names)), test_file="/d/$_" + "y" * 90)
    figure = draw(document)
    labels = texts(figure.axes[0])
    assert names[0] in labels and labels & {names[1], names[4], "caf\ufffd\ufffd"}
    assert figure.axes[0].get_title("left").startswith("$_y")
    assert figure.axes[0].get_tightbbox(figure.canvas.get_renderer()).x1 <= figure.bbox.x1
    assert names[0].encode() in content(figure, "svg")


@pytest.mark.full
def test_one_case_no_times_and_a_regression():
    document = bench_document(0)
    for case in document["cases"]:
        case["scoring"] = None
    document.update(regression=True, references={**document["references"], "scoring": None})
    lower = draw(document).axes[1]
    assert "nothing was timed" in texts(lower) and lower.get_xticklabels()[0].get_text() == "0"
    assert lower.get_xlabel().startswith("root mean square difference")
    document = bench_document(0)
    (exact,) = [case for case in document["cases"] if case["role"] == "exact"]
    document.update(cases=[exact], picked=None)
    document.update(references=dict.fromkeys(CLOCKS, "exact model"), front=dict.fromkeys(CLOCKS, ("exact model",)))
    figure = draw(document)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["exact model"]
    assert all("case 0" in points(axis) for axis in panels(figure).values())
    assert figure.axes[2].get_ylabel() == "speed, exact model = 1"
