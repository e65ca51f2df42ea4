"""Blocks of a file done side by side: the same lines as one after the other, whatever the threads and blocks."""

import io
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli.errors import DataFormatError
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.prediction.answers import Answerer, Fallback, Request
from fastsvm_cli.prediction.pipeline import Tally, predict
from fastsvm_cli.prediction.side_by_side import SideBySide
from fastsvm_cli.text.bad_rows import BadRows
from fastsvm_cli.text.data import read_chunks
from fastsvm_cli.text.line_blocks import LineBlocks, Place
from support.places import GOLDEN
from support.processes import PATIENCE
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


def always():
    return True


# ---- jobs


def test_jobs_come_back_in_order_and_each_worker_does_one_at_a_time():
    busy, taken = set(), {}

    def new_worker():
        me = object()

        def work(job):
            assert me not in busy
            busy.add(me)
            assert _native.get_threads() == 1 or job["number"] == 0
            job["done by"] = me
            taken.setdefault(me, []).append(job["number"])
            busy.remove(me)

        return work

    with SideBySide(new_worker, 4) as crew:
        jobs = [{"number": n} for n in range(300)]
        assert [job["number"] for job in crew.run(iter(jobs), always)] == list(range(300))
    assert all("done by" in job for job in jobs)
    assert all(numbers == sorted(numbers) for numbers in taken.values())  # each takes the first there is


def test_both_of_two_threads_work():
    """Two jobs that wait for each other are done: on one thread they never would be. The first has nobody to wait
    for."""
    meeting = threading.Barrier(2, timeout=PATIENCE)
    with SideBySide(lambda: lambda job: job and meeting.wait(), 2) as crew:
        assert list(crew.run(iter(range(21)), always)) == list(range(21))


def test_the_first_job_is_done_before_any_other():
    done = []
    with SideBySide(lambda: done.append, 4) as crew:
        jobs = crew.run(iter(range(40)), always)
        assert next(jobs) == 0 and done == [0]
        assert list(jobs) == list(range(1, 40))


def test_what_has_begun_is_handed_back_before_a_job_that_is_waited_for():
    """A slow pipe: nothing is kept back for what may never come."""
    handed_back = []

    def jobs():
        for number in range(10):
            assert handed_back == list(range(number))
            yield number

    with SideBySide(lambda: lambda job: None, 3) as crew:
        for job in crew.run(jobs(), lambda: False):
            handed_back.append(job)
    assert handed_back == list(range(10))


def test_few_jobs_are_taken_ahead():
    ahead = []
    taken = 0

    def jobs():
        nonlocal taken
        for number in range(50):
            taken += 1
            yield number

    with SideBySide(lambda: lambda job: None, 2) as crew:
        for number in crew.run(jobs(), always):
            ahead.append(taken - number)
    assert max(ahead) <= 6


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_failure_is_raised_in_its_place(threads):
    def work(job):
        if job in (7, 8):
            raise ValueError(job)

    back = []
    with SideBySide(lambda: work, threads) as crew, pytest.raises(ValueError, match="7"):
        for job in crew.run(iter(range(20)), always):
            back.append(job)
    assert back == list(range(7))


def test_threads_end_with_the_block():
    before = threading.active_count()
    with SideBySide(lambda: lambda job: None, 4) as crew:
        run = crew.run(iter(range(100)), always)
        next(run)
        next(run)
    assert threading.active_count() == before


