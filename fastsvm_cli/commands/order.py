"""The command ``fastsvm order``."""

from fastsvm_cli.commands.compile import CompileRun, compiles
from fastsvm_cli.errors import display


@compiles("order")
def command(run: CompileRun) -> None:
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
