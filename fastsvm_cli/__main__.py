"""Entry point of the command, and of ``python -m fastsvm_cli``."""

import os
import sys


def run() -> None:
    """Run main() with signals handled from the start.

    Before click is imported, the core runs `predict` if it knows all words. Rare garbage collection and no interpreter
    shutdown save a fifth of a short command's time.
    """
    from fastsvm_cli import system

    system.handle_signals()
    failure = None
    try:
        code = _predicted()
        if code is not None:
            os._exit(code)
    except Exception as error:
        failure = error
    import gc

    system.prepare_streams()
    gc.set_threshold(200_000, 20, 20)
    from fastsvm_cli.cli import main

    try:
        main(failure)
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    sys.stderr.flush()
    os._exit(code)


def _predicted() -> "int | None":
    """Return the exit code if the core predicted everything; raise the error of its run, which may deserve a hint."""
    if sys.argv[1:2] != ["predict"] or None in (sys.stdin, sys.stdout, sys.stderr) or "_FASTSVM_COMPLETE" in os.environ:
        return None
    from fastsvm_cli import _native

    return _native.predict_as_program(sys.argv[2:])


if __name__ == "__main__":
    run()
