"""Every cited statement B1, B2, ... has a proof in PROOFS.md, code that uses it and a test."""

import re
from collections import defaultdict

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


def test_every_statement_is_stated_cited_and_tested():
    citations, table = _citations(), _table()
    tests = {
        name for path in TESTS.rglob("test_*.py") for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }
    for path in (PACKAGE / "native").rglob("*_test.cpp"):
        tests.update(re.findall(r'^TEST_CASE\("(.*)"\)', path.read_text(), re.M))
    assert len(STATED) >= 36 and sorted(set(STATED)) == STATED == list(table)
    wrong = [f"B{number} of {sorted(map(str, citations[number]))}" for number in set(citations) - set(STATED)]
    for number, (code, its_tests) in table.items():
        path = PACKAGE / code if (PACKAGE / code).is_file() else PACKAGE / "native" / code
        if path not in citations[number] or not its_tests or not tests >= set(its_tests):
            wrong.append(f"B{number}: {code}, {its_tests}")
    assert not wrong
