"""The command ``fastsvm approx``."""

from fastsvm_cli.commands.compile import CompileRun, compiles


@compiles("approx")
def command(run: CompileRun) -> None:
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
