"""The reader finds the same malformed lines for any chunks, threads and neighbours."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli import _native
from fastsvm_cli._native import MOST_NAMED
from fastsvm_cli.models import parse_model
from fastsvm_cli.text.scaling import parse_scaling
from support.bad_rows import BAD, PRECOMPUTED, one_by_one, read_around, too_long
from support.in_process import answered
from support.profiles import calm
from support.reading import random_text, read

LINES = st.one_of(
    st.sampled_from(["1 1:1", "-1", "2.5 3:4 7:-1 # c", "1 2:0.125\r", "0 qid:5 1:1 2:2 3:3 4:4", "# c", " #"]),
    st.sampled_from([*BAD, "1 1:" + "1" * 30, "x" * 30, "x" * 31]),
    st.text("0123.,;e-+: #\t\rx\x00", max_size=10),
)
DENSE_LINES = st.one_of(
    st.sampled_from(["1,2,3", "1,0,0", "-1,2,3\r"]),
    st.sampled_from(["", "1", "x,1,2", "1,2", "1,2,3,4", "1,,2", "1,2," + "3" * 40]),
    st.text("0123.,;e-+: #\t\rx\x00", max_size=10),
)


@calm(500)
@given(
    st.data(),
    *(st.booleans() for _ in range(3)),
    st.sampled_from([1, 3, 7, 64, 1 << 20]),
    st.sampled_from([1, 7, 30, 1000]),
)
def test_every_line_is_a_row_or_a_bad_one_by_itself(tmp_path, data, dense, labelled, last, size, longest):
    """A dense one beside the first good one. Lines that are too long are bad ones."""
    lines = data.draw(st.lists(DENSE_LINES if dense else LINES, max_size=30))
    (tmp_path / "data").write_bytes("\n".join(lines).encode() + b"\n" * (last and bool(lines)))
    if not last and lines and not lines[-1]:
        lines = lines[:-1]  # nothing follows the last line end
    rows, bad, why = one_by_one(["!" if len(line) > longest else line for line in lines], dense, labelled)
    why = [(number, too_long(longest) if len(lines[number - 1]) > longest else words) for number, words in why]
    options = {"size": size, "dense": dense, "labelled": labelled, "max_line": longest}
    assert read_around(tmp_path / "data", **options) == (rows, bad, why[:MOST_NAMED])
    assert all(message.isprintable() for _, message in why)


def sparse_line(rng):
    return random_text(rng, 1).removesuffix("\n") if rng.random() < 0.8 else "# c"


def dense_line(rng):
    return ",".join(rng.choice(["0", "0", f"{rng.gauss(0, 1):.6g}", "-0.0", " 1 "]) for _ in range(20))


RANGE = "x\n-1 1\n" + "".join(f"{index} {-index} {2 * index}\n" for index in range(1, 28))


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "line, bad, share, options",
    [
        (sparse_line, list(BAD), 0.001, {}),
        (sparse_line, list(BAD), 0.5, {}),
        (sparse_line, list(BAD), 0.01, {"scaled": True}),
        (dense_line, ["1,2", "", "x" + ",1" * 19], 0.001, {"dense": True}),
    ],
)
def test_rows_do_not_depend_on_threads_or_chunks(tmp_path, line, bad, share, options):
    """Enough text for several slices of a chunk, one per thread."""
    rng, options = random.Random(f"{share}"), dict(options)
    lines = [rng.choice(bad) if at > 9_000 and rng.random() < share else line(rng) for at in range(15_000)]
    (tmp_path / "data").write_text("".join(line + "\n" for line in lines))
    scaling = parse_scaling(RANGE.encode(), "range") if options.pop("scaled", False) else None
    rows, gaps, why = one_by_one(lines, scaling=scaling and scaling.native, **options)
    for threads, size in ((2, 1 << 20), (5, 1 << 22), (5, 10_000)):
        _native.set_threads(threads)
        found = read_around(tmp_path / "data", size=size, scaling=scaling, **options)
        assert found == (rows, gaps, why[:MOST_NAMED])
        (first, message), *_ = why
        before, _, _ = one_by_one(lines[: first - 1], scaling=scaling and scaling.native, **options)
        stopped = read(tmp_path / "data", size=size, scaling=scaling, **options)
        assert stopped == (before, f"{tmp_path}/data:{first}: {message}")


@pytest.mark.full(few=1)
@pytest.mark.parametrize("bad", [lambda at: at % 2, lambda at: 100 < at < 70_000])
def test_rows_that_a_model_refuses_are_tried_a_few_times_each(tmp_path, bad):
    """Rows without a serial, for a precomputed kernel. One that tried all others again for each would never finish."""
    count = 100_000
    text = "".join("1 2:1\n" if bad(at) else "1 0:1 1:0.5 2:1 3:2\n" for at in range(count))
    (tmp_path / "data").write_text(text)
    prediction, lines, *_ = answered(parse_model(PRECOMPUTED.encode(), "m"), tmp_path / "data", on_bad_row="nan")
    expected, bad_rows = [at for at in range(count) if bad(at)], prediction.bad_rows
    assert [at for at, line in enumerate(lines.splitlines()) if line == b"nan"] == expected
    assert prediction.run_counts.rows == count - len(expected) and bad_rows.count == len(expected)
    assert [line for line, _ in bad_rows.named] == [at + 1 for at in expected[:MOST_NAMED]]
