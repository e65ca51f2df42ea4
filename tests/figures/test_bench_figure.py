"""The figure of bench: methods, intervals, labels without overlap, shapes distinct in grey."""

import json
import subprocess
import sys

import matplotlib
import numpy as np
import pytest

from fastsvm_cli.figures.bench import draw
from fastsvm_cli.figures.marks import mark_of, short_name
from fastsvm_cli.figures.style import content
from support.drawing import bench_document, boxes_of, texts_with_gid, with_gid
from support.paths import SCRIPTS
from support.processes import outcome

CLOCKS = {"end to end": "end_to_end", "scoring": "scoring"}


def drawn(document, case, clock):
    return case["failed"] is None and case["role"] != "start-up" and case[CLOCKS[clock]] is not None


@pytest.fixture(scope="module", params=range(2))
def document(request):
    return bench_document(request.param)


@pytest.fixture(scope="module")
def figure(document):
    return draw(document)


def panels(figure):
    return dict(zip(CLOCKS, figure.axes))


@pytest.mark.full(few=1)
def test_every_case_is_where_its_numbers_say(document, figure):
    for clock, axis in panels(figure).items():
        for at, case in enumerate(document["cases"]):
            found = with_gid(axis, f"case {at}")
            assert len(found) == drawn(document, case, clock), case["name"]
            if not found:
                continue
            (x,), (y,) = found[0].get_data()
            rows = document["rows"] if clock == "end to end" else 1
            assert y == pytest.approx(rows / case[CLOCKS[clock]]["median"])
            assert axis.get_ylim()[0] < y < axis.get_ylim()[1]
            if case["distance"]:
                assert x == pytest.approx(np.log10(100 * case["distance"]))
            assert axis.get_xlim()[0] < x < axis.get_xlim()[1]
    left, right = (axis.get_xlim() for axis in panels(figure).values())
    assert left == right


def test_both_intervals_are_drawn(document, figure):
    for clock, axis in panels(figure).items():
        cases = [case for case in document["cases"] if drawn(document, case, clock)]
        rows = document["rows"] if clock == "end to end" else 1
        ends = sorted(tuple(line.get_ydata()) for line in with_gid(axis, "interval of time"))
        requested = sorted(
            (rows / case[CLOCKS[clock]]["interval_95"][1], rows / case[CLOCKS[clock]]["interval_95"][0])
            for case in cases
        )
        assert np.allclose(ends, requested, rtol=1e-9)
        across = [line.get_xdata() for line in with_gid(axis, "interval of distance")]
        assert len(across) == sum(bool(case["distance"]) for case in cases)
        highs = sorted(np.log10(100 * case["distance_95"][1]) for case in cases if case["distance"])
        assert sorted(high for _, high in across) == pytest.approx(highs)


def test_labels_are_of_the_pick_the_reference_the_exact_model_and_the_front_and_overlap_nowhere(document, figure):
    for clock, axis in panels(figure).items():
        requested = {
            short_name(case)
            for case in document["cases"]
            if drawn(document, case, clock)
            and (
                case["role"] in ("reference", "exact")
                or case["name"] in (document["picked"], *document["front"][clock])
            )
        }
        texts = texts_with_gid(axis, "label")
        # Those with room; the picked one comes first.
        assert {text.get_text() for text in texts} <= requested
        boxes = boxes_of(figure, texts)
        inside = axis.get_window_extent(figure.canvas.get_renderer())
        renderer = figure.canvas.get_renderer()
        marks = [line.get_window_extent(renderer) for line in axis.lines if str(line.get_gid()).startswith("case ")]
        for at, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:at]), texts[at].get_text()
            if texts[at].get_weight() != "bold":
                assert not any(box.overlaps(mark) for mark in marks), texts[at].get_text()
            assert inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        (bold,) = [text.get_text() for text in texts if text.get_weight() == "bold"]
        assert bold == short_name(next(case for case in document["cases"] if case["name"] == document["picked"]))


@pytest.mark.full(few=1)
@pytest.mark.parametrize("seed, equal", [(0, 1.0), (1, 0.8), (2, 0.0)])
def test_what_does_not_differ_is_spread_over_a_band_of_its_own(seed, equal):
    document = bench_document(seed, equal=equal)
    axes = list(panels(draw(document)).values())
    upper, lower = axes
    positions = []
    for at, case in enumerate(document["cases"]):
        lines = [(axis, line) for axis in axes for line in with_gid(axis, f"case {at}")]
        if not lines or case["distance"]:
            continue
        (x,) = {line.get_xdata()[0] for _, line in lines}  # the same in both panels
        positions.append({axis: axis.transData.transform(line.get_xydata()[0]) * 72 / 300 for axis, line in lines})
        band = upper.patches[0].get_extents().transformed(upper.transData.inverted())
        assert band.x0 < x < band.x1
    for at, one in enumerate(positions):
        for other in positions[:at]:
            for axis in set(one) & set(other):
                assert np.hypot(*(one[axis] - other[axis])) > 3, "two marks on one another (points of print)"
    words = [text.get_text() for text in lower.get_xticklabels()]
    assert words[0].startswith("0 (< ")
    differing = [case for case in document["cases"] if case["distance"]]
    assert (len(words) > 1) == bool(differing)


