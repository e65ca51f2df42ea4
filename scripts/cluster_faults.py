"""Faults of check_cluster.py."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from cluster_processes import Client, Cluster, Failed, Proxy, answers, free_port, wait_until
from cluster_rows import identities, parts, sha256, temporary

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


class Faults:
    """Each method's docstring is the fault's name in the table."""

    def __init__(self, work, given):
        self.work, self.given = work, given

    def every(self):
        for name in sorted(dir(self)):
            if name.startswith("fault_") and self.given.only in name:
                yield getattr(self, name)

    def out(self):
        return tempfile.mkdtemp(prefix="out-", dir=self.work.folder)

    def again(self, command, out, expected=None, changed=0):
        """Run and check the command. changed: complete parts that should be rewritten."""
        wait_until(lambda: not temporary(out), "workers to end what they had begun")
        before = identities(out)
        code, printed = Client(command).end()
        if code:
            raise Failed(f"run again: exit code {code}, {printed}")
        if sha256(*parts(out)) != (expected or self.work.expected):
            raise Failed("run again: other bytes than one process's")
        left = [
            name for name in os.listdir(out) if not name.startswith(("part-", "receipt-")) and name != "manifest.json"
        ]
        if left:
            raise Failed(f"left: {left}")
        after = identities(out)
        twice = sum(after.get(name) != each for name, each in before.items())
        if twice != changed:
            raise Failed(f"{twice} whole parts were written again, expected {changed}")
        return f"{len(before) - twice} of {len(before)} parts kept, {len(after)} in all; the same bytes"

    def started(self, cluster, *options, out=None, share=0.3):
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
                code, printed = client.end()
                if code or sha256(*parts(out)) != self.work.expected:
                    raise Failed(f"exit code {code}, {printed}")
                killed += victim is not None
                again = self.again(command, out)
                shutil.rmtree(out)
        return f"{killed} times: exit code 0, the same bytes", again

    def fault_02_scheduler_killed(self):
        """the scheduler killed"""
        with Cluster() as cluster:
            client, out, command = self.started(cluster)
            cluster.scheduler.kill()
            code, printed = client.end()
        if code != 1 or not any("the scheduler was lost" in line for line in printed):
            raise Failed(f"exit code {code}, {printed}")
        with Cluster() as cluster:
            return f"exit code 1: {printed[0]}", self.again(self.work.command(cluster.address, out), out)

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
            code, printed = client.end()
            if code != 130:
                raise Failed(f"exit code {code}, {printed}")
            return f"exit code 130 {' '.join(printed)}".strip(), self.again(command, out)

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
                code, printed = Client(command).end()
                where = f"b:{text.count(b'%c' % 10, 0, at) + 1}: "
                if code != 1 or len(printed) != 2 or where not in printed[0]:
                    raise Failed(f"exit code {code}, {printed}, expected {where}")
                with open(work.shards[1], "wb") as file:
                    file.write(text)
                of_b = sum("/part-00001-" in name for name in parts(out))
                return f"exit code 1: {printed[0].replace(work.folder + '/', '')}", self.again(
                    command, out, changed=of_b
                )
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
                code, printed = Client(command).end()
                if code != 1 or "No space left" not in printed[0]:
                    raise Failed(f"exit code {code}, {printed}")
                subprocess.run(["mount", "-o", "remount,size=1g", out], check=True)
                return f"exit code 1: {printed[0].replace(self.work.folder + '/', '')}", self.again(command, out)
        finally:
            subprocess.run(["umount", out], check=True)

    def fault_07_model_changed(self):
        """another model under the same name, for the second run"""
        work, out = self.work, self.out()
        model = work.path("changing.model")
        shutil.copy(work.model, model)
        with Cluster() as cluster:
            command = work.command(cluster.address, out, model=model)
            code, printed = Client(command).end()
            if code:
                raise Failed(f"exit code {code}, {printed}")
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
                code, printed = Client(command).end()
                if code:
                    raise Failed(f"exit code {code}, {printed}")
                lines = text.splitlines(keepends=True)
                with open(work.shards[1], "wb") as file:
                    file.write(b"".join(reversed(lines)))
                of_b = sum("/part-00001-" in name for name in parts(out))
                return "exit code 0", self.again(command, out, work.one_run(work.model), changed=of_b)
        finally:
            with open(work.shards[1], "wb") as file:
                file.write(text)

    def beside(self, model):
        with Cluster() as cluster, Cluster() as second:
            client, out, _ = self.started(cluster, share=0.1)
            cluster.send(signal.SIGSTOP)
            other = self.work.command(second.address, out, model=model)
            ends = Client(other).end()
            cluster.send(signal.SIGCONT)
            return client.end(), ends, self.again(other, out, self.work.one_run(model))

    def fault_09_two_clients(self):
        """the same command a second time, while it runs"""
        first, other, again = self.beside(self.work.model)
        if first[0] or other[0]:
            raise Failed(f"{first}, {other}")
        return "both: exit code 0", again

    def fault_09_two_jobs(self):
        """another model's command in the same folder, while it runs"""
        (code, printed), other, again = self.beside(self.work.other)
        if other[0] or code != 1 or "another fastsvm has taken it over" not in printed[0]:
            raise Failed(f"{code}, {printed}, {other}")
        return f"the first: exit code 1: {printed[0].replace(self.work.folder + '/', '')}", again

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
                wait_until(lambda: answers(port), "moto's server")
                stored(environment, "put", "s3://rows/shards", *work.shards)
                behind = {**environment, "AWS_ENDPOINT_URL": proxy.url}
                with Cluster(behind) as cluster:
                    command = work.command(cluster.address, "s3://rows/out", rows="s3://rows/shards/*", block=4)
                    ends, refused = [], 0
                    for _ in range(10):
                        code, printed = Client(command, behind).end()
                        ends.append(code)
                        refused = proxy.refused
                        if not code:
                            break
                    if code:
                        raise Failed(f"exit code {code}, {printed}")
                    sha, some, names = stored(environment, "hash", "s3://rows/out").split()
                    if sha != work.expected or int(names) != 2 * int(some) + 1:
                        raise Failed(f"{some} parts of {names} files, {sha}")
                    code, printed = Client(command, environment).end()
                    if code:
                        raise Failed(f"exit code {code}, {printed}")
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
