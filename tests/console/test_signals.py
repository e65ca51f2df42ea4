"""Signals at any moment: exit code, empty standard error, no files left."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fastsvm_cli import system
from support.messages import cases
from support.outputs import written_so_far
from support.paths import FASTSVM
from support.processes import PATIENCE, default_signals, on_a_terminal, outcome, wait_until

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


#: The command, signalled at one of Python's audit events (an import, an opened file, ...). The first one follows the
#: command's first line.
AT_A_MOMENT = """
import os, sys
moment, number = int(sys.argv[1]), int(sys.argv[2])
sys.argv = ["fastsvm", *sys.argv[3:]]
from fastsvm_cli import __main__ as start
from fastsvm_cli import system
seen = 0

def watch(event, _):
    global seen
    seen += 1
    if seen == moment:
        os.kill(os.getpid(), number)

install = system.handle_signals

def install_and_watch():
    install()
    sys.addaudithook(watch)

system.handle_signals = install_and_watch
if moment == 0:  # how many there are
    leave = os._exit
    def tell(code):
        os.write(1, b"%d" % seen)
        leave(code)
    os._exit = tell
start.run()
"""


def run_to(moment, number, directory, words):
    command = [sys.executable, "-c", AT_A_MOMENT, str(moment), str(int(number)), *words.split()]
    return outcome(command, cwd=directory, stdin=subprocess.DEVNULL, preexec_fn=default_signals)


@pytest.mark.full
@pytest.mark.parametrize("words, number, moments", cases("signals at any moment"))
def test_at_any_moment(directory, words, number, moments):
    number = signal.Signals[number]
    seen = run_to(0, number, directory, words).stdout.splitlines()[-1]
    # Not the last ones: a run may have fewer. How often bench runs a case depends on time.
    count = int(seen) * (10 if words.startswith("bench") else 19) // 20
    whole = (directory / "out").read_text()
    files = sorted(os.listdir(directory))
    for at in range(moments):
        (directory / "out").write_text("before\n")
        moment = 1 + at * (count - 1) // (moments - 1)
        done = run_to(moment, number, directory, words)
        assert (done.returncode, done.stderr) == (128 + number, ""), f"moment {moment} of {count}: {done}"
        assert sorted(os.listdir(directory)) == files, f"moment {moment} of {count}"
        found = (directory / "out").read_text()
        assert found in ("before\n", whole) or found.endswith("\nend\n"), f"moment {moment} of {count}"


def waiting(directory, command, prepare=default_signals):
    """The command, once it has answered all its input."""
    program, *words = command.split()
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    words = [Path(FASTSVM).with_name(program), *words]
    process = subprocess.Popen(words, cwd=directory, preexec_fn=prepare, **pipes)
    process.stdin.write(b"1 1:0.5\n")
    process.stdin.flush()
    if "out" not in words:
        assert process.stdout.readline()
    else:
        assert wait_until(lambda: written_so_far(directory / "out"))
    return process


@pytest.mark.full(few=1)
@pytest.mark.parametrize("command, number", cases("signals while it waits"))
def test_while_it_waits_for_rows(directory, command, number):
    process, number = waiting(directory, command), signal.Signals[number]
    process.send_signal(number)
    assert process.wait(PATIENCE) == 128 + number
    note = b"Model supports probability estimates, but disabled in prediction.\n"
    printed = b"Interrupted.\n" if number == signal.SIGINT else b""
    assert process.stderr.read().removeprefix(note) == printed
    assert sorted(os.listdir(directory)) == ["fast", "m", "out", "rows"]
    assert (directory / "out").read_text() == "before\n"


@pytest.mark.full(few=1)
@pytest.mark.parametrize("words", ["predict --resume rows pipe out", "predict rows pipe out", "approx pipe out"])
def test_while_it_waits_for_a_model(directory, words):
    os.mkfifo(directory / "pipe")
    (directory / "rows").write_text("1 1:1\n")
    process = subprocess.Popen([FASTSVM, *words.split()], cwd=directory, preexec_fn=default_signals)
    with open(directory / "pipe", "w"):  # once the command has opened it
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM
    assert (directory / "out").read_text() == "before\n"


def test_what_the_parent_ignores_stays_ignored(directory):
    """As under nohup, and for a shell's background jobs."""

    def ignore():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    process = waiting(directory, "fastsvm predict -q - fast out", ignore)
    for number in SIGNALS:
        process.send_signal(number)
    process.communicate(b"1 1:0.5\n")
    assert process.returncode == 0 and len((directory / "out").read_text().split()) == 2


def test_the_library_handles_no_signals():
    code = (
        "import signal, fastsvm_cli, fastsvm_cli.cli\n"
        "fastsvm_cli.load_model, fastsvm_cli.read_chunks\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, end=' ')\n"
        "print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)\n"
    )
    done = outcome([sys.executable, "-I", "-c", code], preexec_fn=default_signals)
    assert done.stdout == "True True\n", done.stderr


class Ended(BaseException):
    pass


