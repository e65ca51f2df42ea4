"""A LIBSVM model as numbers and as text, and rows. A row is a dict {LIBSVM index: value}."""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

EXTENDED = np.longdouble
UNIT = 2.0**-53
SVM_TYPES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")
KERNELS = ("linear", "polynomial", "rbf", "sigmoid", "precomputed")
OWN_KERNELS = ("exponential", "normalized_polynomial")  # fastsvm's own: in LIBSVM they are precomputed kernels


@dataclass
class Machine:
    """A LIBSVM model. coef: (total_sv, nr_class - 1), in LIBSVM's layout."""

    svm_type: str
    kernel: str
    vectors: "list[dict]"
    coef: np.ndarray
    rho: "list[float]"
    gamma: float = 0.0
    coef0: float = 0.0
    degree: int = 0
    label: "list[int]" = field(default_factory=list)
    nr_sv: "list[int]" = field(default_factory=list)
    probA: "list[float] | None" = None
    probB: "list[float] | None" = None
    marks: "list[float] | None" = None

    @property
    def classification(self):
        return self.svm_type in ("c_svc", "nu_svc")

    @property
    def nr_class(self):
        return len(self.label) if self.classification else 2

    @property
    def pairs(self):
        """[(i, j)] with i < j: the classes of every decision function; one (0, 1) without classes."""
        return list(combinations(range(self.nr_class), 2))

    @property
    def features(self):
        return sorted(set().union(*self.vectors)) if self.vectors else []

    @property
    def pair_coefficients(self):
        """(pairs, total_sv): coefficient of every support vector in every decision function, 0 where it is not part of
        it."""
        if not self.classification:
            return self.coef.T
        of = np.repeat(np.arange(self.nr_class), self.nr_sv)
        out = np.zeros((len(self.pairs), len(self.vectors)))
        for row, (i, j) in zip(out, self.pairs):
            row[of == i] = self.coef[of == i, j - 1]
            row[of == j] = self.coef[of == j, i]
        return out

    def text(self) -> bytes:
        """The text as svm-train writes it, every number in full."""
        keys = {"svm_type": self.svm_type, "kernel_type": self.kernel}
        keys |= {"degree": self.degree} if self.kernel == "polynomial" else {}
        keys |= {"gamma": self.gamma} if self.kernel in ("polynomial", "rbf", "sigmoid") else {}
        keys |= {"coef0": self.coef0} if self.kernel in ("polynomial", "sigmoid") else {}
        keys |= {"nr_class": self.nr_class, "total_sv": len(self.vectors), "rho": self.rho}
        keys |= {
            "label": self.label or None,
            "probA": self.probA,
            "probB": self.probB,
            "prob_density_marks": self.marks,
        }
        keys |= {"nr_sv": self.nr_sv or None}
        lines = [
            header_line(key, value if isinstance(value, list) else [value])
            for key, value in keys.items()
            if value is not None
        ]
        lines += ["SV", *(row_text(" ".join(map(_number, a)), x) for a, x in zip(self.coef.tolist(), self.vectors))]
        return ("\n".join(lines) + "\n").encode()

    @classmethod
    def read(cls, text: bytes) -> "Machine":
        head, _, body = text.decode().partition("SV\n")
        keys = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
        reals = {
            key: [float(word) for word in words]
            for key, words in keys.items()
            if key not in ("svm_type", "kernel_type")
        }
        leading = int(keys["nr_class"][0]) - 1
        rows = [line.split() for line in body.splitlines()]
        return cls(
            svm_type=keys["svm_type"][0],
            kernel=keys["kernel_type"][0],
            rho=reals["rho"],
            vectors=[{int(i): float(v) for i, v in (word.split(":") for word in row[leading:])} for row in rows],
            coef=np.array([[float(word) for word in row[:leading]] for row in rows]).reshape(len(rows), leading),
            gamma=reals.get("gamma", [0.0])[0],
            coef0=reals.get("coef0", [0.0])[0],
            degree=int(reals.get("degree", [0])[0]),
            label=[int(v) for v in reals.get("label", [])],
            nr_sv=[int(v) for v in reals.get("nr_sv", [])],
            probA=reals.get("probA"),
            probB=reals.get("probB"),
            marks=reals.get("prob_density_marks"),
        )


def header_line(key: str, values: list) -> str:
    return " ".join([key, *map(_number, values)])


def _number(value) -> str:
    return value if isinstance(value, str) else repr(value)


def row_text(label, row: dict) -> str:
    return " ".join([str(label), *(f"{index}:{float(value)!r}" for index, value in sorted(row.items()))])


def data_text(rows: "list[dict]", labels=None) -> bytes:
    return "".join(row_text(label, row) + "\n" for label, row in zip(labels or [0] * len(rows), rows)).encode()


def dense(rows: "list[dict]", columns: "list[int]") -> np.ndarray:
    out = np.zeros((len(rows), len(columns)), EXTENDED)
    position = {index: c for c, index in enumerate(columns)}
    for r, row in enumerate(rows):
        for index, value in row.items():
            out[r, position[index]] = value
    return out
