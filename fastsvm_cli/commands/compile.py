"""The commands that compile: a run of theirs, and what their summaries share."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from fastsvm_cli.console.files import summary_stream, warn_of_scaling
from fastsvm_cli.console.options import FileCommand
from fastsvm_cli.methods import find
from fastsvm_cli.methods.method import Method, MethodOptions, Run, read_source

if TYPE_CHECKING:
    from fastsvm_cli.comparisons import Comparison


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


def compiles(name: str, warns: bool = False) -> "Callable[[Callable[[CompileRun], None]], click.Command]":
    """Make the command of this method of a function that prints the summary, and whose docstring is the help.

    warns: whether the function is called with -q, too.
    """
    method, _ = find(name)

    def make(tell: "Callable[[CompileRun], None]") -> click.Command:
        @click.command(method.name, cls=FileCommand, params=method.Options.parameters(), help=tell.__doc__)
        def command(**parsed):
            run = _compiled(method, method.Options(**parsed))
            if warns or not run.options.quiet:
                tell(run)

        return command

    return make
