"""Data of check_cluster.py."""

import glob
import hashlib
import os
import subprocess
import sys

from libsvm_training import svm_read_problem, svm_save_model, svm_train

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
FASTSVM = os.path.join(os.path.dirname(sys.executable), "fastsvm")


def repeat(source, target, size):
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
            while buffer := file.read(1 << 20):
                sha.update(buffer)
    return sha.hexdigest()


def parts(folder):
    return sorted(glob.glob(os.path.join(glob.escape(folder), "part-*")))


def temporary(folder):
    try:
        return [name for name in os.listdir(folder) if name.startswith(".part-")]
    except FileNotFoundError:
        return []


def identities(folder):
    """Return {part: value that changes when it is rewritten}."""
    return {name: (each.st_ino, each.st_mtime_ns) for name in parts(folder) for each in [os.stat(name)]}


class Work:
    """expected: SHA-256 of one process's output."""

    def __init__(self, folder, size):
        self.folder = folder
        self.model, self.other = self.path("model"), self.path("other.model")
        train = os.path.join(DATA, "rings.train")
        labels, rows = svm_read_problem(train)
        for cost, name in ((1, self.model), (100, self.other)):
            svm_save_model(name, svm_train(labels, rows, f"-q -g 0.5 -c {cost}"))
        os.mkdir(self.path("rows"))
        self.shards = [self.path("rows", name) for name in "abc"]
        for name in self.shards:
            repeat(os.path.join(DATA, "rings.test"), name, size / 3)
        self.rows = self.path("rows", "*")
        #: For about 60 parts.
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
