#!/usr/bin/env python3
"""Give damaged input to every reader, with the core under AddressSanitizer and UndefinedBehaviorSanitizer, and predict
with what is read all the same.

    scripts/fuzz.py --inputs 20000                 all readers; a table at the end; exit code 1 if anything was found
    scripts/fuzz.py --only maclaurin --inputs 500
    scripts/fuzz.py --first 1234 --inputs 1        one input again (its number is in its file's name)

Input number n of a seed is the same one always. A finding is a crash, a report of a sanitizer, an exception that is not
a line for the user, an answer that depends on how the input was cut into chunks, a model that is not read back as
written, or a hang; its input is kept in build/fuzz/found. The corpus is tests/golden and a few rows below. Builds into
build/fuzz (a minute, the first time)."""

import argparse
import bz2
import gzip
import lzma
import os
import pathlib
import random
import re
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
BUILD = ROOT / "build" / "fuzz"
KINDS = ("maclaurin", "border", "density", "geometry", "triangle", "blocks")

DATA = [
    (GOLDEN / "data").read_bytes(),
    b"1 1:0.5 2:-1 3:0.25\n-1 1:2 3:1 9:1\n2.5 2:3\n7 1:1e-3 4:2\n1\n-1 1:-1 2:-2 3:-3 4:-4\n",
    b"+1 0:1 1:.5 2147483647:1e-300\r\n-1 7:0x1p-2 # a comment\r\n3\r\n",
]
UNLABELLED = [b"1:0.5 2:-1\n\n3:1 9:1\n", b"1:1e3\r\n2:2 # comment\r\n"]
DENSE = [
    b"1,0.5,-1,0.25\n-1,2,0,1\n2.5,3,3,3\n",
    b"1;2;3\r\n4; 5 ;6\r\n",
    b"1 2   3\t4\n5 6 7 8\n",
    b"1\t2\t0\n3\t4\t5\n",
]
RANGES = [
    b"x\n-1 1\n1 0 4\n2 -1 1\n3 5 5\n4 0.25 10\n9 -3 0\n",
    b"y\n0 1\n-1 3\nx\n0 1\n1 0 2\r\n2 0 3\n3 0 1\n2147483647 -1e300 1e300\n",
    b"0.5 1.25\n-1 3e-3\n0 1\n2 0x1p-3\n1 1\n1 1\n1 1\n1 1\n7 1\n",
]
#: Rows that every model predicts: known and unknown features, none, huge and tiny numbers, many entries.
ROWS = b"".join(
    [
        b"1 1:0.5 2:-0.25 4:1 7:0.125 8:-0.75\n-1\n3 0:0.5 1:0.25 8:1\n1 1:1e300 2:-1e300\n1 2:1e-300 4:1e-320\n",
        b"1 1:1e308 4:1e308 8:-1e308\n2 2000000000:0.25 2147483647:1\n",
        b"1 " + b" ".join(b"%d:%g" % (i, (i * 37 % 19) / 7 - 1) for i in range(60)) + b"\n",
        b"".join(b"1 1:%g 2:%g 3:1 4:%g 7:1 8:0.5\n" % (i / 9, 1 - i / 5, i % 3) for i in range(20)),
    ]
)
#: Those of a precomputed kernel.
SERIALS = b"".join(
    b"1 0:%d " % (i + 1) + b" ".join(b"%d:%g" % (j, 1 / (1 + i + j)) for j in range(1, 41)) + b"\n" for i in range(5)
)

