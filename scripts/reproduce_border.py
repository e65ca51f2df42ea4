#!/usr/bin/env python3
"""Measure the cost and accuracy of border samples (Mills, "When Support Vector Machines are just too slow").

    scripts/reproduce_border.py curve DATA_DIR MODEL_DIR [--samples N,N,...] [--plot FOLDER]
    scripts/reproduce_border.py rivals DATA_DIR MODEL_DIR    approx and reduce, at equal disagreement
    scripts/reproduce_border.py density DATA_DIR             without an SVM

Each takes --only NAME. DATA_DIR holds banana_scale, fourclass_scale, segment_scale, and u20, ijcnn1, satimage.scale,
letter.scale and (`rivals`) a9a, each with its .t. MODEL_DIR holds the models u20_g0.1_c1, ijcnn1_g0.05_c1 and
(`rivals`) a9a_g0.1_c1. Test rows are the .t, or a seeded fifth.

differ      rows whose label is not the exact model's; `random`: with the paper's --sampling random
Brier       mean over rows of the sum over classes of (p - [y = class])^2, by models trained with -b 1; `apart`: of the
            border's probabilities against the exact model's
us          microseconds per row, one thread, in memory, the least of several runs

Needs libsvm-official, matplotlib for --plot.
"""

import argparse
import ctypes
import os
import pathlib
import tempfile
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.sparse
from libsvm_training import predicted, read_rows, svm_problem, svm_save_model, svm_train

from fastsvm_cli import _native
from fastsvm_cli.methods.approx.expansion import TooLargeError, compile_maclaurin
from fastsvm_cli.methods.border.borders import DensityFunction, compile_border, compile_density_border
from fastsvm_cli.methods.feature_space import matrix
from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import Precision, load_model

SETS = {  # training file, test file (None: a fifth), gamma, C, trained model
    "banana": ("banana_scale", None, 10, 10, None),
    "fourclass": ("fourclass_scale", None, 8, 10, None),
    "u20": ("u20", "u20.t", 0.1, 1, "u20_g0.1_c1.model"),
    "ijcnn1": ("ijcnn1", "ijcnn1.t", 0.05, 1, "ijcnn1_g0.05_c1.model"),
    "segment": ("segment_scale", None, 0.5, 10, None),
    "satimage": ("satimage.scale", "satimage.scale.t", 1, 10, None),
    "letter": ("letter.scale", "letter.scale.t", 0.03, 10, None),
    "a9a": ("a9a", "a9a.t", 0.1, 1, "a9a_g0.1_c1.model"),  # rivals only
}
BANDWIDTHS = {"banana": 0.03, "segment": 0.35}  # about the median of the adaptive ones, W = 20
PROBABILITY_ROWS = 5000  # of the -b 1 model, if a model is given
TIMED_ROWS = 5000
LEVELS = (0.1, 0.5, 1, 5)  # % of the labels
EQUAL = 1.05  # factor within which times are equal
RATIOS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25)
SECONDS, LARGEST = 25, 64e6  # for a reduced set; bytes of a Maclaurin model


