"""predict --resume: however a run is stopped, the same command goes on from there, to the same bytes and the same
summary as one run; what does not match is refused in one line."""

import errno
import fcntl
import gzip
import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import tempfile

import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from fastsvm_cli import cli, stopping
from fastsvm_cli.errors import FileError
from fastsvm_cli.text import data, partial
from fastsvm_cli.text.partial import PartialOutput, can_be_kept
from support.bad_rows import PRECOMPUTED, spoil
from support.places import DATA, FASTSVM, SCRIPTS
from support.processes import PATIENCE, default_signals
from support.reading import COMPRESS

ROWS = 400
BLOCK = 2048  # bytes of text per chunk here: many chunks, and a checkpoint behind each


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with a model of each kind, and data for them."""
    folder = tmp_path_factory.mktemp("models")
    for name, source, options in (
        ("rings", "rings.train", "-g 0.2 -c 10 -b 1"),
        ("colors", "colors.train", "-g 0.02 -c 1 -b 1"),
        ("waves", "waves.train", "-s 3 -g 0.05 -c 5 -b 1"),
    ):
        y, x = svm_read_problem(str(DATA / source))
        svm_save_model(str(folder / f"{name}.model"), svm_train(y[:400], x[:400], f"-q {options}"))
        lines = (DATA / source).read_text().splitlines(keepends=True)[400 : 400 + ROWS]
        (folder / f"{name}.rows").write_text("".join(lines))
        (folder / f"{name}.bad").write_text(spoil(lines, random.Random(3))[0])
        (folder / f"{name}.bare").write_text("".join(" ".join(line.split()[1:]) + "\n" for line in lines))
        dense = [
            [
                line.split()[0],
                *(dict(pair.split(":") for pair in line.split()[1:]).get(str(index), "0") for index in range(1, 9)),
            ]
            for line in lines
        ]
        (folder / f"{name}.csv").write_text("label,a,b\n" + "".join(",".join(row) + "\n" for row in dense))
        for kind, compress in COMPRESS.items():
            (folder / f"{name}.{kind}").write_bytes(
                b"".join(compress("".join(lines[at : at + 37]).encode()) for at in range(0, ROWS, 37))
            )  # streams in a row
    good = ["1 0:1 1:0.5 2:0.25 3:0.125\n", "-1 0:2 1:0.1 2:0.2 3:0.9\n"]
    (folder / "serials.model").write_text(PRECOMPUTED)
    (folder / "serials.bad").write_text(spoil(good * 100, random.Random(4), ("1 0:3 1:0.5", "foo"))[0])
    for words in (
        "approx --certify rings.model rings.cert",
        "approx rings.model rings.approx",
        "order rings.model rings.order",
        "order --method blocks colors.model colors.blocks",
        "order --method triangle colors.model colors.triangle",
        "reduce --ratio 0.1 waves.model waves.red",
        "order waves.model waves.order",
    ):
        command, *rest = words.split()
        subprocess.run([FASTSVM, command, "-q", *rest], cwd=folder, check=True)
    return folder


class Ended:
    """A command that came to an end in a fork of this process. code: its exit code, or minus the signal that killed
    it."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"code {self.code}\n--- standard output\n{self.out}\n--- standard error\n{self.err}"