def test_shapes_alone_tell_the_methods_apart():
    document = bench_document(0)
    marks = {}
    for case in document["cases"]:
        if case["role"] != "start-up":
            mark = mark_of(case)
            marks[mark.words] = mark
    assert len(marks) == 14
    looks = {}
    for words, mark in marks.items():
        red, green, blue = matplotlib.colors.to_rgb(mark.face)
        grey = round(0.2126 * red + 0.7152 * green + 0.0722 * blue, 1)
        looks.setdefault((mark.marker, grey), []).append(words)
    assert all(len(each) == 1 for each in looks.values()), looks
    filled = {mark.marker for words, mark in marks.items() if "," not in words}
    assert len(filled) == len([words for words in marks if "," not in words])


def test_the_legend_has_every_method_that_is_there_and_hides_none(document, figure):
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts()]
    there = {mark_of(case).words for case in document["cases"] if case["failed"] is None and case["role"] != "start-up"}
    assert set(words) == there | {"Pareto front", "picked"} and len(words) == len(set(words))
    renderer = figure.canvas.get_renderer()
    box = legend.get_window_extent(renderer)
    for axis in figure.axes:
        assert not box.overlaps(axis.get_tightbbox(renderer))
    assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1


def test_it_is_of_a_columns_width_in_type_of_seven_points(document, figure):
    assert figure.get_size_inches()[0] == 3.3 and figure.get_size_inches()[1] < 5
    texts = figure.findobj(matplotlib.text.Text)
    assert {text.get_fontsize() for text in texts if text.get_text()} == {7.0}
    whole = figure.get_tightbbox(figure.canvas.get_renderer())  # inches
    assert whole.x0 >= 0 and whole.y0 >= 0 and whole.x1 <= 3.3 and whole.y1 <= figure.get_size_inches()[1]


@pytest.mark.full
@pytest.mark.parametrize("kind, start", [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_the_same_numbers_make_the_same_bytes(document, figure, kind, start):
    other = draw(document) if kind == "svg" else figure
    one = content(figure, kind)
    assert one == content(other, kind) and one.startswith(start)


def test_the_right_axis_is_the_speed_beside_the_reference(document, figure):
    for (clock, axis), twin in zip(panels(figure).items(), figure.axes[2:]):
        case = next(case for case in document["cases"] if case["name"] == document["references"][clock])
        (y,) = with_gid(axis, f"case {document['cases'].index(case)}")[0].get_ydata()
        assert twin.transData.inverted().transform(axis.transData.transform((0, y)))[1] == pytest.approx(1)
        assert twin.get_ylabel().startswith(f"speed, {'svm-predict' if clock == 'end to end' else 'libsvm'} = 1")


@pytest.mark.full
def test_names_of_files_are_drawn_as_they_are():
    document = bench_document(0)
    names = [r"a$\frac$b_x", "na\N{LATIN SMALL LETTER I WITH DIAERESIS}ve", "caf\udce9\n", "x" * 70, "\u65e5\u672c"]
    for name, case in zip(names, [case for case in document["cases"] if case["role"] == "compiled"]):
        case.update(name=name, made_by=None, failed=None)
    document.update(picked=names[0], front=dict.fromkeys(CLOCKS, tuple(names)), test_file="/d/$_" + "y" * 90)
    figure = draw(document)
    labels = {text.get_text() for text in texts_with_gid(figure.axes[0], "label")}
    assert names[0] in labels and labels & {names[1], names[4], "caf\ufffd\ufffd"}
    assert figure.axes[0].get_title("left").startswith("$_y")
    title = figure.axes[0].get_tightbbox(figure.canvas.get_renderer())
    assert title.x1 <= figure.bbox.x1
    assert names[0].encode() in content(figure, "svg")


def test_one_case_and_no_svm_predict():
    document = bench_document(0)
    (exact,) = [case for case in document["cases"] if case["role"] == "exact"]
    document.update(cases=[exact], picked=None)
    document.update(references=dict.fromkeys(CLOCKS, "exact model"), front=dict.fromkeys(CLOCKS, ("exact model",)))
    figure = draw(document)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["exact model"]
    assert all(len(with_gid(axis, "case 0")) == 1 for axis in panels(figure).values())
    assert figure.axes[2].get_ylabel() == "speed, exact model = 1"


def test_where_nothing_was_timed_it_says_so():
    document = bench_document(0)
    for case in document["cases"]:
        case["scoring"] = None
    document["references"]["scoring"] = None
    lower = draw(document).axes[1]
    assert "nothing was timed" in [text.get_text() for text in lower.texts]


def test_a_regression_has_another_axis():
    document = bench_document(0)
    document["regression"] = True
    lower = draw(document).axes[1]
    assert lower.get_xlabel().startswith("root mean square difference")
    assert lower.get_xticklabels()[0].get_text() == "0"


@pytest.mark.full
def test_what_json_printed_can_be_drawn_again(tmp_path):
    document = bench_document(1)
    (tmp_path / "b.json").write_text(json.dumps(document))
    words = [sys.executable, str(SCRIPTS / "draw_bench.py"), "b.json"]
    subprocess.run([*words, "b.svg"], cwd=tmp_path, check=True)
    assert (tmp_path / "b.svg").read_bytes() == content(draw(document), "svg")
    done = outcome([*words, "b.gif"], cwd=tmp_path)
    assert done.returncode == 2 and "none of them" in done.stderr and not (tmp_path / "b.gif").exists()


@pytest.mark.full
def test_drawing_leaves_matplotlib_as_it_was():
    before = dict(matplotlib.rcParams)
    content(draw(bench_document(0)), "svg")
    assert dict(matplotlib.rcParams) == before