class Problem:
    """y: labels of test. labels: the exact model's. timed: rows for timing."""

    def __init__(self, options, name):
        self.name = name
        self.rows, rest, self.gamma, self.cost, self.given = SETS[name]
        self.train = read_rows(str(options.data / self.rows))
        if rest:
            self.test = read_rows(str(options.data / rest))
        else:
            order = np.random.default_rng(0).permutation(self.train.rows)
            most = len(order) * 4 // 5
            self.train, self.test = (
                self.train.select(np.sort(order[:most]).tolist()),
                self.train.select(np.sort(order[most:]).tolist()),
            )
        self.y = np.asarray(self.test.leading)[:, 0]
        self.model = (
            load_model(str(options.models / self.given)) if self.given else train(self.train, self.gamma, self.cost)
        )
        self.labels = predicted(self.model, self.test)[0]
        total = self.test.rows  # few rows are repeated: a call costs dozens of rows
        self.timed = self.test.select(
            [at * total // TIMED_ROWS if total > TIMED_ROWS else at % total for at in range(TIMED_ROWS)]
        )
        self.seconds = self.seconds_of(self.model)

    def seconds_of(self, model):
        out, times = model.decisions(Precision.labels()), []  # as in `predict`
        while (len(times) < 3 and sum(times) < 10) or (len(times) < 50 and sum(times) < 0.3):
            start = time.process_time()
            model.decision_values(self.timed, out)
            times.append(time.process_time() - start)
        return min(times) / self.timed.rows

    def differ(self, labels):
        return 100 * float(np.mean(labels != self.labels))

    def accuracy(self, labels):
        return 100 * float(np.mean(labels == self.y))

    def with_probabilities(self):
        rows = self.train
        if self.given and rows.rows > PROBABILITY_ROWS:
            rows = rows.select(
                np.sort(np.random.default_rng(0).choice(rows.rows, PROBABILITY_ROWS, replace=False)).tolist()
            )
        return train(rows, self.gamma, self.cost, True), rows.rows

    def __str__(self):
        header = self.model.header
        return (
            f"{self.name}: gamma {self.gamma}, C {self.cost}, {header.nr_class} classes,"
            f" {np.asarray(self.train.indices).max()} features, {header.total_sv} support vectors of {self.train.rows}"
            f" rows; {self.test.rows} test rows, the exact model: accuracy {self.accuracy(self.labels):.2f} %,"
            f" {1e6 * self.seconds:.2f} us per row"
        )


def train(rows, gamma, cost, probability=False):
    """rand() is seeded: probabilities depend on it."""
    ctypes.CDLL(None).srand(1)
    x = scipy.sparse.csr_matrix((np.array(rows.values), np.array(rows.indices) - 1, np.array(rows.indptr)))
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "model")
        svm_save_model(
            path,
            svm_train(
                svm_problem(np.array(rows.leading)[:, 0], x), f"-q -m 1000 -g {gamma} -c {cost} -b {int(probability)}"
            ),
        )
        return load_model(path)


def probabilities(model, rows):
    """Return (rows, classes), with the six digits of predict -b 1."""
    decisions, predictions, task = _native.Decisions(model.pairs), _native.Predictions(), model.header.task()
    model.decision_values(rows, decisions, Precision.values())
    _native.predict(task, decisions, True, predictions)
    return np.array([[float(f"{each:g}") for each in row] for row in predictions.probability.tolist()])


def timed(make):
    start = time.process_time()
    made = make()
    return made, time.process_time() - start


def border(model, count, sampling="refined"):
    found, seconds = timed(lambda: compile_border(model, fingerprint="-", samples=count, sampling=sampling))
    return found.model, seconds


def samples_in(model):
    return sum(samples.count for samples in model.samples)


def curve(options):
    for name in names(options, [name for name in SETS if name != "a9a"]):
        problem = Problem(options, name)
        likely, rows = problem.with_probabilities()
        exactly = probabilities(likely, problem.test)
        right = problem.y[:, None] == np.array(likely.header.label)
        brier = [float(np.mean(((exactly - right) ** 2).sum(axis=1)))]
        drawn_rows = (
            f"of another model, trained on {rows} rows drawn with a seed"
            if rows < problem.train.rows
            else f"of a model trained on the same {rows} rows"
        )
        print(f"{problem}\n    probabilities: {drawn_rows}")
        head = (
            f"{'n':>6} {'samples':>8} {'differ %':>9} {'random %':>9} {'accuracy %':>11} {'exact':>6} {'Brier':>8}"
            f" {'exact':>8} {'apart':>9} {'compile s':>10}"
        )
        print(f"{head} {'us':>8} {'exact':>8}", flush=True)
        drawn = []
        for count in options.samples:
            model, seconds = border(problem.model, count)
            labels = predicted(model, problem.test)[0]
            differ, accuracy = problem.differ(labels), problem.accuracy(labels)
            random = problem.differ(predicted(border(problem.model, count, "random")[0], problem.test)[0])
            p = probabilities(border(likely, count)[0], problem.test)
            brier[1:] = [
                float(np.mean(((p - right) ** 2).sum(axis=1))),
                float(np.mean(((p - exactly) ** 2).sum(axis=1))),
            ]
            drawn.append((count, differ, random, brier[1]))
            answers = (
                f"{differ:>9.3f} {random:>9.3f} {accuracy:>11.2f} {problem.accuracy(problem.labels):>6.2f}"
                f" {brier[1]:>8.4f} {brier[0]:>8.4f} {brier[2]:>9.2g}"
            )
            print(
                f"{count:>6} {samples_in(model):>8} {answers} {seconds:>10.2f} {1e6 * problem.seconds_of(model):>8.3f}"
                f" {1e6 * problem.seconds:>8.3f}",
                flush=True,
            )
        if options.plot:
            plot(options.plot, problem, brier[0], drawn)
        print(flush=True)


