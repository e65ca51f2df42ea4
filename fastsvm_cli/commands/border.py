"""The command ``fastsvm border``."""

from fastsvm_cli.commands.compile import CompileRun, compiles


@compiles("border")
def command(run: CompileRun) -> None:
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