EXTREMES = [
    b"0",
    b"-0",
    b"1",
    b"-1",
    b"2",
    b"3",
    b"7",
    b"1e308",
    b"-1e308",
    b"1.7976931348623157e308",
    b"1e-308",
    b"1e-320",
    b"5e-324",
    b"1e154",
    b"1e38",
    b"3.5e38",
    b"1e9",
    b"1e19",
    b"2147483647",
    b"2147483648",
    b"-2147483648",
    b"4294967295",
    b"4294967297",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551616",
    b"99999999999999999999999999",
    b"nan",
    b"-nan",
    b"inf",
    b"1e999",
    b"1e-999",
    b"0x1p-1074",
    b"0x1p1023",
    b"0x",
    b".",
    b"-",
    b"+",
    b"1e",
    b"00000000000000000001",
    b"0." + b"0" * 400 + b"1",
    b"1" * 400,
    b"",
    b"x",
    b"1:2",
    b":",
    b"#",
]
BITS = [
    b"\0",
    b"\r",
    b"\v",
    b"\f",
    b"\t",
    b" ",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"\xff",
    b"\xc3\xa9",
    b"\x1b[31m",
    b"#",
    b" # a:b",
    b":",
    b",",
    b"end\n",
    b"SV\n",
    b"checksum 0\n",
    b"rank 1\n",
    b"kernel exponential 0.5\n",
    b"certified 3\n",
    b"features 1:2147483647\n",
    b"fastsvm_reduced 2 ",
    b"svm_type c_svc\n",
    b"kernel_type precomputed\n",
]


# ---- damage


