"""The commands that compile: a run of theirs, and their summaries."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from fastsvm_cli.console.files import summary_stream, warn_of_scaling
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.errors import display
from fastsvm_cli.methods import find
from fastsvm_cli.methods.method import Method, MethodOptions, Run, read_source

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.comparisons import Comparison
    from fastsvm_cli.methods.folded_scaling import ScalingToFold
    from fastsvm_cli.methods.reduce.target import Sample
    from fastsvm_cli.models import ExactModel

_OPTIMISTIC = "; often optimistic for reduced sets: give --data"


class CompileRun(Run):
    """A compilation that tells of its result."""

    def tell(self, words: str) -> None:
        """Print a line of the summary."""
        print(words, file=summary_stream(self.options.output_file))

    def warn(self, words: str) -> None:
        """Print a warning."""
        print(f"Warning: {words}", file=sys.stderr)

    def tell_sizes(self) -> None:
        """Print both sizes and the result's path."""
        from fastsvm_cli.text import size_text

        before = "" if self.source is None else f"{size_text(self.source.size)} -> "
        path = self.options.output_file
        self.tell(f"{before}{size_text(self.size)}: {'standard output' if path == '-' else path}")

    def tell_of_scaling(self) -> None:
        """Print that the model takes raw rows, if it does."""
        if self.scaling is not None:
            what = "embedded" if self.folding is None else "folded in"
            raw = "raw rows" if self.scaling.native.label_line() is None else "raw rows and predicts raw labels"
            self.tell(f"{self.scaling.path} is {what}: the model takes {raw}")

    def warn_of_disagreement(self, seen: "Comparison", ways_out: str) -> None:
        """Warn if labels differ beyond the limit. ways_out: better options."""
        from fastsvm_cli.comparisons import DOUBTFUL

        if seen.share <= DOUBTFUL:
            return
        share = f"{100 * seen.share:.3g} %"
        what = f"{share} of these labels are not the exact model's"
        if seen.regression:
            what = f"values are off by {share} of their spread"
        cascade = "" if seen.regression else ", fastsvm cascade --data ROWS"
        self.warn(
            f"{what}; try {ways_out}{cascade}, or the exact model as it is (fastsvm bench --try measures them all)."
        )


def _compiled(method: "Method", options: "MethodOptions") -> CompileRun:
    """Run a method's command up to its summary."""
    from fastsvm_cli.console.terminal import Progress
    from fastsvm_cli.text.files import write_output

    options.begin()
    run = CompileRun(method, options)
    if options.of_model:
        from fastsvm_cli.models import warn_of

        run.source = read_source(options.model_file, warn=False)
        run.check()
        warn_of(run.exact, options.model_file)
        options.check_model(run.exact)
    method.prepare(run)
    with Progress(method.name, quiet=options.quiet, announced=True) as progress:
        run.made = method.compile(run, progress)
    for scaling in run.applied:
        warn_of_scaling(scaling, options.quiet)
    text, _ = run.text(method.written(run))
    write_output(options.output_file, text)
    return run


def command(name: str) -> click.Command:
    """Return the command of a method. The docstring of the function below that prints its summary is its help."""
    method, _ = find(name)
    tell = _SUMMARIES[name]

    @click.command(name, cls=FileCommand, params=method.Options.parameters(), help=tell.__doc__)
    def compiles(**parsed):
        run = _compiled(method, method.Options(**parsed))
        if tell is _cascade or not run.options.quiet:  # which warns of a missed guarantee
            tell(run)

    return compiles


def _approx(run: CompileRun) -> None:
    """Compile a LIBSVM model into its Maclaurin expansion.

    At degree 2, a row costs at most d*d/2 products (sparse rows: half the square of their non-zeros), whatever the
    number of support vectors. Takes RBF models of any svm_type and number of classes. Linear kernels, and polynomial
    kernels of degree up to 4, compile exactly. The default OUTPUT_FILE is MODEL_FILE.approx in the current directory; -
    is standard output.

    Few labels change if gamma is small for the data (fastsvm bound tells beforehand) and large coefficients do not
    cancel. To make sure of all labels: --certify, then fastsvm predict --exact.

    \b
      fastsvm approx train.model
      fastsvm predict test.txt train.model.approx out
    """
    from fastsvm_cli.comparisons import agreement_with_exact, gain_in_doubt

    model, compiled = run.exact, run.made.model
    if run.options.replaces_certified and not compiled.certified:
        run.warn(
            f"{run.options.output_file} was a certified model, and is one without radii now: predict --exact needs"
            " --certify."
        )
    d, pairs = len(compiled.features), model.header.pairs
    functions = f"{pairs} decision function{'s' * (pairs != 1)}"
    space = f"in {d} features{', certified' * compiled.certified}"
    run.tell(f"{model.header.total_sv} support vectors -> {functions} of degree {compiled.degree} {space}")
    run.tell_sizes()
    run.tell_of_scaling()
    tried = gain_in_doubt(compiled, model)
    if tried is not None:
        run.warn(
            f"{functions} of degree {compiled.degree} take{'s' * (pairs == 1)} {1 / tried.speed_up:.3g} times as long"
            " as the exact model does on its support vectors: fastsvm predict is faster with that one."
        )
    seen = agreement_with_exact(compiled, model)
    if seen is not None:
        total = model.header.total_sv
        part = "support vectors" if seen.rows == total else f"a sample of {total:,} support vectors (all take long)"
        run.tell(seen.line(part))
        run.warn_of_disagreement(seen, run.options.better(compiled))


