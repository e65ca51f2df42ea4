#!/usr/bin/env python3
"""Tables 1, 2 and 3 of Claesen, De Smet, Suykens, De Moor, "Fast Prediction with SVM Models Containing RBF Kernels", beside fastsvm.

    scripts/reproduce_tables.py DATA_DIR [--models MODEL_DIR] [--only a9a,ijcnn1,...] [--runs 5]
    scripts/reproduce_tables.py DATA_DIR --only sensit,epsilon [--sensit-rows 19705] [--epsilon-rows 1000]

DATA_DIR holds a9a, a9a.t, ijcnn1, ijcnn1.t, mnist1.t; models that MODEL_DIR does not hold (a9a_g0.01_c1.model and so on) are trained by libsvm-official. sensit and epsilon are models and
rows of the same shape (features, support vectors) with random numbers: their times are comparable, their labels mean nothing. svm-predict must be on the PATH. All times are of whole processes, file to
file: t_approx of `fastsvm approx`, t_pred of `fastsvm predict`. ratio 1 = svm-predict / t_pred, ratio 2 = svm-predict / (t_pred + t_approx), as in the paper.
"""

import argparse
import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from time import perf_counter

import numpy as np

from fastsvm_cli.benchmarks.timing import Timed, interleave, speed_up
from fastsvm_cli.bounds import gamma_max
from fastsvm_cli.models import load_model
from fastsvm_cli.sizes import size_text

# name: (model file, training file, test file, gamma, C, paper: gamma_MAX, support vectors, accuracy, labels that differ, ratio 1, ratio 2, exact size, approximate size)
SETS = {
    "a9a, gamma 0.01": ("a9a_g0.01_c1.model", "a9a", "a9a.t", 0.01, 1, "0.018", 11834, 84.8, 0.2, 94, 70, "830 KB", "111 KB"),
    "a9a, gamma 0.02": ("a9a_g0.02_c1.model", "a9a", "a9a.t", 0.02, 1, "0.018", 11674, 84.9, 1.3, None, None, None, None),
    "a9a, gamma 0.1": ("a9a_g0.1_c1.model", "a9a", "a9a.t", 0.1, 1, "0.018", 11901, 85.0, 3.5, None, None, None, None),
    "mnist1": ("mnist1_g0.0001_c10.model", None, "mnist1.t", 0.0001, 10, "0.001", 2174, 99.3, 0.08, 9.1, 8.9, "3.2 MB", "3.7 MB"),
    "ijcnn1": ("ijcnn1_g0.05_c1.model", "ijcnn1", "ijcnn1.t", 0.05, 1, "0.064", 4044, 97.7, 0.46, 24, 23, "628 KB", "4.2 KB"),
}
# name: (features, support vectors, gamma, rows of the paper's test set, ratio 1, ratio 2, exact size, approximate size)
SHAPES = {
    "sensit": (100, 25722, 0.003, 19705, 137, 69, "32 MB", "113 KB"),
    "epsilon": (2000, 36988, 0.35, 400000, 64, 61, "1.1 GB", "42 MB"),
}
FASTSVM = str(pathlib.Path(sys.executable).parent / "fastsvm")


def process(name, command):
    def run():
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return 1.0

    return Timed(name, "end to end", run)


def lines(path):
    return pathlib.Path(path).read_bytes().split(b"\n")[:-1]


def timed(name, model, rows, folder, runs, reference_runs):
    """(svm-predict, approx, predict) as Timings; their outputs stay in the folder."""
    compiled, out, reference_out = (f"{folder}/{name}" for name in ("compiled", "out", "reference"))
    reference = process("svm-predict", ["svm-predict", rows, model, reference_out])
    approx = process("approx", [FASTSVM, "approx", "-q", model, compiled])
    predict = process("predict", [FASTSVM, "predict", "-q", rows, compiled, out])
    # The two short ones take turns; svm-predict, of seconds to minutes, needs no run to warm up behind them, which read the same files.
    interleave([approx, predict], runs, 30.0)
    for _ in range(reference_runs):
        start = perf_counter()
        reference.run()
        reference.timings.seconds.append(perf_counter() - start)
    for each in (approx, predict, reference):
        if each.failed:
            raise SystemExit(f"{name}: {each.name}: {each.failed}")
    return reference.timings, approx.timings, predict.timings