@pytest.fixture
def reported(monkeypatch):
    """told(number) calls the signal handler, which raises Ended instead of ending the process."""

    def leave(code):
        raise Ended(code)

    monkeypatch.setattr(system.os, "_exit", leave)
    monkeypatch.setattr(system, "_undo", [])
    return lambda number: system.stop(number, None)


def test_what_must_not_stay_is_undone_the_last_first(reported):
    done = []

    def fail():
        done.append("fails")
        raise OSError

    for action in (lambda: done.append("first"), fail, lambda: done.append("last")):
        system.add_undo(action)
    with pytest.raises(Ended) as end:
        reported(signal.SIGTERM)
    assert end.value.args == (143,) and done == ["last", "fails", "first"]
    system.remove_undo(fail)
    with pytest.raises(Ended):
        reported(signal.SIGINT)
    assert done[3:] == ["last", "first"]


def test_it_waits_for_the_end_of_what_must_not_be_parted(reported):
    done = []
    with pytest.raises(Ended) as end:
        with system.held():
            with system.held():
                reported(signal.SIGHUP)
                done.append("inner")
            done.append("outer")
    assert end.value.args == (129,) and done == ["inner", "outer"]
    with system.held():
        pass


def test_a_command_may_ask_for_exceptions(reported):
    with pytest.raises(KeyboardInterrupt), system.raising():
        reported(signal.SIGINT)
    for number in (signal.SIGTERM, signal.SIGHUP):
        with pytest.raises(SystemExit) as end, system.raising():
            reported(number)
        assert end.value.code == 128 + number
    with pytest.raises(Ended):
        reported(signal.SIGINT)


def test_an_interrupt_that_a_library_swallows_ends_the_process_all_the_same(reported):
    done = []
    with pytest.raises(Ended) as end:
        with system.raising():
            try:
                reported(signal.SIGINT)
            except:  # noqa: E722  # as libsvm-official does around its imports
                done.append("swallowed")
    assert end.value.args == (130,) and done == ["swallowed"]
    with system.raising():
        pass


def test_a_temporary_folder_goes_though_told_to_stop_while_it_is_made(reported, tmp_path, monkeypatch):
    """The signal comes before the object exists that removes the folder."""
    make = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda *words: (make(*words), reported(signal.SIGINT))[0])
    begun = False
    with pytest.raises(KeyboardInterrupt), system.raising():
        with system.temporary_folder(dir=str(tmp_path), prefix="it-"):
            begun = True
    assert not begun and list(tmp_path.iterdir()) == []
    monkeypatch.setattr(tempfile, "mkdtemp", make)
    with pytest.raises(KeyboardInterrupt), system.raising():
        with system.temporary_folder(dir=str(tmp_path)) as folder:
            (Path(folder) / "file").write_text("it is not empty")
            reported(signal.SIGINT)
    assert list(tmp_path.iterdir()) == []


def test_the_cursor_comes_back():
    """A progress bar hides the cursor; the last output shows it again."""
    code = (
        "import os, signal\n"
        "from fastsvm_cli import system\n"
        "from fastsvm_cli.console import terminal\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "system.handle_signals()\n"
        "now = iter(range(0, 1000, 2))\n"
        "terminal.monotonic = lambda: next(now)\n"
        "with terminal.Progress('work') as bar:\n"
        "    bar(0.5)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
    )
    code, printed = on_a_terminal([sys.executable, "-I", "-c", code], 80)
    assert code == 130
    assert b"\x1b[?25l" in printed and printed.endswith(b"\x1b[?25hInterrupted.\r\n") and b"Traceback" not in printed


def has_children(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


def trains(pid):
    """Whether a thread other than the first has worked for a tenth of a second."""
    others = [task for task in Path(f"/proc/{pid}/task").iterdir() if task.name != str(pid)]
    return any(int((task / "stat").read_text().rpartition(")")[2].split()[11]) >= 10 for task in others)


@pytest.mark.full
@pytest.mark.parametrize(
    "words, number, works",
    [
        ("bench -q --runs 1000000 --max-seconds 1e9 rows m", signal.SIGTERM, has_children),
        ("order --fold hard m out", signal.SIGINT, trains),
    ],
)
def test_while_others_work_for_it(directory, words, number, works):
    """No process and no folder is left. LIBSVM's loop does not react to signals, and takes minutes for these rows."""
    scratch = directory / "scratch"
    scratch.mkdir()
    draw = random.Random(0)
    lines = (f"{draw.choice((1, -1))} 1:{draw.random() * 1e4} 2:{draw.random() * 1e4}\n" for _ in range(3000))
    (directory / "hard").write_text("".join(lines))
    process = subprocess.Popen(
        [FASTSVM, *words.split()],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch)},
        start_new_session=True,
        preexec_fn=default_signals,
    )
    assert wait_until(lambda: process.poll() is not None or works(process.pid)) and process.poll() is None
    process.send_signal(number)
    out, errors = process.communicate(timeout=PATIENCE)  # ends when the children have ended too
    assert (process.returncode, out, errors) == (128 + number, b"", b"")
    assert os.listdir(scratch) == [] and (directory / "out").read_text() == "before\n"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
