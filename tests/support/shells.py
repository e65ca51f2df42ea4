"""Completion by TAB in real shells, on a terminal."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from contextlib import contextmanager
from pathlib import Path

from support.paths import FASTSVM
from support.processes import PATIENCE

#: Command and start-up file. Ctrl-X d writes the current line to `line`; one TAB shows the choices.
SETUP = {
    "bash": (
        ["bash", "--noprofile", "--rcfile", "setup", "-i"],
        """PS1='> '; bind 'set show-all-if-ambiguous on'; bind 'set bell-style none'; bind 'set page-completions off'
bind -x '"\\C-xd": printf "%s" "$READLINE_LINE" > new; mv new line'
""",
    ),
    "zsh": (
        ["zsh", "-d", "-i"],
        """PS1='> '; unsetopt beep; fpath=("$SITE_FUNCTIONS" $fpath); autoload -Uz compinit
compinit -u -d "$ZDOTDIR/zcompdump"
written() { print -rn -- "$BUFFER" > new; mv new line }; zle -N written; bindkey '^Xd' written
""",
    ),
    "fish": (
        ["fish", "--private", "-C", "source setup"],
        """function fish_prompt; echo -n '> '; end; set -g fish_greeting; set -g fish_autosuggestion_enabled 0
function written; printf '%s' (commandline) > new; mv new line; end; bind \\cxd written
""",
    ),
}


def completed(shell, share, typed, folder, *, source=None):
    """Lines at the prompt after each of `typed` (\\t is TAB), and the screen's text. share: where the shell finds
    completions; source: a command that loads them instead."""
    answers = []
    with _started(shell, share, folder, source) as terminal:
        for words in typed:
            line = Path(folder, "line")
            line.unlink(missing_ok=True)
            terminal.type(f"{words}\x18d")
            terminal.wait(line.exists)
            answers.append(line.read_text().rstrip())
            terminal.type("\x05\x15")  # go to the end of the line, and delete it
        return answers, terminal.screen


def listed(shell, share, typed, expected, folder):
    """The screen's text once it shows all of `expected`."""
    with _started(shell, share, folder) as terminal:
        terminal.type(typed)
        terminal.wait(lambda: all(word in _plain(terminal.screen) for word in expected))
        return _plain(terminal.screen)


def _plain(screen):
    """Without bold and colours: fish underlines the first letters of its list."""
    return re.sub(r"\x1b(\[[\d;]*m|\(B)", "", screen)


class _Terminal:
    def __init__(self, terminal):
        self._terminal, self.screen = terminal, ""

    def type(self, keys):
        os.write(self._terminal, keys.encode())

    def wait(self, true):
        """Read until true()."""
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, self.screen
            if select.select([self._terminal], [], [], 0.02)[0]:
                self.screen += os.read(self._terminal, 65536).decode(errors="replace")


@contextmanager
def _started(shell, share, folder, source=None):
    command, setup = SETUP[shell]
    home = Path(folder, "home")
    home.mkdir(exist_ok=True)
    if shell == "bash" and source is None:
        source = f"source {share}/bash-completion/completions/fastsvm"
    setup += f"{source}\n" if source is not None else ""
    Path(folder, ".zshrc" if shell == "zsh" else "setup").write_text(setup)
    environment = {
        "PATH": f"{Path(FASTSVM).parent}:{os.environ['PATH']}",  # fish completes only commands that it finds
        "TERM": "xterm",
        "LC_ALL": "C.UTF-8",
        "HOME": str(home),
        "ZDOTDIR": str(folder),
        "SITE_FUNCTIONS": f"{share}/zsh/site-functions",
        "XDG_DATA_DIRS": f"{share}:/usr/local/share:/usr/share",
    }
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # a controlling terminal, for job control
    )
    os.close(theirs)
    terminal = _Terminal(ours)
    try:
        terminal.wait(lambda: "> " in terminal.screen)
        yield terminal
    finally:
        process.kill()
        process.wait()
        os.close(ours)