def plot(folder, problem, exact_brier, drawn):
    from paper_figures import panels, save, set_plain_ticks

    counts, refined, random, brier = zip(*drawn)
    least = 50 / problem.test.rows  # half a row: a logarithmic axis has no 0
    figure, (left, right) = panels(2)
    for values, label, line in ((refined, "refined (default)", "o-"), (random, "random (Mills)", "s--")):
        left.plot(counts, np.maximum(values, least), line, label=label)
    per = "border samples per pair of classes" if problem.model.pairs > 1 else "border samples"
    zero = ", 0 drawn at half a row" if min(refined + random) == 0 else ""
    left.set(
        xlabel=per,
        ylabel=f"test labels that differ, %{zero}",
        xscale="log",
        yscale="log",
        title=f"{problem.name}: {problem.model.header.total_sv} support vectors",
    )
    left.legend()
    right.plot(counts, brier, marker="o", label="border samples, refined")
    right.axhline(exact_brier, color="black", linewidth=1, linestyle="--", label="exact model")
    right.set(
        xlabel=per,
        ylabel="Brier score of the probabilities",
        xscale="log",
        title=f"{problem.name}: {problem.test.rows} test rows",
    )
    right.legend()
    for axis in (left, right):
        axis.grid(True, which="major", alpha=0.3)
    set_plain_ticks(left.yaxis, *left.get_ylim())
    for axis in (left, right):
        axis.set_xticks(counts, [f"{count:,}" for count in counts])
        axis.xaxis.minorticks_off()
    save(figure, folder, f"border_{problem.name}.svg")


def rivals(options):
    for name in names(options, SETS):
        problem = Problem(options, name)
        print(
            f"{problem}\n{'method':<38} {'differ %':>9} {'us':>9} {'times as fast':>14} {'compile s':>10}", flush=True
        )
        seen = [("the exact model", 0.0, problem.seconds)]
        for method, make in compilers(problem):
            try:
                model, seconds = timed(make)
            except TooLargeError:
                print(f"{method:<38} larger than {LARGEST / 1e6:g} MB", flush=True)
                continue
            except TimeoutError:
                print(f"{method:<38} more than {SECONDS} s", flush=True)
                continue
            differ, per_row = problem.differ(predicted(model, problem.test)[0]), problem.seconds_of(model)
            if model.kind == "border" and model.pairs > 1:
                method += f" ({samples_in(model)} in all)"
            elif model.kind == "border" and f" {samples_in(model)} s" not in method:
                method += f" ({samples_in(model)} found)"
            seen.append((method, differ, per_row))
            print(
                f"{method:<38} {differ:>9.3f} {1e6 * per_row:>9.3f} {problem.seconds / per_row:>14.1f}"
                f" {seconds:>10.1f}",
                flush=True,
            )
        for level in LEVELS:
            within = [each for each in seen if each[1] <= level]
            least = min(per_row for _, _, per_row in within)
            method, differ, per_row = min(
                (each for each in within if each[2] <= EQUAL * least), key=lambda each: each[1]
            )
            print(
                f"at <= {level} %: fastest is {method} ({differ:.3f} %, {1e6 * per_row:.3f} us,"
                f" {problem.seconds / per_row:.1f} times as fast as the exact model)",
                flush=True,
            )
        print(flush=True)


