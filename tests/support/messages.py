"""Messages about rows and models that several tests expect, whose wording is only here and in messages.txt; the tables
of cases."""

import ast
import re

import pytest

from support.paths import TESTS

A_MODEL = "expected a LIBSVM model ('svm_type ...') or a fastsvm model ('fastsvm_model ...')"
A_RANGE = "this is a range file of svm-scale, which --scale takes"
ADD_DENSE = "if these are delimited numbers, add --dense"
BLANK = "a blank line found, expected a label"
COMPILED_MODEL = "a compiled model found, expected the LIBSVM model it was made from"
DATA_FILE = "this looks like a data file, expected a LIBSVM or fastsvm model"
NUL = "a NUL byte found, expected text"

#: Advice of predict on a malformed line that has no other.
SKIPPED = "; --on-bad-row skip leaves such lines out"


# Functions of the words in the braces.
no_label = "'{}' found, expected a label".format
no_pair = "'{}' found, expected index:value".format
no_number = "'{}' found, expected a number".format
not_finite = "'{}' found, expected a finite number".format
not_whole = "'{}' found, expected a whole number".format
no_coefficient = "'{}' found, expected a coefficient".format
too_large = "'{}' found, too large for a double".format
too_small = "'{}' found, too small for a double".format
too_far = "'{}' found, expected an index of at most 2147483647".format
falling = "index {} found after index {}, expected increasing indices".format
several_labels = "a multi-label line ('{}') found, expected one label".format
values_of_key = "{} values of '{}' found, expected {}".format


def sentences(section):
    """Cases of a section of messages.txt: words of a command, then what is printed."""
    cases = [line.split(" => ") for line in _lines("messages.txt", section)]
    return [pytest.param(*case, id=case[0]) for case in cases]


def table(file, section):
    """The columns of each line."""
    return [line.split(" => ") for line in _lines(file, section)]


def cases(section):
    """Cases of a section of cases.txt: a value, or a tuple of the columns."""
    lines = [line.split(" => ") for line in _lines("cases.txt", section) if not line.startswith("#")]
    return [tuple(map(_literal, columns)) if columns[1:] else _literal(*columns) for columns in lines]


def _literal(text):
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def unescaped(text):
    return text.encode("latin-1").decode("unicode_escape")


def model_changes(section):
    """{case: (message, its words, then (old, new) of each change)} of a section of model_changes.txt."""
    out = {}
    for line in _lines("model_changes.txt", section):
        case, _, message = line.partition(" => ")
        out[case] = ("" if message == "..." else message, *map(_change, case.split(" | ")))
    return out


def _change(column):
    pair = tuple(each.encode().decode("unicode_escape").encode("latin-1") for each in column.split(" -> "))
    return pair if len(pair) > 1 else column


def _lines(file, section):
    text = (TESTS / file).read_text().split(f"[{section}]\n")[1].split("\n[")[0]
    return re.sub(r"{([A-Za-z]\w+(?: [^{}]+)?)}", _output_of, text).splitlines()


def _output_of(found):
    """{NAME} and {function words} are sentences of this module."""
    name, *given = found[1].split(" ")
    return globals()[name](*given) if given else globals()[name]
