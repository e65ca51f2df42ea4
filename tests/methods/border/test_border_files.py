"""Files of border models: written and read back; whatever is cut off or corrupted is refused in one line, or is a
model."""

import random
import subprocess
import sys

import numpy as np
import pytest

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.border.signed_distance import compile_border
from fastsvm_cli.models import parse_model
from support.bordering import CASES, TEXT, values_of
from support.evaluation import fault_of, parse
from support.oracles import BorderFile, border_values, random_machine, random_rows
from support.processes import PATIENCE
from support.sealing import sealed


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
        assert (
            again.to_text() == text
            and vars(again.header) == vars(model.header)
            and again.fingerprint == "0123abcd"
            and text.isascii()
        )
        assert precision in text or not any(map(len, BorderFile.read(text).samples))
        np.testing.assert_allclose(
            values_of(again, rows),
            values_of(model, rows),
            rtol=1e-5 if model.single else 0,
            atol=1e-5 if model.single else 0,
        )


def test_a_file_cut_off_at_any_byte_or_without_any_line_is_refused():
    for cut in range(len(TEXT)):
        message = fault_of(TEXT[:cut])
        assert cut < 23 or message == "m: the last line is not 'end': the file is cut off, or has been added to"
    rows = TEXT.splitlines(keepends=True)
    for at in range(len(rows)):
        for text in (rows[:at] + rows[at + 1 :], rows[: at + 1] + rows[at:]):
            fault_of(b"".join(text))
            if at < len(rows) - 2:  # in front of the checksum
                fault_of(sealed(b"".join(text)))
    for added in (b"\n", b" ", b"end\n", b"1 2 3\n", b"\x00", b"1 2 3\nend\n"):
        fault_of(TEXT + added)


FAULTS = [
    (b"nr_border 2 0 1", b"nr_border 3 0 1", "m:24: the end of the file found among 6 numbers"),
    (b"nr_border 2 0 1", b"nr_border 1 0 1", "text found after the border samples"),
    (b"nr_border 2 0 1", b"nr_border 2 1", "m:13: 2 values of 'nr_border' found, expected 3"),
    (b"nr_border 2 0 1", b"nr_border 2 -1 1", "m:13: a negative number of border samples found"),
    (b"nr_border 2 0 1", b"nr_border 2147483647 0 1", "numbers"),
    (b"nr_border 2 0 1", b"nr_border 99999999999 0 1", "m:13: nr_border '99999999999' found, expected a whole number"),
    (b"nr_border 2 0 1", b"nr_border 2.0 0 1", "m:13: nr_border '2.0' found"),
    (b"nr_border 2 0 1\n", b"", "the header ends without 'nr_border'"),
    (b"level 0.0 -1.5 0.125", b"level 0.0 -1.5", "m:14: 2 values of 'level' found, expected 3"),
    (b"level 0.0", b"level nan", "m:14: level 'nan' found, expected a finite number"),
    (b"level 0.0", b"level 1e999", "m:14: level '1e999' found"),
    (b"local 3", b"local 0", "m:15: local 0 found, expected 1 to 64"),
    (b"local 3", b"local 65", "m:15: local 65 found"),
    (b"local 3", b"local 3 3", "m:15: 2 values of 'local' found, expected 1"),
    (b"single", b"half", "m:12: precision 'half' found, expected one of single, double"),
    (b"local 3", b"local 3\nflavour sweet", "m:16: unknown key 'flavour'"),
    (b"local 3", b"local 3\nlocal 3", "m:16: key 'local' found twice"),
    (b"-4 5e-05 6", b"nan 5e-05 6", "m:19: 'nan' found among 12 numbers"),
    (b"-4 5e-05 6", b"-4 inf 6", "m:19: 'inf' found among 12 numbers"),
    (b"-4 5e-05 6", b"-4 x 6", "m:19: 'x' found among 12 numbers"),
    (b"-4 5e-05 6", b"-4 1e39 6", "m:19: '1e39' found among 12 numbers"),
    (b"-1 -2 -3", b"-1 -2 1e999", "m:22: '1e999' found among 6 numbers"),
    (b"-1 -2 -3", b"-1 -2", "m:23: 'end' found among 6 numbers"),
    (b"-1 -2 -3", b"-1 -2 -3 4", "m:22: '4' found among 6 numbers"),
    (b"0.1 0.2 0.3\n", b"\x000.1 0.2 0.3\n", "m:21:"),
    (b"features 1:2 7", b"features 1:2 2", "m:11: features '2' found, expected increasing indices"),
    (b"features 1:2 7", b"features 1:2147483646", "more than the file has numbers for"),
    (b"features 1:2 7", b"features -1:1", "m:11:"),
    (b"features 1:2 7", b"features", "border samples without features found"),
    (b"features 1:2 7", b"features 1:2", "m:19: '6' found among 8 numbers"),
    (
        b"border 2\n",
        b"border 4\n",
        "m:1: version 4 of the format found, this fastsvm reads up to 3: a newer fastsvm wrote it",
    ),
    (b"\nborder\n", b"\nSV\n", "m:16:"),
    (b"c_svc", b"epsilon_svr", "m:"),
    (b"label 1 -1 7", b"label 1 -1", "2 labels found, expected 3"),
    (b"rho 0.25 -0.5 0.125", b"rho 0.25", "1 values of 'rho' found, expected 3"),
    (b"fingerprint 0123456789abcdef", b"fingerprint", "m:10: 0 values of 'fingerprint' found, expected 1"),
]