def compilers(problem):
    model = problem.model
    for count in (30, 100, 300, 1000):
        yield f"border, {count} samples", lambda: border(model, count)[0]
    for degree in (2, 3):
        for centers in (1, 16):
            where = f", {centers} centers" if centers > 1 else ""
            yield (
                f"approx, degree {degree}{where}",
                lambda: compile_maclaurin(model, fingerprint="-", degree=degree, clusters=centers, max_bytes=LARGEST),
            )
    last = 0.0
    counts = dict.fromkeys(max(1, round(ratio * model.header.total_sv)) for ratio in RATIOS)
    for count in counts:
        method = f"reduce, {count} vector{'s' * (count > 1)}"
        if last > SECONDS / 2 or (problem.name == "letter" and count == max(counts)):  # grows faster than count
            print(f"{method:<38} left out: more than {SECONDS} s expected", flush=True)
            continue
        start = time.process_time()

        def on_progress(share, text=""):
            if time.process_time() - start > SECONDS:
                raise TimeoutError

        yield method, lambda: compile_reduced_set(model, fingerprint="-", count=count, on_progress=on_progress).model
        last = time.process_time() - start


def density(options):
    for name in names(options, BANDWIDTHS):
        problem = Problem(options, name)
        print(
            f"{problem}\n{'bandwidth':<18} {'n':>5} {'samples':>8} {'accuracy %':>11} {'of the estimator':>17}"
            f" {'of the SVM':>11} {'compile s':>10} {'us':>8}",
            flush=True,
        )
        for how, bandwidth, weight in [(f"adaptive, W {weight}", None, float(weight)) for weight in (10, 20, 50)] + [
            (f"H {BANDWIDTHS[name]}", BANDWIDTHS[name], 0.0)
        ]:
            own = None
            for count in (100, 300):
                found, seconds = timed(
                    lambda: compile_density_border(
                        [problem.train],
                        problem.rows,
                        fingerprint="-",
                        bandwidth=bandwidth,
                        weight=weight,
                        samples=count,
                    )
                )
                own = problem.accuracy(estimated(problem, found.model, bandwidth, weight)) if own is None else own
                accuracy = problem.accuracy(predicted(found.model, problem.test)[0])
                reached = f"{accuracy:>11.2f} {own:>17.2f} {problem.accuracy(problem.labels):>11.2f}"
                print(
                    f"{how:<18} {count:>5} {samples_in(found.model):>8} {reached} {seconds:>10.2f}"
                    f" {1e6 * problem.seconds_of(found.model):>8.3f}",
                    flush=True,
                )
        print(flush=True)


def estimated(problem, model, bandwidth, weight):
    """Return labels by density estimates, with LIBSVM's votes."""
    header, y = model.header, np.asarray(problem.train.leading)[:, 0]
    x, z = (matrix(rows, np.array(model.features))[0].toarray() for rows in (problem.train, problem.test))
    decisions, predictions = _native.Decisions(model.pairs), _native.Predictions()
    decisions.resize(len(z))
    pair = 0
    for i, first in enumerate(header.label):
        for second in header.label[i + 1 :]:
            mine = (y == first) | (y == second)
            function = DensityFunction(x[mine], np.where(y[mine] == first, 1.0, -1.0), bandwidth, weight)
            np.asarray(decisions.value)[:, pair] = function.value_and_gradient(z)[0]
            pair += 1
    _native.predict(header.task(), decisions, False, predictions)
    return np.array(predictions.label)


def names(options, known):
    if options.only and options.only not in known:
        raise SystemExit(f"Error: --only {options.only}: {options.what} knows {', '.join(known)}")
    return [name for name in known if options.only in (None, name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["curve", "rivals", "density"])
    parser.add_argument("data", type=pathlib.Path, metavar="DATA_DIR")
    parser.add_argument("models", type=pathlib.Path, metavar="MODEL_DIR", nargs="?")
    parser.add_argument("--only", choices=list(SETS), metavar="NAME", help=", ".join(SETS))
    parser.add_argument("--plot", metavar="FOLDER")
    parser.add_argument(
        "--samples",
        type=lambda text: [int(word) for word in text.split(",")],
        default=[10, 30, 100, 300, 1000, 3000],
        metavar="N,N,...",
    )
    options = parser.parse_args()
    if options.models is None and options.what != "density":
        parser.error(f"{options.what} needs MODEL_DIR")
    _native.set_threads(1)
    {"curve": curve, "rivals": rivals, "density": density}[options.what](options)


if __name__ == "__main__":
    main()