def ratios(reference, approx, predict):
    first, error = speed_up(reference, predict)
    return first, error, reference.median / (predict.median + approx.median)


def model_of(options, name, folder):
    file, train, _, gamma, cost, *_ = SETS[name]
    if options.models and (options.models / file).exists():
        return str(options.models / file)
    if train is None:
        raise SystemExit(f"{name}: needs {file} in --models: its training file is not among the data")
    from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

    path = f"{folder}/{file}"
    print(f"training {file} ...", file=sys.stderr, flush=True)
    with contextlib.redirect_stdout(io.StringIO()):
        svm_save_model(path, svm_train(*svm_read_problem(str(options.data / train)), f"-q -g {gamma} -c {cost}"))
    return path


def real(options, names):
    found = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            model, rows = model_of(options, name, folder), str(options.data / SETS[name][2])
            reference, approx, predict = timed(name, model, rows, folder, options.runs, min(3, options.runs))
            subprocess.run([FASTSVM, "approx", "-q", "--center", "origin", model, f"{folder}/origin"], check=True)
            subprocess.run([FASTSVM, "predict", "-q", rows, f"{folder}/origin", f"{folder}/origin.out"], check=True)
            exact, labels, origin = lines(f"{folder}/reference"), lines(f"{folder}/out"), lines(f"{folder}/origin.out")
            truth = [float(line.split()[0]) for line in lines(rows)]
            accuracy = np.mean([float(label) == y for label, y in zip(exact, truth)])
            machine = load_model(model)
            largest = float(np.sqrt(np.max(np.asarray(machine.vectors.squared_norms))))
            longest = max(sum(float(word.split(b":")[1]) ** 2 for word in line.split()[1:]) for line in lines(rows)) ** 0.5
            differ = [100 * np.mean([a != b for a, b in zip(exact, each)]) for each in (labels, origin)]
            sizes = [os.path.getsize(path) for path in (model, f"{folder}/compiled")]
            found.append((name, machine, gamma_max(largest, longest), len(exact), accuracy, differ, reference, approx, predict, sizes))
            print(f"{name}: svm-predict {reference.median:.3g} s, approx {approx.median:.3g} s, predict {predict.median:.3g} s", file=sys.stderr, flush=True)
    print("\nTable 1: accuracy (paper | ours). diff: about the origin, as in the paper; and about the mean, fastsvm's default\n")
    print("| data set | gamma_MAX | gamma | n_test | n_SV | acc (%) | diff (%) paper | ours, origin | ours, mean |\n|---|---|---|---|---|---|---|---|---|")
    for name, machine, limit, rows, accuracy, differ, *_ in found:
        paper = SETS[name]
        print(f"| {name} | {paper[5]} / {limit:.2g} | {paper[3]} | {rows:,} | {paper[6]:,} / {machine.header.total_sv:,} | {paper[7]} / {100 * accuracy:.1f} | {paper[8]} | {differ[1]:.2g} | {differ[0]:.2g} |")
    print("\nTable 2: time, whole processes\n")
    print("| data set | svm-predict | t_approx | t_pred | ratio 1: paper | ours | ratio 2: paper | ours |\n|---|---|---|---|---|---|---|---|")
    for name, _, _, _, _, _, reference, approx, predict, _ in found:
        first, error, second = ratios(reference, approx, predict)
        print(f"| {name} | {reference.median:.2f} +- {reference.spread:.2g} s | {approx.median:.3f} s | {predict.median:.4f} +- {predict.spread:.1g} s | {SETS[name][9] or '-'} | {first:.3g} +- {error:.2g} | {SETS[name][10] or '-'} | {second:.3g} |")
    print("\nTable 3: sizes\n")
    print("| data set | exact: paper | ours | approx: paper | ours | ratio: ours |\n|---|---|---|---|---|---|")
    for name, *_, sizes in found:
        print(f"| {name} | {SETS[name][11] or '-'} | {size_text(sizes[0])} | {SETS[name][12] or '-'} | {size_text(sizes[1])} | {sizes[0] / sizes[1]:.3g} |")


