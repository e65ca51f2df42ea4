#!/usr/bin/env python3
"""Compare tables 2 and 3 of Acevedo-Rodriguez et al. ("Computational load reduction in decision functions using support
vector machines") with ours.

    scripts/reproduce_triangle.py DATA_DIR [--arrhythmia FILE] [--only NAME] [--seed S] [--per-class]
                                  [--plot FOLDER]

DATA_DIR holds letter.scale, letter.scale.t, optdigits_scale and segment_scale. --arrhythmia: UCI's arrhythmia.data.
gamma and C have LIBSVM's best 5-fold accuracy, on at most 3,000 rows; --per-class chooses them per class, in an hour
instead of minutes. Each class has a model against the rest, and evaluations are summed over the models; LIBSVM's one
model is added. The exponential kernel is precomputed, for letter on 3,000 rows.

Kernel evaluations are counted once each. `triangle`: as in the program (the pivots, then 16 support vectors at a time,
or 32 of 256 and more). `by vector`: as in the paper (a distance per pivot, and conditions (10) and (11), or (16) and
(17), after every support vector). `list only`: without the other pivots' distances. `geometry`: the program's other
method. Exit code 1 if a label is not the exact model's. --plot draws figures 2 and 3, of 500 test rows (SVG; needs
matplotlib). Figure 4 is the table by the number of lists. Needs the test extras.
"""

import argparse
import os
import sys

import numpy as np
from libsvm_training import Kernel, Trainer, as_chunk, dense, distances, predicted, read_rows, say
from tables import markdown

from fastsvm_cli import _native
from fastsvm_cli.methods.order.orders import compile_geometry, compile_triangle

MOST = 3000  # training rows for cross-validation and precomputed kernels
STUDY_ROWS = 500
GAMMAS, COSTS = [2.0**e for e in (-9, -7, -5, -3, -1, 1)], [1.0, 8.0, 64.0, 512.0]
KINDS = {"rbf": "Gaussian", "exponential": "exponential"}
PAPER = {
    # Tables 2 and 3: kernel evaluations, classical and proposed; test rows, training rows (UCI's split)
    ("letter", "rbf"): (96.1e6, 41.56e6, 4000, 16000),
    ("letter", "exponential"): (90.65e6, 22.35e6, 4000, 16000),
    ("optdigits", "rbf"): (1.09e6, 7.32e5, 1797, 3823),
    ("optdigits", "exponential"): (1.92e6, 7.12e5, 1797, 3823),
    ("arrhythmia", "rbf"): (105e3, 81.39e3, 200, 252),
    ("arrhythmia", "exponential"): (185.2e3, 21.5e3, 200, 252),
    ("segment", "rbf"): (3.043e6, 4.16e5, 2100, 210),
    ("segment", "exponential"): (2.95e6, 3.56e5, 2100, 210),
}


class Set:
    def __init__(self, name, note, train, test):
        self.name, self.note = name, note
        self.d = max(train.max_index, test.max_index)
        self.x, self.y = dense(train, self.d), np.asarray(train.leading)[:, 0].copy()
        self.test, self.z, self.truth = test, dense(test, self.d), np.asarray(test.leading)[:, 0].copy()
        self.classes = np.unique(self.y)


def arrhythmia(path, rng):
    x = np.genfromtxt(path, delimiter=",", missing_values="?")
    x, y = x[:, :-1], x[:, -1]
    x = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    low, high = x.min(axis=0), x.max(axis=0)
    rows = as_chunk(np.where(high > low, 2 * (x - low) / np.where(high > low, high - low, 1) - 1, 0), y)
    order = rng.permutation(rows.rows).tolist()
    return Set("arrhythmia", "252/200, as the paper", rows.select(order[:-200]), rows.select(order[-200:]))


def sets(folder, seed):
    rng = np.random.default_rng(seed)

    def split(file, trained_on):
        rows = read_rows(os.path.join(folder, file))
        order = rng.permutation(rows.rows).tolist()
        n = trained_on or int(0.8 * rows.rows)
        return rows.select(order[:n]), rows.select(order[n:])

    letter, letter_t = (read_rows(os.path.join(folder, file)) for file in ("letter.scale", "letter.scale.t"))
    some = rng.permutation(letter.rows)[:MOST].tolist()
    return [
        (Set("letter", "all rows", letter, letter_t), ["rbf"]),
        (Set("letter", f"{MOST} rows", letter.select(some), letter_t), ["rbf", "exponential"]),
        (Set("optdigits", "80/20", *split("optdigits_scale", 0)), ["rbf", "exponential"]),
        (Set("segment", "80/20", *split("segment_scale", 0)), ["rbf", "exponential"]),
        (Set("segment", "210/2100, as the paper", *split("segment_scale", 210)), ["rbf", "exponential"]),
    ]