def test_one_thread_does_it_all_where_no_other_can_be_had(monkeypatch):
    def none(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    with SideBySide(lambda: lambda job: None, 4) as crew:
        assert list(crew.run(iter(range(100)), always)) == list(range(100))


def test_a_job_by_itself_has_all_threads(all_threads):
    _native.set_threads(3)
    seen = []
    with SideBySide(lambda: lambda job: seen.append(_native.get_threads()), 3) as crew:
        assert list(crew.run(iter([1]), lambda: False)) == [1]
    assert seen == [3]
    assert _native.get_threads() == 3


@pytest.fixture
def five_of_seven(all_threads):
    """The process may use seven threads, this one's caller has set five of them."""
    _native.set_threads(7)
    assert _native.set_threads_here(5) == 0
    yield
    assert _native.set_threads_here(0) == 5


def test_the_limit_of_the_calling_thread_survives(five_of_seven):
    """A job that this thread does while it waits for another runs on one thread; from then on it may use as many as
    before."""
    alone, here, seen = threading.Event(), threading.get_ident(), []

    def work(job):
        if threading.get_ident() == here:
            seen.append((job, _native.get_threads()))
            alone.set()
        elif job:  # nobody else has one to do, until this thread has done one
            assert alone.wait(PATIENCE)

    with SideBySide(lambda: work, 2) as crew:
        for job in crew.run(iter(range(1, 20)), always):
            if job == 1:
                alone.clear()
            assert _native.get_threads() == 5
    assert seen[0] == (1, 5) and seen[1][1] == 1  # the first one is done before any other, on all threads


@pytest.mark.full
def test_whoever_calls_the_package_keeps_its_limit(five_of_seven, tmp_path):
    import fastsvm_cli

    (tmp_path / "m").write_text(MODEL)
    (tmp_path / "rows").write_text(data_text(40_000, 3))
    seen = set()
    fast = fastsvm_cli.load(tmp_path / "m")
    told = fastsvm_cli.predict_file(
        tmp_path / "rows",
        fast,
        tmp_path / "out",
        n_threads=2,
        on_progress=lambda *_: seen.add(_native.get_threads()),
    )
    assert told["rows"] == 40_000 and seen == {2} and _native.get_threads() == 5
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
    order=st.randoms(use_true_random=False),
)
def test_blocks_may_be_parsed_in_any_order(tmp_path_factory, lines, last, size, longest, bad, order):
    path = str(tmp_path_factory.getbasetemp() / "any-order")
    with open(path, "w") as file:
        file.write("\n".join(lines) + last)

    def facts(chunk):
        return chunk.first_line, [np.asarray(x).tolist() for x in (chunk.leading, chunk.indices, chunk.values)]

    def one_after_the_other():
        place, rows = Place(fields=0), BadRows(path, b"nan\n") if bad else None
        try:
            for chunk in read_chunks(path, size=size, max_line=longest, place=place, bad_rows=rows):
                yield facts(chunk), vars(place).copy()
                if rows is not None:
                    yield list(rows.fill(b"1\n" * chunk.rows, chunk.rows)), rows.count, rows.named.copy()
        except DataFormatError as fault:
            yield str(fault)

    def ahead():
        place, rows = Place(fields=0), BadRows(path, b"nan\n") if bad else None
        with LineBlocks(path, size=size, max_line=longest, place=place, bad_rows=rows) as blocks:
            held = list(blocks)
            for block in order.sample(held, len(held)):
                block.parse()
            for block in held:
                block.settle()
                if block.chunk is not None and (block.chunk.rows or bad):
                    yield facts(block.chunk), vars(place).copy()
                    if rows is not None:
                        yield (
                            list(rows.fill(b"1\n" * block.chunk.rows, block.chunk.rows)),
                            rows.count,
                            rows.named.copy(),
                        )
                if block.fault is not None:
                    yield str(DataFormatError(path, *block.fault))
                    return

    assert list(ahead()) == list(one_after_the_other())


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
    bad_rows = BadRows(path, filler) if filler is not None else None
    fault = None
    tally = Tally(True)
    try:
        if size is None:
            rows = read_chunks(path, bad_rows=bad_rows)
            predict(fast, rows, written.write, path=path, bad_rows=bad_rows, tally=tally, **options)
        else:
            with LineBlocks(path, size=size, bad_rows=bad_rows) as blocks:
                predict(fast, blocks, written.write, path=path, bad_rows=bad_rows, tally=tally, **options)
    except DataFormatError as error:
        fault = str(error)
    counts = {name: value for name, value in vars(tally).items() if name != "score"}
    sums = [getattr(tally.score, name) for name in Tally.SUMS]
    named = bad_rows and (bad_rows.count, bad_rows.named)
    return written.getvalue(), opened.getvalue(), outside.getvalue(), fault, counts, sums, named


OPTIONS = [
    {},
    {"values": True},
    {"probability": True, "values": True},
    {"compiled": True, "open": True},
    {"compiled": True, "exact": True, "open": True},
    {"compiled": True, "exact": True, "probability": True},
    {"compiled": True, "values": True, "filler": b"nan nan nan\n"},
    {"compiled": True, "exact": True, "open": True, "filler": b""},
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
    """A precomputed kernel's row without the serial numbers that a support vector asks for."""
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
    """Nothing that one thread computes is seen by another: every kind, rows of its own for each thread."""
    if name.startswith(("data", "values")):
        pytest.skip("no model")
    model = load_model(str(GOLDEN / name))
    _native.set_threads(1)
    (chunk,) = read_chunks(str(GOLDEN / "data"))
    if model.header.kernel_type == "precomputed" and not model.ordered:
        pytest.skip("the rows have no serial numbers")
    whole = _native.Chunk.concatenate([chunk] * 20)
    parts = [whole.slice(0, whole.rows // 2), whole.slice(whole.rows // 2, whole.rows)]
    # The same number of rows left over in both, of models that give some to the exact one.
    parts = [parts[0], parts[0].select(list(range(parts[0].rows))[::-1]), parts[1]]

    def answer(part, request):
        return Answerer(request).answer(part).lines

    requests = [Request(model), Request(model, values=True)]
    expected = [[answer(part, request) for part in parts] for request in requests]
    wrong = []

    def keep_asking(part):
        for _ in range(100):
            for request, lines in zip(requests, expected):
                if answer(parts[part], request) != lines[part]:
                    wrong.append(part)

    threads = [threading.Thread(target=keep_asking, args=(part,)) for part in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
