"""Headers of LIBSVM models are read as svm-predict reads them, except for the table of differences of FILES.md."""

import re

import pytest

from fastsvm_cli.methods.approx.expansion import compile_maclaurin
from fastsvm_cli.methods.order.orders import compile_triangle
from fastsvm_cli.models import parse_model
from support.both_programs import alike, ours, theirs, theirs_337
from support.evaluation import error_of
from support.headers import EXCEPTIONS, ROWS_OF, changed, changes_of_bases
from support.pages import PAGES

# ---- read by both; written by other programs, and refused by LIBSVM

ALIKE, OTHERS = ({name: case for name, (_, *case) in changes_of_bases(of).items()} for of in ("alike", "others"))

# ---- read by neither; exceptions, which LIBSVM reads, but for those that depend on what memory holds

NEITHER = changes_of_bases("neither")
DEFINED = [name for name in EXCEPTIONS if not re.search("missing|fewer|single|overflows|negative total|serial", name)]
DIFFERENCES = PAGES["fastsvm_cli/commands/FILES.md"].partition("These LIBSVM models are errors in fastsvm.")[2]


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
    """Its own text gives the same answers to the bit."""
    base, *changes = ALIKE[name]
    model, rows = changed(base, *changes), ROWS_OF[base]
    again = parse_model(model, "m").to_text()
    assert parse_model(again, "m").to_text() == again
    assert ours(tmp_path, rows, again) == ours(tmp_path, rows, model)
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


def test_what_means_nothing_in_a_regression_is_in_no_compiled_model():
    model = parse_model(changed(*ALIKE["RNAz: label 0 0 and nr_sv 0 0"]), "m")
    for compiled in (
        compile_maclaurin(model, fingerprint="f", certify=True),
        compile_triangle(model, fingerprint="f"),
    ):
        text = compiled.to_text()
        assert b"label" not in text and b"nr_sv" not in text and parse_model(text, "m").to_text() == text


@pytest.mark.full
@pytest.mark.parametrize("name", OTHERS)
def test_what_other_programs_write_is_read_too(answers_337, name):
    base, *changes = OTHERS[name]
    assert answers_337["others", name] == [None, None]
    assert parse_model(changed(base, *changes), "m").to_text() == parse_model(base, "m").to_text()


@pytest.mark.full
@pytest.mark.parametrize("name", NEITHER)
def test_what_neither_reads_is_refused_in_one_line(svm_predict, tmp_path, answers_337, name):
    message, base, *changes = NEITHER[name]
    model = changed(base, *changes)
    assert error_of(model) == message
    assert theirs(svm_predict, tmp_path, ROWS_OF[base], model) is None
    assert answers_337["neither", name] == [None, None]


@pytest.mark.full
@pytest.mark.parametrize("name", EXCEPTIONS)
def test_each_exception_is_in_the_list_of_differences(svm_predict, tmp_path, answers_337, name):
    printed, base, *changes = EXCEPTIONS[name]
    model = changed(base, *changes)
    assert re.search(printed, error_of(model))
    (line,) = [line for line in DIFFERENCES.splitlines() if line.startswith(f"| {name} ")]
    why = line.split("|")[-2].strip()
    assert why.split()[0] in ("damage", "undefined", "no")
    if name in DEFINED:
        assert theirs(svm_predict, tmp_path, ROWS_OF[base], model) is not None
        assert answers_337["exceptions", name][0] is not None
    assert ("undefined" in why) == (name not in DEFINED)
