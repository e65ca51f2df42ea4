"""Headers of LIBSVM models are read as svm-predict reads them, except for the README's table of differences."""

import re

import pytest

from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.order.triangle import compile_triangle
from fastsvm_cli.models import parse_model
from support.both_programs import alike, ours, theirs, theirs_337
from support.evaluation import fault_of
from support.headers import EXCEPTIONS, ONE_CLASS, REGRESSION, ROWS_OF, SERIALS, THREE, TWO, changed
from support.messages import not_finite, not_whole, values_of_key
from support.places import ROOT

# ---- read by both

ALIKE = {  # name -> (model, its changes)
    "as svm-train writes it, a regression": (REGRESSION,),
    "as svm-train writes it, two classes": (TWO,),
    "as svm-train writes it, three classes": (THREE,),
    "as svm-train writes it, one class": (ONE_CLASS,),
    "as svm-train writes it, serials": (SERIALS,),
    "RNAz: label 0 0 and nr_sv 0 0": (REGRESSION, (b"SV\n", b"label 0 0\nnr_sv 0 0\nSV\n")),
    "label and nr_sv of one class": (ONE_CLASS, (b"SV\n", b"label 3 -1\nnr_sv 7 -9\nSV\n")),
    "PLSSVM: its order of keys": (
        THREE,
        (b"total_sv 4\nrho 0.25 -0.5 0.125\nlabel 4 -2 7\n", b"label 4 -2 7\ntotal_sv 4\n"),
        (b"nr_sv 2 1 1\n", b"nr_sv 2 1 1\nrho 2.5000000000e-01 -5.0000000000e-01 1.2500000000e-01\n"),
    ),
    "PLSSVM: a blank line before gamma": (THREE, (b"gamma", b"\ngamma")),
    "ThunderSVM: blanks behind every line": (TWO, (b"\n", b" \n")),
    "nr_class first": (THREE, (b"nr_class 3\n", b""), (b"svm_type", b"nr_class 3\nsvm_type")),
    "SV's line first but for nr_class": (
        REGRESSION,
        (b"svm_type epsilon_svr\nkernel_type rbf\n", b""),
        (b"SV\n", b"kernel_type rbf\nsvm_type epsilon_svr\nSV\n"),
    ),
    "blank lines before all": (TWO, (b"svm_type", b"\n \t\n\nsvm_type")),
    "blank lines everywhere": (THREE, (b"\n", b"\n\n"), (b"SV\n\n", b"SV\n"), (b" \n\n", b" \n")),
    "CR LF": (THREE, (b"\n", b"\r\n")),
    "CR LF and blank lines": (TWO, (b"\nlabel", b"\n\n \nlabel"), (b"\n", b"\r\n")),
    "tabs": (THREE, (b" ", b"\t")),
    "blanks in front of keys": (TWO, (b"\ngamma", b"\n  gamma"), (b"\nSV", b"\n\t SV")),
    "blanks in front of vectors": (TWO, (b"\n0.25", b"\n \t0.25")),
    "vectors without blanks behind them": (THREE, (b" \n", b"\n")),
    "text behind SV": (TWO, (b"SV\n", b"SV of a polynomial kernel\n")),
    "SV behind nr_sv": (TWO, (b"\nSV\n", b" SV\n")),
    "several keys in a line": (THREE, (b"\nkernel_type", b" kernel_type"), (b"\nlabel", b" label")),
    "the whole header in a line": (
        REGRESSION,
        (b"\ngamma", b" gamma"),
        (b"\nnr", b" nr"),
        (b"\nrho 0.25\n", b" rho 0.25 "),
    ),
    "values on the next line": (THREE, (b"gamma ", b"gamma\n"), (b"rho ", b"rho\n\n"), (b"svm_type ", b"svm_type\n")),
    "values on several lines": (THREE, (b"-0.5 0.125", b"-0.5\n\n0.125"), (b"4 -2 7", b"4\n-2\n7")),
    "gamma twice": (REGRESSION, (b"gamma 0.1", b"gamma 5\ngamma 0.1")),
    "rho, label and nr_sv twice": (
        TWO,
        (b"rho -0.5", b"rho 9\nrho -0.5"),
        (b"label 1 -1", b"label 5 6\nlabel 1 -1"),
        (b"nr_sv 2 1", b"nr_sv 1 1\nnr_sv 2 1"),
    ),
    "svm_type and kernel_type twice": (
        REGRESSION,
        (b"kernel_type rbf", b"kernel_type linear\nkernel_type rbf"),
        (b"svm_type epsilon_svr", b"svm_type c_svc\nsvm_type epsilon_svr"),
    ),
    "nr_class twice, the same": (THREE, (b"rho", b"nr_class 3\nrho")),
    "total_sv twice": (REGRESSION, (b"total_sv 3", b"total_sv 99\ntotal_sv 3")),
    "signs and leading zeros": (
        THREE,
        (b"nr_class 3", b"nr_class +003"),
        (b"label 4", b"label +04"),
        (b"nr_sv 2", b"nr_sv 0002"),
    ),
    "exponents": (REGRESSION, (b"gamma 0.1", b"gamma 1.0000E-1"), (b"rho 0.25", b"rho +.25e+00")),
    "hexadecimal numbers": (TWO, (b"gamma 0.5", b"gamma 0x1p-1"), (b"rho -0.5", b"rho -0X.8")),
    "many digits": (REGRESSION, (b"gamma 0.1", b"gamma 0." + b"1" * 400)),
    "a rho that becomes 0": (REGRESSION, (b"rho 0.25", b"rho 1e-400")),
    "parameters that the kernel has not": (REGRESSION, (b"gamma 0.1", b"degree -3\ncoef0 9\ngamma 0.1")),
    "parameters of a linear kernel": (ONE_CLASS, (b"nr_class", b"degree 3\ngamma 0.5\ncoef0 1\nnr_class")),
    "degree 0": (TWO, (b"degree 3", b"degree 0")),
    "gamma 0": (REGRESSION, (b"gamma 0.1", b"gamma 0")),
    "a negative gamma": (REGRESSION, (b"gamma 0.1", b"gamma -0.1")),
    "no probA": (TWO, (b"probA -1.5\n", b"")),
    "no probB": (TWO, (b"probB 0.25\n", b"")),
    "probA of a regression": (REGRESSION, (b"SV\n", b"probA 0.5\nSV\n")),
    "probA and probB of a regression": (REGRESSION, (b"SV\n", b"probA 0.5\nprobB 3\nSV\n")),
    "probB alone of a regression": (REGRESSION, (b"SV\n", b"probB 3\nSV\n")),
    "probA and probB of one class": (
        ONE_CLASS,
        (b"prob_density_marks -5 -3 -2 -1 -0.5 0.5 1 2 3 5\n", b"probA 1\nprobB 2\n"),
    ),
    "density marks of two classes": (TWO, (b"SV\n", b"prob_density_marks 1 2 3 4 5 6 7 8 9 10\nSV\n")),
    "nr_sv 0 of a class": (TWO, (b"nr_sv 2 1", b"nr_sv 3 0")),
    "nr_sv 0 of the first class": (THREE, (b"nr_sv 2 1 1", b"nr_sv 0 3 1")),
    "the same label twice": (THREE, (b"label 4 -2 7", b"label 4 4 4")),
    "label 0 0": (TWO, (b"label 1 -1", b"label 0 0")),
    "no vectors": (REGRESSION, (b"total_sv 3", b"total_sv 0"), (REGRESSION[REGRESSION.index(b"SV\n") + 3 :], b"")),
    "no vectors of two classes": (
        TWO,
        (b"total_sv 3", b"total_sv 0"),
        (b"nr_sv 2 1", b"nr_sv 0 0"),
        (TWO[TWO.index(b"SV\n") + 3 :], b""),
    ),
    "a vector without entries": (TWO, (b"0.25 2:2 3:-1 ", b"0.25 ")),
    "index 0": (TWO, (b"0.25 2:2", b"0.25 0:3 2:2")),
    "serials that are not whole": (SERIALS, (b"0:1 ", b"0:1.7 "), (b"0:3 ", b"0:2.999 ")),
    "serials of an exponent": (SERIALS, (b"0:3 ", b"0:0.3e1 ")),
    "a serial between -1 and 0": (SERIALS, (b"0:1 ", b"0:-0.5 ")),
    "a serial behind another index": (SERIALS, (b"0:3 ", b"1:3 ")),
    "a precomputed row behind its serial": (SERIALS, (b"0:3 ", b"0:3 1:0.5 2:7 ")),
}


