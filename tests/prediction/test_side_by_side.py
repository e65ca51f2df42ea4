"""Blocks of a file predicted side by side: the same lines for any threads and blocks."""

import io
import threading

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.prediction.answers import Fallback, Predictor
from fastsvm_cli.prediction.pipeline import RunCounts, predict
from fastsvm_cli.text.line_blocks import BadRows, LineBlocks, Position
from fastsvm_cli.text.read_rows import read_chunks
from support.paths import GOLDEN
from support.profiles import calm

MODEL = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 4
rho 0.1
label 1 -1
probA -1.5
probB 0.01
nr_sv 2 2
SV
1 1:0.5 2:0.25
0.5 1:-0.5 3:1
-1 1:0.75 2:-1
-0.5 2:0.5 3:-0.25
"""


@pytest.fixture
def all_threads():
    yield
    _native.set_threads(0)


@pytest.fixture
def five_of_seven(all_threads):
    """The process may use seven threads, and its caller has set five."""
    _native.set_threads(7)
    assert _native.set_threads_here(5) == 0
    yield
    assert _native.set_threads_here(0) == 5


@pytest.mark.full
def test_whoever_calls_the_package_keeps_its_limit(five_of_seven, tmp_path):
    import fastsvm_cli

    (tmp_path / "m").write_text(MODEL)
    (tmp_path / "rows").write_text(data_text(40_000, 3))
    seen = set()
    fast = fastsvm_cli.load(tmp_path / "m")
    reported = fastsvm_cli.predict_file(
        tmp_path / "rows", fast, tmp_path / "out", n_threads=2, on_progress=lambda *_: seen.add(_native.get_threads())
    )
    assert reported["rows"] == 40_000 and seen == {2} and _native.get_threads() == 5
    fast.n_threads = 3
    fast.predict(np.zeros((20_000, 3)))
    assert _native.get_threads() == 5


# ---- blocks

WORDS = ["1 1:1", "-1 2:0.5 3:7", "1", "2 1:x", "", "1 3:1 2:1", "1 1:" + "0" * 50 + "1", "+1 1:2 # c"]


@calm(200)
@given(
    lines=st.lists(st.sampled_from(WORDS), max_size=40),
    last=st.sampled_from(["", "\n"]),
    size=st.integers(1, 200),
    longest=st.sampled_from([20, 40, 1000]),
    bad=st.booleans(),
    threads=st.integers(2, 5),
)
@example(lines=["1 1:1", "1 2:x"], last="", size=3, longest=1000, bad=False, threads=2)  # a bad line without a line end
def test_blocks_are_those_of_one_thread(tmp_path_factory, lines, last, size, longest, bad, threads):
    path = str(tmp_path_factory.getbasetemp() / "any-order")
    with open(path, "w") as file:
        file.write("\n".join(lines) + last)
    model = parse_model(MODEL.encode(), "m")

    def facts(threads, size):
        _native.set_threads(threads)
        position, rows, written = Position(fields=0), BadRows(path, True) if bad else None, []
        failure, run_counts = None, RunCounts(True)
        with LineBlocks(path, size=size, max_line=longest, position=position, bad_rows=rows) as blocks:
            try:
                predict(model, blocks, written.append, path=path, bad_rows=rows, run_counts=run_counts)
            except DataFormatError as error:
                failure = str(error)
        where = position.offset, position.lines, position.fields, position.comments
        return b"".join(written), failure, where, run_counts.values(), rows and (rows.count, rows.named)

    try:
        assert facts(threads, size) == facts(1, 10**6)
    finally:
        _native.set_threads(0)


# ---- predictions


def data_text(rows, seed, spoilt=()):
    rng = np.random.default_rng(seed)
    lines = []
    for row in range(rows):
        entries = sorted(rng.choice(6, rng.integers(0, 5), replace=False) + 1)
        line = " ".join([rng.choice(["1", "-1"]), *(f"{i}:{rng.normal():.3g}" for i in entries)])
        lines.append("1 2:y" if row in spoilt else line)
    return "\n".join(lines) + "\n"


def outputs(path, threads, size, options):
    """Everything that a run writes and counts."""
    _native.set_threads(threads)
    exact = parse_model(MODEL.encode(), "m")
    fast = exact
    written, opened, outside = io.BytesIO(), io.BytesIO(), io.BytesIO()
    options = dict(options)
    if options.pop("compiled", False):
        from fastsvm_cli.methods.approx.expansion import compile_maclaurin

        fast = compile_maclaurin(exact, fingerprint="f", degree=1, certify=True)
        options["write_outside"] = outside.write
        if options.pop("open", False):
            options["write_open"] = opened.write
        if options.pop("exact", False):
            options["exact"] = Fallback(lambda: exact)
    filler = options.pop("filler", None)
    bad_rows = BadRows(path, filler == "nan") if filler is not None else None
    failure = None
    run_counts = RunCounts(True)
    try:
        if size is None:
            rows = read_chunks(path, bad_rows=bad_rows)
            predict(fast, rows, written.write, path=path, bad_rows=bad_rows, run_counts=run_counts, **options)
        else:
            with LineBlocks(path, size=size, bad_rows=bad_rows) as blocks:
                predict(fast, blocks, written.write, path=path, bad_rows=bad_rows, run_counts=run_counts, **options)
    except DataFormatError as error:
        failure = str(error)
    counts = {name: value for name, value in vars(run_counts).items() if name != "score"}
    sums = [getattr(run_counts.score, name) for name in RunCounts.SUMS]
    named = bad_rows and (bad_rows.count, bad_rows.named)
    return written.getvalue(), opened.getvalue(), outside.getvalue(), failure, counts, sums, named


OPTIONS = [
    {},
    {"values": True},
    {"probability": True, "values": True},
    {"compiled": True, "open": True},
    {"compiled": True, "exact": True, "open": True},
    {"compiled": True, "exact": True, "probability": True},
    {"compiled": True, "values": True, "filler": "nan"},
    {"compiled": True, "exact": True, "open": True, "filler": "skip"},
]


@pytest.mark.full(few=4)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(map(str, options)) or "plain")
@pytest.mark.parametrize("spoilt", [(), (333,), (5, 6, 7, 400, 700, 701)], ids=len)
def test_lines_and_counts_are_those_of_one_thread(tmp_path, all_threads, options, spoilt):
    path = str(tmp_path / "rows")
    with open(path, "w") as file:
        file.write(data_text(900, 3, spoilt))
    expected = outputs(path, 1, None, options)
    if not spoilt or "filler" in options:
        assert expected[3] is None
    else:
        assert expected[3].endswith(f":{min(spoilt) + 1}: '2:y' found, expected index:value")
    for threads, size in [(1, 300), (2, 300), (2, 1000), (5, 100), (3, 10**6)]:
        assert outputs(path, threads, size, options) == expected, (threads, size)


def test_rows_before_one_that_cannot_be_evaluated_are_written(tmp_path, all_threads):
    """A row of a precomputed kernel lacks serial numbers of support vectors."""
    model = "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    parsed = parse_model((model + "1 0:2\n-1 0:3\n").encode(), "m")
    rows = [f"1 0:{n} 1:0.5 2:{n % 5} 3:0.5" for n in range(1, 200)]
    rows[150] = "1 0:151 1:0.5 2:1"
    path = tmp_path / "rows"
    path.write_text("\n".join(rows) + "\n")
    for threads, size in [(1, 10**6), (1, 90), (3, 90)]:
        _native.set_threads(threads)
        written = io.BytesIO()
        with LineBlocks(str(path), size=size) as blocks, pytest.raises(DataFormatError, match="rows:151: "):
            predict(parsed, blocks, written.write, path=str(path))
        assert len(written.getvalue().splitlines()) == 150


@pytest.mark.full(few=12)
@pytest.mark.parametrize("name", [path.name for path in sorted(GOLDEN.iterdir()) if path.is_file()])
def test_a_model_answers_several_threads_at_once(name, all_threads):
    """Threads with different rows do not affect each other."""
    if name.startswith(("data", "values")):
        pytest.skip("no model")
    model = load_model(str(GOLDEN / name))
    _native.set_threads(1)
    (chunk,) = read_chunks(str(GOLDEN / "data"))
    if model.header.kernel_type == "precomputed" and not model.ordered:
        pytest.skip("the rows have no serial numbers")
    whole = _native.Chunk.concatenate([chunk] * 20)
    parts = [whole.slice(0, whole.rows // 2), whole.slice(whole.rows // 2, whole.rows)]
    # Two parts leave the same number of rows to the exact model, if any.
    parts = [parts[0], parts[0].select(list(range(parts[0].rows))[::-1]), parts[1]]

    def answer(part, predictor):
        found = predictor.answer(part)
        return bytes(found.predictions.label), bytes(found.decisions.value)

    predictors = [Predictor(model), Predictor(model, values=True)]
    expected = [[answer(part, predictor) for part in parts] for predictor in predictors]
    wrong = []

    def keep_asking(part):
        for _ in range(100):
            for predictor, answers in zip(predictors, expected):
                if answer(parts[part], predictor) != answers[part]:
                    wrong.append(part)

    threads = [threading.Thread(target=keep_asking, args=(part,)) for part in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
