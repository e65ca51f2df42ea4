#!/usr/bin/env python3
"""Disturb `fastsvm predict --dask` in every way a cluster does, let it run again, and hold the parts against one
process's output. Or measure it: on a large file, in small and large blocks, on thousands of tiny shards.

    scripts/check_cluster.py [--size MB] [--kills N] [--seed S] [--folder DIR] [--only WORD] faults
    scripts/check_cluster.py [--size MB] [--folder DIR] large | blocks
    scripts/check_cluster.py [--shards N] [--folder DIR] shards

The rows are data/rings.test again and again, the models are trained on data/rings.train. The scheduler and the workers
are processes on this machine, which end with the script; its folder, under DIR (the system's for temporary files,
unless it is said), is removed. Prints a Markdown table. Exit code 1 where a fault was not as it should be.

faults: for each fault what the disturbed run ended with, and, after the same command has run again, whether the parts
in order are one process's bytes (sha256), how many of the parts that had been whole were written again, and whether a
temporary file is left. A full disk is a small file system in memory, which takes root to mount; the store is moto's
server, behind a proxy that answers 503 at random: without either, these lines say so.
large: seconds, megabytes of text a second, processor time, and the largest memory (resident) of a worker process and of
the command's own, which has the scheduler in it.
blocks: the same rows in blocks of 1 to 256 MB: what a block costs.
shards: the same for shards of three rows each.
"""

import argparse
import glob
import hashlib
import http.client
import importlib.util
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
FASTSVM = os.path.join(os.path.dirname(sys.executable), "fastsvm")
#: Seconds after which whatever is waited for is given up: the script hangs nowhere.
PATIENCE = 300
_TRAINING = """
import sys
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train
labels, rows = svm_read_problem(sys.argv[1])
for cost, name in (("1", sys.argv[2]), ("100", sys.argv[3])):
    svm_save_model(name, svm_train(labels, rows, "-q -g 0.5 -c " + cost))
"""
_STORING = """
import hashlib, sys
import fsspec
fs, path = fsspec.core.url_to_fs(sys.argv[2])
if sys.argv[1] == "put":
    fs.makedirs(path.partition("/")[0], exist_ok=True)
    for name in sys.argv[3:]:
        fs.put_file(name, path + "/" + name.rpartition("/")[2])
else:
    names = sorted(fs.find(path))
    parts = [name for name in names if name.rpartition("/")[2].startswith("part-")]
    sha = hashlib.sha256()
    for name in parts:
        sha.update(fs.cat_file(name))
    print(sha.hexdigest(), len(parts), len(names))
"""


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, help="of the rows, in MB (default: 24 for faults, 1000 for the others)")
    parser.add_argument("--kills", type=int, default=10, help="how many workers are killed (default: 10)")
    parser.add_argument("--shards", type=int, default=10_000, help="how many tiny shards (default: 10000)")
    parser.add_argument("--seed", type=int, default=0, help="of the store's answers (default: 0)")
    parser.add_argument("--folder", help="where there is room (default: that of temporary files)")
    parser.add_argument("--only", default="", help="the faults whose name has this word (default: all)")
    parser.add_argument("what", choices=("faults", "large", "blocks", "shards"))
    given = parser.parse_args()
    given.size = given.size or (24 if given.what == "faults" else 1000)
    return given


class Failed(Exception):
    """Something was not as it should be."""


def wait_until(true, what):
    """What `true()` returns, once it is true."""
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


# ---- rows, models, and what is in a folder