def forked(folder, *arguments, prepare=lambda: None, code=0, block=BLOCK, seconds=0.0):
    """Run fastsvm in a fork of this process, with small chunks and a checkpoint behind each. prepare: called there
    first."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            ended = 99
            try:
                default_signals()
                stopping.install()
                os.chdir(folder)
                os.dup2(out.fileno(), 1), os.dup2(err.fileno(), 2)
                sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
                sys.argv = ["fastsvm", *map(str, arguments)]
                data.read_chunks.__kwdefaults__["size"] = block
                partial.SECONDS, partial.SHARE = seconds, float("inf")
                prepare()
                cli.main()
            except SystemExit as stop:
                ended = stop.code
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(ended)
        _, status = os.waitpid(child, 0)
        texts = [(file.seek(0), file.read().decode())[1] for file in (out, err)]
    ended = Ended(os.waitstatus_to_exitcode(status), *texts)
    assert "Traceback" not in ended.err and (code is None or ended.code == code), str(ended)
    return ended


CALLS = ("open", "write", "fsync", "ftruncate", "replace", "unlink")


class Disk:
    """Stands between a process and the disk: the process's death comes at the `at`-th call, in the middle of it where
    it writes. With `power`, all that had not reached the disk by then is
    lost: data that was not synced, names in folders that were not."""

    def __init__(self, at, power=False, death=lambda: os.kill(os.getpid(), signal.SIGKILL)):
        self.at, self.power, self.death, self.calls = at, power, death, 0
        self.real = {name: getattr(os, name) for name in CALLS}
        self.files, self.synced, self.undo = (
            [],
            {},
            [],
        )  # descriptors, bytes of an inode that are safe, how to take back names
        for name in CALLS:
            setattr(os, name, getattr(self, name))

    def step(self, half=lambda: None):
        self.calls += 1
        if self.calls != self.at:
            return
        half()
        for name in CALLS:
            setattr(os, name, self.real[name])
        if self.power:
            for file in self.files:
                try:
                    os.ftruncate(file, self.synced.get(os.fstat(file).st_ino, 0))
                except OSError:
                    pass  # of a pipe
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
    """A summary, without what only tells of going on."""
    return [line for line in summary.splitlines() if not line.startswith(("Going on behind row ", "Warning: "))]


# ---- the same bytes and the same summary as one run


RUNS = [
    ("rings.approx", "rings.rows", ""),
    ("rings.model", "rings.rows", "-b 1 --values"),
    ("rings.cert", "rings.rows", "--exact rings.model --values"),
    ("rings.cert", "rings.gzip", "-b 1 --exact rings.model"),
    ("rings.order", "rings.rows", "--values"),
    ("rings.order", "rings.bzip2", "--steps 3 --values"),
    ("colors.model", "colors.rows", "-b 1"),
    ("colors.blocks", "colors.xz", ""),
    ("colors.triangle", "colors.rows", ""),
    ("waves.model", "waves.rows", ""),
    ("waves.model", "waves.gzip", "-b 1 --values"),
    ("waves.red", "waves.rows", "--exact waves.model --tolerance 0.5"),
    ("waves.order", "waves.rows", "--tolerance 0.1"),
    ("rings.approx", "rings.bare", "--unlabelled"),
    ("rings.approx", "rings.csv", "--dense --on-bad-row nan"),
    ("rings.approx", "rings.csv", "--dense --on-bad-row skip --values"),
    ("rings.model", "rings.bad", "--on-bad-row nan -b 1"),
    ("waves.model", "waves.bad", "--on-bad-row skip --values"),
    ("serials.model", "serials.bad", "--on-bad-row nan --values"),
]


@pytest.mark.parametrize("model, rows, options", RUNS, ids=lambda value: value)
def test_killed_again_and_again_it_comes_to_the_same_end(models, tmp_path, model, rows, options):
    options = [str(models / word) if word.endswith(".model") else word for word in options.split()]
    command = ["predict", *options, models / rows, models / model]
    one = forked(tmp_path, *command, "expected", block=1 << 20)
    json_one = forked(tmp_path, *command[:1], "--json", *command[1:], "expected", block=1 << 20)
    rng = random.Random(f"{model} {rows} {options}")
    for as_json, expected in ((False, one), (True, json_one)):
        killed = 0
        while True:
            words = ["predict", "--resume", *["--json"] * as_json, *command[1:], "out"]
            at = rng.randint(9, 60) if killed else 20
            done = forked(tmp_path, *words, prepare=lambda: Disk(at), code=None)
            if done.code == 0:
                break
            assert done.code == -signal.SIGKILL, str(done)
            killed += 1
        assert killed >= 1 and (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
        assert done.out == expected.out and lines_of(done.err) == lines_of(expected.err)
        assert [line for line in done.err.splitlines() if line.startswith("Warning: ")] == [
            line for line in expected.err.splitlines() if line.startswith("Warning: ")
        ]
        assert sorted(os.listdir(tmp_path)) == ["expected", "out"]
        os.unlink(tmp_path / "out")


@pytest.mark.parametrize("power, before", [(False, "before\n"), (True, None)], ids=["killed", "power gone"])
def test_wherever_a_run_is_killed_nothing_is_lost_and_the_next_comes_to_the_same_end(models, tmp_path, power, before):
    """At every call to the disk, one after the other. What stands under the output's name is the previous file or the
    whole new one, at any time."""
    (tmp_path / "rows").write_text("".join((models / "waves.rows").read_text().splitlines(keepends=True)[:70]))
    command = ["predict", "--values", "rows", models / "waves.model"]
    expected = forked(tmp_path, *command, "expected", block=600)
    whole = (tmp_path / "expected").read_text()
    kept = []
    for at in range(1, 1000):
        for name in os.listdir(tmp_path):
            if name.startswith("out"):
                os.unlink(tmp_path / name)
        if before is not None:
            (tmp_path / "out").write_text(before)
        first = forked(tmp_path, *command, "--resume", "out", prepare=lambda: Disk(at, power), code=None, block=600)
        if first.code == 0:
            break
        assert first.code == -signal.SIGKILL, str(first)
        found = (tmp_path / "out").read_text() if (tmp_path / "out").exists() else None
        assert found in (before, whole), at
        second = forked(tmp_path, *command, "--resume", "out", block=600)
        assert (tmp_path / "out").read_text() == whole and second.out == expected.out, at
        assert sorted(os.listdir(tmp_path)) == ["expected", "out", "rows"], at
        kept.append(int((re.search(r"^Going on behind row (\d+), from out.partial\.$", second.err, re.M) or [0, 0])[1]))
    assert at > 30 and kept == sorted(kept) and len(set(kept)) > 3 and kept[-1] == 70  # as far as the checkpoints came


@pytest.mark.parametrize("stop, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_every_row_that_was_finished(models, tmp_path, stop, code):
    """With no checkpoint on the way: the one that the signal leaves behind is enough."""
    command = ["predict", "--resume", models / "rings.rows", models / "rings.approx", "out"]
    forked(tmp_path, *command[:1], *command[2:-1], "expected")
    first = forked(
        tmp_path, *command, prepare=lambda: Disk(32, death=lambda: os.kill(os.getpid(), stop)), code=code, seconds=1e9
    )
    kept = int(
        re.fullmatch(
            r".*^(\d+) rows are kept in out\.partial: the same command goes on behind them\.\n", first.err, re.M | re.S
        )[1]
    )
    assert 0 < kept < ROWS and not (tmp_path / "out").exists()
    assert (tmp_path / "out.partial").read_bytes() == b"".join(
        (tmp_path / "expected").read_bytes().splitlines(keepends=True)[:kept]
    )
    second = forked(tmp_path, *command)
    assert (
        f"Going on behind row {kept}, from out.partial.\n" in second.err
        and (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
    )


class Full(Disk):
    """A disk that is full from the `at`-th call on; then not even the state can be written."""

    def step(self, half=lambda: None):
        self.calls += 1
        if self.calls >= self.at:
            if self.calls == self.at:
                half()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def open(self, path, flags, *more, **options):
        return self.real["open"](path, flags, *more, **options)

    def ftruncate(self, file, size):
        self.real["ftruncate"](file, size)

    def unlink(self, path):
        self.real["unlink"](path)


def test_a_full_disk_keeps_what_reached_it(models, tmp_path):
    command = ["predict", models / "rings.rows", models / "rings.approx"]
    forked(tmp_path, *command, "expected")
    (tmp_path / "out").write_text("before\n")
    went_on = set()
    for at in range(1, 60, 4):
        done = forked(tmp_path, *command, "--resume", "out", prepare=lambda: Full(at), code=1)
        assert (
            re.search(r"^Error: out(\.partial)?: No space left on device$", done.err, re.M)
            and (tmp_path / "out").read_text() == "before\n"
        )
        done = forked(tmp_path, *command, "--resume", "out", prepare=lambda: Full(12), code=1)  # and once more
        went_on.add("Going on" in done.err)
        done = forked(tmp_path, *command, "--resume", "out")
        assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes() and sorted(
            os.listdir(tmp_path)
        ) == ["expected", "out"]
        (tmp_path / "out").write_text("before\n")
    assert went_on == {False, True}


def test_a_bad_row_ends_the_run_and_the_next_goes_on_past_it(models, tmp_path):
    lines = (models / "rings.rows").read_text().splitlines(keepends=True)
    (tmp_path / "rows").write_text("".join(lines[:123] + ["foo\n"] + lines[123:250] + ["bar\n"] + lines[250:]))
    command = ["predict", "rows", models / "rings.approx"]
    first = forked(tmp_path, *command, "--resume", "out", code=1)
    assert first.err.splitlines()[-2:] == [
        "123 rows are kept in out.partial: the same command goes on behind them.",
        "Error: rows:124: 'foo' found, expected a label",
    ]
    again = forked(tmp_path, *command, "--resume", "out", code=1)
    assert (
        again.err.splitlines()[-1] == "Error: rows:124: 'foo' found, expected a label"
    )  # the number in the whole file
    expected = forked(tmp_path, *command, "--on-bad-row", "nan", "expected")
    last = forked(tmp_path, *command, "--resume", "--on-bad-row", "nan", "out")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes() and last.out == expected.out
    assert (
        lines_of(last.err) == lines_of(expected.err)
        and "Warning: rows:124: 'foo'" in last.err
        and "Warning: rows:252: 'bar'" in last.err
    )


@pytest.mark.parametrize("kind", COMPRESS)
def test_a_compressed_file_that_is_cut_off_keeps_the_rows_before(models, tmp_path, kind):
    whole = (models / f"rings.{kind}").read_bytes()
    (tmp_path / "rows").write_bytes(whole[: len(whole) // 2])
    done = forked(tmp_path, "predict", "--resume", "rows", models / "rings.approx", "out", code=1)
    kept = int(re.search(r"^(\d+) rows are kept", done.err, re.M)[1])
    assert 0 < kept < ROWS and done.err.splitlines()[-1] == f"Error: rows: the {kind} data ends too early"
    again = forked(tmp_path, "predict", "--resume", "rows", models / "rings.approx", "out", code=1)
    assert (
        f"Going on behind row {kept}," in again.err
        and again.err.splitlines()[-1] == f"Error: rows: the {kind} data ends too early"
    )


# ---- what does not match


@pytest.fixture
def stopped(models, tmp_path):
    """stopped(*options, rows=...) leaves a run of these options stopped half-way in the folder, and returns its command
    without --resume."""
    (tmp_path / "rows").write_bytes((models / "rings.rows").read_bytes())
    (tmp_path / "bad").write_bytes((models / "rings.bad").read_bytes())
    for name in ("rings.cert", "rings.order", "waves.order", "rings.model"):
        (tmp_path / name).write_bytes((models / name).read_bytes())

    def stop(*options, rows="rows", model="rings.cert"):
        command = ["predict", *options, rows, model, "out"]
        done = forked(
            tmp_path,
            *command,
            "--resume",
            prepare=lambda: Disk(30, death=lambda: os.kill(os.getpid(), signal.SIGTERM)),
            code=143,
        )
        assert " rows are kept in out.partial" in done.err
        return command

    return stop


OTHER = [
    ([], ["-b", "1"], r"begun with -b 0, and this command has 1"),
    ([], ["--values"], "begun with --values off, and this command has on"),
    (["--values"], [], "begun with --values on, and this command has off"),
    ([], ["--unlabelled"], "begun with --unlabelled off, and this command has on"),
    ([], ["--dense"], "begun with --dense off, and this command has on"),
    ([], ["--delim", ";"], "begun with --delim ',', and this command has ';'"),
    ([], ["--exact", "rings.model"], "begun with --exact off, and this command has on"),
    ([], ["--max-line", "1"], "begun with --max-line 256, and this command has 1"),
]


@pytest.mark.parametrize("first, then, words", OTHER)
def test_other_options_are_refused_and_nothing_is_lost(stopped, tmp_path, first, then, words):
    stopped(*first)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    done = forked(tmp_path, "predict", "--resume", *then, "rows", "rings.cert", "out", code=1)
    assert done.err.splitlines()[-1] == f"Error: out.partial: {words}; remove it to start from the beginning"
    assert before == {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    forked(tmp_path, "predict", "--resume", *first, "rows", "rings.cert", "out")


def test_steps_and_tolerance_are_options_too(stopped, tmp_path):
    stopped("--steps", 3, model="rings.order")
    assert (
        "begun with --steps 3, and this command has 4;"
        in forked(tmp_path, "predict", "--resume", "--steps", 4, "rows", "rings.order", "out", code=1).err
    )
    assert (
        "begun with --steps 3, and this command has unset;"
        in forked(tmp_path, "predict", "--resume", "rows", "rings.order", "out", code=1).err
    )
    os.unlink(tmp_path / "out.partial")  # to start from the beginning
    stopped("--tolerance", 0.1, model="waves.order")
    assert (
        "begun with --tolerance 0.1, and this command has 0.2;"
        in forked(tmp_path, "predict", "--resume", "--tolerance", 0.2, "rows", "waves.order", "out", code=1).err
    )


def test_another_model_or_input_is_refused(stopped, tmp_path):
    command = stopped()

    def refused(words):
        done = forked(tmp_path, *command, "--resume", code=1)
        assert done.err.splitlines()[-1] == f"Error: out.partial: {words}; remove it to start from the beginning"

    model, rows, times = (
        (tmp_path / "rings.cert").read_bytes(),
        (tmp_path / "rows").read_bytes(),
        os.stat(tmp_path / "rows"),
    )
    (tmp_path / "rings.cert").write_bytes((tmp_path / "rings.order").read_bytes())
    refused("begun with another model than rings.cert")
    (tmp_path / "rings.cert").write_bytes(model)
    (tmp_path / "rows").write_bytes(rows + b"1 1:1\n")
    refused(f"begun when rows had {len(rows)} bytes; it has {len(rows) + 6} now")
    (tmp_path / "rows").write_bytes(rows)
    os.utime(tmp_path / "rows", ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    refused("begun when rows had another modification time")
    os.utime(tmp_path / "rows", ns=(times.st_atime_ns, times.st_mtime_ns))
    (tmp_path / "moved").mkdir()
    os.rename(tmp_path / "rows", tmp_path / "moved" / "rows")  # the same file elsewhere is the same file
    forked(tmp_path, "predict", "--resume", "moved/rows", "rings.cert", "out")


@pytest.mark.parametrize(
    "line, other, words",
    [
        (rb"fastsvm \S+\n", b"fastsvm 0.0.1\n", r"begun by fastsvm 0\.0\.1, and this is \S+"),
        (rb"instructions \S+\n", b"instructions mmx\n", r"begun with mmx instructions, and this run would use \S+"),
    ],
)
def test_another_program_or_processor_is_refused(stopped, tmp_path, line, other, words):
    from zlib import crc32

    command = stopped()
    body = re.sub(line, other, (tmp_path / "out.partial.state").read_bytes(), count=2)
    body = re.sub(rb"fastsvm_resume .*\n", b"fastsvm_resume 1\n", body[: body.rindex(b"end ")])
    (tmp_path / "out.partial.state").write_bytes(body + b"end %08x\n" % crc32(body))
    done = forked(tmp_path, *command, "--resume", code=1)
    assert re.fullmatch(
        f"Error: out.partial: {words}; remove it to start from the beginning", done.err.splitlines()[-1]
    )


def test_what_becomes_of_bad_rows_can_change_until_there_is_one(stopped, models, tmp_path):
    command = stopped("--on-bad-row", "skip", rows="bad")
    done = forked(tmp_path, "predict", "--resume", "--on-bad-row", "nan", "bad", "rings.cert", "out", code=1)
    assert (
        "Error: out.partial: begun with --on-bad-row skip, which has met bad rows, and this command has nan;"
        in done.err
    )
    done = forked(tmp_path, *command, "--max-line", 300, "--resume", code=1)
    assert "Error: out.partial: begun with --max-line 256, and this command has 300;" in done.err
    forked(tmp_path, *command, "--resume")
    stopped()
    forked(tmp_path, "predict", "--resume", "--max-line", 300, "--on-bad-row", "skip", "rows", "rings.cert", "out")


def test_a_damaged_state_or_other_lines_are_refused(stopped, models, tmp_path):
    command = stopped()
    state, lines = (tmp_path / "out.partial.state").read_bytes(), (tmp_path / "out.partial").read_bytes()
    why = "this is not what fastsvm wrote there; remove it and {} to start from the beginning"
    for at in range(len(state)):
        for damaged in (state[:at], state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :]):
            (tmp_path / "out.partial.state").write_bytes(damaged)
            with pytest.raises(FileError) as refused:
                PartialOutput(str(tmp_path / "out"), [])
            assert str(refused.value) == f"{tmp_path}/out.partial.state: {why.format(tmp_path / 'out.partial')}"
    assert (
        forked(tmp_path, *command, "--resume", code=1).err.splitlines()[-1]
        == f"Error: out.partial.state: {why.format('out.partial')}"
    )
    (tmp_path / "out.partial.state").write_bytes(state)
    for other, words in (
        (
            lines[:-1],
            (
                f"{len(lines) - 1} bytes found, expected the {len(lines)} that out.partial.state speaks of; "
                "remove both to start from the beginning"
            ),
        ),
        (
            b"x" + lines[:-1],
            "other lines found than those that out.partial.state speaks of; remove both to start from the beginning",
        ),
    ):
        (tmp_path / "out.partial").write_bytes(other)
        assert forked(tmp_path, *command, "--resume", code=1).err.splitlines()[-1] == f"Error: out.partial: {words}"
    (tmp_path / "out.partial").write_bytes(lines + b"what a killed run wrote after its last checkpoint")
    forked(tmp_path, *command, "--resume")
    forked(tmp_path, *command[:-1], "expected")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()


def test_a_file_of_that_name_that_is_not_ours_is_left_alone(models, tmp_path):
    command = ["predict", "--resume", models / "rings.rows", models / "rings.approx", "out"]
    (tmp_path / "out.partial").write_text("precious\n")
    done = forked(tmp_path, *command, code=1)
    assert (
        done.err.splitlines()[-1] == "Error: out.partial: found without out.partial.state, which says how far it came; "
        "remove it to start from the beginning"
    )
    assert (tmp_path / "out.partial").read_text() == "precious\n" and os.listdir(tmp_path) == ["out.partial"]
    os.unlink(tmp_path / "out.partial")
    (tmp_path / "precious").write_text("precious\n")
    (tmp_path / "out.partial").symlink_to("precious")
    assert "Error: out: Too many levels of symbolic links\n" in forked(tmp_path, *command, code=1).err
    assert (tmp_path / "precious").read_text() == "precious\n"
    os.unlink(tmp_path / "out.partial")
    for source, words in (
        ("rings.rows", ["out.partial", models / "rings.approx"]),
        ("rings.approx", [models / "rings.rows", "out.partial"]),
    ):
        (tmp_path / "out.partial").write_bytes((models / source).read_bytes())
        done = forked(tmp_path, "predict", "--resume", *words, "out", code=1)
        assert (
            done.err.splitlines()[-1]
            == "Error: out.partial: it is where the lines of out are kept, and an input; nothing was written"
        )
        assert (tmp_path / "out.partial").read_bytes() == (models / source).read_bytes()


@pytest.mark.parametrize(
    "words, message",
    [
        (["-", "MODEL", "out"], "needs a TEST_FILE that is a file"),
        (["pipe", "MODEL", "out"], "needs a TEST_FILE that is a file"),
        (["ROWS", "MODEL"], "needs an OUTPUT_FILE that is a file"),
        (["ROWS", "MODEL", "-"], "needs an OUTPUT_FILE"),
        (["ROWS", "MODEL", "/dev/stdout"], "needs an OUTPUT_FILE"),
        (["ROWS", "MODEL", "/dev/null"], "needs an OUTPUT_FILE"),
        (["ROWS", "MODEL", "pipe"], "needs an OUTPUT_FILE"),
    ],
)
def test_streams_cannot_be_gone_on_with(fastsvm, models, tmp_path, words, message):
    os.mkfifo(tmp_path / "pipe")
    places = {"MODEL": models / "rings.approx", "ROWS": models / "rings.rows"}
    done = fastsvm("predict", "--resume", *(places.get(word, word) for word in words), code=2)
    assert message in " ".join(done.err.split()) and os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize(
    "name, words",
    [
        ("nowhere/out", "No such file or directory"),
        (".", "Is a directory"),
        ("x" * 250, "File name too long"),
        ("new/", "Is a directory"),
        ("", "No such file or directory"),
    ],
)
def test_a_place_that_cannot_be_written_is_named(models, tmp_path, name, words):
    done = forked(
        tmp_path, "predict", "-q", "--resume", models / "rings.rows", models / "rings.approx", name, code=None
    )
    assert (done.code, done.err) == (1, f"Error: {name or repr(name)}: {words}\n") or (
        done.code == 2 and "needs an OUTPUT_FILE that is a file" in " ".join(done.err.split())
    )
    assert os.listdir(tmp_path) == []
    assert (
        "nowhere: No such file"
        in forked(tmp_path, "predict", "--resume", "nowhere", models / "rings.approx", "out", code=1).err
        and os.listdir(tmp_path) == []
    )


def test_two_runs_at_once_are_refused(models, tmp_path):
    command = ["predict", "--resume", models / "rings.rows", models / "rings.approx", "out"]
    with PartialOutput(str(tmp_path / "out"), []) as output:
        assert (
            forked(tmp_path, *command, code=1).err.splitlines()[-1]
            == "Error: out.partial: another fastsvm is writing it"
        )
        output.begin({})
        output.write(b"1\n")
        output.mark({"rows": 1})
    assert (tmp_path / "out").read_bytes() == b"1\n"
    with open(tmp_path / "out.partial", "wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert "another fastsvm is writing it" in forked(tmp_path, *command, code=1).err
    forked(tmp_path, *command)


def test_a_file_that_is_renamed_while_another_waits_for_it_is_not_taken_for_its_own(tmp_path, monkeypatch):
    """The other process has opened out.partial; it becomes `out` before the lock is asked for."""
    path = tmp_path / "out"
    (tmp_path / "out.partial").write_bytes(b"")
    real = fcntl.flock

    def late(file, how):
        if not path.exists():
            os.rename(tmp_path / "out.partial", path)
            path.write_bytes(b"finished\n")
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with PartialOutput(str(path), []) as output:
        output.begin({})
        assert path.read_bytes() == b"finished\n"
        output.write(b"new\n")
        output.mark({})
    assert path.read_bytes() == b"new\n"


# ---- the output file


def test_a_run_that_is_not_stopped_leaves_the_output_alone(fastsvm, models, tmp_path):
    plain = fastsvm("predict", models / "rings.rows", models / "rings.approx", "expected")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "target").write_text("before\n")
    (tmp_path / "folder" / "target").chmod(0o640)
    (tmp_path / "out").symlink_to("folder/target")
    done = fastsvm("predict", "--resume", models / "rings.rows", models / "rings.approx", "out")
    assert (done.out, done.err) == (plain.out, plain.err)
    assert os.readlink(tmp_path / "out") == "folder/target" and os.listdir(tmp_path / "folder") == ["target"]
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes() and stat.S_IMODE(
        (tmp_path / "out").stat().st_mode
    ) == 0o640


def test_an_empty_input_and_one_of_bad_rows_alone(models, tmp_path):
    (tmp_path / "empty").write_text(""), (tmp_path / "bad").write_text("foo\n" * 3000)
    for rows, options in (
        ("empty", []),
        ("empty", ["-b", "1"]),
        ("bad", ["--on-bad-row", "skip"]),
        ("bad", ["--on-bad-row", "nan", "-b", "1"]),
    ):
        expected = forked(tmp_path, "predict", "--json", *options, rows, models / "rings.model", "expected")
        for at in range(4, 70, 5):
            first = forked(
                tmp_path,
                "predict",
                "--json",
                "--resume",
                *options,
                rows,
                models / "rings.model",
                "out",
                prepare=lambda: Disk(at),
                code=None,
            )
            done = forked(tmp_path, "predict", "--json", "--resume", *options, rows, models / "rings.model", "out")
            assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes() and done.out == expected.out
            assert sorted(os.listdir(tmp_path)) == ["bad", "empty", "expected", "out"]
            os.unlink(tmp_path / "out")
            if first.code == 0:
                break


def test_a_run_that_is_stopped_before_its_first_row_leaves_nothing(models, tmp_path):
    (tmp_path / "rows").write_text("foo\n1 1:1\n")
    done = forked(tmp_path, "predict", "--resume", "rows", models / "rings.approx", "out", code=1)
    assert (
        done.err.splitlines()[-1] == "Error: rows:1: 'foo' found, expected a label"
        and "are kept" not in done.err
        and os.listdir(tmp_path) == ["rows"]
    )


def test_without_the_option_a_stopped_run_keeps_nothing(models, tmp_path):
    forked(
        tmp_path,
        "predict",
        models / "rings.rows",
        models / "rings.approx",
        "out",
        prepare=lambda: Disk(4, death=lambda: os.kill(os.getpid(), signal.SIGTERM)),
        code=143,
    )
    assert os.listdir(tmp_path) == []


def test_a_checkpoint_is_due_after_some_seconds_or_later_where_it_takes_long(tmp_path, monkeypatch):
    now, begun, ended = 0.0, [], [0.0]
    costs = [0.0, 0.0, 2.0, 0.125, 1.0, 0.0]

    def write_state(self, lines):
        nonlocal now
        begun.append(now)
        now += costs[min(len(begun), len(costs)) - 1]
        ended.append(now)

    monkeypatch.setattr(partial, "monotonic", lambda: now)
    monkeypatch.setattr(PartialOutput, "_write_state", write_state)
    (tmp_path / "out.partial.state").write_text("")  # to be removed at the end
    monkeypatch.setattr(PartialOutput, "_read_state", lambda self: None)
    with PartialOutput(str(tmp_path / "out"), []) as output:
        output.begin({})
        while len(begun) < len(costs):
            now += 0.25
            output.mark({})
    waited = [start - end for start, end in zip(begun[: len(costs)], ended)]
    assert waited == pytest.approx([0.0, 5.0, 5.0, 40.0, 5.0, 20.0])  # the first one, at the beginning, at once


def test_what_can_be_kept(tmp_path):
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    assert can_be_kept(str(tmp_path / "file")) and can_be_kept(str(tmp_path / "new"))
    assert not any(
        map(
            can_be_kept,
            (None, "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/2", str(tmp_path / "pipe"), str(tmp_path)),
        )
    )


def test_an_output_that_must_not_be_written_is_not(tmp_path, monkeypatch):
    (tmp_path / "out").write_text("before\n")
    monkeypatch.setattr(
        os, "access", lambda path, how: how != os.W_OK
    )  # the tests may be root's, who may write anything
    with pytest.raises(FileError, match="out: Permission denied"):
        PartialOutput(str(tmp_path / "out"), [])
    assert os.listdir(tmp_path) == ["out"]


# ---- a whole process, and real kills


@pytest.mark.parametrize("compressed", [False, True])
def test_the_check_on_a_large_file_on_a_small_one(models, tmp_path, compressed):
    text = (models / "rings.rows").read_bytes()
    (tmp_path / "rows").write_bytes(gzip.compress(text * 20) if compressed else text)
    done = subprocess.run(
        [
            sys.executable,
            SCRIPTS / "check_resume.py",
            "--size",
            "0.005" if compressed else "0.02",
            "--kills",
            "2",
            "--every",
            "0",
            "--seed",
            "1",
            "--folder",
            tmp_path,
            tmp_path / "rows",
            models / "rings.approx",
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "PATH": f"{os.path.dirname(FASTSVM)}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same bytes and the same summary" in done.stdout and os.listdir(tmp_path) == ["rows"]
    assert json.loads(done.stdout.splitlines()[-1])["kills"] <= 2
