import sys

import click

from fastsvm_cli.console.options import FileCommand, threads_option


class Share(click.ParamType):
    """0.005 or 0.5%: a share between 0 and 1."""

    name = "share"

    def convert(self, value, parameter, context):
        if isinstance(value, float):
            return value
        try:
            share = float(value[:-1]) / 100 if value.endswith("%") else float(value)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            self.fail(f"'{value}' is not a share: expected 0.005 or 0.5%.", parameter, context)
        return share


@click.command("bench", cls=FileCommand)
@click.option(
    "--try",
    "attempt",
    is_flag=True,
    help="Compile the exact model in every way that applies, into a temporary place, and measure these too.",
)
@click.option(
    "--budget",
    type=Share(),
    metavar="P",
    help="The share of labels that may differ, as 0.5% or 0.005: marks the fastest model that stays inside.",
)
@click.option(
    "--keep",
    metavar="PATH",
    help="With --try and --budget: write that model here, and print the command that makes it.",
)
@click.option(
    "--max-disagreement",
    type=Share(),
    metavar="P",
    help="A gate: exit with 3 when a named model changes more labels than that.",
)
@click.option(
    "--control",
    "train_file",
    metavar="TRAIN_FILE",
    help=(
        "Add the honest rival: an SVM trained on as few rows of this file as reach the disagreement of the picked model"
        " (without --budget: of the fastest compiled one)."
    ),
)
@click.option(
    "--cross-validate",
    "folds",
    type=click.IntRange(2),
    metavar="K",
    help="No model: train, compile and predict on K folds of TEST_FILE, with -c and -g.",
)
@click.option(
    "-c",
    "cost",
    type=click.FloatRange(0, min_open=True),
    metavar="C",
    help="Of the training: --cross-validate [default: 1], --control [default: the largest |coefficient| of the model].",
)
@click.option(
    "-g",
    "gamma",
    type=click.FloatRange(0, min_open=True),
    metavar="G",
    help="Of the training of --cross-validate [default: 1 / number of features].",
)
@click.option(
    "--degree", type=click.IntRange(1, 4), default=2, show_default=True, help="Of the expansion of --cross-validate."
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="N",
    help="Of every case, after one to warm up.",
)
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, min_open=True),
    default=20.0,
    show_default=True,
    metavar="S",
    help="A case whose runs take longer together is run fewer times, but three.",
)
@click.option(
    "--patience",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="S",
    help="With --try: compilations that take longer are given up.",
)
@click.option(
    "--max-size",
    type=click.FloatRange(0, min_open=True),
    default=64,
    show_default=True,
    metavar="MB",
    help="With --try: larger models are not made.",
)
@click.option("--json", "as_json", is_flag=True, help="Everything on standard output as JSON, instead of the tables.")
@click.option("--markdown", "as_markdown", is_flag=True, help="The tables as Markdown.")
@click.option("--csv", "csv_file", metavar="FILE", help="Every raw timing, written as it is measured.")
@click.option(
    "--plot",
    "plot_file",
    metavar="FILE",
    help="Draw speed-up against disagreement (.svg or .png; needs matplotlib: pip install 'fastsvm[plot]').",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the folds, and of the rows of --control."
)
@threads_option
@click.option("-q", "--quiet", is_flag=True, help="No progress bar, no notes.")
@click.argument("test_file")
@click.argument("model_files", nargs=-1)
def command(
    attempt,
    budget,
    keep,
    max_disagreement,
    train_file,
    folds,
    cost,
    gamma,
    degree,
    runs,
    max_seconds,
    patience,
    max_size,
    as_json,
    as_markdown,
    csv_file,
    plot_file,
    seed,
    threads,
    quiet,
    test_file,
    model_files,
):
    """Put models side by side on TEST_FILE: how much faster, how different, how large, which one to take.

    The first model is the exact one, a LIBSVM model; the others are compared with it. Two clocks: end to end is a new
    process that reads the files and writes one, against svm-predict where that is on the PATH; in memory is from parsed
    rows to labels, against libsvm itself. Cases take turns, so that what disturbs the machine disturbs all. Certified
    models are measured with predict --exact as well. What fails is a row that says why.

    \b
      fastsvm bench test.txt train.model train.model.approx
    \b
    From a trained model to the answer:
      fastsvm bench --try --budget 0.5% --keep fast.model test.txt train.model
    """
    import os
    import tempfile
    from contextlib import ExitStack

    _check_usage(
        attempt,
        budget,
        keep,
        max_disagreement,
        train_file,
        folds,
        cost,
        gamma,
        as_json,
        as_markdown,
        csv_file,
        plot_file,
        test_file,
        model_files,
    )
    _check_files((test_file, train_file, *model_files), (keep, csv_file, plot_file))
    # libsvm-official's OpenMP, read when it is loaded. Threads that wait must not keep the others from running.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if threads:
        os.environ.setdefault("OMP_NUM_THREADS", str(threads))

    from fastsvm_cli import _native

    _native.set_threads(threads)
    if folds is not None:
        _cross_validate(test_file, folds, cost or 1.0, gamma, degree, seed, as_json, quiet)
        return

    from fastsvm_cli.benchmarks import machine as machines
    from fastsvm_cli.benchmarks.cases import END_TO_END, SCORING, Bench
    from fastsvm_cli.benchmarks.report import (
        RawTimings,
        pareto,
        print_tables,
    )
    from fastsvm_cli.benchmarks.report import (
        as_json as json_text,
    )
    from fastsvm_cli.benchmarks.report import (
        as_markdown as markdown_text,
    )
    from fastsvm_cli.compilers.training import load_libsvm
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.models import load_model
    from fastsvm_cli.stopping import raising
    from fastsvm_cli.text.output import Output

    def note(words):
        if not quiet:
            print(words, file=sys.stderr)

    machine = machines.describe(threads)
    load_libsvm()
    # Told to stop, it has child processes to end and measurements to print.
    with raising(), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        bench = Bench(
            test_file,
            model_files[0],
            folder=folder,
            threads=threads,
            fastsvm=machines.fastsvm_command(),
            svm_predict=machine["svm_predict"],
        )
        if bench.model.header.regression and (
            budget is not None or max_disagreement is not None or train_file or plot_file
        ):
            raise click.UsageError(
                "--budget, --max-disagreement, --control and --plot are about labels that differ; a regression model"
                " has values."
            )
        raw = stack.enter_context(RawTimings(csv_file))  # the previous timings go when new ones are to come
        bench.add_references()
        bench.add_model(model_files[0], name="exact model", role="exact")
        named = [case for path in model_files[1:] for case in bench.add_model(path)]
        interrupted, picked = None, None
        try:
            if attempt:
                _try_everything(bench, machines.fastsvm_command(), folder, max_size, patience, threads, quiet, note)
            for clock, share, base in ((END_TO_END, 0.7, 0.0), (SCORING, 0.3, 0.7)):
                with Progress("bench", quiet=quiet) as progress:
                    on_run = _counted(raw, progress, len(bench.cases) * (runs + 1), share, base)
                    bench.measure(bench.cases, clock, runs, max_seconds, on_run)
            picked = bench.within(budget) if budget is not None else None
            if train_file is not None:
                control = _add_control(bench, train_file, picked, folder, cost, seed, quiet, note)
                for clock in (END_TO_END, SCORING):
                    bench.measure(control, clock, runs, max_seconds, raw)
        except KeyboardInterrupt as stop:
            interrupted = stop
            bench.compare_outputs()
            bench.take_failures()
        front = pareto(bench)
        if as_json:
            print(json_text(bench, machine, picked))
        elif as_markdown:
            print(markdown_text(bench, machine))
        else:
            print_tables(bench, machine, picked, front)
        if interrupted is not None:
            raise interrupted
        if keep is not None and picked is not None:
            assert picked.path is not None  # the exact model, or a compiled one
            load_model(picked.path)  # what cannot be read is not written
            with open(picked.path, "rb") as source, Output(keep) as output:
                output.write(source.read())
        if plot_file is not None:
            from fastsvm_cli.benchmarks.plot import plot

            drawn = plot(bench, plot_file.rpartition(".")[2], picked, front)
            with Output(plot_file) as output:
                output.write(drawn)
        report = sys.stderr if as_json else sys.stdout
        if budget is not None:
            _say_picked(bench, picked, budget, keep, report)
    failed = [case for case in named if case.failed is not None]
    exceeded = [
        case for case in named if max_disagreement is not None and (bench.disagreement(case) or 0.0) > max_disagreement
    ]
    for case in failed:
        print(f"Error: {case.failed}", file=sys.stderr)
    for case in exceeded:
        print(
            f"Error: {case.name}: {100 * (bench.disagreement(case) or 0.0):.3g} % of the labels differ, more than"
            f" {100 * max_disagreement:.3g} % (--max-disagreement)",
            file=sys.stderr,
        )
    if exceeded or failed:
        raise click.exceptions.Exit(3 if exceeded else 1)


