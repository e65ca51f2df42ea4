#!/usr/bin/env python3
"""Predict a large file by one process, and in parts by split, xargs and GNU parallel: compare bytes and times.

    scripts/measure_parts.py [options] data_file model_file

The large file is the data file repeated (100 copies of ijcnn1.t are 1.4 GB), also as gzip shards. The model should
predict fast. Prints least and median seconds, and MB of text per second. Lines of GNU parallel are omitted if it is
missing. Exit code 1 if the outputs differ.
"""

import argparse
import filecmp
import gzip
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHARDS = 8
PREDICT = "fastsvm predict -q"
PART = f"{PREDICT} --threads 1"
LINES = [
    f"{PREDICT} data model out",
    f"{PART} data model out",
    f"split -n l/JOBS --filter='{PREDICT} - model' data > out",
    f"split -n l/JOBS data p. && ls p.?? | xargs -P JOBS -I{{}} {PART} {{}} model {{}}.out && cat p.??.out > out",
    f"parallel -k --pipepart --block 64M -j JOBS -a data {PART} - model > out",
    f"parallel -k --pipe --block 64M -j JOBS {PART} - model < data > out",
    f"cat shards/*.gz | {PREDICT} - model out",
    f"ls shards/*.gz | xargs -P JOBS -I{{}} {PART} {{}} model {{}}.out && cat shards/*.out > out",
    f"parallel -k -j JOBS {PART} {{}} model ::: shards/*.gz > out",
]


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=100, help="of the data file (default: 100)")
    parser.add_argument("--runs", type=int, default=3, help="of each (default: 3)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at a time (default: a processor each)")
    parser.add_argument("--folder", help="where there is room (default: that of temporary files)")
    parser.add_argument("data_file")
    parser.add_argument("model_file")
    return parser.parse_args()


def make_data(source, folder, copies):
    text = Path(source).read_bytes()
    text += b"" if text.endswith(b"\n") else b"\n"
    packed = gzip.compress(text, 6)
    os.mkdir(f"{folder}/shards")
    with open(f"{folder}/data", "wb") as file:
        for copy in range(copies):
            file.write(text)
            with open(f"{folder}/shards/{copy * SHARDS // copies}.gz", "ab") as shard:
                shard.write(packed)
    return copies * len(text)


def seconds(line, folder, environment):
    start = time.perf_counter()
    subprocess.run(["bash", "-e", "-o", "pipefail", "-c", line], cwd=folder, env=environment, check=True)
    return time.perf_counter() - start


def main():
    options = parsed()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    lines = [line.replace("JOBS", str(options.jobs)) for line in LINES]
    if shutil.which("parallel") is None:
        print("GNU parallel is not installed: its lines are left out (Debian: parallel)", file=sys.stderr)
        lines = [line for line in lines if not line.startswith("parallel ")]
    same = True
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        os.symlink(os.path.abspath(options.model_file), f"{folder}/model")
        megabytes = make_data(options.data_file, folder, options.copies) / 1e6
        times: dict[str, list[float]] = {line: [] for line in lines}
        for run in range(options.runs + 1):
            for line in lines:
                took = seconds(line, folder, environment)
                if run:
                    times[line].append(took)
                elif line == lines[0]:
                    os.replace(f"{folder}/out", f"{folder}/expected")
                elif not filecmp.cmp(f"{folder}/out", f"{folder}/expected", shallow=False):
                    same = False
                    print(f"the output DIFFERS: {line}")
        print(f"{megabytes:.1f} MB, {options.jobs} jobs, outputs {'equal' if same else 'DIFFER'}")
        for line, found in times.items():
            median = statistics.median(found)
            print(f"{min(found):8.2f} s {median:8.2f} s {megabytes / median:8.0f} MB/s  {line}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
