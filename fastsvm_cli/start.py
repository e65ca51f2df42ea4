"""The process of the command: what has to stand before anything else is imported, and the way out."""


def run() -> None:
    """main(), able to be stopped from the first moment on, with little garbage collection, and out without taking the
    interpreter apart, which together would be a fifth of a short command."""
    from fastsvm_cli import interruption

    interruption.install()
    import gc
    import os
    import sys

    from fastsvm_cli import streams

    streams.prepare()
    gc.set_threshold(200_000, 20, 20)
    from fastsvm_cli.cli import main

    try:
        main()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    sys.stderr.flush()
    os._exit(code)
