"""The recipes of package managers ask for the same packages as pyproject.toml; the formula's own test passes."""

import re
import textwrap

import pytest
from packaging.requirements import Requirement

from support.paths import FASTSVM, PROGRAM, ROOT
from support.processes import outcome

FORMULA = (ROOT / "scripts/packaging/fastsvm.rb").read_text()
RECIPE = (ROOT / "scripts/packaging/meta.yaml").read_text()


def _list(name):
    """Requirements of a list in pyproject.toml, without markers: the recipes name those of old Pythons otherwise."""
    text = re.search(rf"^{name} = \[(.*?)\]\n", (ROOT / "pyproject.toml").read_text(), re.M | re.S).group(1)
    found = map(Requirement, re.findall(r'"(.*?)"', text))
    return {f"{each.name} {each.specifier}" for each in found if not each.marker}


def test_the_conda_recipe_has_the_requirements_of_the_package():
    of_host, of_run = re.search(r"  host:\n(.*?)  run:\n(.*?)test:\n", RECIPE, re.S).groups()
    host, run = (set(re.findall(r"^    - (\S+ \S+)$", part, re.M)) for part in (of_host, of_run))
    assert host == _list("requires") and run == _list("dependencies")


def test_the_formula_takes_homebrews_packages_where_there_are_any():
    formulas = set(re.findall(r'^  depends_on "([^"@]+)"$', FORMULA, re.M))
    assert formulas == {"numpy", "scipy"} and formulas <= {each.split()[0] for each in _list("dependencies")}


@pytest.mark.full
def test_the_formulas_test_passes(tmp_path):
    test = FORMULA.partition("  test do\n")[2]
    for name, text in re.findall(r'\(testpath/"(\w+)"\)\.write <<~\w+\n(.*?)\n    [A-Z]+\n', test, re.S):
        (tmp_path / name).write_text(textwrap.dedent(text) + "\n")
    (words,) = re.findall(r'system bin/"fastsvm", (.*)', test)
    assert outcome([FASTSVM, *re.findall('"(.*?)"', words)], cwd=tmp_path).returncode == 0
    answers = re.findall(r'assert_equal "(.*)", shell_output\("#\{bin\}/(\S+) (.*)"\)', test)
    for expected, program, given in answers:
        done = outcome([{"fastsvm": FASTSVM, "fastsvm-predict": PROGRAM}[program], *given.split()], cwd=tmp_path)
        assert done.stdout == expected.replace("\\n", "\n")
    assert len(answers) == 2