# ---- training


def choose(data, kind, seed, targets):
    """Return (accuracy, C, gamma) per target."""
    some = np.random.default_rng(seed).permutation(len(data.x))[:MOST]
    results, gammas = [[] for _ in targets], list(GAMMAS)
    for gamma in gammas:
        trainer = Trainer(data.x[some], Kernel(kind, gamma))
        for c in COSTS:
            say(f"  cross-validation: gamma {gamma:g}, C {c:g}")
            for result, y in zip(results, targets):
                result.append((-trainer.cross_validate(y[some], c, seed), c, gamma))
        if gamma == gammas[-1] and gamma < 100 and any(min(result)[2] == gamma for result in results):
            gammas.append(4 * gamma)
    return [(-accuracy, c, gamma) for accuracy, c, gamma in map(min, results)]


def rest(data):
    return [np.where(data.y == label, 1.0, -1.0) for label in data.classes]


def one_against_the_rest(data, kind, parameters, factor=1.0):
    """parameters: (C, gamma) per class."""
    models = [None] * len(parameters)
    for gamma in {gamma for _, gamma in parameters}:
        trainer = Trainer(data.x, Kernel(kind, gamma * factor))
        for at, (y, (c, of)) in enumerate(zip(rest(data), parameters)):
            if of == gamma:
                models[at] = trainer.train(y, c)
    return models


def vectors_of(models):
    return sum(model.header.total_sv for model in models)


def accuracy(models, data, rows):
    values = np.array([predicted(model, rows)[1][:, 0] * model.header.label[0] for model in models])
    return f"{100 * np.mean(data.classes[values.argmax(0)] == np.asarray(rows.leading)[:, 0]):.2f}"


# ---- counted by the program


def saved(done, of):
    return f"{100 * (1 - done / of):.1f}"


class Count:
    total_wrong = 0

    def __init__(self):
        self.done = self.all = self.wrong = 0

    def add(self, ordered, rows, exact_labels):
        labels, _, evaluations = predicted(ordered, rows)
        self.done += evaluations
        self.all += rows.rows * ordered.header.total_sv
        wrong = int((labels != exact_labels).sum())
        self.wrong += wrong
        Count.total_wrong += wrong

    @property
    def saved(self):
        return saved(self.done, self.all)


METHODS = {
    "triangle": lambda model, lists: compile_triangle(model, fingerprint="-", lists=lists),
    "geometry": lambda model, lists: compile_geometry(model, fingerprint="-"),
}


# ---- counted by vector


def suffix(values):
    """Return sums of the rest: (.., n) -> (.., n + 1)."""
    out = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    out[..., :-1] = np.cumsum(values[..., ::-1], -1)[..., ::-1]
    return out


def partial(terms, rho):
    """Return f after 0 .. n terms: (rows, n) -> (rows, n + 1)."""
    return np.hstack([np.zeros((len(terms), 1)), np.cumsum(terms, 1)]) - rho


def first(f, against_positive, against_negative):
    """Return (rows): terms until decided. against: the most that the rest can subtract."""
    done = ((f > 0) & (f > against_positive)) | ((f < 0) & (-f > against_negative))
    done[:, -1] = True
    return done.argmax(1)


def shared_bounds(kernel, a, far, d0):
    """Return eqs. (10), (11): one bound for the rest of a list sorted by `far`."""
    positive, negative = suffix(np.maximum(a, 0)), suffix(np.maximum(-a, 0))
    largest, smallest = kernel(np.maximum(0, np.append(far, far[-1]) - d0)), kernel(far[-1] + d0)
    return negative * largest - positive * smallest, positive * largest - negative * smallest


def factored_bounds(gamma, a, far, d0):
    """Return eqs. (16), (17), for the exponential kernel, in any order."""
    positive, negative = (
        suffix(np.maximum(a, 0) * np.exp(-gamma * far)),
        suffix(np.maximum(-a, 0) * np.exp(-gamma * far)),
    )
    grow, shrink = np.exp(gamma * d0), np.exp(-gamma * d0)
    return grow * negative - shrink * positive, grow * positive - shrink * negative


def own_bounds(a, low, high):
    """Return bounds (rows, n) with every kernel value between low and high."""
    positive, negative = np.maximum(a, 0), np.maximum(-a, 0)
    return suffix(negative * high) - suffix(positive * low), suffix(positive * high) - suffix(negative * low)


