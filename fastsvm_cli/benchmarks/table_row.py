"""One model under measurement: its file, times and answers."""

import os

from fastsvm_cli.benchmarks.quality import Quality
from fastsvm_cli.benchmarks.timing import Timed, Timings
from fastsvm_cli.comparisons.changed import Changed

#: Clocks, and their names in tables.
END_TO_END, SCORING = "end to end", "scoring"
CLOCKS = {END_TO_END: "end to end", SCORING: "in memory"}


class Case:
    """Row of the tables: a program or model that is measured.

    role: "reference" (svm-predict; libsvm), "start-up", "exact", "compiled", or "program": fastsvm-predict with the
    model of the case `of`. words: options of predict; rows_file: file of its rows. size: of the model file, in bytes.
    facts: as bench_run.facts_of returns them. changed: output lines that differ from the reference's. failed: reason of
    a failure. note: words after the name.
    """

    def __init__(self, name: str, role: str, path: "str | None" = None):
        self.name, self.role, self.path = name, role, path
        self.size = os.path.getsize(path) if path and os.path.exists(path) else None
        self.facts: dict[str, str | int | None] = dict.fromkeys(("kind", "degree", "centers"))
        self.end_to_end: Timed | None = None
        self.scoring: Timed | None = None
        self.quality: Quality | None = None
        self.changed: Changed | None = None
        self.failed: str | None = None
        self.of: Case | None = None
        self.words: list[str] = []
        self.rows_file: str | None = None
        self.note: str | None = None
        self.with_exact = self.raw_rows = False
        self.output: str | None = None

    def timings(self, clock: str) -> "Timings | None":
        """Return the runs by a clock, or None if there are none."""
        timed = self.end_to_end if clock == END_TO_END else self.scoring
        return timed.timings if timed is not None and len(timed.timings) else None
