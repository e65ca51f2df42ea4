#!/usr/bin/env python3
"""Compare Table 4, the intervals, and figures 1 and 2 of DeCoste ("Anytime Interval-Valued Outputs for Kernel Machines:
Fast Support Vector Machine Classification via Distance Geometry") with ours.

    scripts/reproduce_geometry.py DATA_DIR [--sonar FILE] [--plot FOLDER] [--models MODEL_DIR] [--seed S]

DATA_DIR holds sonar_scale and haberman_scale. The models are the paper's: normalized kernels, (u.v + 1)^2 and C = 1 for
sonar, (u.v + 1)^3 and C = 1000 for haberman. --sonar: UCI's sonar.all-data, whose measured features give the paper's
165 support vectors. k: points until a row's label is decided, folded vectors included. `evaluations`: mean per row of
fastsvm predict, which checks less often.

--plot draws figures 1 and 2 of sonar, and a histogram of evaluations (SVG; needs matplotlib). --models adds the share
of rows of u20.t, a9a.t and ijcnn1.t decided within 512 points, by u20_g0.1_c1.model, a9a_g0.01_c1.model and
ijcnn1_g0.05_c1.model. Exit code 1 if an interval of ours lacks the exact value or, before rounding, is wider than the
paper's. Needs the test extras.
"""

import argparse
import os
import sys

import numpy as np
from libsvm_training import Kernel, Trainer, as_chunk, dense, kernel_matrix, predicted, read_rows, say
from tables import markdown

from fastsvm_cli import _native
from fastsvm_cli.methods.order.orders import compile_geometry, folded_vectors
from fastsvm_cli.models import LABELS, load_model
from fastsvm_cli.text.read_rows import read_chunks

LEAST = 1e-5
SEEDS = 20  # of the sgma sequence
PROBLEMS = {
    # Table 4: degree, C, SVs; (mean, median, min, max) of k with and without folded vectors: train, test
    "sonar": (2, 1.0, 165, ((26.2, 19.5, 3, 111), (28.1, 23, 1, 110)), ((11.2, 10, 4, 21), (16.7, 16, 4, 24))),
    "haberman": (3, 1000.0, 180, ((4.5, 4, 2, 12), (4.5, 5, 1, 10)), ((4.2, 5, 2, 8), (4.3, 5, 1, 6))),
}
MEASURED = "as measured"
HABERMAN = np.array([[30, 83], [58, 69], [0, 52]])  # measured values of -1 and 1: age, year, nodes


class Problem:
    """support: whether each row is a support vector. exact: G at every row. folded: w+ and w- of a linear SVM."""

    def __init__(self, name, x, y):
        self.name, self.x, self.y = name, x, y
        self.degree, self.c = PROBLEMS[name][:2]
        self.kernel = Kernel("normalized_polynomial", 1.0, 1.0, self.degree)
        trainer = Trainer(x, self.kernel)
        self.model = trainer.train(y, self.c)
        self.support = np.isin(np.arange(len(x)), trainer.support)
        self.rows = as_chunk(x, y)
        self.labels, values, _ = predicted(self.model, self.rows)
        self.exact = values[:, 0]
        self.folded = folded_vectors(Trainer(x, Kernel("linear")).train(y, 1.0))

    def ordered(self, sequence, fold, seed=0):
        return compile_geometry(
            self.model,
            fingerprint="-",
            sequence=sequence,
            points=self.model.header.total_sv,
            folded=self.folded if fold else None,
            seed=seed,
        )


def problem(options, name, scaling):
    if name == "sonar" and scaling == MEASURED:
        with open(options.sonar) as file:
            fields = [line.strip().split(",") for line in file if line.strip()]
        return Problem(
            name,
            np.array([row[:-1] for row in fields], float),
            np.array([1.0 if row[-1] == "M" else -1.0 for row in fields]),
        )
    return Problem(name, *features(options.data_dir, name, scaling))


