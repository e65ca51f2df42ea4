"""Differences from svm-predict are never silent: the tables of FILES.md, and small random damage."""

import random
import re

import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from support.bad_rows import NO_BLANKS, SPARSE
from support.both_programs import alike, ours, theirs, theirs_337
from support.evaluation import error_of
from support.headers import BASES, EXCEPTIONS, REGRESSION, ROWS, ROWS_OF, changed
from support.messages import model_changes
from support.paths import GOLDEN
from support.profiles import tries

# ---- rows


def test_such_a_byte_in_every_row_is_one_error_and_the_output_stays(fastsvm, tmp_path, svm_predict):
    """svm-predict drops what follows such a byte; here the bytes replace blanks."""
    rows = b"".join(b"%d 1:%d 2:0.5 3:%d\n" % (1 - 2 * (i % 2), i % 3, i % 5) for i in range(20))
    for byte, name in NO_BLANKS.items():
        damaged = rows.replace(b" 3:", byte.encode() + b"3:")
        whole, cut = theirs(svm_predict, tmp_path, rows, REGRESSION), theirs(svm_predict, tmp_path, damaged, REGRESSION)
        assert cut is not None and not alike(whole, cut)
        (tmp_path / "out").write_text("before\n")
        done = fastsvm("predict", "data", "model", "out", code=1)
        found = f"Error: data:1: {name} found inside a row, expected blanks or tabs between words"
        letter = {"\r": "r", "\v": "v", "\f": "f"}[byte]
        assert done.err == f"{found}; tr '\\{letter}' ' ' < data writes blanks\n"
        assert (tmp_path / "out").read_text() == "before\n"


#: Rows that svm-predict takes for others.
TAKEN = [
    *"1 -0:2|1 foo|1 2:1 :3|1 3:nan|1 3:inf|inf 1:1|1e999 1:1|1e-999 1:1|1 4294967297:1".split("|"),
    "1 1:2 # \x00",
    "1 1:12\x00",
]


def test_a_row_that_svm_predict_takes_for_another_one_is_refused(svm_predict, tmp_path):
    for row in TAKEN:
        assert row in SPARSE and theirs(svm_predict, tmp_path, ROWS + row.encode() + b"\n", REGRESSION) is not None, row


def test_a_row_that_svm_predict_refuses_though_nothing_would_be_lost_is_read(svm_predict, tmp_path):
    for row in (b"1 1:1e-310", b"1 1:1 # a:b", b"1\r", b"# c", b"#", b"1 qid:3 1:0.5"):
        assert theirs(svm_predict, tmp_path, ROWS + row + b"\n", REGRESSION) is None
        assert len(ours(tmp_path, ROWS + row + b"\n", REGRESSION)) == 7 + 2 - row.startswith(b"#")
    for row in (b"1,3 5:0.2", b""):
        assert theirs(svm_predict, tmp_path, ROWS + row + b"\n", REGRESSION) is None


# ---- models


def test_a_model_that_svm_predict_takes_for_another_one_is_refused(svm_predict, tmp_path):
    for message, name, *changes in model_changes("differences").values():
        damaged = changed(REGRESSION, *changes)
        if name not in ("a number that wraps", "fewer vectors", "no gamma"):  # svm-predict reads uninitialised memory
            assert theirs(svm_predict, tmp_path, ROWS, damaged) is not None, name
        assert error_of(damaged) == message, name


# ---- at random

BITS = [
    *(b"\r", b"\v", b"\f", b"\0", b"-0", b"0", b"1e400", b"1e-400", b"1e-310", b"nan", b"inf", b"0x10", b"1e"),
    *(b"+", b"-", b":", b"#", b" #", b" # a:b", b"\t", b"  ", b"\n", b"\r\n", b" \r\n", b"4294967297"),
    *(b"2147483648", b"2147483647", b"abc", b".", b",", b"\xff", b"\x1c", b": ", b" :", b"1:", b"\r:1", b"SV"),
    *(b"rho 1", b"\n\n", b"-1", b"1 2:3", b"label 1 2"),
]