def _counted(raw, progress, whole: int, share: float, base: float):
    """A callback of Bench.measure that hands every run on to `raw` and moves the bar: by the end of `whole` runs from
    base to base + share."""
    done = 0

    def on_run(case, round, seconds):
        nonlocal done
        raw(case, round, seconds)
        done += 1
        progress(base + share * done / whole, f"{case.clock_name}: {case.name}")

    return on_run


def _check_usage(
    attempt,
    budget,
    keep,
    max_disagreement,
    train_file,
    folds,
    cost,
    gamma,
    as_json,
    as_markdown,
    csv_file,
    plot_file,
    test_file,
    model_files,
):
    if "-" in (test_file, train_file, *model_files):
        raise click.UsageError("bench reads its files several times: none of them can be standard input.")
    if folds is not None:
        if (
            model_files
            or attempt
            or budget is not None
            or keep
            or max_disagreement is not None
            or train_file
            or csv_file
            or plot_file
            or as_markdown
        ):
            raise click.UsageError(
                "--cross-validate takes a data file alone and trains its own models: it goes with -c, -g, --degree,"
                " --seed and --json, not with --csv, --plot or the others."
            )
    elif not model_files:
        raise click.UsageError("Missing argument 'MODEL_FILES...': the exact model, then others (or --try).")
    if gamma is not None and folds is None:
        raise click.UsageError("-g goes with --cross-validate; other models have their gamma.")
    if cost is not None and folds is None and train_file is None:
        raise click.UsageError("-c goes with --cross-validate or --control.")
    if keep is not None and not (attempt and budget is not None):
        raise click.UsageError("--keep goes with --try and --budget: it keeps what they pick.")
    if max_disagreement is not None and len(model_files) < 2:
        raise click.UsageError("--max-disagreement is about named models: name one behind the exact model.")
    if as_json and as_markdown:
        raise click.UsageError("--json and --markdown do not go together.")
    if plot_file is not None:
        if not plot_file.endswith((".svg", ".png", ".pdf")):
            raise click.UsageError(f"--plot writes .svg, .png or .pdf, and '{plot_file}' is none of them.")
        try:
            import matplotlib  # noqa: F401
        except Exception:
            raise click.ClickException("--plot needs matplotlib: pip install 'fastsvm[plot]'") from None


