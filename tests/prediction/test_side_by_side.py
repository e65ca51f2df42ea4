"""Blocks of a file predicted side by side: the same lines for any threads and blocks."""

import threading

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fastsvm_cli
from fastsvm_cli import _native
from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.models import load_model, parse_model
from fastsvm_cli.prediction import Fallback, Predictor
from fastsvm_cli.text.read_rows import read_chunks
from support.in_process import answered
from support.paths import GOLDEN
from support.profiles import calm
from zoo.traits import specimen

FOUND = specimen("two_classes")
pytestmark = pytest.mark.usefixtures("all_threads")


@pytest.fixture
def five_of_seven(all_threads):
    """The process may use seven threads, and its caller has set five."""
    _native.set_threads(7)
    assert _native.set_threads_here(5) == 0
    yield
    assert _native.set_threads_here(0) == 5


@pytest.mark.full
def test_whoever_calls_the_package_keeps_its_limit(five_of_seven, tmp_path):
    (tmp_path / "m").write_bytes(FOUND.model)
    (tmp_path / "rows").write_bytes(FOUND.data * 1000)
    seen = set()
    fast = fastsvm_cli.load(tmp_path / "m")
    reported = fastsvm_cli.predict_file(
        tmp_path / "rows", fast, tmp_path / "out", n_threads=2, on_progress=lambda *_: seen.add(_native.get_threads())
    )
    assert reported["rows"] == 30_000 and seen == {2} and _native.get_threads() == 5
    fast.n_threads = 3
    fast.predict(np.zeros((20_000, 5)))
    assert _native.get_threads() == 5


# ---- predictions

WORDS = ["1 1:1", "-1 2:0.5 3:7", "1", "2 1:x", "", "1 3:1 2:1", "1 1:" + "0" * 50 + "1", "+1 1:2 # c", "-1 1:0.3 4:2"]
OPTIONS = [
    {},
    {"probability": True, "values": True},
    {"compiled": True, "open_file": "o"},
    {"compiled": True, "exact": True, "open_file": "o"},
    {"compiled": True, "exact": True, "probability": True},
    {"compiled": True, "values": True},
]


def outputs(path, threads, size, *, compiled=False, exact=False, **options):
    """Everything that a run writes and counts. size: of blocks."""
    _native.set_threads(threads)
    fast = model = parse_model(FOUND.model, "m")
    if compiled:
        fast = compile_maclaurin(model, fingerprint="f", degree=1, certify=True)
        options["outside_file"] = "p"
    exact = Fallback(lambda: model) if exact else None
    prediction, *written, failure = answered(fast, path, size=size, exact=exact, **options)
    position, bad_rows = prediction.position, prediction.bad_rows
    where = position.offset, position.lines, position.fields, position.comments
    return written, failure, where, prediction.run_counts.values(), bad_rows and (bad_rows.count, bad_rows.named)


@calm(300)
@given(
    lines=st.lists(st.sampled_from(WORDS), max_size=40) | st.lists(st.sampled_from(WORDS[:2]), max_size=300),
    last=st.sampled_from(["", "\n"]),
    size=st.sampled_from([1, 20, 50, 100, 200]),
    longest=st.sampled_from([20, 40, 1000]),
    bad=st.sampled_from(["stop", "skip", "nan"]),
    threads=st.integers(2, 5),
    options=st.sampled_from(OPTIONS),
)
@example(["1 1:1", "1 2:x"], "", 3, 1000, "stop", 2, {})  # a bad line without a line end
def test_blocks_are_those_of_one_thread(tmp_path_factory, lines, last, size, longest, bad, threads, options):
    path = tmp_path_factory.getbasetemp() / "any-order"
    path.write_text("\n".join(lines) + last)
    options = dict(options, on_bad_row=bad, max_line=longest)
    expected = outputs(str(path), 1, 10**6, **options)
    assert outputs(str(path), threads, size, **options) == expected


def test_rows_before_one_that_cannot_be_evaluated_are_written(tmp_path):
    """A row of a precomputed kernel lacks serial numbers of support vectors."""
    model = "svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 0\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    parsed = parse_model((model + "1 0:2\n-1 0:3\n").encode(), "m")
    rows = [f"1 0:{n} 1:0.5 2:{n % 5} 3:0.5" for n in range(1, 200)]
    rows[150] = "1 0:151 1:0.5 2:1"
    path = tmp_path / "rows"
    path.write_text("\n".join(rows) + "\n")
    for threads, size in [(1, 10**6), (1, 90), (3, 90)]:
        _native.set_threads(threads)
        _, lines, _, _, failure = answered(parsed, path, size=size)
        assert f"{path}:151: " in failure and len(lines.splitlines()) == 150


#: Two exact models, and a file of each compiled kind.
MODELS = [GOLDEN / "c_svc.model", GOLDEN / "three_classes.model"]
MODELS += {path.suffix: path for path in sorted((GOLDEN / "version2").iterdir())}.values()


@pytest.mark.full(few=3)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_a_model_answers_several_threads_at_once(path):
    """Threads with different rows do not affect each other."""
    model = load_model(str(path))
    _native.set_threads(1)
    (chunk,) = read_chunks(str(GOLDEN / "data"))
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
