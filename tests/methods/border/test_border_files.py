"""Files of border models: what they mean, and refusals in one line if damaged. Every border of these tests is written
back byte for byte, and golden files in tests/models."""

import numpy as np
import pytest

from fastsvm_cli.models import parse_model
from support.checksums import with_checksum
from support.evaluation import error_of, parse, values
from support.messages import model_changes
from support.oracles import BorderFile, border_values

TEXT = with_checksum(b"""fastsvm_model border 2
svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 4
rho 0.25 -0.5 0.125
label 1 -1 7
nr_sv 2 1 1
fingerprint 0123456789abcdef
features 1:2 7
precision single
nr_border 2 0 1
level 0.0 -1.5 0.125
local 3
border
0.5 1 -0.25
1 2 3
-4 5e-05 6
7 8 9
0.1 0.2 0.3
-1 -2 -3
end
""")
ERRORS = model_changes("border")


def test_a_hand_made_file_is_read_and_written_back_and_means_what_it_says():
    model = parse_model(TEXT, "m")
    assert model.to_text() == TEXT
    rows = [{1: 0.25, 7: 1.0}, {2: -3.0, 9: 1.0}, {}]
    found = values(model, parse(rows))
    np.testing.assert_allclose(found, border_values(BorderFile.read(TEXT), rows)[0].astype(float), rtol=1e-6)
    assert np.all(found[:, 1] == -1.5)
    # Double precision has larger numbers.
    double = with_checksum(TEXT.replace(b"single", b"double").replace(b"-4 5e-05 6", b"-4 1e+300 6"))
    assert parse_model(double, "m").to_text() == double


@pytest.mark.parametrize("case", ERRORS)
def test_a_damaged_file_is_refused_in_one_clear_line(case):
    words, _, (old, new) = ERRORS[case]
    assert old in TEXT
    message = error_of(with_checksum(TEXT.replace(old, new, 1)))
    assert message.startswith(words) if words.startswith("m:") else words in message, message


def test_a_regression_has_no_border():
    text = TEXT
    for old, new in (
        (b"c_svc", b"nu_svr"),
        (b"label 1 -1 7\nnr_sv 2 1 1\n", b""),
        (b"nr_class 3", b"nr_class 2"),
        (b" -0.5 0.125\n", b"\n"),
        (b"nr_border 2 0 1", b"nr_border 3"),
        (b"level 0.0 -1.5 0.125", b"level 0.0"),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    assert "expected classes" in error_of(with_checksum(text))