def features(data_dir, name, scaling):
    rows = read_rows(os.path.join(data_dir, f"{name}_scale"))
    x, y = dense(rows, rows.max_index), np.asarray(rows.leading)[:, 0]
    if scaling != "[-1, 1]":
        x = (x + 1) / 2
    if scaling == MEASURED:
        x = np.round(x * (HABERMAN[:, 1] - HABERMAN[:, 0]) + HABERMAN[:, 0])
    return x, np.where(y == y.max(), 1.0, -1.0)


def scalings(options, name):
    return ["[-1, 1]", "[0, 1]"] + [MEASURED] * (name == "haberman" or options.sonar is not None)


# ---- k


def first_decided(model, rows):
    """Return (rows): points after which the label is decided; 0: never."""
    task, out = model.header.task(), _native.Decisions(model.pairs, True)
    found = np.zeros(rows.rows, int)
    for k in range(1, len(model.points) + 1):
        model.file.stopped_after(k).decision_values(rows, LABELS, out)
        decided = np.ones(rows.rows, bool)
        decided[_native.undecided_rows(task, out)] = False
        found[decided & (found == 0)] = k
        if found.all():
            break
    return found


def evaluations(model, rows):
    out = _native.Decisions(model.pairs)
    model.decision_values(rows, out)
    return np.array(out.evaluations)


def intervals(model, rows, k):
    out = _native.Decisions(1, True)
    model.decide(rows, _native.Header("epsilon_svr", "rbf", 2, 0, [0.0]).task(), 0.0, k, out)
    return np.array(out.value)[:, 0], np.array(out.radius)[:, 0]


def summary(k):
    decided = k[k > 0]
    never = f" ({(k == 0).sum()} never)" if (k == 0).any() else ""
    return f"{decided.mean():.1f} / {np.median(decided):g}, {decided.min()}..{decided.max()}{never}"


# ---- the paper's interval