class ByVector:
    """by vector: the paper's conditions, and all pivots' distances. list only: without those. The last tables describe
    the other variants, and figures (rows, 5)."""

    VARIANTS = ("by vector", "list only", "by contribution", "own bounds", "all pivots")

    def __init__(self, d):
        self.d, self.all, self.count, self.figures = d, 0, dict.fromkeys(self.VARIANTS, 0), []
        self.per_row = 0  # of "by vector": (rows), after the first add

    def add(self, model, pivots, z, variants=False):
        x, a = dense(model.vectors, self.d), np.asarray(model.vectors.leading)[:, 0]
        self.all += len(z) * len(x)
        to_pivots, between = distances(z, x[pivots]), distances(x[pivots], x)
        per_row = np.zeros(len(z), int)
        for which in range(len(pivots)):
            rows = np.flatnonzero(to_pivots.argmin(1) == which)
            for some in np.array_split(rows, len(rows) * len(x) // 500_000 + 1):
                if len(some):
                    per_row[some] = self._of_list(
                        model, x, a, pivots, which, z[some], to_pivots[some], between, variants
                    )
        self.per_row = self.per_row + per_row

    def _of_list(self, model, x, a, pivots, which, z, to_pivots, between, variants):
        gamma, rho, exponential = model.kernel.gamma, model.header.rho[0], model.kernel.type == "exponential"

        def kernel(distance):
            return np.exp(-gamma * (distance if exponential else distance**2))

        known = np.zeros(len(x), int)  # a pivot's distance is known before its turn
        known[pivots] = 1
        to_all, d0 = distances(z, x), to_pivots[:, [which]]
        terms = a * kernel(to_all)  # all; only needed ones are counted

        def spent(stop, order):
            new = np.cumsum(np.broadcast_to(1 - known[order], terms.shape), 1)
            return (
                len(pivots) + np.take_along_axis(np.hstack([np.zeros((len(z), 1), int), new]), stop[:, None], 1)[:, 0]
            )

        order = np.argsort(between[which], kind="stable")
        far, f = between[which][order], partial(terms[:, order], rho)
        bounds = factored_bounds(gamma, a[order], far, d0) if exponential else shared_bounds(kernel, a[order], far, d0)
        stop = first(f, *bounds)
        per_row = spent(stop, order)
        self.count["by vector"] += int(per_row.sum())
        self.count["list only"] += int(np.maximum(1, stop).sum())
        if not variants:
            return per_row
        if exponential:
            by = np.argsort(-np.abs(a) * np.exp(-gamma * between[which]), kind="stable")
            self.count["by contribution"] += spent(
                first(partial(terms[:, by], rho), *factored_bounds(gamma, a[by], between[which][by], d0)), by
            ).sum()
        self.count["own bounds"] += spent(
            first(f, *own_bounds(a[order], kernel(far + d0), kernel(np.abs(far - d0)))), order
        ).sum()
        nearest = np.max([np.abs(b - t[:, None]) for b, t in zip(between, to_pivots.T)], axis=0)
        farthest = np.min([b + t[:, None] for b, t in zip(between, to_pivots.T)], axis=0)
        low, high = kernel(farthest), kernel(nearest)
        by = np.argsort(-np.abs(a) * (high - low), axis=1, kind="stable")
        low, high, sorted_terms = (np.take_along_axis(values, by, 1) for values in (low, high, terms))
        self.count["all pivots"] += spent(first(partial(sorted_terms, rho), *own_bounds(a[by], low, high)), by).sum()
        scale = gamma if exponential else np.sqrt(gamma)
        needed = np.log(np.maximum(1.0, np.abs(a).sum() / np.abs(f[:, -1])))
        self.figures.append(
            np.column_stack(
                [
                    scale * d0[:, 0],
                    scale * to_all.min(1),
                    np.full(len(z), scale * np.median(far)),
                    np.full(len(z), scale * far[-1]),
                    needed if exponential else np.sqrt(needed),
                ]
            )
        )
        return per_row

    def saved(self, variant):
        return saved(self.count[variant], self.all) if self.count[variant] else "-"


def both_counts(models, data, rows, lists, variants=False):
    count, by_vector, z = Count(), ByVector(data.d), dense(rows, data.d)
    for model in models:
        ordered = METHODS["triangle"](model, lists)
        count.add(ordered, rows, predicted(model, rows)[0])
        by_vector.add(model, ordered.pivots, z, variants)
    return count, by_vector


# ---- figures 2 and 3


def evaluations_per_row(models, data, rows, lists):
    by_vector, done, z = ByVector(data.d), np.zeros(rows.rows, int), dense(rows, data.d)
    for model in models:
        ordered = METHODS["triangle"](model, lists)
        done += [predicted(ordered, rows.select([row]))[2] for row in range(rows.rows)]
        by_vector.add(model, ordered.pivots, z)
    return done, by_vector.per_row


def draw(folder, data, kind, models, rows):
    from paper_figures import BLUE, RED, panels, save

    counts = dict(
        zip(
            ("stopping as the program does", "after every vector"),
            evaluations_per_row(models, data, rows, len(data.classes)),
        )
    )
    figure, (curves, bars) = panels(2)
    all_vectors = vectors_of(models)
    edges = np.linspace(0, max(all_vectors, *(count.max() for count in counts.values())), 41)
    for (name, count), color in zip(counts.items(), (BLUE, RED)):
        curves.plot(np.sort(count), color=color, label=f"{name}: mean {count.mean():.0f}")
        curves.axhline(count.mean(), color=color, linewidth=0.8, linestyle=":")
        bars.hist(count, edges, color=color, alpha=0.55, label=name)
    for line in (curves.axhline, bars.axvline):
        line(all_vectors, color="0.4", linewidth=1, linestyle="--", label=f"all support vectors: {all_vectors}")
    curves.set(
        xlabel="row, in the order of its evaluations",
        ylabel="kernel evaluations, all classes",
        ylim=(0, None),
        title=f"{data.name} ({data.note}), {KINDS[kind]}",
    )
    bars.set(xlabel="kernel evaluations, all classes", ylabel="rows")
    curves.legend()
    save(figure, folder, f"triangle_{data.name}_{len(data.x)}_{kind}.svg")


# ---- the tables


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-class", action="store_true")
    parser.add_argument("--plot", metavar="FOLDER")
    parser.add_argument("--arrhythmia", metavar="FILE")
    parser.add_argument("--only", metavar="NAME", help="letter, optdigits, segment or arrhythmia")
    options = parser.parse_args()
    _native.set_threads(1)
    tables = {name: [] for name in ("chosen", "paper", "together", "lists", "gamma", "closing", "figures")}
    found = sets(options.data_dir, options.seed)
    if options.arrhythmia:
        found.append((arrhythmia(options.arrhythmia, np.random.default_rng(options.seed)), ["rbf", "exponential"]))
    for data, kinds in found:
        for kind in kinds if options.only in (None, data.name) else []:
            say(f"{data.name} ({data.note}), {KINDS[kind]}")
            measure(data, kind, options, tables)

    def show(name, title, head):
        print(f"\n{title}\n\n{markdown(['data', 'kernel', *head], tables[name])}")

    some = f"{STUDY_ROWS} rows at most"
    show(
        "chosen",
        "Chosen by cross-validation alone; n_SV added up over the models of one class against the rest. Share: n_SV per"
        " model, % of the rows trained on",
        [
            "train",
            "test",
            "gamma",
            "C",
            "CV acc %",
            "acc one-vs-rest %",
            "acc one-vs-one %",
            "n_SV",
            "share",
            "paper's n_SV",
            "share",
        ],
    )
    show(
        "paper",
        "Tables 2 and 3: kernel evaluations, one class against the rest, K = number of classes; then percent saved",
        [
            "classical",
            "triangle",
            "by vector",
            "triangle %",
            "by vector %",
            "list only %",
            "geometry %",
            "paper %",
            "labels that differ",
        ],
    )
    show(
        "together",
        "LIBSVM's own model, one class against one: percent saved",
        ["n_SV", "classical", "triangle %", "geometry %", "labels that differ"],
    )
    show(
        "lists",
        f"Percent saved by the number of lists, {some}: triangle / by vector",
        ["1", "classes/2", "classes", "2x", "4x", "8x"],
    )
    show(
        "gamma",
        f"Percent saved by gamma, C as chosen, {some}",
        [
            "gamma",
            "n_SV",
            "share",
            "acc one-vs-rest %",
            "triangle %",
            "by vector %",
            "list only %",
            "paper's share",
            "paper %",
        ],
    )
    show(
        "closing",
        f"What would close it, percent saved, {some}: a list sorted by contribution; each vector its own bound; from"
        " all pivots, the least certain first",
        [f"{name} %" for name in ByVector.VARIANTS],
    )
    show(
        "figures",
        f"Medians of distances in units of 1/sqrt(gamma), or 1/gamma for the exponential kernel, {some}; needed: at"
        " what distance sum |a| k falls below |f|",
        ["row to pivot", "row to nearest SV", "pivot to SV", "pivot to farthest SV", "needed"],
    )
    print(f"\nLabels that differ from the exact model's, all of the above: {Count.total_wrong}")
    sys.exit(Count.total_wrong > 0)


def measure(data, kind, options, tables):
    classes, name = len(data.classes), [f"{data.name} ({data.note})", KINDS[kind]]
    study = data.test.select(np.random.default_rng(options.seed).permutation(data.test.rows)[:STUDY_ROWS].tolist())
    ((cross, c, gamma),) = choose(data, kind, options.seed, [data.y])
    parameters = [(c, gamma)] * classes
    if options.per_class:
        parameters = [found[1:] for found in choose(data, kind, options.seed, rest(data))]
    models = one_against_the_rest(data, kind, parameters)
    together = Trainer(data.x, Kernel(kind, gamma)).train(data.y, c)
    together_labels = predicted(together, data.test)[0]
    classical, proposed, paper_rows, paper_train = PAPER[data.name, kind]
    n_sv, paper_n_sv = vectors_of(models), classical / paper_rows

    def share(vectors, train):
        return f"{100 * vectors / classes / train:.1f}"

    def span(values):
        return f"{min(values):g}" if min(values) == max(values) else f"{min(values):g}..{max(values):g}"

    tables["chosen"].append(
        [
            *name,
            len(data.x),
            data.test.rows,
            span([g for _, g in parameters]),
            span([c for c, _ in parameters]),
            f"{100 * cross:.2f}",
            accuracy(models, data, data.test),
            f"{100 * np.mean(together_labels == data.truth):.2f}",
            n_sv,
            share(n_sv, len(data.x)),
            f"{paper_n_sv:.0f}",
            share(paper_n_sv, paper_train),
        ]
    )

    if options.plot:
        say("  figures")
        draw(options.plot, data, kind, models, study)

    exact = [predicted(model, data.test)[0] for model in models]
    counts, by_vector = {method: Count() for method in METHODS}, ByVector(data.d)
    for label, model, labels in zip(data.classes, models, exact):
        say(f"  methods: class {label:g}")
        for method, compiled in METHODS.items():
            ordered = compiled(model, classes)
            counts[method].add(ordered, data.test, labels)
            if method == "triangle":
                by_vector.add(model, ordered.pivots, data.z)
    tables["paper"].append(
        [
            *name,
            f"{counts['triangle'].all:.4g}",
            f"{counts['triangle'].done:.4g}",
            f"{by_vector.count['by vector']:.4g}",
            counts["triangle"].saved,
            by_vector.saved("by vector"),
            by_vector.saved("list only"),
            counts["geometry"].saved,
            saved(proposed, classical),
            sum(count.wrong for count in counts.values()),
        ]
    )
    counts = {method: Count() for method in METHODS}
    for method, compiled in METHODS.items():
        counts[method].add(compiled(together, classes), data.test, together_labels)
    tables["together"].append(
        [
            *name,
            together.header.total_sv,
            f"{counts['triangle'].all:.4g}",
            *(count.saved for count in counts.values()),
            sum(count.wrong for count in counts.values()),
        ]
    )

    cells = []
    for lists in (1, classes // 2, classes, 2 * classes, 4 * classes, 8 * classes):
        say(f"  lists: {lists}")
        count, by_vector = both_counts(models, data, study, lists, variants=lists == classes)
        cells.append(f"{count.saved} / {by_vector.saved('by vector')}")
        if lists == classes:
            tables["closing"].append([*name, *map(by_vector.saved, ByVector.VARIANTS)])
            tables["figures"].append(
                [*name, *(f"{value:.2f}" for value in np.median(np.concatenate(by_vector.figures), 0))]
            )
    tables["lists"].append([*name, *cells])

    for factor in (
        (1.0, 2.0, 4.0, 8.0) if len(data.x) > MOST and data.name == "letter" else [4.0**i for i in range(-1, 7)]
    ):
        say(f"  gamma: {factor:g} times the chosen one")
        other = models if factor == 1 else one_against_the_rest(data, kind, parameters, factor)
        right = accuracy(other, data, study)
        count, by_vector = both_counts(other, data, study, classes)
        tables["gamma"].append(
            [
                *name,
                span([g * factor for _, g in parameters]),
                vectors_of(other),
                share(vectors_of(other), len(data.x)),
                right,
                count.saved,
                by_vector.saved("by vector"),
                by_vector.saved("list only"),
                share(paper_n_sv, paper_train),
                saved(proposed, classical),
            ]
        )
        if float(right) < 80:
            break  # no longer a classifier


if __name__ == "__main__":
    main()
