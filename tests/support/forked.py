"""The command in its own process, forked from one that has loaded its modules (forking.py): a few milliseconds instead
of 60 to 300.

It runs from __main__.run to its exit code, with its own arguments, folder, environment and descriptors. If the
environment sets variables that are read only once, a new process is started."""

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from support.paths import FASTSVM
from support.processes import PATIENCE

# Read when an interpreter, a library or the core is loaded.
_READ_ONCE = (*"PYTHON LD_ OMP_ GOMP_ OPENBLAS_ MKL_ BLIS_ FASTSVM_ LC_ LANG MPL GLIBC_".split(),)


def fastsvm(words, *, cwd=None, input=None, env=None, text=False, check=False, timeout=PATIENCE, by_click=False):
    """As subprocess.run([FASTSVM, *words], capture_output=True). input: None for an empty one. by_click: the core does
    not run `predict`."""
    words = [os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words]
    environment = dict(os.environ if env is None else env)
    if _Parent.fits(environment):
        told = [FASTSVM, *words], os.fspath(cwd) if cwd is not None else os.getcwd(), environment, by_click
        done = _Parent.run(told, input, timeout)
    else:
        assert not by_click
        given = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            [FASTSVM, *words],
            cwd=cwd,
            env=environment,
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            timeout=timeout,
        )
    if text:
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    if check and done.returncode:
        raise subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)
    return done


class _Parent:
    """The process that is forked, and this side of its socket."""

    _process = _socket = None
    _lock = threading.Lock()
    _environment: "dict[str, str]" = {}

    @staticmethod
    def _read_once(environment):
        return {key: value for key, value in environment.items() if key.startswith(_READ_ONCE)}

    @classmethod
    def fits(cls, environment):
        with cls._lock:
            if cls._process is None:
                cls._start()
        return cls._read_once(environment) == cls._environment

    @classmethod
    def _start(cls):
        cls._environment = cls._read_once(os.environ)
        cls._socket, theirs = socket.socketpair()
        with theirs:
            cls._process = subprocess.Popen(
                [sys.executable, Path(__file__).with_name("forking.py"), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
            )
        atexit.register(cls._stop)

    @classmethod
    def _stop(cls):
        cls._socket.close()  # ends the process
        cls._process.wait(PATIENCE)

    @classmethod
    def run(cls, told, input, timeout):
        ends = [os.pipe(), os.pipe()]
        ours = [reading for reading, _ in ends]
        if input is None:
            given, to_write = os.open(os.devnull, os.O_RDONLY), None
        else:
            given, to_write = os.pipe()
        printed = [b"", b""]

        def read(at):
            with open(ours[at], "rb") as stream:
                printed[at] = stream.read()

        def write():
            try:
                with open(to_write, "wb", buffering=0) as stream:
                    rest = memoryview(input.encode() if isinstance(input, str) else input)
                    while rest:
                        rest = rest[stream.write(rest) :]
            except BrokenPipeError:  # the command did not read all of it
                pass

        with cls._lock:
            message = json.dumps(told).encode()
            descriptors = [given, ends[0][1], ends[1][1]]
            socket.send_fds(cls._socket, [len(message).to_bytes(8, "little")], descriptors)
            cls._socket.sendall(message)
            for descriptor in descriptors:
                os.close(descriptor)
            helpers = [threading.Thread(target=read, args=(at,)) for at in (0, 1)]
            helpers += [threading.Thread(target=write)] if to_write is not None else []
            for helper in helpers:
                helper.start()
            cls._socket.settimeout(timeout)
            try:
                code = int.from_bytes(cls._socket.recv(4), "little", signed=True)
            except TimeoutError:
                cls._process.kill()
                cls._process = None
                raise subprocess.TimeoutExpired(told[0], timeout) from None
            for helper in helpers:
                helper.join()
        return subprocess.CompletedProcess(told[0], code, *printed)
