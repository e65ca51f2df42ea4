#!/usr/bin/env python3
"""Disturb `fastsvm predict --dask`, run it again, and compare with one process; or measure it.

    scripts/check_cluster.py [options] faults | large | blocks | shards

The rows are data/rings.test repeated. Scheduler and workers are local processes. Exit code 1 on other bytes than one
process's, or an unexpected effect of a fault.

faults: bytes, complete parts written again, and temporary files after a second run. The full disk needs root; the store
needs moto, flask and s3fs.
large: seconds, MB/s, processor time, and peak memory of a worker and of the command, which includes the scheduler.
blocks: the same for blocks of 1 to 256 MB.
shards: the same for shards of three rows.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager

from cluster_faults import Faults
from cluster_processes import Failed, Measured, end_commands
from cluster_rows import DATA, FASTSVM, Work, parts, repeat, sha256
from tables import markdown


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
    print(markdown(["fault", "the disturbed run", "the same command again"], rows), flush=True)
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
        print(markdown(HEAD, lines), flush=True)
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
        print(markdown(HEAD, lines), flush=True)
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
    print(markdown(HEAD, lines), flush=True)
    found = {"ms_per_shard": first.seconds * 1e3 / given.shards, "same": well, "manifest_bytes": manifest}
    print(json.dumps(found))
    return well


def main():
    given = parsed()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    folder = tempfile.mkdtemp(prefix="fastsvm-cluster-", dir=given.folder)
    try:
        check = {"faults": check_faults, "large": check_large, "blocks": check_blocks, "shards": check_shards}
        return 0 if check[given.what](given, folder) else 1
    except KeyboardInterrupt:
        return 130
    finally:
        end_commands()
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
