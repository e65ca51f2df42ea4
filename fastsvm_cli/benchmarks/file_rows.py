"""The rows of a test file, for a choice."""

from copy import copy
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.comparisons.agreement import answers
from fastsvm_cli.errors import FileError
from fastsvm_cli.methods.parallel import threads_here
from fastsvm_cli.models.base import LABELS, ExactModel, Model, Precision
from fastsvm_cli.prediction.pipeline import Fallback, Predictor, predict
from fastsvm_cli.text.read_rows import read_chunks, smaller_chunks

if TYPE_CHECKING:
    from fastsvm_cli.text.scaling import Scaling

# A short file is read again, for its time.
_SHORT_SECONDS, _READINGS = 0.2, 4


class FileRows:
    """Rows of a LIBSVM file, held in memory: `chooser.Rows`.

    source: the exact model. scaling: of the rows, or None. Raises FileError and DataFormatError.
    """

    def __init__(self, path: str, source: ExactModel, scaling: "Scaling | None" = None):
        self._path, self._source = path, source
        seconds: list[float] = []
        while not seconds or (sum(seconds) < _SHORT_SECONDS and len(seconds) < _READINGS):
            with threads_here(1):
                start = process_time()
                chunks = list(read_chunks(path, scaling=scaling))
                seconds.append(process_time() - start)
        self._rows = _native.Chunk.concatenate(chunks)
        self.count = self._rows.rows
        if not self.count:
            raise FileError(path, "no rows found, expected some to measure on")
        self.reading = min(seconds) / self.count

    @property
    def only_label(self) -> "float | None":
        """Label that the exact model gives all rows; None if there are other labels or only one row."""
        labels = self.answers(self._source, False)
        one = not self._source.header.regression and self.count > 1 and (labels == labels[0]).all()
        return float(labels[0]) if one else None

    def sample(self, numbers: "list[int]") -> "FileRows":
        """Return these rows alone."""
        out = copy(self)
        out._rows, out.count = self._rows.select(numbers), len(numbers)
        return out

    def chunk(self) -> _native.Chunk:
        """Return all rows."""
        return self._rows

    def answers(self, model: Model, exact: bool, numbers: "list[int] | None" = None) -> np.ndarray:
        """Return labels, or the values of a regression, of all rows or of these."""
        some = self._rows if numbers is None else self._rows.select(numbers)
        if exact:
            model = self._source
        precision = Precision.values() if model.header.regression else LABELS
        found = answers(model, smaller_chunks([some], model.pairs), precision)
        return np.concatenate([np.array(predictions.label) for _, _, predictions in found])

    def predict(self, model: Model, exact: bool) -> None:
        """Predict all rows, up to their lines."""
        rows = smaller_chunks([self._rows], model.pairs)
        fallback = Fallback(lambda: self._source) if exact else None
        predict(Predictor(model, exact=fallback), rows, lambda lines: None, path=self._path)

    def proven(self, model: Model) -> int:
        """Return the number of rows whose label a certified model proves."""
        if model.header.regression:
            return 0
        undecided, task = 0, model.header.task()
        for _, decisions, _ in answers(model, smaller_chunks([self._rows], model.pairs), LABELS, True):
            undecided += len(_native.undecided_rows(task, decisions))
        return self.count - undecided