@pytest.mark.parametrize("old, new, words", FAULTS, ids=[fault[1].decode().strip()[-30:] for fault in FAULTS])
def test_a_damaged_file_is_refused_in_one_clear_line(old, new, words):
    assert TEXT.count(old) >= 1
    message = fault_of(sealed(TEXT.replace(old, new, 1)))
    assert message.startswith(words) if words.startswith("m:") else words in message, message


def test_a_regression_has_no_border_and_double_precision_has_larger_numbers():
    head = (
        TEXT.replace(b"c_svc", b"nu_svr")
        .replace(b"label 1 -1 7\n", b"")
        .replace(b"nr_sv 2 1 1\n", b"")
        .replace(b"nr_class 3", b"nr_class 2")
        .replace(b"rho 0.25 -0.5 0.125", b"rho 0.25")
    )
    assert "expected classes" in fault_of(
        sealed(head.replace(b"nr_border 2 0 1", b"nr_border 3").replace(b"level 0.0 -1.5 0.125", b"level 0.0"))
    )
    double = sealed(TEXT.replace(b"single", b"double").replace(b"-4 5e-05 6", b"-4 1e+300 6"))
    assert parse_model(double, "m").to_text() == double


@pytest.mark.full
def test_a_file_with_any_one_byte_changed_is_refused_or_is_a_model():
    rng, refused, accepted = random.Random(1), 0, 0
    rows = [{1: 0.5, 7: -1.0}, {}, {2: 2e9}]
    for at in range(len(TEXT)):
        for other in {TEXT[at] ^ 1, 0, 10, 32, ord("9"), ord("-"), rng.randrange(256)} - {TEXT[at]}:
            mutant = sealed(TEXT[:at] + bytes([other]) + TEXT[at + 1 :])
            try:
                model = parse_model(mutant, "m")
            except ModelFormatError as fault:
                assert str(fault).startswith("m:") and len(str(fault).splitlines()) == 1
                refused += 1
                continue
            assert values_of(model, rows).shape == (3, model.pairs)
            assert parse_model(model.to_text(), "m").to_text() == model.to_text()
            accepted += 1
    assert refused > 500 and accepted > 100


def test_a_small_file_that_announces_billions_takes_no_memory():
    code = (
        "import resource, sys\n"
        "from fastsvm_cli.errors import ModelFormatError\n"
        "from fastsvm_cli.models import parse_model\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "try:\n"
        "    parse_model(sys.stdin.buffer.read(), 'm')\n"
        "except ModelFormatError:\n"
        "    print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        input=sealed(TEXT.replace(b"nr_border 2", b"nr_border 2147483647")),
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.stdout == b"refused\n", done.stderr.decode()[-500:]


@pytest.mark.full
def test_the_commands_refuse_damaged_files_in_one_line_and_keep_what_was_there(fastsvm, tmp_path, svm_predict):
    (tmp_path / "rows").write_text("1 1:1\n")
    (tmp_path / "out").write_text("before\n")
    for old, new, *_ in (FAULTS[0], FAULTS[3], FAULTS[17], FAULTS[30]):
        (tmp_path / "bad").write_bytes(sealed(TEXT.replace(old, new, 1)))
        done = fastsvm("predict", "rows", "bad", "out", code=1)
        assert (
            done.err.startswith("Error: bad:")
            and done.err.count("\n") == 1
            and done.out == ""
            and (tmp_path / "out").read_text() == "before\n"
        ), str(done)
    (tmp_path / "good").write_bytes(TEXT)
    stock = subprocess.run([svm_predict, "rows", "good", "theirs"], cwd=tmp_path, capture_output=True, text=True)
    assert stock.returncode == 1 and "unknown text in model file: [fastsvm_model]" in stock.stderr