def _check_files(inputs: "tuple[str | None, ...]", outputs: "tuple[str | None, ...]") -> None:
    """Before minutes of measuring, as check_files; and no two outputs are the same file."""
    from os.path import exists, isfile, realpath

    from fastsvm_cli.text.output import check_output, demand_standard_output

    demand_standard_output()
    named = [path for path in outputs if path is not None]
    for path in named:
        check_output(path, inputs)
    files = [realpath(path) for path in named if isfile(path) or not exists(path)]
    if len(set(files)) < len(files):
        raise click.UsageError("--keep, --csv and --plot write a file each: two of them have the same name.")


def _try_everything(bench, fastsvm, folder, max_size, patience, threads, quiet, note):
    from fastsvm_cli.benchmarks.attempts import attempts, compile_attempts
    from fastsvm_cli.console.progress import Progress

    tried = attempts(bench.model, max_size * 1e6, patience)
    skipped = [each for each in tried if each.skipped is not None]
    if skipped:
        note("Skipped: " + "; ".join(f"{each.name} ({each.skipped})" for each in skipped) + ".")
    with Progress("compile", quiet=quiet) as progress:
        compile_attempts(
            bench, [each for each in tried if each.skipped is None], fastsvm, folder, patience, threads, progress
        )


def _add_control(bench, train_file, picked, folder, cost, seed, quiet, note):
    """The cases of an SVM trained on fewer rows: with svm-predict, where there is one, and with fastsvm."""
    from fastsvm_cli.benchmarks.cases import END_TO_END, Case
    from fastsvm_cli.benchmarks.control import subsample_control
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import FastsvmError

    rivals = [
        case
        for case in bench.cases
        if case.role == "compiled" and case.failed is None and case.timings(END_TO_END) is not None
    ]
    rival = (
        picked
        if picked is not None and picked.role == "compiled"
        else min(rivals, key=lambda case: case.timings(END_TO_END).median, default=None)
    )
    if rival is None:
        note("No control: there is no compiled model to compare it with.")
        return []
    target = bench.disagreement(rival) or 0.0
    try:
        with Progress("control", quiet=quiet) as progress:
            found = subsample_control(
                bench.answers, train_file, target, folder, cost=cost, seed=seed, on_progress=progress
            )
    except FastsvmError as error:
        case = Case("control", "control")
        case.failed = str(error)
        bench.cases.append(case)
        return []
    if found is None:
        note(
            f"No control: not even all rows of {train_file} train an SVM that differs in {100 * target:.3g} % of the"
            f" labels or fewer, as {rival.name} does. (Is -c {cost or ''} the C of the exact model?)"
        )
        return []
    return bench.add_control(found.path, f"control, {found.rows} of {found.of} rows")


