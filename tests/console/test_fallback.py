"""predict --exact: the exact model is identified before anything is written, and read only once."""

import gzip
import os
import re
import subprocess
import threading

import pytest

from fastsvm_cli.text.read_rows import read_chunks
from support import forked
from support.compiling import compile_all
from support.messages import cases
from support.outputs import written_so_far
from support.paths import DATA, FASTSVM
from support.processes import PATIENCE, wait_until
from support.training import train_on


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """exact, its certified compilation, another model with the same header, proven rows, and rows that are not all
    proven."""
    folder = tmp_path_factory.mktemp("exact")
    train_on(folder / "exact", "rings.train", "-g 0.2 -c 10 -b 1", 600)
    compile_all(folder, "approx --certify exact compiled")
    text = (folder / "exact").read_bytes()
    (folder / "other").write_bytes(text[:-3] + bytes([text[-3] ^ 1]) + text[-2:])  # a digit of the last vector
    lines = (DATA / "rings.test").read_text().splitlines(keepends=True)[:600]
    (folder / "some").write_text("".join(lines))
    printed = forked.fastsvm(["predict", "-q", "--values", "some", "compiled"], cwd=folder, check=True, text=True)
    values = [line.split() for line in printed.stdout.splitlines()]
    proven = [line for line, (_, value, radius) in zip(lines, values) if abs(float(value)) > 1.01 * float(radius)]
    assert 100 < len(proven) < 600
    (folder / "proven").write_text("".join(proven)), (folder / "none").write_text("")
    return folder


@pytest.mark.full(few=1)
@pytest.mark.parametrize("options, rows, output", cases("another exact model"))
def test_another_model_is_refused_before_anything_is_written(fastsvm, directory, tmp_path, options, rows, output):
    """It is refused even if all labels are proven."""
    (tmp_path / "out").write_text("before\n")
    words = ["--exact", directory / "other", directory / rows, directory / "compiled", output]
    done = fastsvm("predict", *options.split(), *words, code=1)
    why = f"{directory}/other: this is not the model that {directory}/compiled was compiled from"
    assert done.err.splitlines()[-1] == f"Error: {why} (their fingerprints differ)"
    assert not re.search(r"^(-?1|labels)\b", done.out, re.M), str(done)
    assert (tmp_path / "out").read_text() == "before\n" and os.listdir(tmp_path) == ["out"]


def test_a_row_on_a_slow_pipe_is_not_answered_on_behalf_of_another_model(directory):
    words, pipes = [FASTSVM, "predict", "--exact", "other", "-", "compiled"], ("stdin", "stdout", "stderr")
    process = subprocess.Popen(words, cwd=directory, **dict.fromkeys(pipes, subprocess.PIPE))
    process.stdin.write(b"1 1:0.5\n")
    process.stdin.flush()
    assert process.stdout.read() == b"" and b"their fingerprints differ" in process.stderr.read()  # needs no more input
    assert process.wait(PATIENCE) == 1


def test_the_right_model_may_come_compressed_or_through_a_pipe(fastsvm, directory, tmp_path):
    (tmp_path / "exact.gz").write_bytes(gzip.compress((directory / "exact").read_bytes()))
    os.mkfifo(tmp_path / "pipe")
    content = (directory / "exact").read_bytes()
    threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(content), daemon=True).start()
    plain, *others = (
        fastsvm("predict", "--exact", each, directory / "some", directory / "compiled")
        for each in (directory / "exact", "exact.gz", "pipe")
    )
    assert [each.out for each in others] == [plain.out] * 2
    assert "evaluated exactly" in plain.err and ", 0 evaluated" not in plain.err


@pytest.fixture
def waiting(directory, tmp_path):
    """A run that has answered the proven rows, in `new`, and waits for more on standard input; its folder."""
    words = [FASTSVM, "predict", "-q", "--exact", "exact", "-", "compiled", "new"]
    processes = []

    def begin(exact, compiled):
        (tmp_path / "exact").write_bytes(exact)
        (tmp_path / "compiled").write_bytes(compiled)
        process = subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        processes.append(process)
        process.stdin.write((directory / "proven").read_bytes())
        process.stdin.flush()
        assert wait_until(lambda: written_so_far(tmp_path / "new"))
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.full
@pytest.mark.parametrize("large", [False, True])
def test_a_file_that_changes_before_it_is_needed_is_known_again(directory, tmp_path, waiting, large):
    """The text of a small file is kept; a large one is read twice."""
    exact = (directory / "exact").read_bytes() + b"text that LIBSVM ignores\n" * (700_000 * large)
    (tmp_path / "large").write_bytes(exact)
    compile_all(tmp_path, "approx --certify large certified")
    process = waiting(exact, (tmp_path / "certified").read_bytes())
    (tmp_path / "exact").write_bytes((directory / "other").read_bytes())  # hours later
    error = process.communicate((directory / "some").read_bytes(), PATIENCE)[1]
    assert process.returncode == int(large) and (b"their fingerprints differ" in error) == large
    assert (tmp_path / "new").exists() != large


def test_what_goes_to_a_file_waits_for_the_fingerprint_only_at_the_end(directory, tmp_path):
    """The output is put in place only after that."""
    os.mkfifo(tmp_path / "exact")
    begin = threading.Thread(target=lambda: (tmp_path / "exact").write_bytes(b"svm_type c_svc\n"), daemon=True)
    words = [FASTSVM, "predict", "-q", "--exact", "exact", directory / "proven", directory / "compiled", "new"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE)
    assert wait_until(lambda: written_so_far(tmp_path / "new"))
    begin.start()
    assert b"their fingerprints differ" in process.communicate(timeout=PATIENCE)[1] and process.returncode == 1
    assert sorted(os.listdir(tmp_path)) == ["exact"]


def test_a_machine_that_lets_no_thread_start_is_slower_and_no_more(directory, tmp_path, monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    (tmp_path / "rows.gz").write_bytes(gzip.compress((directory / "some").read_bytes()) * 2)
    assert sum(chunk.rows for chunk in read_chunks(str(tmp_path / "rows.gz"), size=1000)) == 1200
