"""fastsvm in a fork, killed at a chosen call, on a disk that loses unsynced data."""

import os
import signal
import stat
import tempfile
from types import SimpleNamespace

from fastsvm_cli import _native, prediction
from fastsvm_cli.commands import resume
from support.forking import become, leave_to_click
from support.processes import Finished, default_signals

ROWS = 400
BLOCK = 2048  # bytes of text per chunk


def forked(folder, *arguments, prepare=lambda: None, code=0, block=BLOCK, seconds=0.0):
    """Run fastsvm in a fork with small chunks, and a checkpoint after each. prepare: called first. Returns a Finished,
    whose code is minus the signal that killed it."""

    def begin():
        default_signals()
        leave_to_click()
        _answer_in_blocks(block)
        resume.SECONDS, resume.SHARE = seconds, float("inf")
        prepare()

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, open(os.devnull) as given:
        child = os.fork()
        if child == 0:
            streams = [each.fileno() for each in (given, out, err)]
            become(["fastsvm", *map(str, arguments)], folder, dict(os.environ), streams, begin)
        _, status = os.waitpid(child, 0)
        texts = [(file.seek(0), file.read().decode())[1] for file in (out, err)]
    ended = Finished(arguments, os.waitstatus_to_exitcode(status), *texts)
    assert "Traceback" not in ended.err and (code is None or ended.code == code), str(ended)
    return ended


def _answer_in_blocks(size):
    answer_file = prediction.answer_file

    def answer(prediction, *arguments, **options):
        prediction.block_size = size
        answer_file(prediction, *arguments, **options)

    prediction.answer_file = answer


def resumable(path, model):
    """The output of a run with the model file."""
    prediction = _native.Prediction(_native.Request(test_file=os.devnull, model_file=str(model)))
    prediction.prepare()
    options = SimpleNamespace(output=str(path), inputs=[], test_file=model, on_bad_row="stop", max_line=9, note=str)
    return resume.ResumableOutput(options, prediction), prediction


class Disk:
    """Replaces os's file functions: the process dies at the `at`-th call, halfway through a write. With `power`,
    unsynced data and names are lost."""

    CALLS = ("open", "write", "fsync", "ftruncate", "replace", "unlink")

    def __init__(self, at, power=False, death=lambda: os.kill(os.getpid(), signal.SIGKILL)):
        self.at, self.power, self.death, self.calls = at, power, death, 0
        self.real = {name: getattr(os, name) for name in self.CALLS}
        self.files, self.synced, self.undo = ([], {}, [])  # descriptors, safe bytes of inodes, undoings of renames
        for name in self.CALLS:
            setattr(os, name, getattr(self, name))

    def step(self, half=lambda: None):
        self.calls += 1
        if self.calls != self.at:
            return
        half()
        for name in self.CALLS:
            setattr(os, name, self.real[name])
        if self.power:
            for file in self.files:
                try:
                    os.ftruncate(file, self.synced.get(os.fstat(file).st_ino, 0))
                except OSError:
                    pass  # a pipe
            for undo in reversed(self.undo):
                undo()
        self.death()

    def open(self, path, flags, *more, **options):
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        if writes:
            self.step()
        file = self.real["open"](path, flags, *more, **options)
        if writes:
            self.files.append(os.dup(file))
            status = os.fstat(file)
            self.synced[status.st_ino] = min(self.synced.get(status.st_ino, status.st_size), status.st_size)
        return file

    def write(self, file, content):
        self.step(lambda: self.real["write"](file, bytes(content)[: len(content) // 2]))
        return self.real["write"](file, content)

    def fsync(self, file):
        self.step()
        self.real["fsync"](file)
        if stat.S_ISDIR(os.fstat(file).st_mode):
            self.undo = []
        else:
            self.synced[os.fstat(file).st_ino] = os.fstat(file).st_size

    def ftruncate(self, file, size):
        self.step()
        self.real["ftruncate"](file, size)
        self.synced[os.fstat(file).st_ino] = min(self.synced.get(os.fstat(file).st_ino, 0), size)

    def replace(self, source, target):
        self.step()
        before = f"../{os.path.basename(target)}.{os.getpid()}.{self.calls}" if os.path.exists(target) else None
        if before is not None:
            os.link(target, before)

        def undo():
            self.real["replace"](target, source)
            if before is not None:
                self.real["replace"](before, target)

        self.undo.append(undo)
        self.real["replace"](source, target)

    def unlink(self, path):
        self.step()
        self.real["unlink"](path)


def lines_of(summary):
    """Lines of a summary, without those about resuming."""
    return [line for line in summary.splitlines() if not line.startswith(("Continuing after row ", "Warning: "))]
