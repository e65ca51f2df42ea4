#!/usr/bin/env python3
"""Kill `fastsvm predict --resume` at random moments on a large file, continue it, and compare with one run.

    scripts/check_resume.py [options] data_file model_file

The large file is the data file repeated; its folder needs room for it and twice the output. Prints the progress at each
kill, then, as text and JSON: whether bytes and summary are equal, peak memory, and times. Exit code 1 on a difference.
"""

import argparse
import filecmp
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=10.0, help="of the large file, in GB (default: 10)")
    parser.add_argument("--kills", type=int, default=3, help="how many runs are killed, at random moments (default: 3)")
    parser.add_argument("--seed", type=int, default=0, help="of these moments (default: 0)")
    parser.add_argument("--every", type=float, help="seconds between checkpoints (default: the program's own)")
    parser.add_argument("--folder", help="where there is room (default: that of temporary files)")
    parser.add_argument("data_file")
    parser.add_argument("model_file")
    return parser.parse_args()


def repeat(source, target, size):
    """Write `source` until there are `size` bytes. Return the number of copies."""
    # In blocks: a child's reported memory is at least its parent's.
    times = max(1, -(-size // os.path.getsize(source)))
    with open(source, "rb") as file, open(target, "wb") as to:
        text = file.read(1) in b"+-0123456789. \t"  # else compressed
        file.seek(-1, os.SEEK_END)
        end = b"" if file.read() == b"\n" or not text else b"\n"
        for _ in range(times):
            file.seek(0)
            shutil.copyfileobj(file, to, 1 << 20)
            to.write(end)
    return times


class Run:
    """Process, killed after `after` seconds. memory: peak resident bytes."""

    def __init__(self, command, after=None):
        start = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(command, stdout=out, stderr=err)
            alarm = threading.Timer(after, process.send_signal, (signal.SIGKILL,)) if after is not None else None
            if alarm is not None:
                alarm.start()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if alarm is not None:
                alarm.cancel()
            self.seconds, self.code, self.memory = time.monotonic() - start, process.returncode, usage.ru_maxrss * 1024
            self.out, self.err = ((file.seek(0), file.read().decode())[1] for file in (out, err))


def main():
    given = parsed()
    fastsvm = [shutil.which("fastsvm") or sys.exit("fastsvm is not on the PATH")]
    if given.every is not None:
        often = f"resume.SECONDS, resume.SHARE = {given.every}, float('inf')"
        code = f"from fastsvm_cli.__main__ import run\nfrom fastsvm_cli.commands import resume\n{often}\nrun()"
        with open(fastsvm[0]) as script:
            interpreter = script.readline().removeprefix("#!").strip()
        fastsvm = [interpreter, "-I", "-c", code]
    folder = tempfile.mkdtemp(prefix="fastsvm-resume-", dir=given.folder)
    try:
        return check(given, fastsvm, folder)
    finally:
        shutil.rmtree(folder)


def check(given, fastsvm, folder):
    rows, expected, out = (os.path.join(folder, name) for name in ("rows", "expected", "out"))
    times = repeat(given.data_file, rows, int(given.size * 1e9))
    size = os.path.getsize(rows)
    print(f"{size / 1e9:.3g} GB: {given.data_file}, {times} times", flush=True)
    small = Run([*fastsvm, "predict", given.data_file, given.model_file, expected])
    one = Run([*fastsvm, "predict", rows, given.model_file, expected])
    if one.code or small.code:
        sys.exit(one.err or small.err)
    print(
        f"One run: {one.seconds:.1f} s, {one.memory / 1e6:.0f} MB of memory, "
        f"{small.memory / 1e6:.0f} MB on the data file once",
        flush=True,
    )

    draw = random.Random(given.seed)
    moments = sorted(draw.random() for _ in range(given.kills))  # as shares of one run's time
    command = [*fastsvm, "predict", "--resume", rows, given.model_file, out]
    runs, before = [], 0.0
    for moment in moments:
        runs.append(Run(command, (moment - before) * one.seconds))
        before = moment
        if runs[-1].code != -signal.SIGKILL:
            break
        stored, total = (os.path.getsize(name) if os.path.exists(name) else 0 for name in (out + ".partial", expected))
        state = open(out + ".partial.state").read() if os.path.exists(out + ".partial.state") else ""
        reached = int((re.search(r'"size": (\d+)', state) or [0, 0])[1])
        print(
            f"Killed after {runs[-1].seconds:.2f} s: {100 * stored / total:.1f} % of the output written, "
            f"the last checkpoint at {100 * reached / total:.1f} %",
            flush=True,
        )
    kills = sum(run.code == -signal.SIGKILL for run in runs)
    if kills == len(runs):
        runs.append(Run(command))
    last = runs[-1]
    if last.code:
        sys.exit(last.err)
    same = (
        filecmp.cmp(expected, out, shallow=False)
        and last.out == one.out
        and sorted(os.listdir(folder)) == ["expected", "out", "rows"]
    )
    together = sum(run.seconds for run in runs)
    memory = max(run.memory for run in runs)
    print(
        f"The last run: {last.seconds:.2f} s. All {len(runs)}: {together:.1f} s, {together - one.seconds:+.1f} s; "
        f"at most {memory / 1e6:.0f} MB of memory"
    )
    print(
        "the same bytes and the same summary" if same else "OTHER BYTES, ANOTHER SUMMARY OR OTHER FILES than of one run"
    )
    result = {
        "bytes": size,
        "kills": kills,
        "same": same,
        "seconds_of_one_run": one.seconds,
        "seconds_of_all_runs": together,
        "memory_of_one_run": one.memory,
        "largest_memory": memory,
        "memory_on_the_data_file": small.memory,
    }
    print(json.dumps(result))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
