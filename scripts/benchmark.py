#!/usr/bin/env python3
"""Measure the speeds that the pages state, and print their Markdown tables.

    scripts/benchmark.py --models MODEL_DIR --data DATA_DIR --tuned FOLDER --published FOLDER [TABLE ...]
    scripts/benchmark.py ... --instructions avx2,avx512_vnni --json new.json --compare old.json

Tables (default: all that have their folders): front-page, compiled, tuned, published, one-row, few-rows, arrays, bench,
scale, large, parts.
MODEL_DIR, DATA_DIR: see scripts/README.md. --tuned: NAME.model, NAME.test and, for probabilities, NAME.prob.model.
--published: NAME.model and NAME.rows. --packages: as in measure_sklearn.py, for arrays. --libsvm: LIBSVM's source, for
one-row.

Ratios are of medians, one per instruction set. --compare lists figures that moved by more than the sum of both errors
(from median absolute deviations). The script ends if the output of an exact classifier is not svm-predict's. Run it on
an idle machine.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import geometric_mean

import svm_predict
from tables import markdown

from fastsvm_cli.benchmarks import environment
from fastsvm_cli.benchmarks.timing import Timed, interleave, speed_up

BIN = Path(sys.executable).parent
HERE = Path(__file__).parent
SHARED = {
    "a9a_g0.01_c1": "a9a.t",
    "ijcnn1_g0.05_c1": "ijcnn1.t",
    "mnist1_g0.0001_c10": "mnist1.t",
    "u20_g0.1_c1": "u20.t",
}
#: Models whose tools ask for probabilities.
ASKED_FOR_PROBABILITIES = ("cpc2", "rnaz_decision", "multiloc2")
LONG = 0.5  # least seconds of svm-predict: rows are repeated
MOST_SECONDS = 60.0  # per program, but at least three runs
#: Training file of `arrays` -> (test file, C, gamma).
ARRAYS = {
    "a9a": ("a9a.t", 8, 2.0**-9),
    "ijcnn1": ("ijcnn1.t", 128, 2.0**-3),
    "letter.scale": ("letter.scale.t", 8, 2.0**-1),
    "u20": ("u20.t", 32, 2.0**-3),
}
TRAIN_ROWS = 4000


class Table:
    """Figures by row, column and instruction set ('' for all), each with its error."""

    def __init__(self, title, corner="model", mean=False):
        self.title, self.corner, self.mean, self.figures = title, corner, mean, {}

    def add(self, row, column, value, error=0.0, *, unit="", instructions=""):
        """value: a number, or a text, which is not compared."""
        self.figures.setdefault(row, {}).setdefault(column, {})[instructions] = (value, error, unit)

    def __str__(self):
        columns = list(dict.fromkeys(column for row in self.figures.values() for column in row))
        rows = [[name, *(cell(row.get(column, {})) for column in columns)] for name, row in self.figures.items()]
        if self.mean:
            rows.append(["geometric mean", *(cell(self._mean(column)) for column in columns)])
        return f"**{self.title}**\n\n{markdown([self.corner, *columns], rows)}\n"

    def _mean(self, column):
        rows = [row[column] for row in self.figures.values() if column in row]
        return {
            name: (geometric_mean(row[name][0] for row in rows), 0.0, "x")
            for name, (_, _, unit) in rows[0].items()
            if unit == "x"
        }


def cell(figures):
    """Return `27.5 / 30.5x` for two instruction sets."""
    units = {unit for _, _, unit in figures.values()}
    return " / ".join(map(number, (value for value, _, _ in figures.values()))) + "".join(units)


def number(value):
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


class Machine:
    def __init__(self, options, folder):
        self.options, self.folder, self.instructions = options, folder, options.instructions.split(",")
        self.build = svm_predict.Build((options.svm_predict or ["svm-predict"])[0])

    def environment(self, instructions):
        return {**os.environ, **({"FASTSVM_INSTRUCTIONS": instructions} if instructions else {})}

    def process(self, name, words, rows, instructions=None):
        """Return (Timed, new output file). words: options and model. instructions: None for svm-predict."""
        out = self.folder / f"out of {name} {instructions}"
        options, model = list(map(str, words[:-1])), str(words[-1])
        threads = ["--threads", str(self.options.threads)]
        program = [self.build.path] if instructions is None else [str(BIN / "fastsvm-predict"), "-q", *threads]
        command = [*program, *options, str(rows), model, str(out)]
        # Replacing a non-empty file adds a sync to fastsvm-predict.
        env = self.environment(instructions)
        return Timed(name, lambda: run(command, out, env)), out

    def beside(self, words, rows, ways):
        """Time svm-predict, and fastsvm-predict in `ways`, {name: words}. Return svm-predict's Timed and output, and
        {way: {instructions: (Timed, output)}}."""
        reference, expected = self.process("svm-predict", words, rows)
        timed = {
            way: {name: self.process(way, how, rows, name) for name in self.instructions} for way, how in ways.items()
        }
        cases = [reference, *(case for found in timed.values() for case, _ in found.values())]
        interleave(cases, self.options.runs, MOST_SECONDS)
        for case in cases:
            if case.failed is not None:
                sys.exit(f"Error: {case.name}, {rows}: {case.failed}")
        return reference, expected, timed

    def long_enough(self, words, rows):
        """Repeat the rows, at most 200 times, until svm-predict takes LONG seconds."""
        reference, _, _ = self.beside(words, rows, {})
        times = max(1, min(200, round(LONG / reference.timings.median)))
        if times == 1:
            return rows
        repeated = self.folder / f"{rows.name}.{times}"
        repeated.write_bytes(rows.read_bytes() * times)
        return repeated


def run(command, out, env):
    out.unlink(missing_ok=True)
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return 1


def add_ratios(table, row, column, reference, found):
    for name, (case, _) in found.items():
        ratio, error = speed_up(reference.timings, case.timings)
        table.add(row, column, ratio, error, unit="x", instructions=name)


def differing(one, other):
    """Return (lines that differ, all lines)."""
    pairs = list(zip(one.read_text().split("\n"), other.read_text().split("\n"), strict=True))
    return sum(a != b for a, b in pairs), len(pairs) - 1


def check_equal(expected, found, name):
    for _, out in found.values():
        if out.read_bytes() != expected.read_bytes():
            sys.exit(f"Error: {name}: the output is not svm-predict's")


def fastsvm(*words, env=None):
    """Return the standard output; None on failure."""
    done = subprocess.run([BIN / "fastsvm", *map(str, words)], capture_output=True, text=True, env=env)
    return done.stdout if done.returncode == 0 else None


def shared(machine):
    """Yield (name, exact model, rows, {degree: certified model})."""
    for name, rows in SHARED.items():
        model = machine.options.models / f"{name}.model"
        made = {}
        for degree in (2, 3):
            out = machine.folder / f"{name}.degree{degree}"
            if out.exists() or fastsvm("approx", "-q", "--certify", "--degree", degree, model, out) is not None:
                made[degree] = out
        yield name, model, machine.options.data / rows, made


def example(machine):
    """The commands of the front page, on its model and rows."""
    table = Table("front page, s", "command")
    (machine.folder / "a9a.model").symlink_to((machine.options.models / "a9a_g0.01_c1.model").resolve())
    (machine.folder / "a9a.t").symlink_to((machine.options.data / "a9a.t").resolve())
    shown = re.findall(r"^\$ (fastsvm.*)", (HERE.parent / "README.md").read_text(), re.M)
    commands = [shlex.split(line, comments=True) for line in shown]
    commands += [["fastsvm-predict", "a9a.t", "a9a.model", "out"], [machine.build.path, "a9a.t", "a9a.model", "out"]]
    for instructions in machine.instructions:
        env = machine.environment(instructions)
        env["PATH"] = f"{BIN}{os.pathsep}{env['PATH']}"

        def run(words, env=env):
            subprocess.run(words, cwd=machine.folder, env=env, check=True, capture_output=True)
            return 1

        cases = [Timed(" ".join(words), partial(run, words)) for words in commands]
        interleave(cases, machine.options.runs, MOST_SECONDS)
        for each in cases:
            seconds = each.timings.median, each.timings.spread
            table.add(each.name, "seconds", *seconds, instructions=instructions)
    yield table


def compiled(machine):
    table = Table("compiled", "data, gamma")
    for name, model, rows, made in shared(machine):
        ways = {"exact model": [model]}
        for degree, path in made.items():
            ways |= {"`approx`": [path]} if degree == 2 else {}
            ways[f"`--exact`, degree {degree}"] = ["--exact", model, path]
        reference, expected, timed = machine.beside([model], rows, ways)
        table.add(name, "svm-predict, s", reference.timings.median, reference.timings.spread)
        table.add(name, "KB", f"{number(model.stat().st_size / 1e3)} -> {number(made[2].stat().st_size / 1e3)}")
        for way, found in timed.items():
            add_ratios(table, name, way, reference, found)
            if way == "`approx`":
                different, total = differing(expected, next(iter(found.values()))[1])
                table.add(name, "labels that differ", f"{different} ({100 * different / total:.2g} %)")
            else:
                check_equal(expected, found, f"{name}, {way}")
            if way.startswith("`--exact`"):
                words = ["--json", *ways[way][:-1], rows, ways[way][-1], machine.folder / "proven"]
                summary = json.loads(fastsvm("predict", *words))
                share = 100 * summary["rows_proven"] / summary["rows"]
                table.add(name, way.replace("`--exact`", "proven"), f"{share:.4g} %")
    yield table


def tuned(machine):
    table = Table("tuned", mean=True)
    folder = machine.options.tuned
    for model in sorted(folder.glob("*.model")):
        name = model.name.removesuffix(".model")
        if name.endswith(".prob"):
            continue
        rows = machine.long_enough([model], folder / f"{name}.test")
        reference, expected, timed = machine.beside(
            [model], rows, {"labels": [model], "`--values`": ["--values", model]}
        )
        check_equal(expected, timed["labels"], name)
        add_ratios(table, name, "labels", reference, timed["labels"])
        likely = folder / f"{name}.prob.model"
        if likely.exists():
            words = ["-b", "1", likely]
            other, expected, found = machine.beside(words, rows, {"`-b 1`": words})
            check_equal(expected, found["`-b 1`"], f"{name}, -b 1")
            add_ratios(table, name, "`-b 1`", other, found["`-b 1`"])
        add_ratios(table, name, "`--values`", reference, timed["`--values`"])
    yield table


def words_of(model):
    return ["-b", "1", model] if model.name.startswith(ASKED_FOR_PROBABILITIES) else [model]


def published(machine):
    table = Table("published", mean=True)
    for model in sorted(machine.options.published.glob("*.model")):
        name, words = model.name.removesuffix(".model"), words_of(model)
        rows = machine.long_enough(words, model.with_suffix(".rows"))
        reference, expected, timed = machine.beside(words, rows, {"exact model": words})
        if b"c_svc" in model.read_bytes()[:20]:
            check_equal(expected, timed["exact model"], name)
        table.add(
            name,
            "output",
            "`-b 1`" if words[0] == "-b" else "values" if "svr" in model.read_text()[:30] else "labels",
        )
        add_ratios(table, name, "exact model", reference, timed["exact model"])
    yield table


def one_row(machine):
    """One row in C, by LIBSVM's function names. --libsvm: its source."""
    table, source = Table("one row in C, microseconds"), machine.options.libsvm
    config = [fastsvm_config("--cflags"), fastsvm_config("--libs")]
    headers = Path(config[0][0].removeprefix("-I")) / "libsvm-on-fastsvm"
    ours, theirs = machine.folder / "ours", machine.folder / "theirs"
    subprocess.run(["cc", "-O2", f"-I{headers}", *config[0], HERE / "one_row.c", "-o", ours, *config[1]], check=True)
    sources = ["-x", "c++", HERE / "one_row.c", source / "svm.cpp"]
    subprocess.run(["c++", "-O3", "-w", f"-I{source}", *sources, "-o", theirs, "-lm"], check=True)
    for model in sorted(machine.options.tuned.glob("*.model")):
        rows, sums = model.with_suffix(".test"), set()
        for column, program, sets in (("LIBSVM", theirs, [""]), ("libfastsvm", ours, machine.instructions)):
            for instructions in sets:
                environment = machine.environment(instructions)
                done = subprocess.run(
                    [program, rows, model], env=environment, capture_output=True, text=True, check=True
                )
                taken, labels = done.stdout.split()
                table.add(model.name.removesuffix(".model"), column, float(taken), instructions=instructions)
                sums.add(labels)
        if len(sums) > 1:
            sys.exit(f"Error: {model}: the labels are not LIBSVM's")
    yield table


