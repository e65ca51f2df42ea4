"""Processes of check_cluster.py. None outlives it."""

import http.client
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Longest wait, in seconds.
PATIENCE = 300


class Failed(Exception):
    """Unexpected result."""


def wait_until(true, what):
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        if time.monotonic() > deadline:
            raise Failed(f"waited in vain for {what}")
        time.sleep(0.001)
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    def __init__(self, environment=None, workers=2):
        self._environment = {**os.environ, **(environment or {})}
        self._processes, self._workers = [], workers

    def __enter__(self):
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        try:
            self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
            for _ in range(self._workers):
                self._start("worker", self.address, "--nthreads", "1", "--memory-limit", "0", "--no-dashboard")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, *words):
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            cwd="/",  # python -m imports from the working directory
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self._environment,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def send(self, number):
        for process in self._processes:
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                pass

    def __exit__(self, *_):
        self.send(signal.SIGKILL)
        for process in self._processes:
            process.wait()


#: Commands that may still be running.
_commands = []


def end_commands():
    for process in _commands:
        if process.returncode is None and process.poll() is None:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    _commands.clear()


class Client:
    def __init__(self, command, environment=None):
        self._out = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, stdout=self._out, stderr=self._out, env={**os.environ, **(environment or {})}
        )
        _commands.append(self.process)

    def end(self):
        code = self.process.wait(PATIENCE)
        self._out.seek(0)
        text = self._out.read().decode()
        if "Traceback" in text:
            raise Failed(f"a traceback: {text}")
        quiet = re.compile("Dashboard: |Accuracy = |Note: |.* has no workers at the moment")
        return code, [line for line in text.splitlines() if not quiet.match(line)]


class Measured:
    """processor: seconds with workers; own: without. memory: peak resident bytes; workers: of a worker."""

    def __init__(self, command):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _commands.append(process)
        self.workers, self.own, ended = 0, 0.0, threading.Event()
        watch = threading.Thread(target=self._watch, args=(process.pid, ended))
        watch.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            ended.set()
            watch.join()
        self.seconds, self.memory = time.monotonic() - start, usage.ru_maxrss * 1024
        self.processor = usage.ru_utime + usage.ru_stime
        if process.returncode:
            raise Failed(f"exit code {process.returncode}: {' '.join(command)}")

    def _watch(self, pid, ended):
        while not ended.wait(0.2):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    words = file.read().rpartition(")")[2].split()
                self.own = max(self.own, (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"))
            except OSError:
                pass
            for child in _children(pid):
                try:
                    with open(f"/proc/{child}/cmdline", "rb") as file:
                        worker = b"spawn_main" in file.read()
                    with open(f"/proc/{child}/status") as file:
                        peak = re.search(r"VmHWM:\s+(\d+) kB", file.read())
                except OSError:
                    continue
                if worker and peak:
                    self.workers = max(self.workers, int(peak[1]) * 1024)


def _children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            first = [int(word) for word in file.read().split()]
        found = list(first)
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += [int(word) for word in file.read().split()]
        return sorted(set(found))
    except OSError:
        return []


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Proxy:
    """HTTP proxy that answers 503 to a third of the requests."""

    def __init__(self, port, seed):
        self.refused, self._random = 0, random.Random(seed)
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if proxy._random.random() < 1 / 3:
                    proxy.refused += 1
                    text = b"" if self.command == "HEAD" else b"<Error><Code>SlowDown</Code></Error>"
                    self.reply(503, [("Content-Type", "application/xml")], text, len(text))
                    return
                behind = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
                behind.request(self.command, self.path, body, dict(self.headers))
                response = behind.getresponse()
                text = response.read()
                size = response.headers.get("Content-Length", len(text)) if self.command == "HEAD" else len(text)
                self.reply(response.status, response.getheaders(), text, size)
                behind.close()

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = answer

            def reply(self, status, headers, text, size):
                self.send_response_only(status)
                for name, value in headers:
                    if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(size))
                self.end_headers()
                self.wfile.write(text)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
