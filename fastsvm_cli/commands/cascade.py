"""The command ``fastsvm cascade``."""

from fastsvm_cli.commands.compile import CompileRun, compiles


@compiles("cascade", warns=True)
def command(run: CompileRun) -> None:
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
