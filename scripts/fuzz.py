#!/usr/bin/env python3
"""Give damaged input to every reader, under AddressSanitizer and UndefinedBehaviorSanitizer, and predict with models
that are still read.

    scripts/fuzz.py --inputs 20000                 all readers; exit code 1 on a finding
    scripts/fuzz.py --only maclaurin --inputs 500
    scripts/fuzz.py --first 1234 --inputs 1        one input again (its number is in its file's name)

Input n of a seed is always the same. Findings are crashes, sanitizer reports, exceptions other than FastsvmError,
unprintable messages, hangs, answers that depend on the chunks, and models not read back as written. Their inputs are
kept in build/fuzz/found.
"""

import argparse
import os
import pathlib
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

from fuzz_readers import ROOT, readers

BUILD = ROOT / "build" / "fuzz"


def generator(seed: int, number: int) -> random.Random:
    return random.Random(f"{seed} {number}")


def choose(names: "list[str]", rng: random.Random) -> str:
    return rng.choice(names)


# ---- reading process and supervisor


def work(arguments) -> None:
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
        # Python has no sanitizers: preload them, and the library that throws.
        libraries = [
            subprocess.run(
                ["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True
            ).stdout.strip()
            for name in ("libasan.so", "libstdc++.so")
        ]
        # Python never frees some memory. Oversized allocations are findings.
        environment = {
            **os.environ,
            "LD_PRELOAD": " ".join(libraries),
            "PYTHONPATH": str(self.package),
            "PYTHONMALLOC": "malloc",
            "OPENBLAS_NUM_THREADS": "1",
            "ASAN_OPTIONS": "detect_leaks=0:max_allocation_size_mb=1024:allocator_may_return_null=0",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        }
        words = [sys.executable, __file__, "--worker", "--seed", a.seed, "--only", a.only]
        words += ["--first", self.next, "--inputs", left, "--step", a.jobs]
        self.process = subprocess.Popen(
            list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, env=environment
        )
        self.text, self.since = b"", time.monotonic()

    def lines(self) -> "list[list[str]]":
        """Return new lines; [] also at the end."""
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        *whole, self.text = (self.text + data).split(b"\n")
        self.since = time.monotonic()
        if not data:
            self.process.wait()
            self.done = True
        return [line.decode().split("\t") for line in whole]

    def report(self) -> str:
        self.errors.seek(0)
        output = self.errors.read().decode(errors="replace").splitlines()
        marked = [line for line in output if "runtime error:" in line or line.startswith("SUMMARY:")]
        return (marked or output or [f"exit code {self.process.returncode}"])[0 if marked else -1][:300]


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
    words = [sys.executable, "-c", code, str(ROOT / "scripts"), str(arguments.seed), arguments.only, str(folder)]
    words += [str(number) for number, _, _ in found]
    # Not the repository: Python searches its working directory first.
    subprocess.run(words, cwd=folder, env={**os.environ, "PYTHONPATH": str(package)}, check=True)
    print(f"Their inputs: {folder}")


def build() -> pathlib.Path:
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