def fastsvm_config(word):
    found = subprocess.run([BIN / "fastsvm-config", word], capture_output=True, text=True, check=True)
    return shlex.split(found.stdout)


def few_rows(machine):
    table = Table("few rows, ms")
    cases = []
    if machine.options.models:
        cases += [(name, [model], rows, {"`approx`": [made[2]]}) for name, model, rows, made in shared(machine)]
    if machine.options.published:
        models = sorted(machine.options.published.glob("*.model"))
        cases += [
            (model.name.removesuffix(".model"), words_of(model), model.with_suffix(".rows"), {}) for model in models
        ]
    for name, words, rows, ways in cases:
        text = rows.read_bytes().split(b"\n")
        for count in (1, 100):
            few = machine.folder / "few"
            few.write_bytes(b"\n".join(text[:count]) + b"\n")
            reference, _, timed = machine.beside(words, few, {"exact": words, **ways})
            label = f"{count} row{'s' * (count > 1)}: "
            table.add(name, f"{label}svm-predict", 1e3 * reference.timings.median, 1e3 * reference.timings.spread)
            for way, found in timed.items():
                for instructions, (case, _) in found.items():
                    milliseconds = 1e3 * case.timings.median, 1e3 * case.timings.spread
                    table.add(name, label + way, *milliseconds, instructions=instructions)
    yield table