def damaged(text: bytes, others: "list[bytes]", rng: random.Random) -> bytes:
    """One to four changes, of every kind that a disk, an editor or an attacker makes."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        text = rng.choice(CHANGES)(text, others, rng)
    return text


def _place(text, rng):
    first = rng.randrange(len(text) + 1)
    return first, min(len(text), first + rng.choice((0, 1, 1, 1, 2, 4, 8, 40, 400)))


def _truncate(text, others, rng):
    return text[: rng.randrange(len(text) + 1)]


def _splice(text, others, rng):
    other = rng.choice(others)
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]


def _repeat(text, others, rng):
    first, last = _place(text, rng)
    return text[:first] + text[first:last] * rng.choice((2, 3, 10, 300)) + text[last:]


def _flip(text, others, rng):
    out = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if out:
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _insert(text, others, rng):
    first, last = _place(text, rng)
    return text[:first] + rng.choice(BITS + EXTREMES) + text[rng.choice((first, last)) :]


def _remove(text, others, rng):
    first, last = _place(text, rng)
    return text[:first] + text[last:]


def _word(pattern):
    def change(text, others, rng):
        words = [match.span(1) for match in re.finditer(pattern, text)]
        if not words:
            return text
        first, last = rng.choice(words)
        word = text[first:last]
        if word.isdigit() and len(word) < 10 and rng.random() < 0.5:  # a count: by one, twofold, none
            new = b"%d" % max(0, rng.choice((int(word) - 1, int(word) + 1, 2 * int(word), 0)))
        else:
            new = rng.choice(EXTREMES)
        return text[:first] + new + text[last:]

    return change


def _other_number(text, others, rng):
    """A number like the one that was there: most of such files are read."""
    words = [match.span() for match in re.finditer(rb"(?<![\w.])-?\d+\.\d+(e-?\d+)?(?![\w.])", text)]
    if not words:
        return text
    first, last = rng.choice(words)
    return (
        text[:first]
        + b"%r" % (float(text[first:last]) * rng.choice((-1, 0.5, 10, 1e10, 1e100, 1e-10, 0)))
        + text[last:]
    )


def _lines(text, others, rng):
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif what == 1:
        del lines[a]
    elif what == 2:
        lines.insert(b, lines[a])
    else:
        other = rng.choice(others).splitlines(keepends=True) or [b""]
        lines[a] = rng.choice(other)
    return b"".join(lines)


def _line_ends(text, others, rng):
    return text.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"\0\n")), rng.choice((-1, 1, 3)))


CHANGES = [_truncate, _splice, _repeat, _flip, _flip, _insert, _remove, _lines, _lines, _line_ends]
CHANGES += 6 * [_other_number] + 4 * [_word(rb"([^\s:,;]+)")] + 3 * [_word(rb"(?m)^[A-Za-z_]+ .*?([-+.\w]+)(?=\s|$)")]


# ---- readers: a name -> what makes an input of a random generator, and what reads it

MODELS = {
    end: sorted(path for folder in (GOLDEN, GOLDEN / "version2") for path in folder.glob(f"*{end}"))
    for end in (".model", ".precomputed", ".reduced", ".approx", ".border", ".density", ".order")
}


def seeds() -> "dict[str, list[bytes]]":
    """Of every reader of models."""
    out = {"exact model": [path.read_bytes() for end in (".model", ".precomputed") for path in MODELS[end]]}
    for path in MODELS[".reduced"] + MODELS[".approx"] + MODELS[".border"] + MODELS[".density"] + MODELS[".order"]:
        text = path.read_bytes()
        first = text.split(b"\n", 1)[0].decode().split()
        version = 2 if path.parent.name == "version2" else 1
        kind = f"{first[1]} {first[2]}" if first[0] == "fastsvm_model" else f"reduced set {version}"
        out.setdefault(kind, []).append(text)
    kinds = {f"{kind} {version}" for kind in (*KINDS, "reduced set") for version in (1, 2)}
    assert set(out) == {"exact model", *kinds - {"density 1"}}  # which is younger than version 1
    return out


def make_good(text: bytes) -> bytes:
    """With the checksum of what the text is now, so that the parser behind it is reached."""
    from fastsvm_cli.text.fingerprint import fingerprint

    lines = text.replace(b"\r\n", b"\n")
    content = re.sub(rb"(checksum [^\n]*\n)?end\n?$", b"", lines)
    if re.match(rb"fastsvm_model \S+ 2\n", lines) and content != lines:
        return content + b"checksum " + fingerprint(content).encode() + b"\nend\n"
    line = lines.rfind(b"\nfastsvm_reduced 2 ")
    if line >= 0 and lines.count(b"\n", line + 1) == 1 and lines.endswith(b"\n"):
        content = lines[: lines.rindex(b" ") + 1]
        return content + fingerprint(content).encode() + b"\n"
    return text


class Models:
    """Model files of one kind."""

    def __init__(self, kind: str, texts: "list[bytes]", all_texts: "list[bytes]"):
        self.kind, self.texts, self.all_texts = kind, texts, all_texts
        self._exact = None

    def make(self, rng):
        text = damaged(rng.choice(self.texts), self.all_texts if rng.random() < 0.2 else self.texts, rng)
        return make_good(text) if rng.random() < 0.9 else text

    def read(self, text, rng, folder):
        from fastsvm_cli.models import parse_model

        model = parse_model(text, "model")
        written = model.to_text()
        if parse_model(written, "written").to_text() != written:
            raise AssertionError("not read back as written")
        if self._exact is None:
            self._exact = exact_models()
        predict_with(model, rng, self._exact)


def exact_models() -> "dict[str, object]":
    """By their fingerprints, which is how `predict --exact` knows them."""
    from fastsvm_cli.models import parse_model
    from fastsvm_cli.text.fingerprint import fingerprint

    texts = [path.read_bytes() for path in MODELS[".model"]]
    return {fingerprint(text): parse_model(text, "exact") for text in texts}


def predict_with(model, rng, exact):
    """Every way of `fastsvm predict`, one at a time. exact: by fingerprint."""
    from fastsvm_cli import _native
    from fastsvm_cli.errors import FastsvmError
    from fastsvm_cli.prediction.pipeline import Fallback, predict

    precomputed = model.header.kernel_type == "precomputed" and not model.ordered
    chunk, fault, _, _ = _native.parse(SERIALS if precomputed else ROWS)
    assert fault is None
    header, options = model.header, {}
    if header.has_probability and rng.random() < 0.4:
        options["probability"] = True
    if rng.random() < 0.4:
        options["values"] = True
    if model.ordered and header.regression and not options and rng.random() < 0.5:
        options["tolerance"] = rng.choice((0.0, 1e-3, 1e300))
    stopped = model.stopped_after(rng.choice((1, 2, 1000)))
    if stopped is not None and "probability" not in options and rng.random() < 0.3:
        options.pop("tolerance", None)
        model = stopped
    if model.certified and not model.ordered and model.fingerprint in exact and rng.random() < 0.5:
        options["exact"] = Fallback(lambda: exact[model.fingerprint], rng.choice((0.0, 0.1)))
    chunks = [chunk] if rng.random() < 0.5 else [chunk.select([row]) for row in range(chunk.rows)]
    try:
        predict(model, chunks, lambda lines: None, path="rows", **options)
    except FastsvmError as refused:
        if "serials" not in str(refused):
            raise
    out = _native.Decisions(model.pairs, model.certified)
    model.decision_values(chunk, out)


class Data:
    """Rows of a data file: read in chunks of two sizes, which must give the same, and predicted with a model."""

    def __init__(self, texts, compressed=False, **options):
        self.texts, self.options, self.compressed = texts, options, compressed
        self._models = None

    def make(self, rng):
        text = damaged(rng.choice(self.texts), self.texts, rng)
        if rng.random() < 0.02:
            text = text * (600_000 // (len(text) + 1))  # enough for a thread to take a part
        if not self.compressed:
            return text
        compress = rng.choice((_gzip, bz2.compress, lzma.compress))
        packed = compress(text)
        if rng.random() < 0.5:
            other = rng.choice((packed, _gzip(b"1 1:1\n"), b"\0\0\0\0", b"rest", bz2.compress(b"")))
            packed = rng.choice((_flip, _truncate, _splice, _remove, _repeat, lambda a, b, c: a + b[0]))(
                packed, [other], rng
            )
        return packed

    def read(self, text, rng, folder):
        from fastsvm_cli import _native
        from fastsvm_cli.errors import FastsvmError, FileError
        from fastsvm_cli.models import load_model
        from fastsvm_cli.prediction.pipeline import predict
        from fastsvm_cli.text.data import read_chunks

        path = os.path.join(folder, "data")
        with open(path, "wb") as file:
            file.write(text)
        options = dict(self.options)
        if "dense" in options:
            options["delimiter"] = rng.choice(",; \t")
            options["labelled"] = rng.random() < 0.7
        _native.set_threads(rng.choice((1, 2, 3)))
        large = (4096, 5000, 1 << 16)
        sizes = [
            1 << 20,
            rng.choice(large if len(text) >= 100_000 or self.compressed else (1, 2, 3, 5, 17, 100, *large)),
        ]
        found, refused, cut = [], None, False
        for size in sizes:
            rows, fault = [], None
            try:
                for chunk in read_chunks(path, size=size, **options):
                    starts = chunk.indptr.tolist()
                    entries = list(zip(chunk.indices.tolist(), chunk.values.tolist()))
                    labels, norms = chunk.leading.tolist() or [[]] * chunk.rows, chunk.squared_norms.tolist()
                    rows += [(y, entries[a:b], norm) for y, a, b, norm in zip(labels, starts, starts[1:], norms)]
            except FastsvmError as error:
                fault, refused = str(error), error
                cut = cut or isinstance(error, FileError)
            found.append((rows, fault))
        (rows, fault), (others, other_fault) = found
        if cut:  # damaged compression is found beside the reading: so many rows as came before it, or a fault of theirs
            rows, others, fault = rows[: len(others)], others[: len(rows)], other_fault
        if (rows, fault) != (others, other_fault):
            raise AssertionError(f"rows depend on the size of a chunk ({sizes[1]})")
        if self._models is None:
            ends = (".model", ".approx", ".order", ".border", ".density", ".reduced")
            self._models = [load_model(str(path)) for end in ends for path in MODELS[end]]
        model = rng.choice(self._models)
        labelled = options.get("labelled", True)
        try:
            chunks = read_chunks(path, size=sizes[1], **options)
            predict(model, chunks, lambda lines: None, path="data", labelled=labelled, values=rng.random() < 0.5)
        except FastsvmError as error:
            refused = refused or error
        if refused is not None:
            raise refused


def _gzip(text):
    return gzip.compress(text, mtime=0)


class Ranges:
    """Range files, and rows that are scaled by them: in blocks of two sizes, which must give the same."""

    def make(self, rng):
        return damaged(rng.choice(RANGES), RANGES, rng)

    def read(self, text, rng, folder):
        from fastsvm_cli import _native
        from fastsvm_cli.text.scaling import parse_scaling, with_labels

        scaling = parse_scaling(text, "range")
        if rng.random() < 0.5 and scaling.native.kind == "standard":
            scaling = with_labels(scaling, rng.choice((b"1 2\n", text)), "y")
        rows, dense = damaged(rng.choice(DATA), DATA, rng), rng.random() < 0.3
        if dense:
            rows = damaged(DENSE[0], DENSE, rng)
        rows += b"" if rows.endswith(b"\n") else b"\n"
        found = []
        for threads, times in ((1, 1), (3, 1), (rng.choice((2, 3)), 600_000 // len(rows) + 1)):
            _native.set_threads(threads)
            chunk, gaps, faults, _ = _native.parse_around(
                rows * times, dense=dense, keep=3, scaling=scaling.native, leading_count=1
            )
            if any(value == 0 or value - value != 0 for value in chunk.values.tolist()):
                raise AssertionError("a value of a scaled row that is 0, or not finite")
            if times == 1:
                found.append((chunk.values.tolist(), chunk.indices.tolist(), chunk.scaling_counts, gaps, faults))
        if found[0] != found[1]:
            raise AssertionError("scaled rows depend on the threads")


class Numbers:
    """The core's reader of numbers, and its reader of rows, with arguments that no caller gives."""

    texts = (b"1 2 3\n4.5 -6e-7\n0x1p-3 1e300\n", b"0.1\r\n0.2\r\n", b"1 2:3 4:5\n1 2 3:4\n# c\n")

    def make(self, rng):
        return damaged(rng.choice(self.texts), [*self.texts, *EXTREMES], rng)

    def read(self, text, rng, folder):
        from math import isfinite

        from fastsvm_cli import _native
        from fastsvm_cli.errors import FastsvmError

        offset = rng.choice((0, 0, 1, len(text), rng.randrange(len(text) + 2), -1))
        count = rng.choice((0, 1, 2, 5, 6, 7, 1 << 20, 1 << 62, -1))
        try:
            numbers, at = _native.parse_numbers(text, offset, count, rng.random() < 0.5)
            if not all(map(isfinite, numbers)) or not offset < at <= len(text) or len(numbers) != count:
                raise AssertionError("numbers that are none")
        except ValueError as refused:
            if len(refused.args) != 2:
                raise
        if text.endswith(b"\n"):
            leading_count, rows = rng.choice((0, 1, 2, 3)), rng.choice((-1, 0, 1, 2, 1000))
            dense = rng.random() < 0.3
            chunk, fault, _, at = _native.parse(
                text,
                offset=rng.randrange(len(text) + 1),
                leading_count=1 if dense else leading_count,
                dense=dense,
                delimiter=rng.choice(",; \t#"),
                max_rows=-1 if dense else rows,
                fields=rng.choice((-1, 0, 1, 2)),
                leading_name="a coefficient",
                plain_comments=rng.random() < 0.5,
            )
            if chunk.rows:
                again, wrong, _, _ = _native.parse(
                    _native.format_rows(chunk), leading_count=1 if dense else leading_count
                )
                if wrong is not None or again.values.tolist() != chunk.values.tolist():
                    raise AssertionError(f"rows not read back as written: {wrong}")
            if fault is not None:
                raise FastsvmError(fault[1])


