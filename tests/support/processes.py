"""Child processes: what they end with, what they take, how they are sent signals."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time

#: Seconds after which a test that waits for something is told that it hangs: far more than anything takes on the
#: busiest machine, for no test is about time.
PATIENCE = 600


def wait_until(true):
    """What `true()` returns, once that is true; false only after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def default_signals():
    """For a child that is going to be sent signals, as its `preexec_fn`: a suite that was started in the background
    of a shell, or under nohup, hands down signals that are ignored."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


def interrupted(child):
    """The lines on standard error of a child that is told to stop by Ctrl-C, and all processes of its group with it, as
    a terminal does. It began the group; when this returns, nothing of that is left."""
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130, said

    def gone():
        try:
            os.killpg(child.pid, 0)
        except ProcessLookupError:
            return True

    assert wait_until(gone)
    return said.splitlines()


class Finished:
    """A finished command: code, out, err (text); its str() is what to read when a test fails."""

    def __init__(self, args, code, out, err):
        self.args, self.code, self.out, self.err = args, code, out, err

    def __str__(self):
        return (
            f"$ {' '.join(map(str, self.args))}\n"
            f"exit code {self.code}\n"
            "--- standard output\n"
            f"{self.out[:4000]}\n"
            "--- standard error\n"
            f"{self.err[:4000]}"
        )


def peak_memory(*command, cwd):
    """Largest resident size of a command, in bytes. A small process starts it: one started from here would count
    this one's memory."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, *map(str, command)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    code, kilobytes = map(int, done.stdout.split())
    assert code == 0, done.stderr
    return kilobytes * 1024


def on_a_terminal(words, columns, *, cwd=None, env=None):
    """(exit code, everything that was written) of a process whose standard streams are a terminal so wide."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    inherited = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        words,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=cwd,
        env={**inherited, "TERM": "xterm", **(env or {})},
    )
    os.close(terminal)
    said = b""
    try:
        while piece := os.read(main, 65536):
            said += piece
    except OSError:  # the terminal's end
        pass
    os.close(main)
    return process.wait(PATIENCE), said