def write_shape(name, rows, folder):
    """A model and rows of random numbers: dense, in [-1, 1], norms below 1 for epsilon, whose rows are normalised."""
    d, n, gamma, *_ = SHAPES[name]
    rng = np.random.default_rng(0)
    scale = 1.0 if name == "sensit" else 2.0 / np.sqrt(d)

    def text(numbers, leading):
        return "".join(f"{first} {' '.join(f'{j}:{v:.6g}' for j, v in enumerate(row, 1))} \n" for first, row in zip(leading, numbers.tolist()))

    model, data = f"{folder}/{name}.model", f"{folder}/{name}.t"
    with open(model, "w") as file:
        file.write(f"svm_type c_svc\nkernel_type rbf\ngamma {gamma}\nnr_class 2\ntotal_sv {n}\nrho 0.1\nlabel 1 -1\nnr_sv {n // 2} {n - n // 2}\nSV\n")
        for at in range(0, n, 1000):
            size = min(1000, n - at)
            file.write(text(scale * rng.uniform(-1, 1, (size, d)), [f"{1.0 if at + i < n // 2 else -1.0}" for i in range(size)]))
    with open(data, "w") as file:
        for at in range(0, rows, 1000):
            size = min(1000, rows - at)
            file.write(text(scale * rng.uniform(-1, 1, (size, d)), rng.choice([1, -1], size)))
    return model, data


def synthetic(options, names):
    print("\nTables 2 and 3: synthetic models of the same shape, timing only\n")
    print("| shape | features | n_SV | rows (paper) | svm-predict | t_approx | t_pred | ratio 1: paper | ours | ratio 2: paper | ours | with the paper's rows | exact size | approx |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        d, n, _, whole, first_paper, second_paper, *_ = SHAPES[name]
        rows = {"sensit": options.sensit_rows, "epsilon": options.epsilon_rows}[name]
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            model, data = write_shape(name, rows, folder)
            few = f"{folder}/few"
            with open(data) as source, open(few, "w") as target:
                target.writelines(line for line, _ in zip(source, range(rows // 10)))
            reference, approx, predict = timed(name, model, data, folder, options.runs, 1)
            # What grows with the rows, and what does not: a tenth of them.
            less, _, less_predict = timed(name, model, few, folder, options.runs, 1)
            sizes = [os.path.getsize(path) for path in (model, f"{folder}/compiled")]

        def at(timings, fewer):
            return timings.median + (timings.median - fewer.median) / (rows - rows // 10) * (whole - rows)

        first, error, second = ratios(reference, approx, predict)
        exact, fast = at(reference, less), at(predict, less_predict)
        there = "as measured" if whole == rows else f"extrapolated: {exact / fast:.3g}, {exact / (fast + approx.median):.3g}"
        print(f"| {name} | {d} | {n:,} | {rows:,} ({whole:,}) | {reference.median:.1f} s | {approx.median:.2f} s | {predict.median:.3f} s | {first_paper} | {first:.3g} | {second_paper} | {second:.3g} | {there} | {size_text(sizes[0])} | {size_text(sizes[1])} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, metavar="DATA_DIR")
    parser.add_argument("--models", type=pathlib.Path, metavar="MODEL_DIR")
    parser.add_argument("--only", metavar="NAMES", help="of a9a, mnist1, ijcnn1, sensit, epsilon; separated by commas")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sensit-rows", type=int, default=19705)
    parser.add_argument("--epsilon-rows", type=int, default=1000)
    parser.add_argument("--folder", metavar="FOLDER", help="for temporary files; epsilon needs 1 GB")
    options = parser.parse_args()
    if shutil.which("svm-predict") is None:
        raise SystemExit("svm-predict is not on the PATH (Debian: libsvm-tools)")
    wanted = options.only.split(",") if options.only else ["a9a", "mnist1", "ijcnn1", "sensit", "epsilon"]
    sets = [name for name in SETS if name.split(",")[0] in wanted]
    if sets:
        real(options, sets)
    shapes = [name for name in SHAPES if name in wanted]
    if shapes:
        synthetic(options, shapes)


if __name__ == "__main__":
    main()
