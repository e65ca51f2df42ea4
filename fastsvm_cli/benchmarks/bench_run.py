"""Models and programs measured side by side on rows."""

import os
from collections import Counter
from collections.abc import Callable
from math import isfinite

from fastsvm_cli import _native
from fastsvm_cli.benchmarks.environment import LibsvmScoring, run_process
from fastsvm_cli.benchmarks.quality import Answers, Quality, quality, relative_rms
from fastsvm_cli.benchmarks.timing import Timed, Timings, interleave, speed_up
from fastsvm_cli.comparisons import Budget, Changed, interval_95
from fastsvm_cli.errors import FastsvmError, FileError, ModelFormatError
from fastsvm_cli.models import Model, parse_libsvm, parse_model
from fastsvm_cli.prediction import Fallback, Predictor
from fastsvm_cli.text.read_rows import read_bytes, read_chunks, smaller_chunks
from fastsvm_cli.text.scaling import Scaling

#: Clocks, and their names in tables.
END_TO_END, SCORING = "end to end", "scoring"
CLOCKS = {END_TO_END: "end to end", SCORING: "in memory"}
# fastsvm-predict is advised if it takes less than this share of fastsvm predict's time.
_HIDDEN = 0.8
# A run of libsvm: as many rows as fit the seconds, but at least this many.
_LIBSVM_SECONDS, _LIBSVM_ROWS = 1.0, 20


class Case:
    """Program or model that is measured, a row of the tables.

    role: "reference" (svm-predict; libsvm), "start-up", "exact", "compiled", or "program": fastsvm-predict with the
    model of `of`.
    """

    def __init__(self, name: str, role: str, path: "str | None" = None):
        self.name, self.role, self.path = name, role, path
        self.size = os.path.getsize(path) if path and os.path.exists(path) else None
        self.facts: dict[str, str | int | None] = dict.fromkeys(("kind", "degree", "centers"))
        self.timed: dict[str, Timed] = {}  # by clock: the process (END_TO_END), the function (SCORING)
        self.quality: Quality | None = None
        self.changed: Changed | None = None  # lines of its output that differ from the reference's
        self.failed: str | None = None  # the reason
        self.of: Case | None = None
        self.words: list[str] = []
        self.rows_file: str | None = None
        self.note: str | None = None
        self.with_exact = self.raw_rows = False
        self.output: str | None = None

    def timings(self, clock: str) -> "Timings | None":
        """Return the runs by a clock, or None."""
        timed = self.timed.get(clock)
        return timed.timings if timed is not None and len(timed.timings) else None


