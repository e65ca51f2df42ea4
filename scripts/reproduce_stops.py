#!/usr/bin/env python3
"""Measure kernel evaluations and time per row of `fastsvm order`: the costs and savings of early stopping.

    scripts/reproduce_stops.py DATA_DIR [--before FASTSVM] [--only NAME ...] [--runs N] [--seconds S]

DATA_DIR holds sonar_scale, haberman_scale, fourclass_scale, heart_scale, segment_scale, banana_scale, and a9a, ijcnn1,
u20, letter.scale and satimage.scale, each with its .t. sonar and haberman have the kernels of DeCoste's Table 4, and
all rows are predicted; the others have RBF kernels, and a fifth of the rows, or the test file, is predicted.

`every`: evaluations per row, the papers' k, with a check after every point (geometry) or support vector (triangle, two
classes), of at most --sample rows. `now`: the program's. `exact`: all support vectors. Times are microseconds per row,
one thread, in memory: medians of --runs runs of at least --seconds. Exit code 1 if a label is not the exact model's.
Needs the test extras.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from statistics import median
from time import process_time

RBF = {  # training file, test file or None, C, gamma
    "fourclass": ("fourclass_scale", None, 1.0, 8.0),
    "heart": ("heart_scale", None, 64.0, 2.0**-9),
    "segment": ("segment_scale", None, 512.0, 0.125),
    "banana": ("banana_scale", None, 64.0, 2.0),
    "banana-10": ("banana_scale", None, 10.0, 10.0),
    "segment-0.5": ("segment_scale", None, 10.0, 0.5),
    "a9a": ("a9a", "a9a.t", 1.0, 0.01),
    "a9a-0.1": ("a9a", "a9a.t", 1.0, 0.1),
    "ijcnn1": ("ijcnn1", "ijcnn1.t", 1.0, 0.05),
    "u20": ("u20", "u20.t", 1.0, 0.1),
    "letter": ("letter.scale", "letter.scale.t", 10.0, 0.03),
    "letter-4": ("letter.scale", "letter.scale.t", 10.0, 4.0),
    "satimage-1": ("satimage.scale", "satimage.scale.t", 10.0, 1.0),
}
PAPER = {"sonar": "[0, 1]", "haberman": "as measured"}  # scale of the features
GEOMETRY = {"greedy": ["--method", "geometry"], "sgma": ["--method", "geometry", "--sequence", "sgma"]}
TRIANGLE = {"triangle": ["--method", "triangle"]}
LEAST_ROWS = 2000  # of a timing: fewer are repeated


# ---- a process per installation


def work():
    """Answer JSON lines {model, rows, seconds, exact} with seconds and evaluations per row, and a hash of the
    labels."""
    from fastsvm_cli import _native
    from fastsvm_cli.models import load_model
    from fastsvm_cli.text.read_rows import read_bytes

    try:
        from fastsvm_cli.models import Precision
    except ImportError:  # an older installation
        Precision = None
    _native.set_threads(1)
    known = {}

    def once(path, load):
        if path not in known:
            known[path] = load(path)
        return known[path]

    def rows_of(path):
        rows = _native.parse(read_bytes(path))[0]
        return rows.select(list(range(rows.rows)) * -(-LEAST_ROWS // rows.rows))

    for line in sys.stdin:
        job = json.loads(line)
        model, rows = once(job["model"], load_model), once(job["rows"], rows_of)
        model = model.exact if job["exact"] else model
        # Labels alone, as in `predict`, if the installation can.
        decisions = model.decisions(Precision.labels()) if Precision else _native.Decisions(model.pairs)
        predictions = _native.Predictions()
        times, start = 0, process_time()
        while times == 0 or process_time() - start < job["seconds"]:
            model.decision_values(rows, decisions)
            _native.predict(model.header.task(), decisions, False, predictions)
            times += 1
        seconds = (process_time() - start) / times / rows.rows
        evaluations = model.header.total_sv if job["exact"] else sum(decisions.evaluations) / rows.rows
        labels = hashlib.sha256(bytes(memoryview(predictions.label).cast("B"))).hexdigest()
        print(json.dumps({"seconds": seconds, "evaluations": evaluations, "labels": labels}), flush=True)


class Installation:
    def __init__(self, command):
        self.command = command
        with open(command, "rb") as file:
            first = file.readline().decode(errors="replace").split()
        named = first and first[0].startswith("#!/")
        self.python = first[0][2:] if named else os.path.join(os.path.dirname(command), "python")
        arguments = [self.python, os.path.abspath(__file__), "--work"]
        self.worker = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def order(self, options, model, output):
        subprocess.run([self.command, "order", "-q", *options, model, output], check=True, stderr=subprocess.DEVNULL)

    def ask(self, model, rows, seconds, exact=False):
        job = {"model": model, "rows": rows, "seconds": seconds, "exact": exact}
        print(json.dumps(job), file=self.worker.stdin, flush=True)
        return json.loads(self.worker.stdout.readline())

    def close(self):
        self.worker.stdin.close()
        self.worker.wait()


# ---- models and rows


class Problem:
    def __init__(self, name, folder, data_dir):
        from libsvm_training import Kernel, Trainer, as_chunk

        from fastsvm_cli import _native

        self.name, self.model, self.rows = name, *(os.path.join(folder, f"{name}.{kind}") for kind in ("model", "rows"))
        self.options = []
        if name in PAPER:
            x, y, degree, c = self._of_the_paper(data_dir)
            z, t, self.kernel = x, y, Kernel("normalized_polynomial", 1.0, 1.0, degree)
            vectors = os.path.join(folder, f"{name}.vectors")
            with open(vectors, "wb") as file:
                file.write(_native.format_rows(as_chunk(x, y)))
            self.options = ["--kernel", "normalized-polynomial", "--gamma", "1", "--coef0", "1"]
            self.options += ["--degree", str(degree), "--vectors", vectors]
        else:
            x, y, z, t, c, gamma = self._rbf(data_dir)
            self.kernel = Kernel("rbf", gamma)
        Trainer(x, self.kernel).save(y, c, self.model)
        self.words = f"{self.kernel.type}, C {c:g}" + (f", gamma {self.kernel.gamma:g}" if name in RBF else "")
        with open(self.rows, "wb") as file:
            file.write(_native.format_rows(as_chunk(z, t)))

    def _of_the_paper(self, data_dir):
        import reproduce_geometry

        x, y = reproduce_geometry.features(data_dir, self.name, PAPER[self.name])
        return x, y, *reproduce_geometry.PROBLEMS[self.name][:2]

    def _rbf(self, data_dir):
        import numpy as np
        from libsvm_training import dense, read_rows

        train, test, c, gamma = RBF[self.name]
        chunks = [read_rows(os.path.join(data_dir, file)) for file in (train, test) if file]
        d = max(chunk.max_index for chunk in chunks)
        pairs = [(dense(chunk, d), np.asarray(chunk.leading)[:, 0].copy()) for chunk in chunks]
        if test is None:
            ((x, y),) = pairs
            order = np.random.default_rng(1).permutation(len(x))
            pairs = [(x[part], y[part]) for part in np.split(order, [int(0.8 * len(x))])]
        return *pairs[0], *pairs[1], c, gamma


def looked_at_every_time(path, method, problem, sample):
    import numpy as np
    from libsvm_training import dense, read_rows
    from reproduce_geometry import first_decided
    from reproduce_triangle import ByVector

    from fastsvm_cli.models import load_model

    model, rows = load_model(path), read_rows(problem.rows)
    total = model.header.total_sv
    some = rows.select(np.random.default_rng(1).permutation(rows.rows)[:sample].tolist())
    if method in GEOMETRY:
        points = len(model.points)
        k = first_decided(model, some)
        return float(np.where(k > 0, k, points + total).mean())
    if model.pairs > 1 or model.exact.kernel.type != "rbf":
        return None
    d = max(rows.max_index, model.exact.vectors.max_index)
    by_vector = ByVector(d)
    by_vector.add(model.exact, model.pivots, dense(some, d))
    return by_vector.count["by vector"] / some.rows


def main():
    if sys.argv[1:] == ["--work"]:
        return work()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir")
    parser.add_argument("--before", metavar="FASTSVM", help="the fastsvm command of another installation")
    parser.add_argument("--only", nargs="+", choices=[*PAPER, *RBF], default=[*PAPER, *RBF], metavar="NAME")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--sample", type=int, default=500, help="rows that are looked at every time")
    options = parser.parse_args()
    sys.exit(measure(options))


def measure(options):
    from libsvm_training import say
    from tables import markdown

    here = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "fastsvm")
    installations = [Installation(command) for command in (here, options.before) if command]
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as folder:
        cases = []
        for name in options.only:
            say(f"{name}: training, ordering")
            problem = Problem(name, folder, options.data_dir)
            for method, chosen in {**GEOMETRY, **(TRIANGLE if name in RBF else {})}.items():
                paths = []
                for at, installation in enumerate(installations):
                    paths.append(os.path.join(folder, f"{name}.{method}.{at}"))
                    installation.order([*chosen, *problem.options], problem.model, paths[-1])
                cases.append((problem, method, paths))
        answers = {}
        for run in range(-1, options.runs):  # the first is a warm-up
            say(f"run {run + 1} of {options.runs}")
            for problem, method, paths in cases:
                job = [("exact", installations[0], paths[0])]
                job += zip(("now", "before"), installations, paths)
                for which, installation, path in job:
                    seconds = options.seconds if run >= 0 else 0.0
                    answer = installation.ask(path, problem.rows, seconds, which == "exact")
                    if run >= 0:
                        answers.setdefault((problem.name, method, which), []).append(answer)
        for problem, method, paths in cases:
            say(f"{problem.name} {method}: looked at every time")
            found = {which: answers.get((problem.name, method, which)) for which in ("exact", "before", "now")}
            every = looked_at_every_time(paths[0], method, problem, options.sample)
            labels = {answer["labels"] for all_of in found.values() if all_of for answer in all_of}
            wrong += len(labels) > 1
            total = found["exact"][0]["evaluations"]
            measured = {which: all_of for which, all_of in found.items() if all_of}
            evaluations = {which: all_of[0]["evaluations"] for which, all_of in measured.items()}
            seconds = {which: median(a["seconds"] for a in all_of) for which, all_of in measured.items()}
            saved = 100 * (1 - evaluations["now"] / total)
            rows.append(
                [
                    problem.name,
                    problem.words,
                    method,
                    total,
                    number(every, 1),
                    *(number(evaluations.get(which), 1) for which in ("before", "now")),
                    f"{saved:.1f}",
                    *(number(seconds.get(which), 3, 1e6) for which in ("exact", "before", "now")),
                    "same" if len(labels) == 1 else "DIFFER",
                ]
            )
    for installation in installations:
        installation.close()
    head = ["data", "kernel", "method", "exact", "every", "before", "now", "saved %"]
    head += ["us exact", "us before", "us now", "labels"]
    print(f"Kernel evaluations per row, then microseconds per row\n\n{markdown(head, rows)}")
    return int(wrong > 0)


def number(value, digits, factor=1.0):
    return "-" if value is None else f"{value * factor:.{digits}f}"


if __name__ == "__main__":
    main()
