"""Simple terminals: lines fit their width, and nothing is drawn."""

import io
import re
import sys

import pytest

from fastsvm_cli.console import terminal
from support.processes import Screen, on_a_terminal


def fastsvm(words, columns, *, clock="lambda: 0.0", terminal="xterm", piped="", cwd=None):
    """(exit code, output) of fastsvm on a terminal. The clock is fixed: a slow machine would draw a bar."""
    code = (
        f"from fastsvm_cli.__main__ import run; from fastsvm_cli.console import terminal; terminal.monotonic = {clock}"
    )
    command = f'{piped} {sys.executable} -I -c "$0; run()" {words}'
    return on_a_terminal(["bash", "-c", command, code], columns, cwd=cwd, env={"TERM": terminal})


@pytest.mark.full(few=1)
@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("kind", ["xterm", "dumb"])
def test_no_line_is_wider_than_the_terminal(directory, kind, columns):
    code, printed = fastsvm("bound rows fast", columns, terminal=kind, cwd=directory)
    lines = printed.decode("ascii").replace("\x1b[1m", "").replace("\x1b[0m", "").split("\r\n")
    folded = [line for line in lines if "next: " not in line]  # a command that is copied stays one line
    assert code == 0 and max(map(len, folded)) <= columns and any("gamma_MAX" in line for line in lines), printed
    assert kind == "xterm" or b"\x1b" not in printed


@pytest.mark.parametrize(
    "piped, rows, shown",
    [("", "rows", rb"\xe2\x94\x81.* 4 k rows, [\d.]+( k)?/s"), ("cat rows |", "-", b"predict 4,000 rows, ")],
)
def test_predict_counts_its_rows_on_a_terminal(directory, piped, rows, shown):
    """A pipe has no bar."""
    (directory / "rows").write_text("-1 1:0.5 4:0.5\n" * 4000)
    clock = "map(float, __import__('itertools').count(100)).__next__"
    code, printed = fastsvm(f"predict {rows} m out", 80, clock=clock, piped=piped, cwd=directory)
    assert code == 0 and re.search(shown, re.sub(rb"\x1b\[[\d;]*m", b"", printed)), printed


def test_columns_say_how_wide_a_dumb_terminal_and_a_pipe_are(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "43")
    assert terminal.new_console(Screen()).width == 43 and not terminal.can_be_drawn_on(Screen())
    assert terminal.new_console(io.StringIO()).width == 43
    monkeypatch.setenv("COLUMNS", "many")
    assert terminal.new_console(io.StringIO()).width == terminal.PIPE_WIDTH


class Closed(io.StringIO):
    """A pipe without a reader, with text that waits for a flush."""

    encoding = "utf-8"

    def flush(self):
        raise BrokenPipeError


def test_a_closed_pipe_ends_a_table_as_it_ends_a_line(monkeypatch):
    """rich answers a failed flush with SystemExit(1)."""
    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        terminal.show(["words"])
