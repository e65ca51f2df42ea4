"""fastsvm bench: gates, budgets, usage errors."""

import json

import pytest

from support.benching import by_name


@pytest.mark.full
def test_max_disagreement_is_a_gate(bench, directory):
    models = directory / "rows", directory / "rings.model", directory / "rings.border", directory / "rings.order"
    done = bench("--json", "--max-disagreement", "0.5%", *models, code=3)
    records = by_name(json.loads(done.out))
    share = records["rings.border"]["disagreement"]
    assert share > 0.005 and records["rings.order"]["disagreement"] == 0
    note, error = done.err.splitlines()
    assert note.startswith("Note: Too small to measure 0.5 %: class -1 (")
    assert (
        error == f"Error: rings.border: {100 * share:.3g} % of the labels differ, more than 0.5 % (--max-disagreement)"
    )
    of_a_class = records["rings.border"]["largest_class_disagreement"]
    assert bench("--max-disagreement", of_a_class, *models).err == ""  # the limit is inclusive
    bench("--max-disagreement", 0, *models, "nowhere", code=3)


def test_shares_in_memory():
    from fastsvm_cli.console.option_types import Share

    assert [Share().convert(word, None, None) for word in ("0", "1", "100%", "0%", "5e-3", "0.5%")] == [
        0,
        1,
        1,
        0,
        0.005,
        0.005,
    ]


USAGE = [
    (["rows"], "MODEL_FILE..."),
    ([], "TEST_FILE"),
    (["--budget", "1.5", "rows", "rings.model"], "'1.5' found, expected a share"),
    (["--budget", "101%", "rows", "rings.model"], "'101%' found, expected a share"),
    (["--budget", "-1%", "rows", "rings.model"], "expected a share"),
    (["--max-disagreement", "%", "rows", "rings.model", "x"], "'%' found, expected a share"),
    (["--budget", "nan", "rows", "rings.model"], "'nan' found, expected a share"),
    (["--budget", "half", "rows", "rings.model"], "'half' found, expected a share"),
    (["--keep", "k", "rows", "rings.model"], "--keep goes with"),
    (["--runs", "3", "--try", "rows", "rings.model"], "--runs does not go with --try"),
    (["--try", "rows", "rings.model", "rings.model"], "--try takes one model"),
    (["--each-class", "rows", "rings.model"], "--each-class goes with --budget or --try"),
    (["--max-disagreement", "0", "rows", "rings.model"], "named models"),
    (["--plot", "p.gif", "rows", "rings.model"], "none of them"),
    (["-g", "1", "rows", "rings.model"], "-g goes with"),
    (["-c", "1", "rows", "rings.model"], "-c goes with"),
    (["--runs", "0", "rows", "rings.model"], "--runs"),
    (["--cross-validate", "1", "rows"], "--cross-validate"),
    (["--cross-validate", "3", "rows", "rings.model"], "takes a data file alone"),
    (["--cross-validate", "3", "--try", "rows"], "takes a data file alone"),
    (["--cross-validate", "3", "--plot", "p.svg", "rows"], "--plot"),
]


@pytest.mark.parametrize("arguments, words", USAGE)
def test_wrong_usage_is_exit_code_2(fastsvm, directory, arguments, words):
    done = fastsvm(
        "bench", *(directory / each if each in ("rows", "rings.model") else each for each in arguments), code=2
    )
    assert words in done.err and done.out == "", str(done)


@pytest.mark.full
@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nowhere", "rings.model"], "nowhere: No such file or directory"),
        (["rows", "nowhere"], "nowhere: No such file or directory"),
        (["empty", "rings.model"], "empty: no rows found"),
        (["rows", "rows"], "rows:1: this looks like a data file"),
        (["rows", "rings.approx"], "rings.approx: a compiled model found"),
        (["rows", "rings.red"], "rings.red: a compiled model found"),
        (["rows", "rings.order"], "rings.order: a compiled model found"),
        (["bad", "rings.model"], "bad:2: "),
        (["--plot", "no/p.svg", "rows", "rings.model"], "no/p.svg: No such file or directory"),
        (
            ["--try", "--budget", "1", "--keep", "x.svg", "--plot", "./x.svg", "rows", "rings.model"],
            "./x.svg: two outputs would be written to it",
        ),
        (["-", "rings.model"], ""),
        (["rows", "-"], ""),
    ],
)
def test_bad_files_are_one_line(bench, directory, tmp_path, arguments, message):
    (tmp_path / "empty").write_text("")
    (tmp_path / "bad").write_text("1 1:1\n1 x\n")
    source = directory / ("rows" if arguments[0] == "-" else "rings.model")
    done = bench(
        "-q",
        *(directory / each if (directory / each).exists() else each for each in arguments),
        code=None,
        input=source.read_bytes() if "-" in arguments else None,
    )
    assert done.code in ((1, 2) if "-" in arguments else (1,)) and done.out == "", (
        f"measured all the same (processes that are started anew cannot read a pipe again): {done}"
    )
    assert "-" in arguments or (
        len(done.err.splitlines()) == 1 and done.err.startswith("Error: ") and message in done.err
    ), str(done)
