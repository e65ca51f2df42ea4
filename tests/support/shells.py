"""Shells on a terminal of their own: what TAB makes of a line, as a user sees it."""

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

from support.places import FASTSVM
from support.processes import PATIENCE

#: What a shell is started with, and what it reads first: a key, Ctrl-X d, writes the line as it stands into `line`, and
#: a TAB shows the choices.
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
    """What stands behind the prompt once each of the words `typed` (with \\t for TAB) has been typed, and the screen's
    text. share: the folder that the shell finds completions in by itself; source: a command that it runs instead."""
    answers = []
    with _started(shell, share, folder, source) as terminal:
        for words in typed:
            line = Path(folder, "line")
            line.unlink(missing_ok=True)
            terminal.type(f"{words}\x18d")
            terminal.wait(line.exists)
            answers.append(line.read_text().rstrip())
            terminal.type("\x05\x15")  # to its end, and delete it
        return answers, terminal.screen


def listed(shell, share, typed, expected, folder):
    """The screen's text once words are typed, and all that is `expected` has come to stand below them."""
    with _started(shell, share, folder) as terminal:
        terminal.type(typed)
        terminal.wait(lambda: all(word in _plain(terminal.screen) for word in expected))
        return _plain(terminal.screen)


def _plain(screen):
    """Without what makes letters bold or coloured: fish underlines the first letters of what it lists."""
    return re.sub(r"\x1b(\[[\d;]*m|\(B)", "", screen)


class _Terminal:
    def __init__(self, terminal):
        self._terminal, self.screen = terminal, ""

    def type(self, keys):
        os.write(self._terminal, keys.encode())

    def wait(self, true):
        """Until true()."""
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
        "PATH": f"{Path(FASTSVM).parent}:{os.environ['PATH']}",  # fish completes only what it finds
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
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # its own terminal, for the control of jobs
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
