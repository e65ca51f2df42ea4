"""Files of border models: written, read back, and refused in one line if damaged."""

import numpy as np
import pytest

from fastsvm_cli.methods.border.signed_distance import compile_border
from fastsvm_cli.models import parse_model
from support.bordering import CASES, TEXT, values_of
from support.checksums import with_checksum
from support.evaluation import error_of, parse
from support.oracles import BorderFile, border_values, random_machine, random_rows


def test_a_hand_made_file_is_read_and_written_back_and_means_what_it_says():
    model = parse_model(TEXT, "m")
    assert model.to_text() == TEXT and parse_model(model.to_text(), "m").to_text() == TEXT
    border = BorderFile.read(TEXT)
    rows = [{1: 0.25, 7: 1.0}, {2: -3.0, 9: 1.0}, {}]
    np.testing.assert_allclose(values_of(model, rows), border_values(border, rows)[0].astype(float), rtol=1e-6)
    assert np.all(values_of(model, rows)[:, 1] == -1.5)


@pytest.mark.full(few=3)
@pytest.mark.parametrize("svm_type, classes, probability", CASES)
def test_files_are_written_back_byte_for_byte_and_say_the_same(svm_type, classes, probability):
    rng = np.random.default_rng([15, classes])
    rows = random_rows(rng, 60, [0, 2, 3, 2000000000], density=0.8)
    machine = random_machine(rng, svm_type, "rbf", rows, nr_class=classes, probability=probability, gamma=0.5)
    for tolerance, precision in ((1e-4, b"\nprecision single\n"), (1e-10, b"\nprecision double\n")):
        model = compile_border(
            parse_model(machine.text(), "m"),
            fingerprint="0123abcd",
            count=9,
            tolerance=tolerance,
            chunks=[parse(rows)],
            local=3,
        ).model
        text = model.to_text()
        again = parse_model(text, "again")
        assert again.to_text() == text and again.header.lines() == model.header.lines()
        assert again.fingerprint == "0123abcd" and text.isascii()
        assert precision in text or not any(map(len, BorderFile.read(text).samples))
        np.testing.assert_allclose(
            values_of(again, rows),
            values_of(model, rows),
            rtol=1e-5 if model.single else 0,
            atol=1e-5 if model.single else 0,
        )


ERRORS = [
    (b"nr_border 2 0 1", b"nr_border 3 0 1", "m:24: the end of the file found among 6 numbers"),
    (b"nr_border 2 0 1", b"nr_border 1 0 1", "text found after the border samples"),
    (b"nr_border 2 0 1", b"nr_border 2 -1 1", "m:13: a negative number of border samples found"),
    (b"nr_border 2 0 1", b"nr_border 2147483647 0 1", "the end of the file found among 12884901882 numbers"),
    (b"local 3", b"local 0", "m:15: local 0 found, expected 1 to 64"),
    (b"local 3", b"local 65", "m:15: local 65 found"),
    (b"single", b"half", "m:12: precision 'half' found, expected one of single, double"),
    (b"-4 5e-05 6", b"-4 1e39 6", "m:19: '1e39' found among 12 numbers"),
    (b"-1 -2 -3", b"-1 -2", "m:23: 'end' found among 6 numbers"),
    (b"-1 -2 -3", b"-1 -2 -3 4", "m:22: '4' found among 6 numbers"),
    (b"0.1 0.2 0.3\n", b"\x000.1 0.2 0.3\n", "m:21:"),
    (b"features 1:2 7", b"features 1:2 2", "m:11: features '2' found, expected increasing indices"),
    (b"features 1:2 7", b"features 1:2147483646", "more than the file has numbers for"),
    (b"features 1:2 7", b"features -1:1", "m:11:"),
    (b"features 1:2 7", b"features", "border samples without features found"),
    (b"features 1:2 7", b"features 1:2", "m:19: '6' found among 8 numbers"),
    (b"\nborder\n", b"\nSV\n", "m:16:"),
    (b"c_svc", b"epsilon_svr", "m:"),
    (b"label 1 -1 7", b"label 1 -1", "2 labels found, expected 3"),
]


@pytest.mark.parametrize("old, new, words", ERRORS, ids=[error[1].decode().strip()[-30:] for error in ERRORS])
def test_a_damaged_file_is_refused_in_one_clear_line(old, new, words):
    assert TEXT.count(old) >= 1
    message = error_of(with_checksum(TEXT.replace(old, new, 1)))
    assert message.startswith(words) if words.startswith("m:") else words in message, message


def test_a_regression_has_no_border_and_double_precision_has_larger_numbers():
    head = (
        TEXT.replace(b"c_svc", b"nu_svr")
        .replace(b"label 1 -1 7\n", b"")
        .replace(b"nr_sv 2 1 1\n", b"")
        .replace(b"nr_class 3", b"nr_class 2")
        .replace(b"rho 0.25 -0.5 0.125", b"rho 0.25")
    )
    assert "expected classes" in error_of(
        with_checksum(head.replace(b"nr_border 2 0 1", b"nr_border 3").replace(b"level 0.0 -1.5 0.125", b"level 0.0"))
    )
    double = with_checksum(TEXT.replace(b"single", b"double").replace(b"-4 5e-05 6", b"-4 1e+300 6"))
    assert parse_model(double, "m").to_text() == double
