#!/usr/bin/env python3
"""Tables 2 and 3 of Acevedo-Rodriguez et al. ("Computational load reduction in decision functions using support vector machines") beside ours.

    scripts/reproduce_triangle.py DATA_DIR [--seed S] [--markdown]

DATA_DIR holds letter.scale, letter.scale.t, optdigits_scale and segment_scale. gamma and C are those of the best 5-fold cross-validated accuracy (LIBSVM's
own, on at most 3,000 training rows; the smaller C, then the smaller gamma, where several are level), before any saving is looked at. As in the paper, every
class is told from the rest by a model of its own, and evaluations are added up over the models; beside it stands the one model that LIBSVM makes of all
classes. The exponential kernel goes through a precomputed kernel, which keeps its training rows to 3,000 (a kernel file of 180 MB).

Counted are kernel evaluations: `triangle` as the program does (a strip of 32 support vectors at a time, and one distance per pivot), `by vector` as the paper
(conditions (10) and (11), or (16) and (17), after every support vector, and one distance per pivot, none twice), `list only` the same without the distances
of the other pivots; `blocks` and `geometry` are the program's other methods. Every label is compared with the exact model's; exit 1 if one differs.
Needs the test extras and some minutes; nothing is timed.
"""

import argparse
import os
import sys

import numpy as np
from libsvm_training import Kernel, Trainer, dense, distances, predicted, read_rows, say, table

from fastsvm_cli import _native
from fastsvm_cli.compilers.blocks import compile_blocks
from fastsvm_cli.compilers.geometry import compile_geometry
from fastsvm_cli.compilers.triangle import compile_triangle

MOST = 3000  # training rows for cross-validation, and for a precomputed kernel
STUDY_ROWS = 1000
PAPER = {  # kernel evaluations of the classical and the proposed method, test rows: Tables 2 and 3
    ("letter", "rbf"): (96.1e6, 41.56e6, 4000), ("letter", "exponential"): (90.65e6, 22.35e6, 4000),
    ("optdigits", "rbf"): (1.09e6, 7.32e5, 1797), ("optdigits", "exponential"): (1.92e6, 7.12e5, 1797),
    ("segment", "rbf"): (3.043e6, 4.16e5, 2100), ("segment", "exponential"): (2.95e6, 3.56e5, 2100),
}  # fmt: skip


class Set:
    """A data set, split. name: the paper's; note: what is trained on."""

    def __init__(self, name, note, train, test):
        self.name, self.note = name, note
        self.d = max(train.max_index, test.max_index)
        self.x, self.y = dense(train, self.d), np.asarray(train.labels)[:, 0].copy()
        self.test, self.z, self.truth = test, dense(test, self.d), np.asarray(test.labels)[:, 0].copy()
        self.classes = np.unique(self.y)

    def title(self):
        return f"{self.name}, {self.note}: {len(self.x)} rows to train on, {self.test.rows} to predict, {self.d} features, {len(self.classes)} classes"


def sets(folder, seed):
    rng = np.random.default_rng(seed)

    def split(file, parts):
        rows = read_rows(os.path.join(folder, file))
        order = rng.permutation(rows.rows).tolist()
        return [(rows.select(order[:n]), rows.select(order[n:])) for n in (int(part * rows.rows) if part < 1 else part for part in parts)]

    letter, letter_t = (read_rows(os.path.join(folder, file)) for file in ("letter.scale", "letter.scale.t"))
    some = rng.permutation(letter.rows)[:MOST].tolist()
    (optdigits,), (segment, segment_210) = split("optdigits_scale", [0.8]), split("segment_scale", [0.8, 210])
    return [
        (Set("letter", "all rows", letter, letter_t), ["rbf"]),
        (Set("letter", f"{MOST} rows drawn", letter.select(some), letter_t), ["rbf", "exponential"]),
        (Set("optdigits", "80/20", *optdigits), ["rbf", "exponential"]),
        (Set("segment", "80/20", *segment), ["rbf", "exponential"]),
        (Set("segment", "210/2100 as in the paper", *segment_210), ["rbf", "exponential"]),
    ]


def choose(data, kind, seed):
    """(gamma, C, cross-validated accuracy), gamma widened upwards until the best is inside."""
    some = np.random.default_rng(seed).permutation(len(data.x))[:MOST]
    results, gammas = [], [2.0**e for e in (-9, -7, -5, -3, -1, 1)]
    for gamma in gammas:
        trainer = Trainer(data.x[some], Kernel(kind, gamma))
        results += [(-trainer.cross_validate(data.y[some], c, seed), c, gamma) for c in (1.0, 8.0, 64.0, 512.0)]
        say(f"  {kind} gamma {gamma:g}: " + ", ".join(f"C {c:g} {-100 * a:.2f} %" for a, c, _ in results[-4:]))
        if gamma == gammas[-1] < 128 and min(results)[2] == gamma:
            gammas.append(4 * gamma)
    if len(some) == len(data.x):
        say(f"  best: {min(results)}")
    accuracy, c, gamma = min(results)
    return gamma, c, -accuracy


