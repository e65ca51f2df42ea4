"""Child processes: exit codes, memory, signals and terminals."""

import fcntl
import io
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time

#: Seconds until a test gives up: far more than anything takes, since no test is about time.
PATIENCE = 600


def wait_until(true):
    """Value of `true()` once it is true; false after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def default_signals():
    """`preexec_fn` for children that get signals: a suite in a shell's background, or under nohup, inherits ignored
    signals."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


def interrupted(child):
    """Both streams of a child whose process group gets SIGINT, as from Ctrl-C. All of the group has ended then."""
    os.killpg(child.pid, signal.SIGINT)
    streams = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130, streams

    def gone():
        try:
            os.killpg(child.pid, 0)
        except ProcessLookupError:
            return True

    assert wait_until(gone)
    return streams


def outcome(words, **options):
    """subprocess.run, with both streams as text."""
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, **options)


class Finished:
    """code, out, err (text); str() is for failing tests"""

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
    """Peak memory in bytes. A small process starts the command, or this one's memory would count."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = outcome([sys.executable, "-S", "-c", code, *map(str, command)], cwd=cwd)
    code, kilobytes = map(int, done.stdout.split())
    assert code == 0, done.stderr
    return kilobytes * 1024


class Screen(io.StringIO):
    """A terminal, as a standard stream of this process."""

    encoding = "utf-8"

    def isatty(self):
        return True


def on_a_terminal(words, columns, *, cwd=None, env=None):
    """(exit code, all output) of a process on a terminal of this width"""
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
    printed = b""
    try:
        while buffer := os.read(main, 65536):
            printed += buffer
    except OSError:  # the terminal was closed
        pass
    os.close(main)
    return process.wait(PATIENCE), printed
