"""Random benchmarks to draw, and the elements of a figure."""

import random

#: (words, kind, degree, expansions of a decision function, whether predict --exact is measured)
TRIED = [
    *((f"approx --degree {p}", "maclaurin", p, 1, False) for p in (1, 2, 3, 4)),
    *((f"approx --center origin --degree {p}", "maclaurin", p, 1, False) for p in (1, 2, 3, 4)),
    *((f"approx --degree {p} --certify", "maclaurin", p, 1, True) for p in (2, 3)),
    *((f"approx --centers {k} --degree {p}", "maclaurin", p, k, False) for k in (4, 16) for p in (2, 3)),
    *((f"reduce --ratio {r}", "reduced", None, None, False) for r in (0.01, 0.02, 0.05)),
    *((f"border --samples {n}", "border", None, None, False) for n in (30, 100)),
    *((f"order --method {kind}", kind, None, None, False) for kind in ("geometry", "triangle")),
]


def timed(median, spread, rows):
    """Timings as in `bench --json`."""
    return {"median": median, "interval_95": [median * (1 - spread), median * (1 + spread)], "rows_per_second": rows}


def bench_case(name, role, *, draw, rows, differ, kind=None, degree=None, centers=None, exact=False, made_by=None):
    """A case as in `bench --json`, with random times."""
    share = differ / rows
    return {
        "name": name,
        "role": role,
        "kind": kind,
        "degree": degree,
        "centers": centers,
        "with_exact": exact,
        "made_by": made_by,
        "failed": None,
        "end_to_end": timed(rows / 10 ** draw.uniform(3, 5), draw.uniform(0.01, 0.2), rows),
        "scoring": timed(10 ** draw.uniform(-7, -4), draw.uniform(0.01, 0.2), 1),
        "distance": share,
        "distance_95": [share * 0.7, share * 1.4 + 3.84 / rows],
    }


def bench_document(seed, *, rows=5000, equal=0.3):
    """As printed by `bench --try --json`. equal: approximate share of cases without a difference."""
    draw = random.Random(seed)

    def differ():
        return 0 if draw.random() < equal else int(10 ** draw.uniform(0, 3.5))

    cases = [
        bench_case("svm-predict", "reference", draw=draw, rows=rows, differ=0),
        bench_case("libsvm, in process", "reference", draw=draw, rows=rows, differ=0),
        bench_case("exact model", "exact", draw=draw, rows=rows, differ=0, kind="LIBSVM"),
        bench_case("fastsvm, empty file", "start-up", draw=draw, rows=rows, differ=0),
    ]
    cases[0]["scoring"] = None
    cases[1].update(end_to_end=None, distance=None, distance_95=None)
    cases[3].update(scoring=None, distance=None, distance_95=None)
    for words, kind, degree, centers, exact in TRIED:
        how = dict(draw=draw, rows=rows, kind=kind, degree=degree, centers=centers, made_by=words.split())
        cases.append(bench_case(words, "compiled", differ=differ(), **how))
        if exact:
            cases.append(bench_case(f"{words}, predict --exact", "compiled", differ=0, exact=True, **how))
    failed = bench_case("approx --rank 5", "compiled", draw=draw, rows=rows, differ=0, kind="maclaurin", degree=2)
    failed.update(failed="given up", end_to_end=None, scoring=None, distance=None, distance_95=None)
    cases.append(failed)
    named = [case["name"] for case in cases if case["role"] == "compiled" and case["failed"] is None]
    return {
        "machine": {"processor": "a processor with a name of some length @ 2.50 GHz", "kernels": "avx2"},
        "test_file": "/data/u20.t",
        "rows": rows,
        "total_sv": 13977,
        "regression": False,
        "references": {"end to end": "svm-predict", "scoring": "libsvm, in process"},
        "picked": draw.choice(named),
        "front": {clock: draw.sample(named, 4) for clock in ("end to end", "scoring")},
        "cases": cases,
    }


def with_gid(axis, name):
    return [line for line in axis.lines if line.get_gid() == name]


def points(axis):
    """{gid: [(n, 2) of each line]}"""
    found = {}
    for line in axis.lines:
        found.setdefault(str(line.get_gid()), []).append(line.get_xydata())
    return found


def texts(axis):
    return {text.get_text() for text in axis.texts}


def fits_a_column(figure):
    """Whether everything is on the page, of a column's width."""
    width, height = figure.get_size_inches()
    whole = figure.get_tightbbox(figure.canvas.get_renderer())  # inches
    return width == 3.3 and whole.x0 >= 0 and whole.y0 >= 0 and whole.x1 <= width and whole.y1 <= height


def boxes_of(figure, texts):
    """Bounding boxes, in pixels."""
    renderer = figure.canvas.get_renderer()
    return [text.get_window_extent(renderer) for text in texts]