def one_against_the_rest(data, kernel, c):
    """A model per class."""
    if kernel.type != "rbf" and len(data.x) > len(data.y):
        raise ValueError
    trainer = Trainer(data.x, kernel)
    return [trainer.train(np.where(data.y == label, 1.0, -1.0), c) for label in data.classes]


def accuracy(models, data, rows):
    """Of the class whose decision value is largest."""
    values = np.array([predicted(m, rows)[1][:, 0] * m.header.label[0] for m in models])
    return float(np.mean(data.classes[values.argmax(0)] == np.asarray(rows.labels)[:, 0]))


# ---- counted by the program


class Count:
    """Kernel evaluations of a method, added up over models; wrong: labels other than the exact model's."""

    def __init__(self):
        self.done = self.all = self.wrong = 0

    def add(self, ordered, rows, exact_labels):
        labels, _, evaluations = predicted(ordered, rows)
        self.done += evaluations
        self.all += rows.rows * ordered.header.total_sv
        self.wrong += int((labels != exact_labels).sum())

    @property
    def saved(self):
        return saved(self.done, self.all)


def saved(done, of):
    return f"{100 * (1 - done / of):.1f}"


METHODS = {
    "triangle": lambda model, lists: compile_triangle(model, fingerprint="-", lists=lists),
    "blocks": lambda model, lists: compile_blocks(model, fingerprint="-"),
    "geometry": lambda model, lists: compile_geometry(model, fingerprint="-"),
}


# ---- counted support vector by support vector


def suffix(values):
    """(.., n) -> (.., n + 1): sums of what is left after 0, 1, .. n of them."""
    out = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    out[..., :-1] = np.cumsum(values[..., ::-1], -1)[..., ::-1]
    return out


def first(done):
    """Along the last axis; the last column is the end, where every sum is complete."""
    done[:, -1] = True
    return done.argmax(1)


