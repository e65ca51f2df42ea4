"""What a run of `predict --resume` came from, and how far it came, as the lines of a checkpoint."""

import os
from collections.abc import Callable
from struct import pack, unpack

from fastsvm_cli import __version__, _native
from fastsvm_cli.errors import FileError
from fastsvm_cli.interruption import raising
from fastsvm_cli.prediction.pipeline import Tally
from fastsvm_cli.text.bad_rows import BadRows
from fastsvm_cli.text.data import Place
from fastsvm_cli.text.partial_output import PartialOutput


class Provenance:
    """Everything that the bytes of an output depend on: a run may go on from where another stopped only if it has the
    same.

    test_file: a regular file. model_digest: of the model file's content. options: {how it is written on the command
    line: what was given}. on_bad_row, max_line: what was given for these two, which may change as `difference` says.
    Raises FileError."""

    def __init__(
        self,
        test_file: str,
        model_file: str,
        model_digest: str,
        options: "dict[str, object]",
        on_bad_row: str,
        max_line: int,
    ):
        try:
            status = os.stat(test_file)
        except OSError as error:
            raise FileError(test_file, error) from None
        self._test_file, self._model_file, self._bad_row, self._max_line = test_file, model_file, on_bad_row, max_line
        self._options = {key: repr(value) for key, value in options.items()}
        self._lines = {
            "fastsvm": __version__,
            "instructions": _native.instruction_set(),
            "model": model_digest,
            "input_size": str(status.st_size),
            "input_time": str(status.st_mtime_ns),
        }

    def lines(self) -> "dict[str, str]":
        """{key: words}, as they stand in a checkpoint."""
        return {**self._lines, "on_bad_row": self._bad_row, "max_line": str(self._max_line), **self._options}

    def difference(self, state: "dict[str, str]") -> "str | None":
        """What is not as it was when the state was written, or None. Of a run that has met no bad row yet, what becomes
        of one can still be changed, and the longest line raised."""
        for key, now in self._lines.items():
            then = state.get(key)
            if then != now:
                return {
                    "fastsvm": f"begun by fastsvm {then}, and this is {now}",
                    "instructions": f"begun with {then} instructions, and this run would use {now}",
                    "model": f"begun with another model than {self._model_file}",
                    "input_size": f"begun when {self._test_file} had {then} bytes; it has {now} now",
                    "input_time": f"begun when {self._test_file} had another modification time",
                }[key]
        for key, now in self._options.items():
            if state.get(key) != now:
                return f"begun with {key} {_shown(state.get(key))}, and this command has {_shown(now)}"
        if state.get("bad_rows") != "0" and state.get("on_bad_row") != self._bad_row:
            then = state.get("on_bad_row")
            return f"begun with --on-bad-row {then}, which has met bad rows, and this command has {self._bad_row}"
        longest = int(state.get("max_line", 0))
        if longest != self._max_line and (state.get("bad_rows") != "0" or longest > self._max_line):
            return f"begun with --max-line {longest / 1e6:g}, and this command has {self._max_line / 1e6:g}"
        return None


def _shown(value: "str | None") -> str:
    return {"True": "on", "False": "off", "None": "unset"}.get(value, value) if value is not None else "unset"


class ResumableOutput(PartialOutput):
    """Where `predict --resume` writes, with what a checkpoint needs to know.

    provenance: of this run. place, bad_rows: as read_chunks moves and tells them; in the `with` block they stand where
    the run before this one stopped, if there was one. say: called with a line for the user.
    tally: of the rows so far. begun: whether something has been written already.

    Raises FileError as PartialOutput does, and where the run before this one had another provenance.
    """

    def __init__(
        self,
        path: str,
        inputs: "list[str]",
        provenance: Provenance,
        place: Place,
        bad_rows: "BadRows | None",
        *,
        labelled: bool,
        say: "Callable[[str], None]",
    ):
        super().__init__(path, inputs)
        self._provenance, self._place, self._bad_rows, self._say_line = provenance, place, bad_rows, say
        self.tally = Tally(labelled)
        self.begun = False
        self._told = raising()  # being told to stop ends the block as any fault does, so that what is finished is kept

    def __enter__(self) -> "ResumableOutput":
        self._told.__enter__()
        try:
            if self.state is not None:
                why = self._provenance.difference(self.state)
                if why is not None and not self.whole:
                    raise FileError(self.partial, f"{why}; {self.remove(self.partial)}")
                if why is not None:
                    self.forget()
            if self.state is not None:
                self._restore(self.state)
                self.begun = int(self.state["output_bytes"]) > 0
            if not self.whole:
                self.begin(self._lines())
        except BaseException as fault:
            self._told.__exit__(type(fault), fault, None)
            self._abandon()
            raise
        return self

    def __exit__(self, kind: "type[BaseException] | None", *rest: object) -> None:
        if kind is None and not self.whole:
            self._mark = (self._size, self._lines())
        self._told.__exit__(kind, *rest)
        super().__exit__(kind, *rest)
        if kind is not None and self._saved is not None and self._saved[1]["rows"]:
            rows = self._saved[1]["rows"]
            self._say_line(f"{rows} rows are kept in {self.partial}: the same command goes on behind them.")

    def on_chunk(self, tally: Tally) -> None:
        """To be called when a chunk's lines are written: this is where a later run can go on, unless the text that was
        read holds more rows."""
        if self._place.lines - self._place.comments == tally.rows + self._bad_count:
            self.mark(self._lines())

    @property
    def _bad_count(self) -> int:
        return self._bad_rows.count if self._bad_rows is not None else 0

    def _lines(self) -> dict:
        """{key: value} of what a checkpoint says: the provenance, and the place, counts and sums as they are now."""
        place, tally = self._place, self.tally
        out = {
            **self._provenance.lines(),
            "input_bytes": place.offset,
            "input_lines": place.lines,
            "fields": place.fields,
        }
        out.update((name, value) for name, value in vars(tally).items() if name != "score")
        if tally.score is not None:
            out.update((name, _bits(getattr(tally.score, name))) for name in Tally.SUMS)
        out["bad_rows"] = self._bad_count
        if self._bad_rows is not None:
            out.update((f"bad_row_{at}", f"{line} {why}") for at, (line, why) in enumerate(self._bad_rows.named))
        return out

    def _restore(self, state: "dict[str, str]") -> None:
        place, tally = self._place, self.tally
        try:
            keys = ("input_bytes", "input_lines", "fields")
            place.offset, place.lines, place.fields = (int(state[key]) for key in keys)
            for name in vars(tally):
                if name != "score":
                    setattr(tally, name, int(state[name]))
            for name in Tally.SUMS if tally.score is not None else ():
                setattr(tally.score, name, _number(state[name]))
            words = [state[key].split(" ", 1) for key in state if key.startswith("bad_row_")]
            count, named = int(state["bad_rows"]), [(int(line), why) for line, why in words]
        except (KeyError, ValueError):
            why = f"begun by another fastsvm; {self.remove(self.partial, self._state_file)}"
            raise FileError(self.partial, why) from None
        rows = tally.rows + count
        place.comments = place.lines - rows
        if rows:
            self._say_line(f"Going on behind row {rows}, from {self.partial}.")
        if self._bad_rows is not None:
            self._bad_rows.restore(count, named)


def _bits(value: "int | float") -> str:
    """A whole number as it is; another one as its 64 bits."""
    return str(value) if isinstance(value, int) else "x" + pack(">d", value).hex()


def _number(text: str) -> "int | float":
    return unpack(">d", bytes.fromhex(text[1:]))[0] if text.startswith("x") else int(text)