class Embedding:
    """Sections 3 and 4, in extended precision: points S_1..S_k (k, d), then N and P, then the rows as Q (n, d)."""

    def __init__(self, model, points, x, a, rows):
        points, x, rows = (np.asarray(v, np.longdouble) for v in (points, x, rows))
        a = np.asarray(a, np.longdouble)
        kernel = model.kernel

        def k(u, v):
            def power(t):
                return (kernel.gamma * t + kernel.coef0) ** kernel.degree

            return power(u @ v.T) / np.sqrt(power((u * u).sum(1))[:, None] * power((v * v).sum(1)))

        self.rho, self.count = model.header.rho[0], len(points)
        positive, negative = np.maximum(a, 0), np.maximum(-a, 0)
        gram = k(x, x)
        self.c = negative @ gram @ negative - positive @ gram @ positive  # (10)
        self.s = positive.sum()  # (7); sum a = 0, so N's is equal
        positive, negative = positive / positive.sum(), negative / negative.sum()
        to_sv, to_points = k(points, x), k(points, points)
        p_p, n_n, p_n = positive @ gram @ positive, negative @ gram @ negative, positive @ gram @ negative
        # Squared distances (3), (5); K(x, x) = 1.
        self.ss = 2 - 2 * to_points
        self.sp, self.sn = 1 - 2 * to_sv @ positive + p_p, 1 - 2 * to_sv @ negative + n_n
        self.pn = p_p - 2 * p_n + n_n
        to_rows = k(rows, points)
        self.qs = 2 - 2 * to_rows  # (n, k)
        self.gram, self.b, self.to_rows, self.squared_norm = to_points, to_sv @ a, to_rows, a @ gram @ a
        self.v = self._embed(self.ss)
        self.n, self.p = self._embed(self.sn[None])[0], self._embed(self.sp[None])[0]
        self.q = self._embed(self.qs)

    def _embed(self, squared):
        """Return coordinates (m, k - 1) from squared distances (m, k) to S_1..S_k (Table 2)."""
        own = squared is self.ss
        out = np.zeros((len(squared), self.count - 1), np.longdouble)
        for j in range(self.count - 1):
            # Coordinate j + 1, the last of S_j+2, from the distances to S_j+1 and S_j+2.
            if own:
                out[j + 1, j] = np.sqrt(np.maximum(0, squared[j + 1, 0] - (out[j + 1, :j] ** 2).sum()))
            v = out if own else self.v
            with np.errstate(all="ignore"):
                value = (
                    v[j + 1, j] ** 2
                    + squared[:, j]
                    - squared[:, j + 1]
                    + ((out[:, :j] - v[j + 1, :j]) ** 2 - (out[:, :j] - v[j, :j]) ** 2).sum(1)
                ) / (2 * v[j + 1, j])
            if own:
                out[j + 2 :, j] = value[j + 2 :]
            else:
                out[:, j] = value
        return out

    def interval(self, k):
        """Return (G_L, G_H) of every row after k points."""
        w = k - 1
        n, p, q, s = self.n[:w], self.p[:w], self.q[:, :w], self.v[k - 1, :w]
        n_x = np.sqrt(np.maximum(0, self.sn[0] - (n**2).sum()))
        beside = np.maximum(0, self.sp[0] - (p**2).sum())
        # If N is in the span of the points, the paper's x axis is free: ours goes through P.
        p_x = (
            (n_x**2 + self.sp[k - 1] - self.pn + ((p - n) ** 2).sum() - ((p - s) ** 2).sum()) / (2 * n_x)
            if n_x > 1e-12
            else np.sqrt(beside)
        )
        p_y = np.sqrt(np.maximum(0, beside - p_x**2))
        r = np.sqrt(np.maximum(0, self.qs[:, 0] - (q**2).sum(1)))  # (16), (29)
        g_w = ((q - n) ** 2 - (q - p) ** 2).sum(1)  # (30)
        q_x = r * (p_x - n_x) / np.maximum(np.sqrt((p_x - n_x) ** 2 + p_y**2), 1e-300)  # (28)
        q_y = np.sqrt(np.maximum(0, r**2 - q_x**2))
        extrema = [
            g_w + (i * q_x - n_x) ** 2 - (i * q_x - p_x) ** 2 + q_y**2 - (j * q_y - p_y) ** 2
            for i in (-1, 1)
            for j in (-1, 1)
        ]  # (31)
        return tuple(
            (g * self.s - self.c / self.s) / 2 - self.rho for g in (np.min(extrema, 0), np.max(extrema, 0))
        )  # (13), (14)

    def radii(self):
        """Yield our radii before rounding, |w_perp| sqrt(K(z, z) - |y|^2), after 1, 2, .. k points."""
        factor = np.zeros((self.count, self.count), np.longdouble)
        y, g = np.zeros((len(self.q), self.count), np.longdouble), np.zeros(self.count, np.longdouble)
        for i in range(self.count):
            for j in range(i):
                factor[i, j] = (self.gram[i, j] - factor[i, :j] @ factor[j, :j]) / factor[j, j]
            factor[i, i] = np.sqrt(np.maximum(1e-30, 1 - (factor[i, :i] ** 2).sum()))
            y[:, i] = (self.to_rows[:, i] - y[:, :i] @ factor[i, :i]) / factor[i, i]
            g[i] = (self.b[i] - g[:i] @ factor[i, :i]) / factor[i, i]
            yield np.sqrt(np.maximum(0, self.squared_norm - (g**2).sum()) * np.maximum(0, 1 - (y**2).sum(1)))

    def first_decided(self):
        found = np.zeros(len(self.q), int)
        for k in range(1, self.count + 1):
            low, high = self.interval(k)
            found[((low > 0) | (high < 0)) & (found == 0)] = k
        return found


def embedding(problem, ordered):
    d = problem.x.shape[1]
    return Embedding(
        problem.model,
        dense(ordered.all_vectors.select(ordered.points), d),
        dense(problem.model.vectors, d),
        np.asarray(problem.model.vectors.leading)[:, 0],
        problem.x,
    )


