"""The command ``fastsvm reduce``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastsvm_cli.commands.compile import CompileRun, compiles

if TYPE_CHECKING:
    from fastsvm_cli._native import Chunk
    from fastsvm_cli.methods.folded_scaling import ScalingToFold
    from fastsvm_cli.methods.reduce.target import Sample
    from fastsvm_cli.models import ExactModel

_OPTIMISTIC = "; often optimistic for reduced sets: give --data"


@compiles("reduce")
def command(run: CompileRun) -> None:
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
