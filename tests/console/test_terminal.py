"""Simple terminals: lines fit their width, and nothing is drawn."""

import io
import sys

import pytest

from fastsvm_cli.console import progress, terminal
from support.processes import on_a_terminal

#: Runs fastsvm with a stopped clock, since a slow machine would draw a bar.
COMMAND = (
    "from fastsvm_cli import start; from fastsvm_cli.console import progress; progress.monotonic = lambda: 0.0;"
    " start.run()"
)


@pytest.mark.full(few=1)
@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("kind", ["xterm", "dumb"])
def test_no_line_is_wider_than_the_terminal(directory, kind, columns):
    words = [sys.executable, "-I", "-c", COMMAND, "bound", "rows", "fast"]
    code, printed = on_a_terminal(words, columns, cwd=directory, env={"TERM": kind})
    lines = printed.decode("ascii").replace("\x1b[1m", "").replace("\x1b[0m", "").split("\r\n")
    folded = [line for line in lines if "next: " not in line]  # a command that is copied stays one line
    assert code == 0 and max(map(len, folded)) <= columns and any("gamma_MAX" in line for line in lines), printed
    assert kind == "xterm" or b"\x1b" not in printed


class Dumb(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_columns_say_how_wide_a_dumb_terminal_and_a_pipe_are(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "43")
    assert terminal.new_console(Dumb()).width == 43 and not terminal.can_be_drawn_on(Dumb())
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


def test_on_a_dumb_terminal_a_line_stands_for_the_bar(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: clock[0])
    monkeypatch.setattr(sys, "stderr", screen := Dumb())
    monkeypatch.setenv("TERM", "dumb")
    with progress.Progress("work", announced=True) as shown:
        for at, share in ((0.5, 0.001), (1.0, 0.003), (3.0, 0.006)):
            clock[0] = 100.0 + at
            shown(share)
    assert screen.getvalue() == "work: about 8.3 minutes to go.\n"
