"""One measured row of the tables."""

import os

from fastsvm_cli.benchmarks.changed import Changed
from fastsvm_cli.benchmarks.quality import Quality
from fastsvm_cli.benchmarks.timing import Timed, Timings

#: The clocks, and their names in tables and figures.
END_TO_END, SCORING = "end to end", "scoring"
CLOCKS = {END_TO_END: "end to end", SCORING: "in memory"}


class Case:
    """Measured program or model, a row of the tables.

    name: of the row. role: "reference" (svm-predict; libsvm), "start-up", "exact" or "compiled". path, size: of the
    model file, in bytes. The rest is None where unknown. kind: of the model, from its file; "reduced" for a reduced
    set. degree, centers: of its expansions; centers per decision function. made_by: arguments of fastsvm that make the
    model. compile_seconds: time of that, as a new process. end_to_end, scoring: what each clock times. quality:
    comparison with the exact model. changed: output lines that differ from the reference's. failed: why measuring
    ended. note: shown after the name. with_exact: predicted with --exact. raw_rows: takes raw rows. output: path of its
    output.
    """

    def __init__(self, name: str, role: str, path: "str | None" = None):
        self.name, self.role, self.path = name, role, path
        self.size = os.path.getsize(path) if path and os.path.exists(path) else None
        self.kind: str | None = None
        self.degree: int | None = None
        self.centers: int | None = None
        self.made_by: list[str] | None = None
        self.compile_seconds: float | None = None
        self.end_to_end: Timed | None = None
        self.scoring: Timed | None = None
        self.quality: Quality | None = None
        self.changed: Changed | None = None
        self.failed: str | None = None
        self.note: str | None = None
        self.with_exact = self.raw_rows = False
        self.output: str | None = None

    def timings(self, clock: str) -> "Timings | None":
        """Return the timings of a clock; None before the first timed run."""
        timed = self.end_to_end if clock == END_TO_END else self.scoring
        return timed.timings if timed is not None and len(timed.timings) else None