def _cascade(run: CompileRun) -> None:
    """Put cheap stages in front of the exact model, calibrated on rows.

    For models of any gamma. Takes RBF, polynomial and sigmoid classifiers and one-class models. A row stops at the
    first stage whose margin is large enough; the exact model answers the rest. The stages are fitted to the exact
    model, and their thresholds tested on rows of --data that no fit has seen.

    The guarantee is statistical, not a proof: with the given confidence, at most the share --budget of rows drawn like
    those of --data get another label than the exact model's. 0.1 % with 95 % confidence needs 2,995 rows to test on
    without a difference, beside some to fit on: give 5,000 or more. The confidence is of all runs: a run that finds no
    cascade keeps the budget, too. fastsvm predict --audit measures the share on rows to come.

    The cascade contains the exact model, which answers --values and -b 1. The default OUTPUT_FILE is MODEL_FILE.cascade
    in the current directory; - is standard output.

    \b
      fastsvm cascade --data rows.txt train.model
      fastsvm predict test.txt train.model.cascade out
    """
    options, found, model = run.options, run.made, run.made.model
    if found.warning is not None:
        run.warn(f"{found.warning}.")
    if options.quiet:
        return
    from fastsvm_cli.text import percent

    for number, (stage, share) in enumerate(zip(model.stages, found.shares), 1):
        run.tell(f"stage {number}: {_described(stage)} answers {percent(share)} of the rows")
    run.tell(f"exact model: {model.header.total_sv} support vectors, {percent(found.shares[-1])}")
    run.tell_sizes()
    run.tell_of_scaling()
    run.tell(
        f"{found.evaluations:.4g} kernel evaluations a row, {found.gain:.3g} times as fast as the exact model (for a"
        f" run of {options.rows:,} rows, with reading)"
    )
    whose = "the rows of each class" if options.each_class else "rows"
    run.tell(
        f"guaranteed with {100 * options.confidence:.10g} % confidence: at most {100 * options.budget:.10g} % of"
        f" {whose} like these differ; in the test {model.differing} of {model.tested} did"
        f" ({percent(model.differing / model.tested)})"
    )


def _described(stage) -> str:
    if stage.vectors:
        return f"{stage.vectors} vectors{' and a linear function' if stage.degree else ''}"
    return "a linear function" if stage.degree == 1 else f"a polynomial of degree {stage.degree}"


def _reduce(run: CompileRun) -> None:
    """Replace the support vectors by a few others: a smaller LIBSVM model.

    The output is a true LIBSVM model: svm-predict, and every other reader of such models, gets faster without a change.
    Takes RBF models of any svm_type and number of classes. The vectors are placed so that the decision functions change
    least in the kernel's feature space. A last line, which LIBSVM skips, bounds the change, so that fastsvm predict
    --exact can prove labels. The default OUTPUT_FILE is MODEL_FILE.reduced in the current directory; - is standard
    output.

    \b
      fastsvm reduce --ratio 0.01 --data test.txt train.model
      svm-predict test.txt train.model.reduced out
    """
    from fastsvm_cli import _native
    from fastsvm_cli.comparisons import agreement
    from fastsvm_cli.console.terminal import Progress

    options, found, model, rows = run.options, run.made, run.exact, run.rows
    reduced, sample = found.model, found.sample
    merged = f", {found.merged} of them equal to others or of coefficient 0" if found.merged else ""
    run.tell(f"{model.header.total_sv} support vectors{merged} -> {reduced.header.total_sv} vectors")
    run.tell_sizes()
    run.tell_of_scaling()
    if run.folding is not None:
        _tell_of_unknown(run, run.folding)
    if not options.lossless:
        radius = max(reduced.origin.radius, default=0.0)
        run.tell(f"squared distance {found.distance:.3g} of |Psi|^2, radius {radius:.3g}")
    if sample is not None and sample.measured is not None:
        rows = [sample.measured]
    with Progress("reduce, compared with the exact model", announced=True) as progress:
        seen = agreement(reduced, model, rows or [model.vectors], progress)
    if sample is not None:
        for line in _sample_lines(sample, options.data_file):
            run.tell(line)
    else:
        note = "" if options.lossless else _OPTIMISTIC if rows is None else _note_of_training(model, rows)
        run.tell(seen.line(options.data_file or "the support vectors") + note)
    if rows:
        own, exact = (_native.score_lines(model.header, each)[0] for each in (seen.score, seen.reference_score))
        run.tell(f"{own}; the exact model: {exact}")
    if found.missing:
        run.warn(
            f"fixed-point iteration came to no rest, so that there are {found.missing} vectors fewer than wanted;"
            " --optimizer irprop reaches any number."
        )
    if sample is None:
        run.warn_of_disagreement(seen, "more --vectors")
    elif found.warning is not None:
        run.warn(f"{found.warning}.")


