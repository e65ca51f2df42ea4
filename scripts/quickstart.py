#!/usr/bin/env python3
"""Train with LIBSVM on data/rings.train, compile, predict data/rings.test, compare. Run by quickstart.sh.

LIBSVM's row is svm-predict's or, without it, libsvm-official's in this process: its predictions alone are timed.
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from libsvm_training import svm_load_model, svm_read_problem, svm_save_model, svm_train
from svm_predict import Build

ROOT = pathlib.Path(__file__).resolve().parent.parent
GAMMA, COST, REPEAT, COPIES = 0.05, 10, 5, 10
MODEL, TEST = "rings.model", "rings.test"
#: Row -> the command; the output file is added.
ROWS = {
    "svm-predict": f"svm-predict {TEST} {MODEL}",
    "fastsvm predict": f"fastsvm predict {TEST} {MODEL}",
    "fastsvm-predict": f"fastsvm-predict {TEST} {MODEL}",
    "the same, compiled model": f"fastsvm-predict {TEST} {MODEL}.approx",
    "certified, with --exact": f"fastsvm-predict --exact {MODEL} {TEST} {MODEL}.certified",
}


def run(command):
    return subprocess.run(command.split(), check=True, capture_output=True, text=True).stdout


def shown(command):
    print("  $", command)
    print(run(command), end="", flush=True)


def timed(call):
    seconds = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def libsvm_in_process(out):
    """Return the median seconds of LIBSVM's predictions in this process, which are written to `out`."""
    from libsvm.svm import gen_svm_nodearray, libsvm

    model, (_, rows) = svm_load_model(MODEL), svm_read_problem(TEST)
    nodes = [gen_svm_nodearray(row)[0] for row in rows]
    labels = []

    def predict():
        labels[:] = (libsvm.svm_predict(model, row) for row in nodes)

    seconds = timed(predict)
    pathlib.Path(out).write_text("".join(f"{label:g}\n" for label in labels))
    return seconds


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shutil.copy(ROOT / "data" / "rings.train", "rings.train")
        # Repeated, so that the work outweighs the start of a process.
        pathlib.Path(TEST).write_text((ROOT / "data" / TEST).read_text() * COPIES)
        truth = [line.split()[0] for line in pathlib.Path(TEST).read_text().splitlines()]

        print(f"Training with LIBSVM: svm-train -g {GAMMA} -c {COST} rings.train")
        svm_save_model(MODEL, svm_train(*svm_read_problem("rings.train"), f"-q -g {GAMMA} -c {COST}"))
        print(f"Predicting and compiling with fastsvm; {TEST} is data/{TEST} {COPIES} times:")
        shown(f"fastsvm predict {TEST} {MODEL} out")
        shown(f"fastsvm approx {MODEL}")
        shown(f"fastsvm approx --certify {MODEL} {MODEL}.certified")
        theirs = shutil.which("svm-predict")
        times = {}
        for name, command in ROWS.items():
            if name == "svm-predict" and theirs is None:
                times["LIBSVM in this process"] = libsvm_in_process("LIBSVM in this process")
            else:
                times[name] = timed(lambda: run(f"{command} out"))
                os.replace("out", name)
        exact = pathlib.Path(next(iter(times))).read_text().split()
        print(f"\n{'':26}{'accuracy':>9}{'labels that differ':>20}{'time':>9}")
        for name, seconds in times.items():
            labels = pathlib.Path(name).read_text().split()
            differ = sum(a != b for a, b in zip(labels, exact, strict=True))
            right = sum(float(a) == float(b) for a, b in zip(labels, truth, strict=True))
            accuracy, differing = f"{100 * right / len(truth):.2f} %", f"{differ} of {len(exact)}"
            print(f"{name:26}{accuracy:>9}{differing:>20}{seconds * 1000:>6.0f} ms")
        print(f"\nTimes: a new process, file to file, {len(exact)} rows, median of {REPEAT}, all processors.")
        if theirs is None:
            print("There is no svm-predict here (Debian: apt-get install libsvm-tools). LIBSVM's time is that of")
            print("libsvm-official's predictions alone: no start, no reading, no writing.")
        else:
            print(f"svm-predict is {Build(theirs).name}, one thread.")


if __name__ == "__main__":
    main()