def readers() -> dict:
    models = seeds()
    everything = [text for texts in models.values() for text in texts]
    out = {
        "data, sparse": Data(DATA),
        "data, unlabelled": Data(UNLABELLED, labelled=False),
        "data, dense": Data(DENSE, dense=True),
        "data, gzip, bzip2, xz": Data(DATA, compressed=True),
        "numbers": Numbers(),
        "ranges": Ranges(),
    }
    out.update((kind, Models(kind, texts, everything)) for kind, texts in sorted(models.items()))
    return out


def generator(seed: int, number: int) -> random.Random:
    return random.Random(f"{seed} {number}")


def choose(names: "list[str]", rng: random.Random) -> str:
    return rng.choice(names)


# ---- the process that reads, and the one that watches it


def work(arguments) -> None:
    """Read inputs, one after the other; a line to standard output before and after each."""
    from fastsvm_cli.errors import FastsvmError

    all_readers = readers()
    names = [name for name in all_readers if arguments.only in name]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        for number in range(arguments.first, arguments.first + arguments.inputs, arguments.step):
            rng = generator(arguments.seed, number)
            name = choose(names, rng)
            text = all_readers[name].make(rng)
            print("begin", number, name, sep="\t", flush=True)
            outcome, why = "read", ""
            try:
                all_readers[name].read(text, rng, folder)
            except FastsvmError as refused:
                outcome = "refused"
                if not str(refused).isprintable():
                    outcome, why = "found", "a message that does not print"
            except Exception as error:
                import traceback

                at = traceback.extract_tb(error.__traceback__)[-1]
                outcome, why = "found", f"{type(error).__name__}: {error} ({os.path.basename(at.filename)}:{at.lineno})"
            why = "".join(c if c.isprintable() else " " for c in why[:300])
            print("end", number, name, outcome, why, sep="\t", flush=True)