# ---- figure 2


def reduced_set_errors(problem, ordered):
    """Return (points): wrong guesses of (37), (38), with b of footnote 12."""
    d = problem.x.shape[1]
    points, x, a = (
        dense(ordered.all_vectors.select(ordered.points), d),
        dense(problem.model.vectors, d),
        np.asarray(problem.model.vectors.leading)[:, 0],
    )
    inside = np.abs(a) < problem.c * (1 - 1e-9)
    errors = []
    for k in range(1, len(points) + 1):
        beta = np.linalg.lstsq(
            kernel_matrix(problem.kernel, points[:k], points[:k]),
            kernel_matrix(problem.kernel, points[:k], x) @ a,
            rcond=None,
        )[0]
        at_sv, g = (
            kernel_matrix(problem.kernel, x, points[:k]) @ beta,
            kernel_matrix(problem.kernel, problem.x, points[:k]) @ beta,
        )
        b = (at_sv[inside & (a > 0)].mean() + at_sv[inside & (a < 0)].mean()) / 2
        errors.append(int(((g - b > 0) != (problem.exact > 0)).sum()))
    return np.array(errors)


def guess_errors(problem, ordered):
    """Return (points): wrong guesses of (32), the side of the interval's center."""
    return np.array(
        [
            int(((intervals(ordered, problem.rows, k)[0] > 0) != (problem.exact > 0)).sum())
            for k in range(1, len(ordered.points) + 1)
        ]
    )


def undecided_errors(k_decided, points):
    return np.array([int(((k_decided == 0) | (k_decided > k)).sum()) for k in range(1, points + 1)])


def draw_evaluations(problem, models, decided, names, folder):
    from paper_figures import BLUE, RED, panels, save

    figure, axes = panels(2, sharey=True)
    total = problem.model.header.total_sv
    for axis, (sequence, model) in zip(axes, models.items()):
        k, spent = decided[sequence], evaluations(model, problem.rows)
        k = np.where(k > 0, k, spent)  # never decided
        bins = np.arange(0, max(spent.max(), total) + 10, 5)
        axis.hist(spent, bins, color=BLUE, alpha=0.6, label=f"fastsvm predict: {spent.mean():.1f}")
        axis.hist(
            k, bins, histtype="step", color=RED, linewidth=1.4, label=f"looking after every point: {k.mean():.1f}"
        )
        axis.axvline(total, color="0.4", linestyle="--", linewidth=1, label=f"all support vectors: {total}")
        axis.set(title=names[sequence], xlabel="kernel evaluations of a row", xlim=(0, bins[-1]))
        axis.legend(fontsize=8)
    axes[0].set_ylabel(f"rows, of {problem.rows.rows}")
    save(figure, folder, "geometry_evaluations.svg")


