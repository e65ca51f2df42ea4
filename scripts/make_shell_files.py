#!/usr/bin/env python3
"""Write fastsvm's man pages and shell completions, from its --help, into a system's folders.

    scripts/make_shell_files.py share        share/man/man1/fastsvm.1, share/fish/vendor_completions.d/fastsvm.fish, ...

The build runs it. Needs click, but not the compiled core.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from man_page import man_pages

from fastsvm_cli.cli import fastsvm
from fastsvm_cli.console.completion import script

COMPLETIONS = {
    "bash": "bash-completion/completions/fastsvm",
    "zsh": "zsh/site-functions/_fastsvm",
    "fish": "fish/vendor_completions.d/fastsvm.fish",
}


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: scripts/make_shell_files.py FOLDER")
    files = {f"man/man1/{name}": text for name, text in man_pages(fastsvm).items()}
    files |= {path: script(fastsvm, shell) for shell, path in COMPLETIONS.items()}
    for path, text in files.items():
        file = Path(sys.argv[1], path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main()
