"""Every cited statement B1, B2, ... has a proof in PROOFS.md, code that uses it and a test."""

import re
from collections import defaultdict

from support.paths import ROOT, TESTS

PACKAGE = ROOT / "fastsvm_cli"
SECTIONS = re.split(r"^## ", (PACKAGE / "PROOFS.md").read_text(), flags=re.M)
STATED = [int(number) for section in SECTIONS for number in re.findall(r"^\*\*B(\d+)\.\*\* ", section, re.M)]


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
                for number in _cited(path.read_text()):
                    found[number].add(path)
    return found


def _uses():
    """{number: ([file], [test])} from the last paragraph of its section"""
    found = {}
    for section in SECTIONS:
        end = re.search(r"^Code: (.*?)\.\s+Tests:\s+(.*)\.\s*\Z", section, re.M | re.S)
        stated = [int(number) for number in re.findall(r"^\*\*B(\d+)\.\*\* ", section, re.M)]
        assert bool(stated) == bool(end), section
        if end:
            tests = re.findall(r"`([^`]+)` \(([^)]*)\)", " ".join(end[2].split()))
            assert {number for _, numbers in tests for number in _cited(numbers)} <= set(stated), section
            for number in stated:
                mine = [test for test, numbers in tests if number in _cited(numbers)]
                found[number] = (end[1].replace(",", "").split(), mine)
    return found


def test_every_statement_is_stated_cited_and_tested():
    citations, uses = _citations(), _uses()
    tests = {
        name for path in TESTS.rglob("test_*.py") for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }
    for path in (PACKAGE / "native").rglob("*_test.cpp"):
        tests.update(re.findall(r'^TEST_CASE\("(.*)"\)', path.read_text(), re.M))
    assert len(STATED) >= 36 and sorted(set(STATED)) == STATED == list(uses)
    wrong = [f"B{number} of {sorted(map(str, citations[number]))}" for number in set(citations) - set(STATED)]
    for number, (files, its_tests) in uses.items():
        paths = {PACKAGE / file if (PACKAGE / file).is_file() else PACKAGE / "native" / file for file in files}
        if not all(path.is_file() for path in paths) or not paths & citations[number]:
            wrong.append(f"B{number}: {files}")
        if not its_tests or not tests >= set(its_tests):
            wrong.append(f"B{number}: {its_tests}")
    assert not wrong