class Bench:
    """Programs and models measured side by side on a test file's rows, each as a Case.

    fastsvm: words that start this program. scaling: of the rows: their models get a scaled file, and no time includes
    scaling.
    """

    def __init__(
        self,
        test_file: str,
        exact_file: str,
        *,
        folder: str,
        threads: int,
        fastsvm: "list[str]",
        svm_predict: "str | None",
        scaling: "Scaling | None" = None,
    ):
        self.test_file, self.exact_file, self.folder, self.threads = test_file, exact_file, folder, threads
        self._thread_words = ["--threads", str(threads)] if threads else []
        self._fastsvm, self._svm_predict = fastsvm, svm_predict
        chunks = list(read_chunks(test_file, scaling=scaling))
        self.scaling, self._rows_file = scaling, test_file
        if scaling is not None:
            self._rows_file = os.path.join(folder, "scaled")
            with open(self._rows_file, "wb") as file:
                file.writelines(map(_native.format_rows, chunks))
        self.rows = sum(chunk.rows for chunk in chunks)
        if not self.rows:
            raise FileError(test_file, "no rows found, expected some to measure on")
        text = read_bytes(exact_file)
        expected = "the LIBSVM model first: the others are compared with it"
        self.model = parse_libsvm(text, exact_file, expected)
        if self.model.fingerprint is not None:
            raise ModelFormatError(exact_file, f"a compiled model found, expected {expected}")
        self._fingerprint = _native.fingerprint(text)
        self.answers = Answers(self.model, chunks)
        self.chunks = self.answers.chunks
        self._raw_chunks: list[_native.Chunk] | None = None
        self.cases: list[Case] = []
        self._outputs = 0
        self.on_wait: Callable[[], None] | None = None  # called while a process runs
        self._empty = os.path.join(folder, "empty")
        open(self._empty, "w").close()

    # ---- cases

    def add_references(self, *, libsvm: bool) -> None:
        """Add svm-predict, LIBSVM (in this process if `libsvm`), and both on an empty file: the start of a process."""
        program = [] if self._svm_predict is None else [self._svm_predict]
        if program:
            self._add_process("svm-predict", "reference", program, self._rows_file)
        if libsvm:
            self.cases.append(self._libsvm_in_process())
        if program:
            self._add_process("svm-predict, empty file", "start-up", program, self._empty)
        words = [*self._fastsvm, "predict", *self._thread_words, "-q"]
        self._add_process("fastsvm, empty file", "start-up", words, self._empty)

    def _add_process(self, name: str, role: str, words: "list[str]", rows: str) -> None:
        self.cases.append(self._process(Case(name, role, self.exact_file), words, rows))

    def _libsvm_in_process(self) -> Case:
        case = Case("libsvm, in process", "reference", self.exact_file)
        try:
            scoring = LibsvmScoring(self.exact_file, self.chunks)
            scoring.take(_LIBSVM_ROWS)
            trial = Timed("", scoring)
            interleave([trial], 3, 1.0)
            scoring.take(max(_LIBSVM_ROWS, int(_LIBSVM_SECONDS / max(trial.timings.median, 1e-7))))
            case.timed[SCORING] = Timed(case.name, scoring)
            case.note = f"{scoring.rows} rows" if scoring.rows < self.rows else None
        except Exception as error:  # the row reports it
            case.failed = str(error)
        return case

    def add_model(self, path: str, *, name: "str | None" = None, role: str = "compiled") -> "list[Case]":
        """Add a model file as a case or, if certified with this exact model, two, with `predict --exact`."""
        name = name or os.path.basename(path)
        if any(case.name == name for case in self.cases):
            name = path
        added = [Case(name, role, path)]
        self.cases += added
        try:
            model = self.model if path == self.exact_file else parse_model(read_bytes(path), path)
            if model.raw_rows:
                self._take_raw_rows(model, path)
            added[0].facts, added[0].raw_rows = facts_of(model), model.raw_rows is not None
            added[0].quality = quality(model, self.answers, self._rows_for(model)[0])
            self._time_predict(added[0], model)
        except (FastsvmError, ValueError, OSError) as error:
            added[0].failed = str(error) if path in str(error) else f"{path}: {error}"
            return added
        if model.certified and not model.header.regression and model.fingerprint == self._fingerprint:
            case = Case(f"{added[0].name}, predict --exact", role, path)
            case.with_exact, case.facts, case.raw_rows = True, added[0].facts, added[0].raw_rows
            self.cases.append(case)
            added.append(case)
            case.quality = self._of_exact(added[0].quality)
            self._time_predict(case, model)
        if role == "compiled" and model.fingerprint not in (None, self._fingerprint):
            added[0].note = "compiled from another model"
        return added

    def _take_raw_rows(self, model: Model, path: str) -> None:
        why = f"it takes raw rows, {model.raw_rows}"
        if self.scaling is None:
            raise ModelFormatError(path, f"{why}: the exact model takes scaled ones, so bench needs that --scale, too")
        if model.embedded_scaling is not None:
            if not model.embedded_scaling.same_as(self.scaling):
                raise ModelFormatError(path, f"{why}, but another one than {self.scaling.path}")
            return
        assert model.folded is not None
        if self.scaling.digest != model.folded.digest:
            raise ModelFormatError(path, f"{why}, but another file than {self.scaling.path}")
        if self.scaling.native.label_line() is not None:
            raise ModelFormatError(path, f"{why}, and predicts raw labels, where the exact model has scaled ones")
        if self._raw_chunks is None:
            self._raw_chunks = list(smaller_chunks(read_chunks(self.test_file), self.model.pairs))

    def _rows_for(self, model: Model) -> "tuple[list[_native.Chunk], str]":
        if model.embedded_scaling is not None:
            return self.chunks, self.test_file
        if model.folded is None:
            return self.chunks, self._rows_file
        assert self._raw_chunks is not None
        return self._raw_chunks, self.test_file

    def _time_predict(self, case: Case, model: Model) -> None:
        exact = Fallback(lambda: self.model) if case.with_exact else None
        chunks, case.rows_file = self._rows_for(model)

        def score() -> int:
            return Predictor(model, exact=exact).write(chunks, lambda lines: None, self.test_file).rows

        case.timed[SCORING] = Timed(case.name, score)
        case.words = [*self._thread_words, "-q", *(["--exact", self.exact_file] if case.with_exact else [])]
        self._process(case, [*self._fastsvm, "predict", *case.words], case.rows_file)

    def add_program(self, of: Case, program: str) -> Case:
        """Add and return a case that predicts with the model of `of` by the fastsvm-predict at `program`."""
        case = Case(f"{of.name}, fastsvm-predict", "program", of.path)
        case.of = of
        self.cases.append(case)
        assert of.rows_file is not None
        return self._process(case, [program, *of.words], of.rows_file)

    def by_program(self, of: Case) -> Case:
        """Return the case of fastsvm-predict if Python's start hides the gain, else `of`."""
        mine = of.timings(END_TO_END)
        for case in self.cases:
            timings = case.timings(END_TO_END)
            if case.of is of and timings is not None and mine is not None and timings.median < _HIDDEN * mine.median:
                return case
        return of

    def _of_exact(self, found: Quality) -> Quality:
        # Values of two models are not compared.
        out = Quality()
        out.rows, out.proven, out.score = found.rows, found.proven, self.answers.score
        out.largest = out.mean = float("nan")
        out.changed = self.answers.changed([False] * found.rows)
        return out

    def _process(self, case: Case, words: "list[str]", rows: str) -> Case:
        assert case.path is not None
        self._outputs += 1
        case.output = os.path.join(self.folder, f"out{self._outputs}")
        command = [*words, rows, case.path, case.output]

        def run() -> float:
            environment = {**os.environ, **({"OMP_NUM_THREADS": str(self.threads)} if self.threads else {})}
            code, printed = run_process(command, environment=environment, on_wait=self.on_wait)
            if code:  # the last line of standard error says why
                lines = printed.strip().splitlines()
                raise RuntimeError(lines[-1].removeprefix("Error: ") if lines else f"exit code {code}")
            return 1.0

        case.timed[END_TO_END] = Timed(case.name, run)
        return case

    # ---- measuring

    def take_failures(self) -> None:
        """Mark the cases of which a timed run failed."""
        for case in self.cases:
            for clock in CLOCKS:
                if clock in case.timed and case.failed is None:
                    case.failed = case.timed[clock].failed

    def compare_outputs(self) -> None:
        """Set Case.changed, against svm-predict's labels, else the exact model's."""
        if self.model.header.regression:
            return
        known = (self._lines(case) for case in self.cases if case.role in ("reference", "exact"))
        reference = next((lines for lines in known if lines is not None), None)
        for case in self.cases:
            lines = self._lines(case) if case.role != "start-up" else None
            if lines is not None and reference is not None and len(lines) == len(reference) == self.rows:
                case.changed = self.answers.changed([a != b for a, b in zip(lines, reference)])

    def _lines(self, case: Case) -> "list[bytes] | None":
        if case.output is None or not os.path.exists(case.output) or case.timings(END_TO_END) is None:
            return None
        with open(case.output, "rb") as file:
            return file.read().split(b"\n")[:-1]

    # ---- results

    def reference(self, clock: str) -> "Case | None":
        """Return LIBSVM's case that this clock timed, else the exact model's, or None."""
        for role in ("reference", "exact"):
            for case in self.cases:
                if case.role == role and case.timings(clock) is not None:
                    return case
        return None

    def speed_up(self, case: Case, clock: str) -> "tuple[float, float] | None":
        """Return timing.speed_up over the reference; None for start-ups and without times."""
        reference, mine = self.reference(clock), case.timings(clock)
        theirs = reference.timings(clock) if reference is not None else None
        if theirs is None or mine is None or case.role == "start-up":
            return None
        return (1.0, 0.0) if case is reference else speed_up(theirs, mine)

    def changed(self, case: Case) -> "Changed | None":
        """Return the labels that differ in output files, else in memory."""
        if case.changed is not None:
            return case.changed
        return case.quality.changed if case.quality is not None else None

    def fits(self, case: Case, budget: Budget) -> bool:
        """Return whether the labels that differ (regression: the relative rms) are within the budget."""
        if self.model.header.regression:
            distance = self.distance(case)
            return distance is not None and distance[0] <= budget.share
        changed = self.changed(case)
        return changed is None or budget.permits(changed)

    def distance(self, case: Case) -> "tuple[float, tuple[float, float]] | None":
        """Return the share of labels that differ (regression: relative_rms), and its 95 % interval; None if unknown."""
        if not self.model.header.regression:
            changed = self.changed(case)
            return None if changed is None else (changed.share, interval_95(changed.different, changed.rows))
        if case.role == "reference":  # libsvm predicts only some rows
            return (0.0, (0.0, 0.0)) if END_TO_END in case.timed else None
        found = case.quality
        if found is None or not isfinite(found.squares):
            return None
        return relative_rms(found, self.answers.spread)


def facts_of(model: Model) -> "dict[str, str | int | None]":
    """Return a model's kind ("reduced" for a reduced set), and an expansion's degree and centers."""
    expansions = getattr(model, "expansions", None)
    return {
        "kind": "reduced" if model.reduced else model.kind,
        "degree": getattr(model, "degree", None) if expansions else None,
        "centers": max(Counter(each.pair for each in expansions).values()) if expansions else None,
    }