@pytest.fixture(scope="module")
def answers_337(tmp_path_factory):
    """(group, name) -> LIBSVM 3.37's answers, without and with -b 1."""
    cases = {("alike", name): case for name, case in ALIKE.items()}
    cases |= {("others", name): case for name, case in OTHERS.items()}
    cases |= {("neither", name): case for name, (_, *case) in NEITHER.items()}
    cases |= {("exceptions", name): case for name, (_, *case) in EXCEPTIONS.items()}
    jobs = [(ROWS_OF[base], changed(base, *changes), b) for base, *changes in cases.values() for b in (False, True)]
    found = theirs_337(tmp_path_factory.mktemp("libsvm"), jobs)
    return {each: found[2 * at : 2 * at + 2] for at, each in enumerate(cases)}


@pytest.mark.full
@pytest.mark.parametrize("name", ALIKE)
def test_what_svm_predict_reads_is_read_with_its_answers(svm_predict, tmp_path, answers_337, name):
    base, *changes = ALIKE[name]
    model, rows = changed(base, *changes), ROWS_OF[base]
    assert answers_337["alike", name][0] is not None
    for probability, later in zip((False, True), answers_337["alike", name]):
        mine = ours(tmp_path, rows, model, probability)
        assert (mine is None) == (later is None)
        if mine is not None:
            heading = probability and parse_model(model, "m").header.regression  # on standard output
            assert alike(mine[: len(later)], later) and (heading or len(mine) - len(later) in (1, 2))
        if b"prob_density_marks" not in model:  # Debian's LIBSVM 3.24 does not know this key
            debian = theirs(svm_predict, tmp_path, rows, model, probability)
            assert (mine is None) == (debian is None) and (mine is None or alike(mine, debian))