def repeat(source, target, size):
    """`target`: the text of `source` so often that there are `size` bytes."""
    with open(source, "rb") as file:
        text = file.read()
    with open(target, "wb") as to:
        for _ in range(max(1, int(size) // len(text))):
            to.write(text)
    return os.path.getsize(target)


def sha256(*names):
    sha = hashlib.sha256()
    for name in names:
        with open(name, "rb") as file:
            while piece := file.read(1 << 20):
                sha.update(piece)
    return sha.hexdigest()


def parts(folder):
    return sorted(glob.glob(os.path.join(glob.escape(folder), "part-*")))


def temporary(folder):
    """Of parts that are being written."""
    try:
        return [name for name in os.listdir(folder) if name.startswith(".part-")]
    except FileNotFoundError:
        return []


def identities(folder):
    """{part: what tells whether it was written since}"""
    return {name: (each.st_ino, each.st_mtime_ns) for name in parts(folder) for each in [os.stat(name)]}


class Work:
    """A folder with models, rows in three shards, and one process's output for them."""

    def __init__(self, folder, size):
        self.folder = folder
        self.model, self.other = self.path("model"), self.path("other.model")
        train = os.path.join(DATA, "rings.train")
        subprocess.run([sys.executable, "-c", _TRAINING, train, self.model, self.other], check=True)
        os.mkdir(self.path("rows"))
        self.shards = [self.path("rows", name) for name in "abc"]
        for name in self.shards:
            repeat(os.path.join(DATA, "rings.test"), name, size / 3)
        self.rows = self.path("rows", "*")
        #: So large that there are some 60 parts.
        self.block = max(size / 1e6 / 60, 0.01)
        self.expected = self.one_run(self.model)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def one_run(self, model):
        for name in self.shards:
            subprocess.run([FASTSVM, "predict", "-q", name, model, name + ".one"], check=True)
        names = [name + ".one" for name in self.shards]
        sha = sha256(*names)
        for name in names:
            os.unlink(name)
        return sha

    def command(self, address, out, *options, rows=None, model=None, block=1):
        words = [
            "--dask",
            address,
            "--block",
            f"{block * self.block:.4f}",
            *options,
            rows or self.rows,
            model or self.model,
            out,
        ]
        return [FASTSVM, "predict", *words]


# ---- processes


class Cluster:
    """A scheduler and two workers that Dask's nannies start again, each a process; a context manager."""

    def __init__(self, environment=None, workers=2):
        self._environment = {**os.environ, **(environment or {})}
        self._processes, self._workers = [], workers

    def __enter__(self):
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        for _ in range(self._workers):
            self._start("worker", self.address, "--nthreads", "1", "--memory-limit", "0", "--no-dashboard")
        return self

    def _start(self, *words):
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            cwd="/",  # with -m, Python would take the fastsvm of a checkout that it is started in
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self._environment,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def __exit__(self, *_):
        for process in self._processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


class Client:
    """A running fastsvm: its process, and what it said once it has ended."""

    def __init__(self, command, environment=None):
        self._out = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, stdout=self._out, stderr=self._out, env={**os.environ, **(environment or {})}
        )

    def end(self):
        """(exit code, the lines it wrote)"""
        code = self.process.wait(PATIENCE)
        self._out.seek(0)
        text = self._out.read().decode()
        if "Traceback" in text:
            raise Failed(f"a traceback: {text}")
        quiet = re.compile("Dashboard: |Accuracy = |Note: |.* has no workers at the moment")
        return code, [line for line in text.splitlines() if not quiet.match(line)]


class Measured:
    """A command, to its end: seconds; processor (seconds, its worker processes' among them) and own (without them);
    memory (largest resident size of the process itself), workers (the largest of its worker processes)."""

    def __init__(self, command):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.workers, self.own, ended = 0, 0.0, threading.Event()
        watch = threading.Thread(target=self._watch, args=(process.pid, ended))
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
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


# ---- faults: each returns (what the disturbed run ended with, what the run again did)


class Faults:
    """work: rows and models. Each method whose name begins with `fault` is one; its docstring names it."""

    def __init__(self, work, given):
        self.work, self.given = work, given

    def every(self):
        for name in sorted(dir(self), key=lambda name: getattr(getattr(self, name), "order", 0)):
            if name.startswith("fault_") and self.given.only in name:
                yield getattr(self, name)

    def out(self):
        return tempfile.mkdtemp(prefix="out-", dir=self.work.folder)

    def again(self, command, out, expected=None, changed=None):
        """Run the command to its end, and look at the folder. changed: how many whole parts are to be written again;
        None: those that a worker had written, and that the client had not noted when it ended."""
        before = identities(out)
        code, said = Client(command).end()
        if code:
            raise Failed(f"run again: exit code {code}, {said}")
        if sha256(*parts(out)) != (expected or self.work.expected):
            raise Failed("run again: other bytes than one process's")
        left = [name for name in os.listdir(out) if not name.startswith("part-") and name != "manifest.json"]
        if left:
            raise Failed(f"left: {left}")
        after = identities(out)
        twice = sum(after.get(name) != each for name, each in before.items())
        if changed is not None and twice != changed:
            raise Failed(f"{twice} whole parts were written again, expected {changed}")
        told = f"{len(before) - twice} of {len(before)} parts kept, {len(after)} in all; the same bytes"
        return told if changed is not None or not twice else told.replace("kept,", f"kept ({twice} not yet noted),")

    def started(self, cluster, *options, out=None, share=0.3):
        """A client, its folder, and its command, once a share of the parts is there."""
        out = out or self.out()
        command = self.work.command(cluster.address, out, *options)
        client = Client(command)
        wait_until(lambda: len(parts(out)) >= 60 * share or client.process.poll() is not None, "parts")
        if client.process.poll() is not None:
            raise Failed(f"it ended before it was disturbed: {client.end()}; --size takes more")
        return client, out, command

    def fault_01_worker_killed(self):
        """a worker killed with SIGKILL while it writes a part"""
        killed = 0
        with Cluster() as cluster:
            while killed < self.given.kills:
                client, out, command = self.started(cluster, share=0)
                victim, names = None, []
                while client.process.poll() is None and not victim:
                    names = temporary(out)
                    if names:
                        victim = int(re.search(r"-(\d+)-\w+\.tmp$", names[-1])[1])
                        os.kill(victim, signal.SIGKILL)
                code, said = client.end()
                if code or sha256(*parts(out)) != self.work.expected:
                    raise Failed(f"exit code {code}, {said}")
                killed += victim is not None
                again = self.again(command, out, changed=0)
                shutil.rmtree(out)
        return f"{killed} times: exit code 0, the same bytes", again

    def fault_02_scheduler_killed(self):
        """the scheduler killed"""
        with Cluster() as cluster:
            client, out, command = self.started(cluster)
            cluster.scheduler.kill()
            code, said = client.end()
        if code != 1 or not any("does not answer" in line for line in said):
            raise Failed(f"exit code {code}, {said}")
        with Cluster() as cluster:
            return f"exit code 1: {said[0]}", self.again(self.work.command(cluster.address, out), out)

    def fault_03_client_killed(self):
        """the client killed with SIGKILL"""
        with Cluster() as cluster:
            client, out, command = self.started(cluster)
            client.process.kill()
            client.end()
            return "killed", self.again(command, out)

    def fault_04_interrupted(self):
        """Ctrl-C"""
        with Cluster() as cluster:
            client, out, command = self.started(cluster)
            client.process.send_signal(signal.SIGINT)
            code, said = client.end()
            if code != 130 or temporary(out):
                raise Failed(f"exit code {code}, {said}, {temporary(out)}")
            return f"exit code 130 {' '.join(said)}".strip(), self.again(command, out)

    def fault_05_poison_shard(self):
        """a bad row in the middle of the second shard"""
        work, out = self.work, self.out()
        with open(work.shards[1], "rb") as file:
            text = file.read()
        at = text.index(b"\n", len(text) // 2) + 1
        with open(work.shards[1], "wb") as file:
            file.write(text[:at] + b"1 3:x\n" + text[at:])
        try:
            with Cluster() as cluster:
                command = work.command(cluster.address, out)
                code, said = Client(command).end()
                place = f"b:{text.count(b'%c' % 10, 0, at) + 1}: "
                if code != 1 or len(said) != 2 or place not in said[0]:
                    raise Failed(f"exit code {code}, {said}, expected {place}")
                with open(work.shards[1], "wb") as file:
                    file.write(text)
                of_b = sum("/part-00001-" in name for name in parts(out))
                return f"exit code 1: {said[0].replace(work.folder + '/', '')}", self.again(command, out, changed=of_b)
        finally:
            with open(work.shards[1], "wb") as file:
                file.write(text)

    def fault_06_full_disk(self):
        """a full disk"""
        out = self.out()
        options = f"size={max(1, int(self.given.size * 1e6 / 40 / 1024))}k"
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", out], capture_output=True).returncode:
            return "not tried: mounting a small file system takes root", ""
        try:
            with Cluster() as cluster:
                command = self.work.command(cluster.address, out)
                code, said = Client(command).end()
                if code != 1 or "No space left" not in said[0] or temporary(out):
                    raise Failed(f"exit code {code}, {said}, {temporary(out)}")
                subprocess.run(["mount", "-o", "remount,size=1g", out], check=True)
                return f"exit code 1: {said[0].replace(self.work.folder + '/', '')}", self.again(command, out)
        finally:
            subprocess.run(["umount", out], check=True)

    def fault_07_model_changed(self):
        """another model under the same name, for the second run"""
        work, out = self.work, self.out()
        model = work.path("changing.model")
        shutil.copy(work.model, model)
        with Cluster() as cluster:
            command = work.command(cluster.address, out, model=model)
            code, said = Client(command).end()
            if code:
                raise Failed(f"exit code {code}, {said}")
            shutil.copy(work.other, model)
            return "exit code 0", self.again(command, out, work.one_run(work.other), changed=len(parts(out)))

    def fault_08_shard_changed(self):
        """another second shard of the same size, for the second run"""
        work, out = self.work, self.out()
        with open(work.shards[1], "rb") as file:
            text = file.read()
        try:
            with Cluster() as cluster:
                command = work.command(cluster.address, out)
                code, said = Client(command).end()
                if code:
                    raise Failed(f"exit code {code}, {said}")
                lines = text.splitlines(keepends=True)
                with open(work.shards[1], "wb") as file:
                    file.write(b"".join(reversed(lines)))
                of_b = sum("/part-00001-" in name for name in parts(out))
                return "exit code 0", self.again(command, out, work.one_run(work.model), changed=of_b)
        finally:
            with open(work.shards[1], "wb") as file:
                file.write(text)

    def fault_09_two_clients(self):
        """a second client on the same folder"""
        with Cluster() as cluster:
            client, out, command = self.started(cluster, share=0.1)
            code, said = Client(command).end()
            if code != 1 or len(said) != 1 or "another fastsvm is writing it" not in said[0]:
                raise Failed(f"exit code {code}, {said}")
            first, words = client.end()
            if first:
                raise Failed(f"the first one: exit code {first}, {words}")
            said = re.sub(r"\S*/out-\S*:", "OUT_DIR:", re.sub(r"process \d+", "process N", said[0]))
            return f"the second one: exit code 1: {said}", self.again(command, out, changed=0)

    def fault_10_store_answers_503(self):
        """a store that answers 503 to a third of all requests"""
        missing = [name for name in ("moto", "s3fs", "flask") if importlib.util.find_spec(name) is None]
        if missing:
            return f"not tried: {missing[0]} is not installed", ""
        work, port = self.work, free_port()
        environment = {
            **{f"AWS_{name}": "x" for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")},
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        }
        moto = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        server = subprocess.Popen(moto, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with Proxy(port, self.given.seed) as proxy:
                wait_until(lambda: _answers(port), "moto's server")
                stored(environment, "put", "s3://rows/shards", *work.shards)
                behind = {**environment, "AWS_ENDPOINT_URL": proxy.url}
                with Cluster(behind) as cluster:
                    command = work.command(cluster.address, "s3://rows/out", rows="s3://rows/shards/*", block=4)
                    ends, refused = [], 0
                    for _ in range(10):
                        code, said = Client(command, behind).end()
                        ends.append(code)
                        refused = proxy.refused
                        if not code:
                            break
                    if code:
                        raise Failed(f"exit code {code}, {said}")
                    sha, some, names = stored(environment, "hash", "s3://rows/out").split()
                    if sha != work.expected or int(names) != int(some) + 1:
                        raise Failed(f"{some} parts of {names} files, {sha}")
                    code, said = Client(command, environment).end()
                    if code:
                        raise Failed(f"exit code {code}, {said}")
                ends = ", ".join(map(str, ends))
                return f"{refused} answers of 503; exit code {ends}", f"{some} parts; the same bytes"
        finally:
            server.kill()
            server.wait()


def stored(environment, *words):
    done = subprocess.run(
        [sys.executable, "-c", _STORING, *words],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout


def _answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Proxy:
    """In front of an HTTP server on a port; a third of the answers are 503. url, refused: how many were. A context
    manager."""

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
                told = behind.getresponse()
                text = told.read()
                size = told.headers.get("Content-Length", len(text)) if self.command == "HEAD" else len(text)
                self.reply(told.status, told.getheaders(), text, size)
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


# ---- tables


def table(head, rows):
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in [head, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(word.ljust(width) for word, width in zip(line, widths)) + " |", flush=True)


def check_faults(given, folder):
    faults = Faults(Work(folder, given.size * 1e6), given)
    rows, well = [], True
    for fault in faults.every():
        start = time.monotonic()
        name = " ".join(fault.__doc__.split())
        try:
            first, again = fault()
        except Failed as error:
            first, again, well = f"FAILED: {error}", "", False
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        rows.append([name, first.replace(folder + "/", ""), again])
    table(["fault", "the disturbed run", "the same command again"], rows)
    return well


def rates(name, size, run):
    megabytes = [f"{run.workers / 1e6:.0f}" if run.workers else "", f"{run.memory / 1e6:.0f}"]
    return [
        name,
        f"{run.seconds:.1f}",
        f"{size / 1e6 / run.seconds:.0f}",
        f"{run.processor:.1f}",
        f"{run.own:.1f}",
        *megabytes,
    ]


HEAD = ["", "seconds", "MB/s", "processor seconds", "the command's own", "MB of a worker", "of the command"]


@contextmanager
def large_file(given, folder):
    """(its path, its size, a compiled model)"""
    work = Work(folder, 3e6)
    fast = work.path("fast.model")
    subprocess.run([FASTSVM, "approx", "-q", "--degree", "3", work.model, fast], check=True)
    rows = work.path("large")
    yield rows, repeat(os.path.join(DATA, "rings.test"), rows, given.size * 1e6), fast


def check_large(given, folder):
    with large_file(given, folder) as (rows, size, model):
        one, out = os.path.join(folder, "one"), os.path.join(folder, "out")
        lines = [rates("one process, all threads", size, Measured([FASTSVM, "predict", "-q", rows, model, one]))]
        expected = sha256(one)
        os.unlink(one)
        run = Measured([FASTSVM, "predict", "-q", "--threads", "1", rows, model, one])
        lines.append(rates("one process, one thread", size, run))
        os.unlink(one)
        well = True
        for address in ("local:2", "local:1"):
            run = Measured([FASTSVM, "predict", "-q", "--dask", address, rows, model, out])
            lines.append(rates(f"--dask {address}", size, run))
            same = sha256(*parts(out)) == expected
            well &= same
            lines[-1][0] += ": the same bytes" if same else ": OTHER BYTES"
            shutil.rmtree(out)
        print(f"{size / 1e9:.3g} GB, sha256 {expected}", flush=True)
        table(HEAD, lines)
    return well


def check_blocks(given, folder):
    with large_file(given, folder) as (rows, size, model):
        out, lines, well, expected = os.path.join(folder, "out"), [], True, None
        for block in (256, 64, 16, 4, 1):
            run = Measured([FASTSVM, "predict", "-q", "--dask", "local:2", "--block", str(block), rows, model, out])
            count = len(parts(out))
            lines.append(rates(f"--block {block}: {count} parts", size, run))
            expected = expected or sha256(*parts(out))
            well &= sha256(*parts(out)) == expected
            shutil.rmtree(out)
        table(HEAD, lines)
    return well


def check_shards(given, folder):
    work = Work(folder, 3e6)
    fast = work.path("fast.model")
    subprocess.run([FASTSVM, "approx", "-q", "--degree", "3", work.model, fast], check=True)
    with open(os.path.join(DATA, "rings.test"), "rb") as file:
        text = file.read().splitlines(keepends=True)
    os.mkdir(work.path("tiny"))
    size = 0
    with open(work.path("whole"), "wb") as whole:
        for number in range(given.shards):
            rows = b"".join(text[(3 * number + i) % len(text)] for i in range(3))
            size += whole.write(rows)
            with open(work.path("tiny", f"{number:06d}"), "wb") as file:
                file.write(rows)
    subprocess.run([FASTSVM, "predict", "-q", work.path("whole"), fast, work.path("one")], check=True)
    command = [FASTSVM, "predict", "-q", "--dask", "local:2", work.path("tiny", "*"), fast, work.path("out")]
    first = Measured(command)
    well = sha256(*parts(work.path("out"))) == sha256(work.path("one"))
    again = Measured(command)
    manifest = os.path.getsize(work.path("out", "manifest.json"))
    lines = [rates(f"{given.shards} shards", size, first), rates("the same command again", size, again)]
    table(HEAD, lines)
    told = {"ms_per_shard": first.seconds * 1e3 / given.shards, "same": well, "manifest_bytes": manifest}
    print(json.dumps(told))
    return well


def main():
    given = parsed()
    folder = tempfile.mkdtemp(prefix="fastsvm-cluster-", dir=given.folder)
    try:
        check = {"faults": check_faults, "large": check_large, "blocks": check_blocks, "shards": check_shards}
        return 0 if check[given.what](given, folder) else 1
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
