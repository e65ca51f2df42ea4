"""Differences from svm-predict are never silent: the README's tables, and small random damage."""

import random
import re

import pytest

from fastsvm_cli.models import load_model, parse_model
from support.bad_rows import NO_BLANKS, SPARSE
from support.both_programs import alike, ours, theirs
from support.evaluation import error_of
from support.messages import model_changes
from support.paths import GOLDEN
from support.processes import outcome
from support.profiles import tries

MODEL = b"""svm_type epsilon_svr
kernel_type rbf
gamma 0.1
nr_class 2
total_sv 3
rho 0.25
SV
1 1:0.5 2:1
-0.5 2:2 3:-1
0.75 1:-1 4:0.5
"""
DATA = b"1 1:0.5 2:-1 3:0.25\n-1 1:2 3:1 9:1\n2.5 2:3\n7 1:1e-3 4:2\n1\n-1 1:-1 2:-2 3:-3 4:-4\n"


# ---- rows


def test_such_a_byte_in_every_row_is_one_error_and_the_output_stays(fastsvm, tmp_path, svm_predict):
    """svm-predict drops what follows such a byte; here the bytes replace blanks."""
    rows = b"".join(b"%d 1:%d 2:0.5 3:%d\n" % (1 - 2 * (i % 2), i % 3, i % 5) for i in range(20))
    for byte, name in NO_BLANKS.items():
        damaged = rows.replace(b" 3:", byte.encode() + b"3:")
        whole, cut = theirs(svm_predict, tmp_path, rows, MODEL), theirs(svm_predict, tmp_path, damaged, MODEL)
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
        assert row in SPARSE and theirs(svm_predict, tmp_path, DATA + row.encode() + b"\n", MODEL) is not None, row


def test_a_row_that_svm_predict_refuses_though_nothing_would_be_lost_is_read(svm_predict, tmp_path):
    for row in (b"1 1:1e-310", b"1 1:1 # a:b", b"1\r", b"# c", b"#", b"1 qid:3 1:0.5"):
        assert theirs(svm_predict, tmp_path, DATA + row + b"\n", MODEL) is None
        assert len(ours(tmp_path, DATA + row + b"\n", MODEL)) == 7 + 2 - row.startswith(b"#")
    for row in (b"1,3 5:0.2", b""):
        assert theirs(svm_predict, tmp_path, DATA + row + b"\n", MODEL) is None


def test_and_svm_scale_loses_what_stands_behind_a_qid_or_a_comma(svm_scale, tmp_path):
    for line, left in (("1 qid:3 1:0.5", "1 "), ("1,3 1:0.5", "1 1:0.5 "), ("# c", None)):
        (tmp_path / "data").write_text(f"1 1:0.25\n{line}\n")
        (tmp_path / "range").write_text("x\n0 1\n1 0 1\n")
        done = outcome([svm_scale, "-r", "range", "data"], cwd=tmp_path)
        assert done.stdout.splitlines()[1:] == ([] if left is None else [left])
        assert bool(done.returncode) == (left is None)


# ---- models


def test_a_model_that_svm_predict_takes_for_another_one_is_refused(svm_predict, tmp_path):
    for message, name, (old, new) in model_changes("differences").values():
        assert MODEL.count(old) == 1
        damaged = MODEL.replace(old, new)
        if name not in ("a number that wraps", "fewer vectors", "no gamma"):  # svm-predict reads uninitialised memory
            assert theirs(svm_predict, tmp_path, DATA, damaged) is not None, name
        assert error_of(damaged) == message, name


def test_line_ends_blanks_and_words_that_libsvm_skips_are_read_alike(svm_predict, tmp_path):
    for new in (
        MODEL.replace(b"\n", b"\r\n"),
        MODEL.replace(b"3:-1", b"3:-1 # nothing"),
        MODEL.replace(b" ", b"\t"),
        MODEL.replace(b"SV\n", b"SV and more\n"),
    ):
        assert alike(ours(tmp_path, DATA, new), theirs(svm_predict, tmp_path, DATA, new))
        assert ours(tmp_path, DATA, new) == ours(tmp_path, DATA, MODEL)
    # LIBSVM cannot read these keys in this order.
    moved = MODEL.replace(b"nr_class 2\n", b"").replace(b"rho 0.25\n", b"rho 0.25\nnr_class 2\n")
    assert ours(tmp_path, DATA, moved) == ours(tmp_path, DATA, MODEL)


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


@pytest.mark.parametrize("what", ["data", "model"])
def test_a_damaged_file_is_refused_or_read_as_svm_predict_reads_it(svm_predict, tmp_path, what):
    rng, read = random.Random(what), 0
    models = [
        MODEL,
        *((GOLDEN / name).read_bytes() for name in ("c_svc.model", "three_classes.model", "one_class.model")),
    ]
    for _ in range(count := tries(1200)):
        model, data, probability = rng.choice(models), DATA, rng.random() < 0.3
        if what == "data":
            data = damaged(DATA.replace(b"\n", rng.choice((b"\n", b"\r\n"))), rng)
        else:
            model = damaged(model.replace(b"\n", rng.choice((b"\n", b"\r\n"))), rng)
        mine = ours(tmp_path, data, model, probability)
        if mine is None:
            continue
        yours = theirs(svm_predict, tmp_path, data, model, probability)
        assert yours is None or alike(mine, yours), (data if what == "data" else model, mine, yours)
        read += yours is not None
    assert read > count / 12


def test_golden_models_are_read_alike_in_both_line_ends(svm_predict, tmp_path):
    for path in sorted(GOLDEN.glob("*.model")):
        text = path.read_bytes().replace(b"\n", b"\r\n")
        assert load_model(str(path)).to_text() == parse_model(text, "m").to_text()
        expected = theirs(svm_predict, tmp_path, DATA, text)
        if expected is None:  # LIBSVM before 3.3 does not know this key
            assert b"prob_density_marks" in text
        else:
            assert alike(ours(tmp_path, DATA, text), expected)
