"""The process that forked.py forks for each command, with all modules loaded."""

import gc
import json
import os
import socket
import sys
import traceback
from importlib import import_module
from pkgutil import walk_packages

#: Packages to load. fastsvm_cli.commands comes first: it limits the matrix library to one thread.
ROOMS = ("commands", "comparisons", "console", "methods", "models", "prediction", "text")
LIBRARIES = ("scipy.linalg", "scipy.optimize", "scipy.sparse.linalg", "scipy.spatial", "scipy.special", "rich.progress")


def serve(channel):
    """Run a command per message, until the channel is closed."""
    from counted import count_operations  # not above: Dask's processes import this module, without its folder

    del sys.path[0]  # this folder, whose modules would hide others
    for layer in ROOMS:
        package = import_module(f"fastsvm_cli.{layer}")
        for module in walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
            import_module(module.name)
    for name in LIBRARIES:
        import_module(name)
    count_operations()
    # With a stopped clock, since on a slow machine commands announce how long their work will take.
    import_module("fastsvm_cli.console.terminal").monotonic = lambda: 0.0
    gc.freeze()
    while True:
        head, descriptors, _, _ = socket.recv_fds(channel, 8, 3)
        if not head:
            return
        size = int.from_bytes(head, "little")
        message = b""
        while len(message) < size:
            message += channel.recv(size - len(message))
        child = os.fork()
        if not child:
            channel.close()
            *told, by_click = json.loads(message)
            become(*told, descriptors, leave_to_click if by_click else lambda: None)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        channel.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "little", signed=True))


def leave_to_click():
    """The core does not run `predict`."""
    from fastsvm_cli import __main__ as start

    start._predicted = lambda: None


def become(words, cwd, environment, descriptors, prepare=lambda: None):
    """Run the command in this process, a fork, and end it. descriptors: its standard streams. prepare: called first."""
    try:
        for standard, descriptor in enumerate(descriptors):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        for library in ("OPENBLAS", "MKL", "BLIS"):  # as in fastsvm_cli.commands
            os.environ[f"{library}_NUM_THREADS"] = "1"
        sys.argv = words
        sys.stdin = open(0, closefd=False)
        sys.stdout = open(1, "w", closefd=False, errors="strict")
        sys.stderr = open(2, "w", closefd=False, errors="backslashreplace")
        prepare()
        from fastsvm_cli import __main__ as start

        start.run()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