def draw(problem, folder, seed):
    from paper_figures import BLUE, RED, panels, save

    names = {"greedy": "greedy order (ours)", "sgma": "SGMA order (the paper's)"}
    ordered = {sequence: problem.ordered(sequence, True, seed) for sequence in names}
    decided = {sequence: first_decided(ordered[sequence], problem.rows) for sequence in names}
    figure, axes = panels(2, sharey=True)
    for axis, sequence in zip(axes, names):
        for support, color, label in ((True, RED, "support vectors"), (False, BLUE, "other rows")):
            of = problem.support == support
            axis.scatter(
                decided[sequence][of], problem.exact[of], s=14, color=color, label=label, alpha=0.7, linewidths=0
            )
        axis.axhline(0, color="0.6", linewidth=0.8)
        axis.set(
            title=f"{names[sequence]}: mean k {decided[sequence].mean():.1f}",
            xlabel="k: points until the label is decided",
            xlim=(0, None),
        )
    axes[0].set_ylabel("G(x)")
    axes[1].legend()
    save(figure, folder, "geometry_figure1.svg")

    figure, axes = panels(2, sharey=True)
    for axis, sequence in zip(axes, names):
        k = np.arange(1, len(ordered[sequence].points) + 1)
        lines = [
            (undecided_errors(decided[sequence], len(k)), "--", "#555555", "interval still undecided"),
            (guess_errors(problem, ordered[sequence]), "-", BLUE, "guess by eq. (32)"),
            (reduced_set_errors(problem, ordered[sequence]), "-", RED, "reduced set, eqs. (37), (38)"),
        ]
        for errors, style, color, label in lines:
            axis.step(k, errors, style, where="post", color=color, label=label, linewidth=1.3)
        axis.set_yscale("symlog", linthresh=1, linscale=0.3)
        axis.set(
            title=names[sequence],
            xlabel="k: points",
            xlim=(1, max(np.flatnonzero(np.max([e for e, *_ in lines], 0)).max() + 5, 10)),
            ylim=(0, 250),
        )
        axis.set_yticks([0, 1, 2, 5, 10, 20, 50, 100, 200], labels=["0", "1", "2", "5", "10", "20", "50", "100", "200"])
        axis.minorticks_off()
    axes[0].set_ylabel(f"wrong guesses, of {problem.rows.rows} rows")
    axes[1].legend()
    save(figure, folder, "geometry_figure2.svg")
    draw_evaluations(
        problem, {sequence: problem.ordered(sequence, True, seed) for sequence in names}, decided, names, folder
    )


# ---- the tables


def table_4(options):
    rows = []
    for name in PROBLEMS:
        for scaling in scalings(options, name):
            say(f"{name} {scaling}")
            of = problem(options, name, scaling)
            a = np.abs(np.asarray(of.model.vectors.leading)[:, 0])
            for fold in (True, False):
                sgma = [of.ordered("sgma", fold, options.seed + j) for j in range(SEEDS)]
                drawn = np.array([first_decided(ordered, of.rows) for ordered in sgma])
                kinds = [
                    ("greedy", summary, first_decided(of.ordered("greedy", fold), of.rows), of.ordered("greedy", fold)),
                    ("sgma", summary, drawn[0], of.ordered("sgma", fold, options.seed)),
                    (f"sgma, {SEEDS} seeds", spread, drawn, None),
                    ("sgma, his interval", summary, embedding(of, sgma[0]).first_decided(), None),
                ]
                for kind, summarized, k, model in kinds:
                    spent = f"{evaluations(model, of.rows).mean():.1f}" if model else "-"
                    rows.append(
                        [
                            name,
                            scaling,
                            f"{len(a)} ({(a > of.c * (1 - 1e-9)).sum()})",
                            "with" if fold else "without",
                            kind,
                            summarized(k),
                            summarized(k[..., ~of.support]),
                            spent,
                        ]
                    )
            _, _, papers, train, test = PROBLEMS[name]
            if scaling == scalings(options, name)[-1]:
                for i, fold in enumerate(("with", "without")):
                    rows.append(
                        [
                            name,
                            "the paper",
                            papers,
                            fold,
                            "sgma, his interval",
                            *(
                                f"{mean} / {median}, {least}..{most}"
                                for mean, median, least, most in (train[i], test[i])
                            ),
                            "-",
                        ]
                    )
    head = [
        "data",
        "features",
        "SVs (at C)",
        "folded",
        "sequence",
        "training rows",
        "rows that are no SVs",
        "evaluations",
    ]
    print(
        "Table 4: k, mean / median, min..max; of several seeds the mean and the range of the means, then the median of"
        f" the medians\n\n{markdown(head, rows)}"
    )


def spread(k):
    means = np.where(k > 0, k, k.max()).mean(1)
    return f"{means.mean():.1f} ({means.min():.1f}..{means.max():.1f}) / {np.median(np.median(k, 1)):g}"


