"""One row of the tables: something that is measured, by which clocks, and what is known of it."""

import os

from fastsvm_cli.benchmarks.changed import Changed
from fastsvm_cli.benchmarks.quality import Quality
from fastsvm_cli.benchmarks.timing import Timed, Timings

#: The clocks, and what tables and figures call them.
END_TO_END, SCORING = "end to end", "scoring"
CLOCKS = {END_TO_END: "end to end", SCORING: "in memory"}


class Case:
    """Something that is measured, a row of the tables.

    name: what the row is called. role: "reference" (svm-predict; libsvm), "start-up", "exact" or "compiled".
    path, size: of the model file, in bytes. And, each None where it is unknown: kind: of the model, as its file says;
    "reduced" of a reduced set. degree: of its expansions; centers: about how many they are, for one decision function.
    made_by: the arguments of fastsvm that make the model. compile_seconds: what that took, a new process, file to file.
    end_to_end, scoring: what is timed by each clock. quality: its answers beside the exact model's. changed: lines of
    the output that differ from the reference's. failed: why nothing more is known. note: what the tables say behind the
    name. with_exact: whether it is predicted with --exact. raw_rows: whether it takes such. output: that it writes."""

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
        """By one of the clocks; None before a run is timed by it."""
        timed = self.end_to_end if clock == END_TO_END else self.scoring
        return timed.timings if timed is not None and len(timed.timings) else None
