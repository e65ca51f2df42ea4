"""Certificate sums (native/models/degree_norms.h) in parts, for any process."""

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from fastsvm_cli import _native


class PairSums:
    """Sums of a certificate over pairs of support vectors, in parts of about a second at most.

    Thread-safe; pickles as its arrays.
    """

    def __init__(self, *arrays: Any, sparse: bool):
        """Take arguments of _native.DegreeNormParts.sparse or .dense."""
        self._arrays, self._sparse = arrays, sparse
        self._parts: _native.DegreeNormParts | None = None
        self._lock = Lock()

    @property
    def parts(self) -> _native.DegreeNormParts:
        """Parts in the core, made on first use."""
        with self._lock:
            if self._parts is None:
                make = _native.DegreeNormParts.sparse if self._sparse else _native.DegreeNormParts.dense
                self._parts = make(*self._arrays)
            return self._parts

    def here(self, on_progress: "Callable[[float], None] | None") -> "list[float]":
        """Return the totals, computed by this process's threads."""
        *_, first, last = self._arrays
        found = [[0.0] * (last - first + 2)]
        for part in range(len(self.parts)):
            found.append(self.parts.sums(part))
            if on_progress is not None:
                on_progress(self.parts.share(part + 1))
        return totals(found)

    def __getstate__(self) -> "tuple[tuple[Any, ...], bool]":
        return self._arrays, self._sparse

    def __setstate__(self, state: "tuple[tuple[Any, ...], bool]") -> None:
        self.__init__(*state[0], sparse=state[1])  # type: ignore[misc]

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(getattr(each, "nbytes", 0) for each in self._arrays)


#: Returns totals; reports the share done.
AddUp = Callable[[PairSums, "Callable[[float], None] | None"], "list[float]"]


def totals(sums: "Iterable[list[float]]") -> "list[float]":
    """Add up parts in order, as the core does and the proof counts."""
    out: list[float] = []
    for part in sums:
        out = [total + each for total, each in zip(out or [0.0] * len(part), part)]
    return out
