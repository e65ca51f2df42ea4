"""Lines that are too long are bad rows and take no memory; lines of models have a limit, too."""

import gzip
import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.text import read_rows
from fastsvm_cli.text.line_blocks import NAMED
from fastsvm_cli.text.read_rows import Position, read_chunks
from support.bad_rows import one_by_one, read_around
from support.paths import FASTSVM
from support.processes import peak_memory
from support.profiles import calm
from support.reading import COMPRESS


@pytest.mark.full(few=3)
@pytest.mark.parametrize("kind", [None, *COMPRESS])
@pytest.mark.parametrize("size", [1, 7, 100, 4096, 1 << 20])
def test_a_line_that_is_too_long_is_named_after_the_rows_before_it(tmp_path, kind, size):
    good = "1 1:1 2:2\n" * 30
    for longest in (20, 100, 5000):
        for extra, end in ((1, "\n"), (1, ""), (3 * longest, "\n"), (60_000, ""), (0, "\n")):
            long = "1 " + "1" * (longest + extra - 2)
            text = (good + long + end + (good if end else "")).encode()
            (tmp_path / "data").write_bytes(COMPRESS[kind](text) if kind else text)
            rows = 0
            message = None
            position = Position()
            try:
                for chunk in read_chunks(str(tmp_path / "data"), max_line=longest, size=size, place=position):
                    rows += chunk.rows
            except Exception as error:
                message = str(error)
            if extra:
                assert (rows, message) == (
                    30,
                    (
                        f"{tmp_path / 'data'}:31: a line of more than {longest / 1e6:g} MB found, expected a row "
                        "(predict --max-line allows longer ones)"
                    ),
                )
                assert (position.offset, position.lines) == (len(good), 30)
            else:
                # Not too long: refused for another reason.
                assert message.startswith(f"{tmp_path / 'data'}:31: '1111")


@calm(200)
@given(
    st.lists(st.integers(0, 60), max_size=12),
    st.booleans(),
    st.sampled_from([1, 3, 16, 64, 4096]),
    st.sampled_from([1, 7, 30]),
)
def test_lines_that_are_too_long_are_passed_over_wherever_they_are(tmp_path, lengths, last, size, longest):
    lines = ["1 1:" + "1" * length if length % 2 else "x" * length for length in lengths]
    (tmp_path / "data").write_bytes("\n".join(lines).encode() + b"\n" * (last and bool(lines)))
    if not last and lines and not lines[-1]:
        lines = lines[:-1]
    printed = f"a line of more than {longest / 1e6:g} MB found, expected a row (predict --max-line allows longer ones)"
    rows, bad, why = one_by_one(["!" if len(line) > longest else line for line in lines], False)
    why = [(number, printed if len(lines[number - 1]) > longest else words) for number, words in why]
    assert read_around(tmp_path / "data", size=size, max_line=longest) == (rows, bad, why[:NAMED])


@pytest.mark.full
def test_a_line_without_end_takes_no_memory(fastsvm, models, tmp_path):
    """A few hundred kilobytes of gzip hold a line of 600 MB."""
    packer = zlib.compressobj(9, wbits=31)
    with open(tmp_path / "endless.gz", "wb") as file:
        file.write(packer.compress(b"1 1:1\n"))
        for _ in range(600):
            file.write(packer.compress(b"1" * 1_000_000))
        file.write(packer.flush())
    (tmp_path / "short").write_text("1 1:1\n")
    done = fastsvm("predict", "-q", "--max-line", 20, "endless.gz", models / "rings.approx", "out", code=1)
    assert (
        done.err == "Error: endless.gz:2: a line of more than 20 MB found, expected a row "
        "(predict --max-line allows longer ones)\n"
    )
    done = fastsvm("predict", "-q", "endless.gz", models / "rings.approx", "out", code=1)
    assert done.err.startswith("Error: endless.gz:2: a line of more than 256 MB found")
    small, passed = (
        peak_memory(
            FASTSVM, *"predict -q --on-bad-row skip --max-line 20".split(), name, models / "rings.approx", cwd=tmp_path
        )
        for name in ("short", "endless.gz")
    )
    assert passed < small + (80 << 20)
    assert fastsvm(
        "predict", "--on-bad-row", "nan", "--max-line", 20, "endless.gz", models / "rings.approx"
    ).out.splitlines()[1:] == ["nan"]


def test_wide_rows_are_read_up_to_the_longest_line_and_bound_reads_them_too(fastsvm, models, tmp_path):
    wide = "1 " + " ".join(f"{index}:1" for index in range(1, 200_000)) + "\n"
    (tmp_path / "wide").write_text(wide)
    assert fastsvm("predict", "-q", "--max-line", 3, "wide", models / "rings.approx").out in ("1\n", "-1\n")
    assert fastsvm("bound", "--max-line", 3, "wide").code == 0
    for command in (["predict", "--max-line", 1, "wide", models / "rings.approx"], ["bound", "--max-line", 1, "wide"]):
        assert "Error: wide:1: a line of more than 1 MB found" in fastsvm(*command, code=1).err


def test_what_begins_as_no_model_is_refused_before_it_is_read(fastsvm, models, tmp_path):
    (tmp_path / "m.gz").write_bytes(gzip.compress(bytes(50_000_000), 1))
    done = fastsvm("predict", "-q", models / "rings.rows", "m.gz", "out", code=1)
    assert re.fullmatch(
        r"Error: m.gz:1: '\?+' found, expected a LIBSVM model \('svm_type ...'\) or "
        r"a fastsvm model \('fastsvm_model ...'\)\n",
        done.err,
    ), str(done)


def test_a_line_of_a_model_has_an_end_too(models, tmp_path, monkeypatch):
    """LIBSVM's buffer for a line ends at 2^30 bytes."""
    assert read_rows.MAX_MODEL_LINE == 1 << 30
    monkeypatch.setattr(read_rows, "MAX_MODEL_LINE", 3 << 20)
    for lines, message in (
        ([2 << 20, 3 << 20, 1 << 20], None),
        ([100, 100, (3 << 20) + 1], ":3: a line of more than 3 MiB found, expected a model"),
    ):
        (tmp_path / "m").write_bytes(b"\n".join(b"x" * length for length in lines))
        if message is None:
            assert read_rows.read_bytes(str(tmp_path / "m")) == (tmp_path / "m").read_bytes()
        else:
            with pytest.raises(FastsvmError, match=message):
                read_rows.read_bytes(str(tmp_path / "m"))


def test_a_model_that_is_data_is_known_by_its_first_line(fastsvm, models, tmp_path):
    """A sparse file of two terabytes."""
    with open(tmp_path / "rows", "wb") as file:
        file.write((models / "rings.rows").read_bytes())
        file.truncate(1 << 41)
    hint = "; svm-train rows makes a model of it"
    for command, more in (
        (["predict", models / "rings.rows", "rows"], ""),
        (["approx", "rows"], hint),
        (["predict", "--exact", "rows", models / "rings.rows", models / "rings.cert", "out"], ""),
    ):
        assert (
            fastsvm(*command, code=1).err
            == f"Error: rows:1: this looks like a data file, expected a LIBSVM or fastsvm model{more}\n"
        )
