"""Every cited statement B1, B2, ... has a proof in PROOFS.md, code that uses it and a test."""

import re
from collections import defaultdict

import pytest

from support.paths import ROOT, TESTS

PACKAGE = ROOT / "fastsvm_cli"
TABLE = "## Where each is used, and what tries to break it\n"
PROOFS, _, ROWS = (PACKAGE / "PROOFS.md").read_text().partition(TABLE)
STATED = [int(number) for number in re.findall(r"^\*\*B(\d+)\.\*\* ", PROOFS, re.M)]


def _cited(text):
    """Statement numbers cited in a text; `B8 to B16` cites all of them."""
    ranges = re.findall(r"\bB(\d{1,2})(?: to B(\d{1,2}))?\b", text)
    return {number for first, last in ranges for number in range(int(first), int(last or first) + 1)}


def _citations():
    """{number: files that cite it}"""
    found = defaultdict(set)
    for folder in (PACKAGE, TESTS, ROOT / "scripts"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".py", ".pyi", ".cpp", ".h", ".md", ".sh"} and path.name != "test_statements.py":
                for number in _cited(path.read_text().replace(ROWS, "")):
                    found[number].add(path)
    return found


def _table():
    """{number: (code, [test])}; a row without a number has another test of the statement above it"""
    found, number = {}, None
    for line in ROWS.split("\n"):
        cells = [cell.strip(" `") for cell in line.split("|")[1:-1]]
        if cells and re.match(r"(B\d+|)$", cells[0]):
            statement, code, test = cells
            if statement:
                number = int(statement.removeprefix("B"))
                assert number not in found and code, line
                found[number] = (code, [])
            found[number][1].append(test)
    return found


CITATIONS, CITED_IN_TABLE = _citations(), _table()
DEFINED = {}
for _path in [*sorted(TESTS.rglob("test_*.py")), *sorted((PACKAGE / "native").rglob("*_test.cpp"))]:
    for _name in re.findall(r"^(?:def (?=test_)|TEST_CASE\(\")([^(\"]+)", _path.read_text(), re.M):
        DEFINED.setdefault(_name, []).append(_path)


def test_statements_are_numbered_and_each_has_a_row_of_the_table():
    assert STATED == sorted(set(STATED)) and len(STATED) >= 36
    assert list(CITED_IN_TABLE) == STATED


@pytest.mark.parametrize("number", sorted(CITATIONS))
def test_a_cited_statement_exists(number):
    assert number in STATED, f"B{number} is cited by {sorted(map(str, CITATIONS[number]))}"


@pytest.mark.parametrize("number", STATED)
def test_a_statement_has_code_that_cites_it_and_a_test_that_exists(number):
    code, tests = CITED_IN_TABLE[number]
    path = PACKAGE / code if (PACKAGE / code).is_file() else PACKAGE / "native" / code
    assert path in CITATIONS[number], f"{code} does not cite B{number}"
    assert tests and all(test in DEFINED for test in tests), tests