@pytest.mark.full(few=59)
@pytest.mark.parametrize("name", ALIKE)
def test_and_its_own_text_gives_the_same_answers_to_the_bit(tmp_path, name):
    base, *changes = ALIKE[name]
    model = changed(base, *changes)
    again = parse_model(model, "m").to_text()
    assert parse_model(again, "m").to_text() == again
    assert ours(tmp_path, ROWS_OF[base], again) == ours(tmp_path, ROWS_OF[base], model)


def test_what_means_nothing_in_a_regression_is_in_no_compiled_model():
    model = parse_model(changed(*ALIKE["RNAz: label 0 0 and nr_sv 0 0"]), "m")
    for text in (
        compile_maclaurin(model, fingerprint="f", certify=True).to_text(),
        compile_triangle(model, fingerprint="f").to_text(),
    ):
        assert b"label" not in text and b"nr_sv" not in text and parse_model(text, "m").to_text() == text


# ---- written by other programs, refused by LIBSVM

OTHERS = {
    "ThunderSVM's coef": (ONE_CLASS, (b"prob_density", b"coef \n0.5 0 -nan 1e-300 \nprob_density")),
    "ThunderSVM's coef without numbers": (ONE_CLASS, (b"SV\n", b"coef \n\nSV \n")),
    "PLSSVM's c_svr": (REGRESSION, (b"epsilon_svr", b"c_svr"), (b"total_sv 3\nrho 0.25", b"rho 0.25\ntotal_sv 3")),
    "nr_class last": (THREE, (b"nr_class 3\n", b""), (b"SV\n", b"nr_class 3\nSV\n")),
}


@pytest.mark.full
@pytest.mark.parametrize("name", OTHERS)
def test_what_other_programs_write_is_read_too(answers_337, name):
    base, *changes = OTHERS[name]
    model = changed(base, *changes)
    assert answers_337["others", name] == [None, None]
    assert parse_model(model, "m").to_text() == parse_model(base, "m").to_text()


# ---- read by neither

