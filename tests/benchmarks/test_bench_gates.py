"""fastsvm bench: the gate of --max-disagreement, and pipes."""

import json

import pytest

from fastsvm_cli.console.option_types import Share
from support.benching import by_name


@pytest.mark.full
def test_max_disagreement_is_a_gate(bench, directory):
    models = "rows rings.model rings.border rings.order"
    done = bench(f"--json --max-disagreement 0.5% {models}", code=3)
    records = by_name(json.loads(done.out))
    share = records["rings.border"]["disagreement"]
    assert share > 0.005 and records["rings.order"]["disagreement"] == 0
    note, error = done.err.splitlines()
    assert note.startswith("Note: Too small to measure 0.5 %: class -1 (")
    assert error == (
        f"Error: rings.border: {100 * share:.3g} % of the labels differ, more than 0.5 % (--max-disagreement)"
    )
    of_a_class = records["rings.border"]["largest_class_disagreement"]
    assert bench(f"--max-disagreement {of_a_class} {models}").err == ""  # the limit is inclusive
    bench(f"--max-disagreement 0 {models} nowhere", code=3)


@pytest.mark.full
def test_a_regression_cannot_pass_the_gate_in_silence(bench, directory):
    done = bench("--max-disagreement 0 waves.rows waves.model waves.approx", code=None)
    assert done.code != 0 or "--max-disagreement" in done.err, "exit 0 for a model that differs in every row"


def test_shares_are_numbers_or_percent():
    words = {"0": 0, "1": 1, "100%": 1, "0%": 0, "5e-3": 0.005, "0.5%": 0.005}
    assert {word: Share().convert(word, None, None) for word in words} == words


@pytest.mark.full
@pytest.mark.parametrize("words, given", [("- rings.model", "rings.model"), ("rows -", "rows")])
def test_a_file_that_is_read_again_is_no_pipe(bench, directory, words, given):
    """Processes that are started anew cannot read a pipe again."""
    done = bench(f"-q {words}", code=None, input=(directory / given).read_bytes())
    assert done.code in (1, 2) and done.out == "", str(done)