def arrays(machine):
    for name, (test, cost, gamma) in ARRAYS.items():
        table = Table(f"arrays, {name}, us a row", "program")
        for instructions in machine.instructions:
            out = machine.folder / "arrays.json"
            words = [machine.options.data / name, machine.options.data / test, "-c", cost, "-g", gamma]
            words += ["--train-rows", TRAIN_ROWS, "--json", out, "--methods", "predict", "decision_function"]
            words += ["predict_proba", "--rows", 1, 1000, "--seconds", 0.2]
            command = [sys.executable, "-W", "ignore", HERE / "measure_sklearn.py"]
            command += [machine.options.packages or sys.prefix, *words]
            env = machine.environment(instructions)
            subprocess.run(list(map(str, command)), check=True, env=env, stdout=subprocess.DEVNULL)
            for call, found in json.loads(out.read_text()).items():
                for program, (taken, spread, apart) in found.items():
                    table.add(program, call, taken, spread, instructions=instructions)
                    if call.startswith("predict, 1000"):
                        table.add(program, "labels changed", apart)
        yield table


def script(name, *words):
    def section(machine):
        for instructions in machine.instructions:
            command = [sys.executable, HERE / f"{name}.py", *(word(machine) for word in words)]
            done = subprocess.run(
                list(map(str, command)),
                env=machine.environment(instructions),
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            print(f"**{name}** {instructions}\n\n```text\n{done.stdout}```\n", flush=True)
        return iter(())

    return section


def a_compiled_model(name):
    return lambda machine: next(made[2] for each, _, _, made in shared(machine) if each.startswith(name))


#: Table -> (function, folders that it needs).
SECTIONS = {
    "front-page": (example, ("models", "data")),
    "compiled": (compiled, ("models", "data")),
    "tuned": (tuned, ("tuned",)),
    "published": (published, ("published",)),
    "one-row": (one_row, ("tuned", "libsvm")),
    "few-rows": (few_rows, ()),
    "arrays": (arrays, ("data",)),
    "bench": (script("measure_choice", lambda machine: machine.options.tuned), ("tuned",)),
    "scale": (
        script("measure_scale", lambda machine: machine.options.data / "a9a.t", a_compiled_model("a9a")),
        ("models", "data"),
    ),
    "large": (script("measure_large"), ()),
    "parts": (
        script("measure_parts", lambda machine: machine.options.data / "ijcnn1.t", a_compiled_model("ijcnn1")),
        ("models", "data"),
    ),
}


def moved(now, before):
    for title, rows in now.items():
        for row, columns in rows.items():
            for column, figures in columns.items():
                old = before.get(title, {}).get(row, {}).get(column, {})
                for name in figures.keys() & old.keys():
                    (value, error, unit), (other, other_error, _) = figures[name], old[name]
                    if isinstance(value, str) or isinstance(other, str) or abs(value - other) <= error + other_error:
                        continue
                    what = ", ".join(filter(None, (title, row, column, name)))
                    yield f"{what}: {other:.3g} +- {other_error:.2g} before, {value:.3g} +- {error:.2g}{unit} now"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    for name in ("models", "data", "tuned", "published", "packages", "libsvm", "json", "compare"):
        parser.add_argument(f"--{name}", type=Path)
    svm_predict.add_option(parser)
    parser.add_argument("--instructions", default="")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="threads of fastsvm-predict (default: all processors)")
    options = parser.parse_args()
    if unknown := set(options.tables) - set(SECTIONS):
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    about = environment.describe(0)
    found = {}
    with tempfile.TemporaryDirectory() as name:
        machine = Machine(options, Path(name))
        print(
            f"{about['processor']}, {about['cores']} cores; {options.instructions or about['kernels']}; fastsvm"
            f" {about['fastsvm']}; {about['system']}; {machine.build.name}. Medians of {options.runs} runs.\n"
        )
        for name, (measure, folders) in SECTIONS.items():
            if (options.tables and name not in options.tables) or not all(getattr(options, each) for each in folders):
                continue
            for table in measure(machine):
                print(table, flush=True)
                found[table.title] = table.figures
    if options.json:
        options.json.write_text(json.dumps({"machine": about, "tables": found}, indent=1))
    if options.compare:
        for sentence in moved(found, json.loads(options.compare.read_text())["tables"]):
            print(sentence)


if __name__ == "__main__":
    main()
