"""Lines that ``bench --try`` prints while it measures."""

from typing import TypeAlias

from rich.cells import cell_len

from fastsvm_cli.benchmarks.bench_run import Bench
from fastsvm_cli.benchmarks.choice import best_so_far
from fastsvm_cli.benchmarks.conclusion import class_words
from fastsvm_cli.benchmarks.table_row import Case
from fastsvm_cli.benchmarks.tables import printable
from fastsvm_cli.methods import reasons_against
from fastsvm_cli.methods.method import Attempt
from fastsvm_cli.text.numbers import digits

#: A line, and its style in rich's words.
Line: TypeAlias = tuple[str, str]

_SPEED, _PROVEN = 8, len("59.37 % proven")  # columns
_MOST_NAME = 60  # columns; a longer name shifts its numbers


class TrialLines:
    """Writer of the lines of ``bench --try``: one per compiled model, with its speed and the labels that differ.

    tried: the attempts, whose names set the width. budget: largest share of labels that may differ; None without one.
    """

    def __init__(self, bench: Bench, tried: "list[Attempt]", budget: "float | None"):
        self._bench, self._budget = bench, budget
        self._values = len("12.3 % RMS, largest 123 %" if bench.model.header.regression else "12.3 % differ")
        self._values += len(", over budget") if budget is not None else 0
        names = [each.name for each in tried] + [case.name for case in bench.cases]
        self._width_left = min(_MOST_NAME, max(map(cell_len, names), default=0))

    def beginning(self, found: "list[Attempt]", max_size: float, patience: float, time_limit: float) -> "list[Line]":
        """Return the lines before the first attempt: the number of attempts, the limits, and what is left out and why.

        found: all attempts, also those that a limit skips. max_size: in MB. patience, time_limit: in seconds.
        """
        tried = sum(each.skipped is None for each in found)
        out = [
            f"{tried} ways to compile {self._bench.exact_file}, the most promising first, in {time_limit:g} s"
            " (--time-limit)."
        ]
        if self._bench.model.header.regression:
            out.append("Differences from the exact model's values, in percent of their standard deviation.")
        for limit, value in (("--max-size", f"{max_size:g} MB"), ("--patience", f"{patience:g} s")):
            left_out = [f"{each.name} ({each.skipped})" for each in found if each.skipped and each.limit == limit]
            if left_out:
                out.append(f"Left out by {limit} {value}: {', '.join(left_out)}.")
        whys: dict[str, list[str]] = {}
        for command, why in reasons_against(self._bench.answers.model):
            whys.setdefault(why, []).append(command)
        out += [f"Left out: {', '.join(commands)}: {why}." for why, commands in whys.items()]
        return [(printable(line), "") for line in out]

    def of(self, case: Case) -> "list[Line]":
        """Return the line of a case, and a second one if only a class's labels exceed the budget."""
        name = "  with predict --exact" if case.with_exact and case.made_by else printable(case.name)
        name += " " * (self._width_left - cell_len(name))
        if case.failed is not None:
            return [(f"{name}  {printable(case.failed)}", "dim")]
        over = self._over(case)
        of_some = f" of {case.look.rows} rows" if case.look is not None and case.quality is None else ""
        differ = self._differ(case) + of_some + ", over budget" * over
        line = f"{name}{self._speed(case):>{_SPEED}}  {differ:<{self._values}}"
        proven = case.quality.proven if case.quality is not None and case.kind != "reduced" else None
        if proven is not None and not self._bench.model.header.regression:
            line += f"  {f'{100 * proven / self._bench.rows:.4g} % proven':>{_PROVEN}}"
        style = "dim" if over else "bold" if case is best_so_far(self._bench, self._budget) else ""
        out = [(line.rstrip(), style)]
        changed = self._bench.changed(case) or case.look
        if over and self._budget is not None and changed is not None and changed.share <= self._budget:
            assert changed.worst is not None
            out.append((f"  over budget in a class: {class_words(changed.worst)}", style))
        return out

    def best(self) -> str:
        """Return the sentence about the best model so far."""
        within = f" within {100 * self._budget:.3g} %" if self._budget is not None else ""
        case = best_so_far(self._bench, self._budget)
        if case is None:
            return f"nothing yet{within}" if within else ""
        return f"fastest so far{within}: {printable(case.name)}, {self._speed(case)}, {self._differ(case)}"

    def _over(self, case: Case) -> bool:
        return case.dropped is not None or (self._budget is not None and not self._bench.fits(case, self._budget))

    def _speed(self, case: Case) -> str:
        faster = self._bench.rough_speed_up(case)
        return "" if faster is None else f"{digits(faster, 3 if faster >= 1 else 2)}x"

    def _differ(self, case: Case) -> str:
        if case.role == "reference":
            seconds = self._bench.rough_seconds(case)
            return "" if seconds is None else f"{seconds:.3g} s"
        if self._bench.model.header.regression:
            distance = self._bench.distance(case)
            if case.quality is None or distance is None:
                return ""
            largest = case.quality.largest / self._bench.answers.spread
            return f"{100 * distance[0]:.3g} % RMS, largest {100 * largest:.3g} %"
        changed = self._bench.changed(case) or case.look
        return "" if changed is None else f"{100 * changed.share:.3g} % differ"
