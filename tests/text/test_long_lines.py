"""Lines that are too long are bad rows that take no memory; what compressors fastsvm does not know write is named."""

import gzip
import re
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastsvm_cli.errors import FastsvmError, FileError
from fastsvm_cli.text import data
from fastsvm_cli.text.bad_rows import NAMED
from fastsvm_cli.text.data import Place, read_chunks
from support.bad_rows import one_by_one, read_around
from support.places import FASTSVM
from support.processes import peak_memory
from support.profiles import calm
from support.reading import COMPRESS, rows_in

# ---- lines that are too long


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
            place = Place()
            try:
                for chunk in read_chunks(str(tmp_path / "data"), max_line=longest, size=size, place=place):
                    rows += chunk.rows
            except Exception as fault:
                message = str(fault)
            if extra:
                assert (rows, message) == (
                    30,
                    (
                        f"{tmp_path / 'data'}:31: a line of more than {longest / 1e6:g} MB found, expected a row "
                        "(predict --max-line allows longer ones)"
                    ),
                )
                assert (place.offset, place.lines) == (len(good), 30)
            else:
                assert message.startswith(
                    f"{tmp_path / 'data'}:31: '1111"
                )  # long, but not too long: no row for another reason


@settings(calm, max_examples=200)
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
    said = f"a line of more than {longest / 1e6:g} MB found, expected a row (predict --max-line allows longer ones)"
    rows, bad, why = one_by_one(["!" if len(line) > longest else line for line in lines], False)
    why = [(number, said if len(lines[number - 1]) > longest else words) for number, words in why]
    assert read_around(tmp_path / "data", size=size, max_line=longest) == (rows, bad, why[:NAMED])


def test_a_line_without_end_takes_no_memory(fastsvm, models, tmp_path):
    """A few hundred kilobytes of gzip hold 600 MB of one line."""
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
            FASTSVM,
            "predict",
            "-q",
            "--on-bad-row",
            "skip",
            "--max-line",
            20,
            name,
            models / "rings.approx",
            cwd=tmp_path,
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
    """LIBSVM's own buffer for a line ends at 2^30 bytes."""
    assert data._MAX_MODEL_LINE == 1 << 30
    monkeypatch.setattr(data, "_MAX_MODEL_LINE", 3 << 20)
    for lines, message in (
        ([2 << 20, 3 << 20, 1 << 20], None),
        ([100, 100, (3 << 20) + 1], ":3: a line of more than 3 MiB found, expected a model"),
    ):
        (tmp_path / "m").write_bytes(b"\n".join(b"x" * length for length in lines))
        if message is None:
            assert data.read_bytes(str(tmp_path / "m")) == (tmp_path / "m").read_bytes()
        else:
            with pytest.raises(FastsvmError, match=message):
                data.read_bytes(str(tmp_path / "m"))


def test_a_model_that_is_data_is_known_by_its_first_line(fastsvm, models, tmp_path):
    """Of two terabytes that no disk holds, and that would be read in vain."""
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


# ---- what cannot be read


FOREIGN = {
    "lz4": (b"\x04\x22\x4d\x18rest", "lz4 -dc"),
    "zip": (b"PK\x03\x04rest", "unzip -p"),
    "compress (.Z)": (b"\x1f\x9d\x90rest", "zcat"),
    "7-Zip": (b"7z\xbc\xaf\x27\x1crest", "7z x -so"),
    "lzip": (b"LZIP\x01rest", "lzip -dc"),
    "lzop": (b"\x89LZO\x00\rrest", "lzop -dc"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_other_compressors_are_named_with_what_to_type(fastsvm, models, tmp_path, name):
    content, tool = FOREIGN[name]
    (tmp_path / "my rows").write_bytes(content)
    done = fastsvm("predict", "my rows", models / "rings.approx", code=1)
    assert (
        done.err.splitlines()[-1] == f"Error: my rows: {name} data found, expected text, or gzip, bzip2, xz or zstd; "
        f"type: {tool} 'my rows' | fastsvm ... -"
    )
    done = fastsvm("predict", "-", models / "rings.approx", input=content, code=1)
    assert (
        done.err.splitlines()[-1]
        == f"Error: standard input: {name} data found, expected text, or gzip, bzip2, xz or zstd; "
        f"type: {tool} | fastsvm ... -"
    )
    assert "data found, expected text" in fastsvm("approx", "my rows", code=1).err


def test_a_label_that_begins_like_another_format_is_a_label(tmp_path):
    (tmp_path / "data").write_text("7\n7 1:1\n")
    assert [rows_in(chunk) for chunk in read_chunks(str(tmp_path / "data"))] == [[(7.0, []), (7.0, [(1, 1.0)])]]


def test_zstd_is_named_where_python_cannot_read_it(tmp_path, monkeypatch):
    (tmp_path / "z").write_bytes(b"\x28\xb5\x2f\xfdrest")
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises(
        FileError,
        match=r"zstd data found, which this Python cannot read \(3.14 can, or pip install backports.zstd\); "
        r"type: zstdcat \S+ \| fastsvm \.\.\. -$",
    ):
        list(read_chunks(str(tmp_path / "z")))


def test_zstd_files(tmp_path):
    try:
        from compression import zstd
    except ImportError:
        zstd = pytest.importorskip("backports.zstd")
    sample = "".join(f"{at % 3} {at + 1}:{at}.5\n" for at in range(3000)).encode()
    whole = zstd.compress(sample)
    skippable = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    for content in (
        whole,
        zstd.compress(sample[:1000]) + zstd.compress(sample[1000:]),
        skippable + whole,
        zstd.compress(b"") + whole,
    ):
        (tmp_path / "z").write_bytes(content)
        assert np.concatenate(
            [np.asarray(chunk.values) for chunk in read_chunks(str(tmp_path / "z"), size=4096)]
        ).tolist() == [at + 0.5 for at in range(3000)]
    for cut in range(5, len(whole), 97):
        (tmp_path / "z").write_bytes(whole[:cut])
        with pytest.raises(FileError, match=r"the zstd data (ends too early|is damaged)"):
            list(read_chunks(str(tmp_path / "z")))
    (tmp_path / "z").write_bytes(zstd.compress(bytes(300_000_000)))  # a few kilobytes
    with pytest.raises(Exception, match=":1: a line of more than 1 MB found"):
        list(read_chunks(str(tmp_path / "z"), max_line=1_000_000))
