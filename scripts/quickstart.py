#!/usr/bin/env python3
"""Train with LIBSVM on data/rings.train, compile, predict data/rings.test, compare. Run by quickstart.sh."""

import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from svm_predict import Build

ROOT = pathlib.Path(__file__).resolve().parent.parent
GAMMA, COST, REPEAT, COPIES = 0.1, 10, 5, 10


def run(*command):
    print("  $", " ".join(map(str, command)))
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def timed(*command):
    seconds = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main():
    from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shutil.copy(ROOT / "data" / "rings.train", "rings.train")
        # Repeated, so that the work outweighs Python's start.
        pathlib.Path("rings.test").write_text((ROOT / "data" / "rings.test").read_text() * COPIES)

        print(f"Training with LIBSVM: svm-train -g {GAMMA} -c {COST} rings.train")
        svm_save_model("rings.model", svm_train(*svm_read_problem("rings.train"), f"-q -g {GAMMA} -c {COST}"))
        print(f"Compiling and predicting with fastsvm; rings.test is data/rings.test {COPIES} times:")
        print(run("fastsvm", "approx", "rings.model"), end="")
        results = {}
        cases = [("exact", "fastsvm", "rings.model"), ("compiled", "fastsvm", "rings.model.approx")]
        if shutil.which("svm-predict"):
            cases.insert(0, ("svm-predict", "svm-predict", "rings.model"))
        for name, program, model in cases:
            command = [program] + ["predict"] * (program == "fastsvm") + ["rings.test", model, f"{name}.out"]
            accuracy = run(*command).splitlines()[-1].split()[2]
            results[name] = (accuracy, timed(*command), os.path.getsize(model))
        exact = pathlib.Path("exact.out").read_text().split()
        print()
        print(f"{'':32}{'accuracy':>10}{'labels that differ':>20}{'time':>10}{'model size':>14}")
        titles = {
            "svm-predict": "svm-predict, exact model",
            "exact": "fastsvm predict, exact model",
            "compiled": "fastsvm predict, compiled model",
        }
        for name, (accuracy, seconds, size) in results.items():
            labels = pathlib.Path(f"{name}.out").read_text().split()
            differ = sum(a != b for a, b in zip(labels, exact, strict=True))
            print(
                f"{titles[name]:32}{accuracy:>10}{f'{differ} of {len(exact)}':>20}{seconds * 1000:>7.0f}"
                f" ms{size / 1000:>11.1f} KB"
            )
        print(
            f"\nTimes: a new process, file to file, {len(exact)} rows, median of {REPEAT}. Starting Python is part of"
            " them."
        )
        if "svm-predict" in results:
            print(f"svm-predict is {Build('svm-predict').name}.")


if __name__ == "__main__":
    main()