class Worker:
    """A process that takes every `step`-th input from `first` on."""

    def __init__(self, arguments, package, first: int):
        self.arguments, self.package, self.next = arguments, package, first
        self.current = None
        self.start()

    def start(self) -> None:
        a = self.arguments
        left = a.first + a.inputs - self.next
        self.done = left <= 0
        if self.done:
            return
        self.errors = tempfile.TemporaryFile()
        # The interpreter is built without the sanitizers: theirs come first, and with them the library that throws.
        libraries = [
            subprocess.run(
                ["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True
            ).stdout.strip()
            for name in ("libasan.so", "libstdc++.so")
        ]
        # The interpreter keeps what it never frees; a size that no file here can need is a finding, no reason to swap.
        environment = {
            **os.environ,
            "LD_PRELOAD": " ".join(libraries),
            "PYTHONPATH": str(self.package),
            "PYTHONMALLOC": "malloc",
            "OPENBLAS_NUM_THREADS": "1",
            "ASAN_OPTIONS": "detect_leaks=0:max_allocation_size_mb=1024:allocator_may_return_null=0",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        }
        words = [sys.executable, "-P", __file__, "--worker", "--seed", a.seed, "--only", a.only]
        words += ["--first", self.next, "--inputs", left, "--step", a.jobs]
        self.process = subprocess.Popen(
            list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, env=environment
        )
        self.text, self.since = b"", time.monotonic()

    def lines(self) -> "list[list[str]]":
        """What it has said since. [] at its end, too."""
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        *whole, self.text = (self.text + data).split(b"\n")
        self.since = time.monotonic()
        if not data:
            self.process.wait()
            self.done = True
        return [line.decode().split("\t") for line in whole]

    def report(self) -> str:
        """The line of a sanitizer's report, or the last one there is."""
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").splitlines()
        marked = [line for line in said if "runtime error:" in line or line.startswith("SUMMARY:")]
        return (marked or said or [f"exit code {self.process.returncode}"])[0 if marked else -1][:300]


def watch(arguments, package) -> int:
    counts: dict[str, Counter] = defaultdict(Counter)
    found: list[tuple[int, str, str]] = []
    workers = [Worker(arguments, package, arguments.first + j) for j in range(arguments.jobs)]
    start = time.monotonic()

    def note(number, name, why):
        counts[name]["found"] += 1
        found.append((number, name, why))
        print(f"input {number}, {name}: {why}", flush=True)

    while any(not worker.done for worker in workers):
        running = [worker for worker in workers if not worker.done]
        ready, _, _ = select.select([worker.process.stdout for worker in running], [], [], 1.0)
        for worker in running:
            why = None
            if worker.process.stdout in ready:
                for word, number, name, *rest in worker.lines():
                    worker.current = (int(number), name) if word == "begin" else None
                    worker.next = int(number) + arguments.jobs
                    if word == "end":
                        counts[name][rest[0]] += rest[0] != "found"
                        if rest[0] == "found":
                            note(int(number), name, rest[1])
                if worker.done and (worker.current or worker.process.returncode):
                    why = f"crash: {worker.report()}"
            elif time.monotonic() - worker.since > arguments.time_limit:
                worker.process.kill()
                worker.process.wait()
                why = f"no answer within {arguments.time_limit:g} s"
            if why is not None:
                if worker.current is None:
                    print(f"A worker ended before its first input: {why}", file=sys.stderr)
                    return 2
                note(*worker.current, why)
                worker.current = None
                worker.start()
    print(f"\n{'reader':26}{'inputs':>9}{'refused':>9}{'read':>9}{'found':>7}")
    for name in sorted(counts):
        of = counts[name]
        print(f"{name:26}{sum(of.values()):9,}{of['refused']:9,}{of['read']:9,}{of['found']:7,}")
    total = sum(counts.values(), Counter())
    print(f"{'all':26}{sum(total.values()):9,}{total['refused']:9,}{total['read']:9,}{total['found']:7,}")
    print(f"{time.monotonic() - start:.0f} s, seed {arguments.seed}")
    keep(arguments, package, found)
    return 1 if found else 0


def keep(arguments, package, found) -> None:
    """Write the inputs of the findings to build/fuzz/found."""
    folder = BUILD / "found"
    folder.mkdir(parents=True, exist_ok=True)
    if not found:
        return
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import fuzz\n"
        "all_readers = fuzz.readers(); names = [name for name in all_readers if sys.argv[3] in name]\n"
        "for number in map(int, sys.argv[5:]):\n"
        "    rng = fuzz.generator(int(sys.argv[2]), number); name = fuzz.choose(names, rng)\n"
        "    path = f'{sys.argv[4]}/{number}-' + name.replace(' ', '_').replace(',', '')\n"
        "    open(path, 'wb').write(all_readers[name].make(rng))\n"
    )
    words = [sys.executable, "-P", "-c", code, str(ROOT / "scripts"), str(arguments.seed), arguments.only, str(folder)]
    words += [str(number) for number, _, _ in found]
    subprocess.run(words, env={**os.environ, "PYTHONPATH": str(package)}, check=True)
    print(f"Their inputs: {folder}")


def build() -> pathlib.Path:
    """The package, with a core under the sanitizers, in a folder of its own."""
    package = BUILD / "package"
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--disable-pip-version-check"]
    words += ["--target", package, f"-Cbuild-dir={BUILD / 'core'}"]
    words += ["-Ccmake.define.FASTSVM_SANITIZE=ON", "-Ccmake.build-type=RelWithDebInfo"]
    try:
        import nanobind  # noqa: F401
        import scikit_build_core  # noqa: F401

        words.append("--no-build-isolation")
    except ImportError:
        pass
    subprocess.run([*map(str, words), str(ROOT)], check=True)
    return package


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=20_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the first input's number")
    parser.add_argument("--only", default="", metavar="WORDS", help="readers whose names hold these words")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--time-limit", type=float, default=20.0, metavar="S", help="for one input")
    parser.add_argument("--no-build", action="store_true", help="as it was built the last time")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments)
        return 0
    return watch(arguments, BUILD / "package" if arguments.no_build else build())


if __name__ == "__main__":
    sys.exit(main())