def _note_of_training(model: "ExactModel", rows: "list[Chunk]") -> str:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.methods.reduce.target import among

    trained = among(model.vectors, Chunk.concatenate(rows)).mean() > 0.5 if model.header.total_sv else False
    return "; the model was trained on these rows: give others, they differ more often" if trained else ""


def _sample_lines(sample: "Sample", data_file: "str | None") -> "Iterator[str]":
    from fastsvm_cli.methods.reduce.target import CONFIDENCE

    seen = sample.seen
    difference = f"root mean square difference, of the values' standard deviation, on {{}}: {100 * seen.share:.3g} %"
    if seen.changed is not None:
        difference = f"labels that differ on {{}}: {seen.different} of {seen.rows} ({100 * seen.share:.3g} %)"
    if sample.bound is None:
        yield difference.format("support vectors held out while placing") + _OPTIMISTIC
        return
    yield (
        difference.format(f"the tested part of {data_file}")
        + f"; with {100 * CONFIDENCE:g} % confidence at most {100 * sample.bound:.3g} % of rows like these"
    )
    if sample.held:
        yield (
            f"{sample.held} of these rows are support vectors, and were held out while placing: for rows that the model"
            " was not trained on, this is an estimate"
        )


def _tell_of_unknown(run: CompileRun, folding: "ScalingToFold") -> None:
    # svm-scale drops features that the range file lacks; a LIBSVM model counts them.
    from fastsvm_cli._native import used_indices

    known = set(folding.affine.features)
    unknown = next((index for chunk in run.rows or () for index in used_indices(chunk) if index not in known), None)
    if unknown is not None:
        run.warn(
            f"the rows have feature {unknown}, which {folding.path} does not hold: svm-scale leaves it out, a LIBSVM"
            " model counts it. Take it out of the rows, or use fastsvm approx --scale."
        )
    elif len(known) < max(known, default=0):
        run.tell(f"Features that {folding.path} does not hold must not be in the rows: a LIBSVM model counts them.")


def _order(run: CompileRun) -> None:
    """Order support vectors so that rows stop early, with the exact label.

    Takes any LIBSVM model. A row is evaluated until the rest of its sum cannot change the label; the few others are
    evaluated in full. Labels are always svm-predict's. The ordered model contains the exact one, so that no second file
    is needed. The default OUTPUT_FILE is MODEL_FILE.order in the current directory; - is standard output.

    The summary reports a trial, of one thread in memory: on rows of --data, or on support vectors. A classifier's lie
    nearer to the border than most rows, and usually gain less. A warning says if the exact model is faster there.

    \b
      fastsvm order train.model
      fastsvm predict test.txt train.model.order out

    Intervals from 50 points:

    \b
      fastsvm predict --steps 50 --values test.txt train.model.order
    """
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.comparisons import trial

    ordered, data_file = run.made.model, run.options.data_file
    run.tell(f"{ordered.header.total_sv} support vectors, {ordered.ordered_by}")
    run.tell_sizes()
    run.tell_of_scaling()
    tried = trial(ordered, ordered.exact, None if run.rows is None else Chunk.concatenate(run.rows))
    if tried is None:
        return
    which = "support vectors" if data_file is None else f"rows of {display(data_file)}"
    run.tell(
        f"Trial on {tried.rows} {which}: {100 * tried.evaluations:.3g} % of the kernel evaluations,"
        f" {tried.speed_up:.3g} times as fast as the exact model in memory."
    )
    if data_file is None:
        farther = "" if ordered.header.regression else "Most rows are farther from the border: "
        run.tell(f"{farther}--data tries the model on rows like those to predict.")
    if tried.speed_up < 1:
        from fastsvm_cli.methods.order.orders import reason_against

        # triangle was slower than every measured exact model.
        other = run.options.method != "geometry" and reason_against(ordered.exact) is None
        run.warn(
            f"on these {'support vectors' if data_file is None else 'rows'}, fastsvm predict with the exact model is"
            f" faster{'; try --method geometry' if other else ''}."
        )