def compare_intervals(options):
    rows, sound, crossing = [], True, 0.0
    for name in PROBLEMS:
        of = problem(options, name, scalings(options, name)[-1])
        for sequence in ("greedy", "sgma"):
            for fold in (True, False):
                ordered = of.ordered(sequence, fold, options.seed)
                his, start = embedding(of, ordered), None
                for k, pure in enumerate(his.radii(), 1):
                    if k not in (1, 2, 3, 5, 8, 12, 20, 40, 80):
                        continue
                    (center, radius), (low, high) = intervals(ordered, of.rows, k), his.interval(k)
                    width = (high - low).astype(float)
                    start = start or width.max()
                    wide = width > LEAST * start
                    if not wide.any():
                        break
                    ratio, pure_ratio = 2 * radius[wide] / width[wide], 2 * pure[wide] / width[wide]
                    missed = int((np.abs(of.exact - center) > radius).sum())
                    crossing = max(crossing, *(width[wide][ratio > 1] / start), 0.0)
                    sound &= missed == 0 and bool(pure_ratio.max() <= 1)
                    rows.append(
                        [
                            name,
                            sequence,
                            "with" if fold else "without",
                            k,
                            wide.sum(),
                            f"{pure_ratio.max():.6f}",
                            f"{np.median(pure_ratio):.4f}",
                            f"{pure_ratio.min():.4f}",
                            f"{ratio.max():.6f}",
                            missed,
                        ]
                    )
    head = [
        "data",
        "sequence",
        "folded",
        "k",
        "rows",
        "largest",
        "median",
        "smallest",
        "largest with rounding",
        "without the exact value",
    ]
    print(
        f"\nWidth of our interval / the paper's, over the rows where his is still {LEAST:g} of the widest at k ="
        f" 1\n\n{markdown(head, rows)}"
    )
    print(
        f"\nLargest ratio: {max(float(row[5]) for row in rows):.6f}; of the intervals that the program gives, which"
        f" cover rounding too, {max(float(row[8]) for row in rows):.6f}:"
    )
    print(f"they are wider than his only where his is below {crossing:.2g} of the widest at k = 1.")
    return sound


def decided_shares(options):
    rows = []
    for data, name in (("u20.t", "u20_g0.1_c1"), ("a9a.t", "a9a_g0.01_c1"), ("ijcnn1.t", "ijcnn1_g0.05_c1")):
        model = load_model(os.path.join(options.models, name + ".model"))
        chunks = list(read_chunks(os.path.join(options.data_dir, data)))
        total = sum(chunk.rows for chunk in chunks)
        for sequence in ("greedy", "sgma"):
            say(f"{data} {sequence}")
            ordered = compile_geometry(model, fingerprint="-", sequence=sequence, points=512, seed=options.seed)
            out, cells = _native.Decisions(ordered.pairs, True), []
            for k in (32, 128, 256, 512):
                stopped = ordered.file.stopped_after(k)
                left = 0
                for chunk in chunks:
                    stopped.decision_values(chunk, LABELS, out)
                    left += len(_native.undecided_rows(ordered.header.task(), out))
                cells.append(f"{100 * (1 - left / total):.2f}")
            rows.append([data, name, model.header.total_sv, sequence, len(ordered.points), *cells])
    columns = ["data", "model", "SVs", "sequence", "points", "within 32", "128", "256", "512"]
    print(f"\nPercent of rows decided\n\n{markdown(columns, rows)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir")
    parser.add_argument("--sonar", metavar="FILE")
    parser.add_argument("--plot", metavar="FOLDER")
    parser.add_argument("--models", metavar="MODEL_DIR")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    _native.set_threads(1)
    table_4(options)
    sound = compare_intervals(options)
    if options.models:
        decided_shares(options)
    if options.plot:
        os.makedirs(options.plot, exist_ok=True)
        draw(problem(options, "sonar", scalings(options, "sonar")[-1]), options.plot, options.seed)
    sys.exit(not sound)


if __name__ == "__main__":
    main()
