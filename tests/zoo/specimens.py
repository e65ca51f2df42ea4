"""Specimen: a LIBSVM model and rows, as numbers and as text."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from support import in_process
from support.oracles import Machine, data_text


@dataclass(frozen=True)
class Specimen:
    """machine, rows: the numbers. model_text, rows_text: files that hold them, if not as svm-train writes them. labels:
    of the rows, by default 0."""

    machine: Machine
    rows: "list[dict]"
    model_text: "bytes | None" = None
    rows_text: "bytes | None" = None
    labels: "list[float] | None" = None
    name: str = field(default="", compare=False)

    def with_(self, **changes) -> "Specimen":
        return replace(self, **changes)

    @property
    def model(self) -> bytes:
        return self.machine.text() if self.model_text is None else self.model_text

    @property
    def data(self) -> bytes:
        return data_text(self.rows, self.labels) if self.rows_text is None else self.rows_text

    @property
    def regression(self) -> bool:
        return self.machine.svm_type in ("epsilon_svr", "nu_svr")

    @property
    def columns(self) -> range:
        """LIBSVM's indices of the columns of an array of these rows."""
        indices = self.machine.features
        return range(0 if indices and indices[0] == 0 else 1, (indices[-1] if indices else 0) + 1)

    def dense(self) -> np.ndarray:
        """(rows, columns); entries of other features are left out."""
        return self._dense.copy()

    @cached_property
    def _dense(self) -> np.ndarray:
        columns = self.columns
        return np.array([[row.get(j, 0.0) for j in columns] for row in self.rows], float).reshape(-1, len(columns))

    @cached_property
    def fits_array(self) -> bool:
        """Whether an array of the model's columns holds all entries, in little memory."""
        columns = self.columns
        return len(columns) < 10000 and all(j in columns for row in self.rows for j in row)

    def libsvm(self) -> in_process.Libsvm:
        """This model in LIBSVM 3.37, in this process."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "m"
            path.write_bytes(self.machine.text())
            return in_process.Libsvm(path)

    def values(self) -> np.ndarray:
        """LIBSVM's decision values, (rows, pairs)."""
        return self.libsvm().values(self.rows)