NEITHER = {  # name -> (message, model, its changes)
    "an unknown key": (
        "m:4: unknown key 'flavour'; is this another program's model?",
        REGRESSION,
        (b"nr_class", b"flavour sweet\nnr_class"),
    ),
    "a number where a key should be": (f"m:8: {values_of_key(2, 'rho', 1)}", TWO, (b"label", b"1\nlabel")),
    "an unknown svm_type": (
        "m:1: svm_type 'c_svm' found, expected one of c_svc, nu_svc, one_class, epsilon_svr, nu_svr",
        TWO,
        (b"c_svc", b"c_svm"),
    ),
    "PLSSVM's laplacian kernel": (
        "m:2: kernel_type 'laplacian' found, expected one of linear, polynomial, rbf, sigmoid, precomputed",
        REGRESSION,
        (b"rbf", b"laplacian"),
    ),
    "PLSSVM's labels that are words": (f"m:9: label {not_whole('cat')}", TWO, (b"label 1 -1", b"label cat dog")),
    "labels that are not whole": (f"m:9: label {not_whole('1.5')}", TWO, (b"label 1", b"label 1.5")),
    "degree of an old LIBSVM": (f"m:3: degree {not_whole('2.5')}", TWO, (b"degree 3", b"degree 2.5")),
    "rho too few": (f"m:7: {values_of_key(2, 'rho', 3)}", THREE, (b"rho 0.25 ", b"rho ")),
    "rho too many": (f"m:7: {values_of_key(4, 'rho', 3)}", THREE, (b"rho ", b"rho 0 ")),
    "the first of two rho too many": (f"m:8: {values_of_key(2, 'rho', 1)}", TWO, (b"rho", b"rho 0 1\nrho")),
    "label too few in a regression": ("m:7: 1 labels found, expected 2", REGRESSION, (b"SV", b"label 0\nSV")),
    "nr_sv too many in a regression": (f"m:7: {values_of_key(3, 'nr_sv', 2)}", REGRESSION, (b"SV", b"nr_sv 0 0 0\nSV")),
    "probA too many": (f"m:10: {values_of_key(2, 'probA', 1)}", TWO, (b"probA", b"probA 0")),
    "probB too few": (f"m:10: {values_of_key(2, 'probB', 3)}", THREE, (b"probB 0.5", b"probB")),
    "density marks too few": (f"m:6: {values_of_key(9, 'prob_density_marks', 10)}", ONE_CLASS, (b"marks -5", b"marks")),
    "no value": (f"m:3: {values_of_key(0, 'gamma', 1)}", REGRESSION, (b"gamma 0.1", b"gamma")),
    "nr_class in another form": (f"m:5: nr_class {not_whole('3.0')}", THREE, (b"nr_class 3", b"nr_class 3.0")),
    "a decimal comma": (f"m:3: gamma {not_finite('0,1')}", REGRESSION, (b"0.1\n", b"0,1\n")),
    "a key in capitals": (
        "m:3: unknown key 'GAMMA'; is this another program's model?",
        REGRESSION,
        (b"gamma", b"GAMMA"),
    ),
    "SV in small letters": ("m:7: unknown key 'sv'; is this another program's model?", REGRESSION, (b"SV", b"sv")),
}


@pytest.mark.full(few=7)
@pytest.mark.parametrize("name", NEITHER)
def test_what_neither_reads_is_refused_in_one_line(svm_predict, tmp_path, answers_337, name):
    message, base, *changes = NEITHER[name]
    model = changed(base, *changes)
    assert fault_of(model) == message
    assert theirs(svm_predict, tmp_path, ROWS_OF[base], model) is None
    assert answers_337["neither", name] == [None, None]


# ---- exceptions

DEFINED = [name for name in EXCEPTIONS if not re.search("missing|fewer|single|overflows|negative total|serial", name)]
README = (ROOT / "fastsvm_cli/commands/README.md").read_text()


@pytest.mark.full(few=11)
@pytest.mark.parametrize("name", EXCEPTIONS)
def test_each_exception_is_in_the_list_of_differences(svm_predict, tmp_path, answers_337, name):
    said, base, *changes = EXCEPTIONS[name]
    model = changed(base, *changes)
    assert re.search(said, fault_of(model))
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {name} ")]
    *_, here, why, _ = [cell.strip() for cell in line.split("|")]
    assert here == "error" and why.split()[0] in ("damage", "undefined", "no")
    if name in DEFINED:  # the others depend on what memory holds
        assert theirs(svm_predict, tmp_path, ROWS_OF[base], model) is not None
        assert answers_337["exceptions", name][0] is not None
    assert ("undefined" in why) == (name not in DEFINED)