class ByVector:
    """Support vectors one at a time. paper: conditions (10), (11) or (16), (17), and the other pivots' distances; list_only: without those.
    contribution: (16), (17), the list sorted by |a| exp(-gamma d) instead of the distance d. own: every vector its own bounds from the pivot, instead of one
    for all; all_pivots: its own, the best from any pivot, and the least certain first."""

    NAMES = ("paper", "list_only", "contribution", "own", "all_pivots")

    def __init__(self, d):
        self.d = d
        self.count = dict.fromkeys(self.NAMES, 0)
        self.all = 0
        self.figures = []

    def add(self, model, pivots, z, variants=False):
        x, a, rho, gamma = dense(model.vectors, self.d), np.asarray(model.vectors.labels)[:, 0], model.header.rho[0], model.kernel.gamma
        exponential = model.kernel.type == "exponential"

        def kernel(distance):
            return np.exp(-gamma * (distance if exponential else distance**2))

        self.all += len(z) * len(x)
        to_pivots, between = distances(z, x[pivots]), distances(x[pivots], x)
        lists = to_pivots.argmin(1)
        is_pivot = np.zeros(len(x), int)
        is_pivot[pivots] = 1
        for which in range(len(pivots)):
            mine = np.flatnonzero(lists == which)
            for rows in np.array_split(mine, max(1, len(mine) * len(x) // 500_000)):
                if len(rows):
                    self._list(x, a, rho, kernel, exponential, gamma, z[rows], to_pivots[rows], between, which, is_pivot, variants)

    def _list(self, x, a, rho, kernel, exponential, gamma, z, to_pivots, between, which, is_pivot, variants):
        d0, pivots = to_pivots[:, [which]], len(between)
        values = kernel(distances(z, x))  # all of them; what is counted is how many were needed
        order = np.argsort(between[which], kind="stable")
        far = between[which][order]
        others = np.concatenate(([0], np.cumsum(1 - is_pivot[order])))  # that are no pivots, whose distance is known
        f = self._sums(a[order] * values[:, order], rho)
        positive, negative = suffix(np.maximum(a, 0)[order]), suffix(np.maximum(-a, 0)[order])
        if exponential:
            stop = self._exponential(f, a[order], far, d0, gamma)
        else:
            largest = kernel(np.maximum(0, np.concatenate((far, far[-1:])) - d0))  # eq. (6), of the first that is left
            smallest = kernel(far[-1] + d0)  # eq. (7)
            stop = first(self._settled(f, negative * largest - positive * smallest, positive * largest - negative * smallest))
        self.count["paper"] += int(pivots * len(z) + others[stop].sum())
        self.count["list_only"] += int(np.maximum(1, stop).sum())
        if not variants:
            return
        if exponential:
            by = np.argsort(-np.abs(a) * np.exp(-gamma * between[which]), kind="stable")
            stop_by = self._exponential(self._sums(a[by] * values[:, by], rho), a[by], between[which][by], d0, gamma)
            self.count["contribution"] += int(pivots * len(z) + np.concatenate(([0], np.cumsum(1 - is_pivot[by])))[stop_by].sum())
        low, high = kernel(far + d0), kernel(np.abs(far - d0))
        stop_own = first(self._own(f, a[order], low, high))
        self.count["own"] += int(pivots * len(z) + others[stop_own].sum())
        nearest = np.max([np.abs(b - t[:, None]) for b, t in zip(between, to_pivots.T)], axis=0)
        farthest = np.min([b + t[:, None] for b, t in zip(between, to_pivots.T)], axis=0)
        low, high = kernel(farthest), kernel(nearest)
        by = np.argsort(-np.abs(a) * (high - low), axis=1, kind="stable")

        def sorted_by(array):
            return np.take_along_axis(array, by, 1)

        terms, a_by = sorted_by(a * values), a[by]
        stop_all = first(self._own(self._sums(terms, rho), a_by, sorted_by(low), sorted_by(high)))
        other = np.hstack([np.zeros((len(z), 1), int), np.cumsum(1 - is_pivot[by], 1)])
        self.count["all_pivots"] += int(pivots * len(z) + np.take_along_axis(other, stop_all[:, None], 1).sum())
        # What the bounds would have to do: the kernel at the distance of the rest against |f| / (sum of |a|).
        scale = gamma if exponential else np.sqrt(gamma)
        needed = np.log(np.maximum(1.0, np.abs(a).sum() / np.abs(f[:, -1])))
        self.figures.append(np.column_stack([
            scale * d0[:, 0], scale * np.sort(distances(z, x), 1)[:, 0], np.full(len(z), scale * np.median(far)), np.full(len(z), scale * far[-1]),
            needed if exponential else np.sqrt(needed),
        ]))  # fmt: skip

    @staticmethod
    def _sums(terms, rho):
        return np.hstack([np.zeros((len(terms), 1)), np.cumsum(terms, 1)]) - rho

    @staticmethod
    def _settled(f, against_positive, against_negative):
        return ((f > 0) & (f > against_positive)) | ((f < 0) & (-f > against_negative))

    def _exponential(self, f, a, far, d0, gamma):
        weight = np.exp(-gamma * far)
        positive, negative = suffix(np.maximum(a, 0) * weight), suffix(np.maximum(-a, 0) * weight)
        grow, shrink = np.exp(gamma * d0), np.exp(-gamma * d0)
        return first(self._settled(f, grow * negative - shrink * positive, grow * positive - shrink * negative))

    def _own(self, f, a, low, high):
        positive, negative = np.maximum(a, 0), np.maximum(-a, 0)
        return self._settled(f, suffix(negative * high) - suffix(positive * low), suffix(positive * high) - suffix(negative * low))

    def saved(self, name):
        return saved(self.count[name], self.all) if self.count[name] else "-"


# ---- the tables


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    _native.set_threads(1)
    chosen, main_table, multi, lists_table, gamma_table, closing, figures = [], [], [], [], [], [], []
    wrong = 0
    for data, kinds in sets(options.data_dir, options.seed):
        say(data.title())
        classes = len(data.classes)
        study = data.test.select(np.random.default_rng(options.seed).permutation(data.test.rows)[:STUDY_ROWS].tolist())
        study_z = dense(study, data.d)
        for kind in kinds:
            gamma, c, cross = choose(data, kind, options.seed)
            kernel = Kernel(kind, gamma)
            models = one_against_the_rest(data, kernel, c)
            name = [f"{data.name} ({data.note})", {"rbf": "Gaussian", "exponential": "exponential"}[kind]]
            vectors = sum(m.header.total_sv for m in models)
            exact = [predicted(m, data.test)[0] for m in models]
            counts = {method: Count() for method in METHODS}
            by_vector = ByVector(data.d)
            for model, labels in zip(models, exact):
                for method, compile_it in METHODS.items():
                    ordered = compile_it(model, classes)
                    counts[method].add(ordered, data.test, labels)
                    if method == "triangle":
                        by_vector.add(model, ordered.pivots, data.z)
            wrong += sum(count.wrong for count in counts.values())
            together = one_model(data, kernel, c)
            together_labels = predicted(together, data.test)[0]
            chosen.append([*name, len(data.x), data.test.rows, f"{gamma:g}", f"{c:g}", f"{100 * cross:.2f}", f"{100 * accuracy(models, data, data.test):.2f}", f"{100 * np.mean(together_labels == data.truth):.2f}", vectors, f"{100 * vectors / len(models) / len(data.x):.1f}"])
            classical, proposed, rows = PAPER[data.name, kind]
            main_table.append([
                *name, f"{counts['triangle'].all:.4g}", *(f"{n:.4g}" for n in (counts["triangle"].done, by_vector.count["paper"])), counts["triangle"].saved,
                by_vector.saved("paper"), by_vector.saved("list_only"), counts["blocks"].saved, counts["geometry"].saved, saved(proposed, classical),
                vectors, f"{classical / rows:.0f}", sum(count.wrong for count in counts.values()),
            ])  # fmt: skip
            row = []
            for compile_it in METHODS.values():
                count = Count()
                count.add(compile_it(together, classes), data.test, together_labels)
                wrong += count.wrong
                row += [count.saved, count.wrong]
            multi.append([*name, together.header.total_sv, f"{data.test.rows * together.header.total_sv:.4g}", row[0], row[2], row[4], row[1] + row[3] + row[5]])

            say("  lists")
            cells = []
            for lists in (1, classes // 2, classes, 2 * classes, 4 * classes, 8 * classes):
                count, single = Count(), ByVector(data.d)
                for model in models:
                    ordered = METHODS["triangle"](model, lists)
                    count.add(ordered, study, predicted(model, study)[0])
                    single.add(model, ordered.pivots, study_z)
                wrong += count.wrong
                cells.append(f"{count.saved} / {single.saved('paper')}")
            lists_table.append([*name, *cells])
            single = ByVector(data.d)
            for model in models:
                single.add(model, METHODS["triangle"](model, classes).pivots, study_z, variants=True)
            closing.append([*name, *(single.saved(variant) for variant in ByVector.NAMES)])
            figures.append([*name, *(f"{value:.2f}" for value in np.median(np.concatenate(single.figures), 0))])

            if data.note != "all rows":
                say("  gamma")
                target = classical / rows
                for factor in (0.25, 1, 4, 16, 64, 256):
                    other = models if factor == 1 else one_against_the_rest(data, Kernel(kind, gamma * factor), c)
                    count, single = Count(), ByVector(data.d)
                    for model in other:
                        ordered = METHODS["triangle"](model, classes)
                        count.add(ordered, study, predicted(model, study)[0])
                        single.add(model, ordered.pivots, study_z)
                    wrong += count.wrong
                    gamma_table.append([*name, f"{gamma * factor:g}", sum(m.header.total_sv for m in other), f"{100 * accuracy(other, data, study):.2f}", count.saved, single.saved("paper"), single.saved("list_only"), f"{target:.0f}", saved(proposed, classical)])

    def show(title, head, rows):
        print(f"\n{title}\n\n{table(head, rows, options.markdown)}")

    first_two = ["data", "kernel"]
    show("Parameters, by cross-validation alone; n_SV added up over the models of one class against the rest",
         [*first_two, "train", "test", "gamma", "C", "CV acc %", "acc one-vs-rest %", "acc LIBSVM's %", "n_SV", "n_SV per model, % of train"], chosen)
    show("Tables 2 and 3: kernel evaluations, one class against the rest; percent saved. K = number of classes",
         [*first_two, "classical", "triangle", "by vector", "saved: triangle", "by vector", "list only", "blocks", "geometry", "paper", "our n_SV", "paper's n_SV", "labels that differ"], main_table)
    show("LIBSVM's own model of all classes (one against one); percent saved", [*first_two, "n_SV", "classical", "triangle", "blocks", "geometry", "labels that differ"], multi)
    show(f"Percent saved by the number of lists, {STUDY_ROWS} rows at most: triangle / by vector", [*first_two, "1", "classes/2", "classes", "2x", "4x", "8x"], lists_table)
    show(f"Percent saved by gamma, C as above, {STUDY_ROWS} rows at most",
         [*first_two, "gamma", "n_SV", "acc one-vs-rest %", "triangle", "by vector", "list only", "paper's n_SV", "paper"], gamma_table)
    show(f"What would close it (by vector, percent saved, {STUDY_ROWS} rows at most): sorted by contribution; every vector its own bound; from all pivots, least certain first",
         [*first_two, "the paper's", "list only", "by contribution", "own bounds", "all pivots"], closing)
    unit = "1/sqrt(gamma), for the exponential kernel 1/gamma"
    show(f"Medians of distances, in units of {unit}; `needed`: how far the rest of a list must be for its bound, all |a| counted, to fall below |f|",
         [*first_two, "row to pivot", "row to nearest SV", "pivot to SV", "pivot to farthest", "needed"], figures)
    print(f"\nLabels that differ from the exact model's, all methods, all rows: {wrong}")
    sys.exit(wrong > 0)


def one_model(data, kernel, c):
    return Trainer(data.x, kernel).train(data.y, c)


if __name__ == "__main__":
    main()