def damaged(text, rng):
    at = rng.randrange(len(text) + 1)
    to = min(len(text), at + rng.choice((1, 1, 2, 5, 20)))
    words = [match.span() for match in re.finditer(rng.choice((rb"[^\s:]+", rb"[\s:]+")), text)]
    first, last = rng.choice(words)
    lines = text.splitlines(keepends=True)
    a, b = rng.sample(range(len(lines)), 2)
    lines[a], lines[b] = lines[b], lines[a]
    bit = rng.choice(BITS)
    return rng.choice(
        (
            text[:at] + bit + text[at:],
            text[:at] + bit + text[to:],
            text[:at] + text[to:],
            text[:to] + text[at:],
            text[:first] + bit + text[last:],
            b"".join(lines),
            text[:at],
        )
    )


KEYS = b"label 0 0|nr_sv 0 0|probA 1|probB 0|degree -1|gamma 2|rho 1||\t \t".split(b"|")
WORDS = b"0 1 2 -1 3 0.5 1.5 1e0 0x1p0 +2 abc nan 1-2 coef SV".split()


def with_another_header(text, rng):
    """Lines are exchanged, repeated, left out, joined or cut; words are replaced, added or left out."""
    head, vectors = text.split(b"SV\n")
    lines = head.splitlines()
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        words = lines[at].split() or [b""]
        word, blank = rng.randrange(len(words)), rng.choice((b" ", b"\t", b"  ", b"\n", b" \n\n "))
        changes = [
            [],
            [lines[at], lines[other]],
            [lines[at], rng.choice(KEYS)],
            [blank.join((b"", *words, b""))],
            [b" ".join((*words[:word], rng.choice(WORDS), *words[word + rng.randrange(2) :]))],
            [b" ".join((*words[:word], *words[word + 1 :]))],
        ]
        if rng.random() < 0.3:
            lines[at], lines[other] = lines[other], lines[at]
        elif rng.random() < 0.1:
            lines[at : at + 2] = [b" ".join(lines[at : at + 2])]
        else:
            lines[at : at + 1] = rng.choice(changes)
    text = b"\n".join((*lines, rng.choice((b"SV", b"SV ", b"\tSV", b"SV 1"))))
    return text + b"\n" + vectors


@pytest.mark.parametrize("what, count", [("data", 1200), ("model", 1200), ("header", 400)])
def test_a_damaged_file_is_refused_or_read_as_svm_predict_reads_it(svm_predict, tmp_path, what, count):
    """LIBSVM 3.37 also reads the headers; those that are refused, but by neither LIBSVM, are exceptions."""
    rng, read, jobs = random.Random(what), 0, []
    golden = [(GOLDEN / f"{name}.model").read_bytes() for name in ("c_svc", "three_classes", "one_class")]
    for _ in range(tries(count)):
        model = rng.choice(BASES if what == "header" else [REGRESSION, *golden])
        data, end = ROWS_OF.get(model, ROWS), rng.choice((b"\n", b"\n", b"\r\n"))
        if what == "data":
            data = damaged(data.replace(b"\n", end), rng)
        else:
            model = (damaged if what == "model" else with_another_header)(model, rng).replace(b"\n", end)
        jobs.append((data, model, rng.random() < 0.3))
    later = theirs_337(tmp_path, jobs) if what == "header" else [None] * len(jobs)
    for (data, model, probability), rows in zip(jobs, later):
        mine, debian = ours(tmp_path, data, model, probability), None
        if mine is not None or what == "header":
            debian = theirs(svm_predict, tmp_path, data, model, probability)
        if mine is None:
            exception = refused(model) and any(re.search(each, refused(model)) for each, *_ in EXCEPTIONS.values())
            assert exception or (debian, rows) == (None, None), (model, refused(model))
            continue
        assert debian is None or alike(mine, debian), (data, model, mine, debian)
        assert rows is None or alike(mine[: len(rows)], rows), (model, mine, rows)
        read += (rows or debian) is not None
    assert read > len(jobs) / 12


def refused(model):
    """The message; None for a model."""
    try:
        parse_model(model, "m", warn=False)
    except ModelFormatError as error:
        return str(error)