def _border(run: CompileRun) -> None:
    """Compile a model into points on the border of classes, with normals.

    A border sample is a root of the decision function on the line between two vectors of opposite classes; its normal
    is the gradient there. A row gets the class on its side of the nearest sample's plane, at the cost of one distance
    per sample. Suits few features. Takes classification models, one-class models (with --data) and any kernel but a
    precomputed one; predict -b 1 works for models with probabilities. The default OUTPUT_FILE is MODEL_FILE.border in
    the current directory; - is standard output.

    Labels are not proven. The summary says how many differ on rows not used to place samples.

    \b
      fastsvm border --samples 100 train.model
      fastsvm predict test.txt train.model.border out

    Without an SVM:

    \b
      fastsvm border --bandwidth adaptive -W 20 train.txt
      fastsvm border --bandwidth adaptive -W 20 --density train.txt
    """
    if run.options.density:
        _tell_of_density(run)
    else:
        _tell_of_border(run)
        run.tell_of_scaling()
        _warn_of_border(run)


def _tell_of_density(run: CompileRun) -> None:
    header, width = run.made.model.header, run.options.width
    if width is None:
        what = f"a density estimate of {header.total_sv} weights that add up to {run.options.weight:g}"
    else:
        what = f"a LIBSVM model, the density estimate of bandwidth {width:g} (gamma {header.gamma:g})"
    run.tell(f"{header.total_sv} training rows of {header.nr_class} classes -> {what}")
    run.tell_sizes()
    run.tell_of_scaling()


def _tell_of_border(run: CompileRun) -> None:
    options, found, model, counts = run.options, run.made, run.made.model, run.made.counts
    together = f" ({min(counts)} to {max(counts)} for each of {len(counts)} pairs)" if len(counts) > 1 else ""
    origin = f"{model.header.total_sv} {'support vectors' if options.of_model else 'training rows'}"
    run.tell(f"{origin} -> {sum(counts)} border samples{together} in {len(model.features)} features")
    run.tell_sizes()
    what = options.rows_file or "support vectors"
    apart = "held out" if found.parted else "too few to hold out"
    run.tell(
        f"labels that differ on {found.measured} rows of {what}, {apart}: {found.different}"
        f" ({100 * found.disagreement:.3g} %)"
    )
    if options.local > 1:
        if model.local > 1:
            run.tell(f"local: {model.local} of the nearest samples answer together")
        else:
            run.tell(f"local: the nearest sample alone is as good as {options.local} of them")

    from fastsvm_cli.comparisons import trial

    tried = trial(model, run.exact) if options.of_model else None
    if tried is not None:
        run.tell(f"Trial on {tried.rows} support vectors: {tried.speed_up:.3g} times as fast as the exact model.")
        if tried.speed_up < 1:
            run.warn(
                "no gain in time is to be expected over fastsvm predict with the exact model; fewer --samples are"
                " faster."
            )


def _warn_of_border(run: CompileRun) -> None:
    from fastsvm_cli.methods.border.samples import looks_one_hot

    options, found = run.options, run.made
    pairs, target = f"{len(found.counts)} pairs", options.target
    if found.one_sided:
        run.warn(
            f"{found.one_sided} of {pairs} of classes have no border between the rows: one class wins on all of them."
        )
    if found.without_root:
        what = (
            "a larger --tolerance for decision values as large as these" if options.of_model else "a larger --bandwidth"
        )
        run.warn(
            f"{found.without_root} of {pairs} of classes have no root within {options.tolerance:g}: choose {what}."
        )
    if found.short and target is None:
        run.warn(f"{found.short} of {pairs} have fewer samples than requested: further ones would be near-duplicates.")
    if target is not None and found.disagreement > target:
        run.warn(f"the target of {100 * target:.3g} % was not met.")
    elif found.disagreement > 0.05:
        better = "fastsvm approx or reduce" if options.of_model else "more --samples, another bandwidth, or an SVM"
        tells = " (fastsvm bench tells)" if options.of_model else ""
        run.warn(f"poor agreement is to be expected: {better} may do better{tells}.")
    if looks_one_hot(run.rows[0] if run.rows else run.exact.vectors):
        run.warn(
            "most features have one value besides 0, as one-hot data has: border samples lie between categories, where"
            " no row is."
        )


_SUMMARIES = {"approx": _approx, "cascade": _cascade, "reduce": _reduce, "order": _order, "border": _border}
