"""predict --exact: the exact model is identified before anything is written, and read only once."""

import gzip
import os
import re
import subprocess
import threading

import pytest

from fastsvm_cli.commands.predict import fallback
from fastsvm_cli.errors import FastsvmError
from fastsvm_cli.text.byte_source import Content
from fastsvm_cli.text.fingerprint import fingerprint
from fastsvm_cli.text.read_rows import read_chunks
from support import forked
from support.compiling import compile_all
from support.paths import DATA, FASTSVM
from support.processes import PATIENCE
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
@pytest.mark.parametrize(
    "options, rows, output",
    [
        ("", "none", "-"),
        ("-b 1", "proven", "-"),
        ("--json", "proven", "out"),
        ("--values", "some", "out"),
        ("--resume", "proven", "new"),
    ],
)
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
def expecting(directory, monkeypatch):
    """expecting(path) is an exact model's file, and the paths read for it."""

    def expect(path, wait=True):
        reads, read_buffers = [], Content.__init__

        def counted(content, path, *more):
            reads.append(path)
            read_buffers(content, path, *more)

        monkeypatch.setattr(Content, "__init__", counted)
        file = fallback.ExactFile(str(path))
        file.expect(fingerprint(path.read_bytes()), "compiled", wait)
        return file, reads

    return expect


def test_a_small_file_is_read_once(directory, expecting):
    file, reads = expecting(directory / "exact")
    file.check()
    file.check()
    assert file.load().header.total_sv > 0 and reads == [str(directory / "exact")]


def test_a_large_file_is_not_kept_and_known_again_when_it_is_read(directory, expecting, tmp_path, monkeypatch):
    monkeypatch.setattr(fallback, "MOST_BUFFERED", 100)
    (tmp_path / "exact").write_bytes((directory / "exact").read_bytes())
    file, reads = expecting(tmp_path / "exact")
    file.check()
    assert file.load().header.total_sv > 0 and len(reads) == 2
    (tmp_path / "exact").write_bytes((directory / "other").read_bytes())  # hours later
    with pytest.raises(FastsvmError, match="their fingerprints differ"):
        file.load()


def test_what_goes_to_a_file_waits_for_the_fingerprint_only_at_the_end(directory, expecting, monkeypatch):
    """The output is put in place only after that."""
    go = threading.Event()
    monkeypatch.setattr(fallback.ExactFile, "buffers", lambda self: (go.wait(PATIENCE), iter([b"another"]))[1])
    file, _ = expecting(directory / "exact", wait=False)
    file.check(False)
    go.set()
    with pytest.raises(FastsvmError, match="their fingerprints differ"):
        file.check(True)


def test_a_machine_that_lets_no_thread_start_is_slower_and_no_more(directory, expecting, tmp_path, monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    expecting(directory / "exact")[0].check()
    (tmp_path / "rows.gz").write_bytes(gzip.compress((directory / "some").read_bytes()) * 2)
    assert sum(chunk.rows for chunk in read_chunks(str(tmp_path / "rows.gz"), size=1000)) == 1200
