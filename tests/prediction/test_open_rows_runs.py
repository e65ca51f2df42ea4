"""--open-rows and --outside-rows: reasons against it before any work, failing runs, memory."""

import os

import pytest

from fastsvm_cli.models import load_model
from fastsvm_cli.prediction.pipeline import predict
from fastsvm_cli.text import read_rows
from fastsvm_cli.text.line_blocks import BadRows
from fastsvm_cli.text.read_rows import read_chunks
from support.messages import sentences
from support.open_rows import expected_open, parsed
from support.paths import FASTSVM
from support.processes import peak_memory

pytestmark = pytest.mark.usefixtures("serial_libsvm")


@pytest.mark.full(few=5)
@pytest.mark.parametrize("options, model, message", sentences("open rows"))
def test_refused_in_one_line_before_any_work(fastsvm, folder, tmp_path, options, model, message):
    (tmp_path / "rows").write_text("this is no row\n")  # would be reported if read
    (tmp_path / "out").write_text("before")
    os.symlink("out", tmp_path / "link")
    os.link(tmp_path / "out", tmp_path / "hard")
    done = fastsvm("predict", *options.split(), "rows", folder / model, "out", code=None)
    assert done.code in (1, 2) and done.err.splitlines()[-1] == message.format(folder / model)
    assert sorted(os.listdir(tmp_path)) == ["hard", "link", "out", "rows"]
    assert (tmp_path / "out").read_text() == "before"


def test_rows_and_answers_cannot_both_be_standard_output(fastsvm, folder, tmp_path):
    done = fastsvm("predict", "--open-rows", "-", folder / "two.rows", folder / "two.fast", code=1)
    assert done.out == "" and "two outputs would be written to it" in done.err
    fastsvm(
        *"predict -q --open-rows /dev/null --outside-rows /dev/null".split(),
        folder / "two.rows",
        folder / "two.fast",
        "/dev/null",
    )


@pytest.mark.full
def test_a_reduced_sets_probabilities_need_the_exact_model(fastsvm, folder):
    fastsvm("reduce", "-q", "--ratio", 0.2, "--no-finish", folder / "two.model", "small")
    done = fastsvm("predict", "-b", 1, "--open-rows", "o", folder / "two.rows", "small", "out", code=2)
    assert "--open-rows with -b 1 needs --exact" in done.err
    fastsvm(*"predict -q -b 1 --open-rows o --exact".split(), folder / "two.model", folder / "two.rows", "small", "out")


def test_a_run_that_fails_leaves_every_file_as_it_was(fastsvm, folder, tmp_path):
    for name in ("out", "open", "outside"):
        (tmp_path / name).write_text(f"{name} of before")
    rows = (folder / "two.rows").read_text()
    (tmp_path / "bad").write_text(rows + "foo\n")
    fastsvm("predict", "--open-rows", "open", "--outside-rows", "outside", "bad", folder / "two.fast", "out", code=1)
    fastsvm(
        "predict", "--open-rows", "open", "--exact", folder / "three.model", "bad", folder / "two.fast", "out", code=1
    )
    for name in ("out", "open", "outside"):
        assert (tmp_path / name).read_text() == f"{name} of before"
    assert sorted(os.listdir(tmp_path)) == ["bad", "open", "out", "outside"]


def test_nothing_goes_down_a_pipe_before_the_exact_model_is_known(fastsvm, folder):
    done = fastsvm(
        *"predict --open-rows - --exact".split(),
        folder / "three.model",
        folder / "two.rows",
        folder / "two.fast",
        "out",
        code=1,
    )
    assert done.out == "" and "fingerprints differ" in done.err


def test_no_rows_are_open(fastsvm, folder, tmp_path):
    (tmp_path / "none").write_text("")
    fastsvm("predict", "-q", "--open-rows", "open", "--outside-rows", "outside", "none", folder / "two.fast", "out")
    assert (
        (tmp_path / "open").read_bytes()
        == (tmp_path / "outside").read_bytes()
        == (tmp_path / "out").read_bytes()
        == b""
    )


@pytest.mark.full
def test_memory_does_not_grow_with_the_rows(folder, tmp_path):
    text = (folder / "two.rows").read_text()
    (tmp_path / "short").write_text(text * 100)
    (tmp_path / "long").write_text(text * 1000)
    options = ["-q", "--threads", 1, "--open-rows", "open", "--outside-rows", "outside"]
    short, long = (
        peak_memory(FASTSVM, "predict", *options, name, folder / "two.fast", "out", cwd=tmp_path)
        for name in ("short", "long")
    )
    assert (tmp_path / "open").stat().st_size > 1e6 and long < short + 6e6, (short, long)


@pytest.mark.parametrize("skipping", [False, True])
def test_line_numbers_of_rows_that_are_evaluated_a_few_at_a_time(folder, monkeypatch, skipping):
    """As with models of many pairs of classes."""
    monkeypatch.setattr(read_rows, "MOST_VALUES", 3 * 7)  # three pairs: seven rows at a time
    text = (folder / "three.rows").read_bytes()
    options = {}
    if skipping:
        lines = text.splitlines(keepends=True)
        text = b"".join(b"foo\n" * (at % 5 == 0) + line for at, line in enumerate(lines))
        options["bad_rows"] = BadRows("bad")
    path = folder / f"apart-{skipping}"
    path.write_bytes(text)
    requested = expected_open(folder, "three", folder / "three.rows")
    if skipping:
        requested = [number + (number - 1) // 5 + 1 for number in requested]
    written = []
    chunks = read_chunks(str(path), size=1000, **options)
    model = load_model(str(folder / "three.fast"))
    predict(
        model,
        read_rows.smaller_chunks(chunks, model.pairs),
        lambda lines: None,
        path="rows",
        write_open=written.append,
        **options,
    )
    assert [parsed(line)[2] for line in b"".join(written).decode().splitlines()] == requested