def _say_picked(bench, picked, budget, keep, report):
    import shlex

    from fastsvm_cli.benchmarks.cases import END_TO_END

    if picked is None:
        print(f"Nothing measured stays within {100 * budget:.3g} %.", file=report)
        return
    share, (ratio, error) = bench.disagreement(picked) or 0.0, bench.speed_up(picked, END_TO_END)
    of = bench.reference(END_TO_END).name
    print(
        f"Fastest within {100 * budget:.3g} %: {picked.name}, {ratio:.3g} +- {error:.2g} times as fast as {of};"
        f" {100 * share:.3g} % of the labels differ.",
        file=report,
    )
    path = keep or "fast.model"
    if picked.role == "exact":
        print("No compiled model is faster; fastsvm predict takes the exact one as it is.", file=report)
        path = keep or bench.exact_file
    if picked.made_by:
        print(
            f"  fastsvm {shlex.join(picked.made_by)} {shlex.quote(bench.exact_file)} {shlex.quote(path)}", file=report
        )
    elif picked.role == "compiled":
        path = picked.path
    exact = f"--exact {shlex.quote(bench.exact_file)} " if picked.with_exact else ""
    print(f"  fastsvm predict {exact}{shlex.quote(bench.test_file)} {shlex.quote(path)} out", file=report)


def _cross_validate(data_file, folds, cost, gamma, degree, seed, as_json, quiet):
    import tempfile

    from fastsvm_cli.benchmarks.cross_validation import cross_validate
    from fastsvm_cli.compilers.training import load_libsvm
    from fastsvm_cli.console.progress import Progress
    from fastsvm_cli.errors import FileError
    from fastsvm_cli.stopping import raising
    from fastsvm_cli.text.data import read_chunks

    load_libsvm()
    chunks = list(read_chunks(data_file))
    if not chunks:
        raise FileError(data_file, "no rows found, expected some to train on")
    gamma = gamma or 1 / max(1, max(chunk.max_index for chunk in chunks))
    with raising(), tempfile.TemporaryDirectory() as folder, Progress("cross-validate", quiet=quiet) as progress:
        found = cross_validate(
            chunks,
            data_file,
            folds,
            cost=cost,
            gamma=gamma,
            degree=degree,
            folder=folder,
            seed=seed,
            on_progress=progress,
        )
    rows = sum(fold.rows for fold in found)
    means = [
        sum(getattr(fold, name) * fold.rows for fold in found) / rows for name in ("exact", "compiled", "disagreement")
    ]
    if as_json:
        import json

        print(
            json.dumps(
                {
                    "data_file": data_file,
                    "gamma": gamma,
                    "cost": cost,
                    "degree": degree,
                    "folds": [vars(fold) for fold in found],
                    "exact": means[0],
                    "compiled": means[1],
                    "disagreement": means[2],
                },
                indent=1,
            )
        )
        return
    print(f"{data_file}: {folds} folds, gamma {gamma:g}, C {cost:g}, expansion of degree {degree}")
    print(f"{'fold':>6} {'rows':>8} {'support vectors':>16} {'exact':>10} {'compiled':>10} {'labels that differ':>19}")
    for at, fold in enumerate(found, 1):
        print(
            f"{at:>6} {fold.rows:>8} {fold.vectors:>16} {100 * fold.exact:>8.2f} % {100 * fold.compiled:>8.2f} %"
            f" {100 * fold.disagreement:>17.3g} %"
        )
    print(f"{'all':>6} {rows:>8} {'':>16} {100 * means[0]:>8.2f} % {100 * means[1]:>8.2f} % {100 * means[2]:>17.3g} %")
