"""Header of a model file: `key value...` lines, as LIBSVM's."""

from itertools import combinations

from fastsvm_cli import _native

SVM_TYPES: "tuple[str, ...]" = _native.SVM_TYPES  # in LIBSVM's order, as KERNEL_TYPES
KERNEL_TYPES: "tuple[str, ...]" = _native.KERNEL_TYPES

_NEEDS = {  # kernel_type -> keys of its formula
    "linear": (),
    "polynomial": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "precomputed": (),
}


class Header:
    """degree, gamma, coef0: 0 if the kernel has none. nr_class: 2 for one-class and regression models. label, nr_sv:
    (nr_class); None unless classification. rho, probA, probB: (pairs). prob_density_marks: (10)."""

    def __init__(
        self,
        svm_type: str,
        kernel_type: str,
        *,
        nr_class: int,
        total_sv: int,
        rho: "list[float]",
        degree: int = 0,
        gamma: float = 0.0,
        coef0: float = 0.0,
        label: "list[int] | None" = None,
        probA: "list[float] | None" = None,
        probB: "list[float] | None" = None,
        prob_density_marks: "list[float] | None" = None,
        nr_sv: "list[int] | None" = None,
    ):
        self.svm_type, self.kernel_type = svm_type, kernel_type
        self.degree, self.gamma, self.coef0 = degree, gamma, coef0
        self.nr_class, self.total_sv, self.rho = nr_class, total_sv, rho
        self.label, self.nr_sv = label, nr_sv
        self.probA, self.probB, self.prob_density_marks = probA, probB, prob_density_marks

    @property
    def classification(self) -> bool:
        return self.svm_type in ("c_svc", "nu_svc")

    @property
    def elects(self) -> bool:
        """Whether the prediction is one of at least two labels."""
        return (self.classification and self.nr_class > 1) or self.svm_type == "one_class"

    @property
    def regression(self) -> bool:
        return self.svm_type in ("epsilon_svr", "nu_svr")

    @property
    def pairs(self) -> int:
        return len(self.rho)

    @property
    def class_pairs(self) -> "list[tuple[int, int, int]]":
        """As class_pairs(nr_class); [(0, 0, 1)] without classes."""
        return class_pairs(self.nr_class)

    @property
    def has_probability(self) -> bool:
        """As LIBSVM's svm_check_probability_model."""
        if self.classification:
            return self.probA is not None and self.probB is not None
        return self.prob_density_marks is not None if self.svm_type == "one_class" else self.probA is not None

    def task(self) -> _native.Task:
        return _native.Task(
            SVM_TYPES.index(self.svm_type),
            self.label or [],
            self.probA or [],
            self.probB or [],
            self.prob_density_marks or [],
        )

    def lines(self) -> str:
        rows: list[tuple[str, object]] = [("svm_type", self.svm_type), ("kernel_type", self.kernel_type)]
        rows += [(key, getattr(self, key)) for key in _NEEDS[self.kernel_type]]
        rows += [("nr_class", self.nr_class), ("total_sv", self.total_sv)]
        rows += [(key, getattr(self, key)) for key in ("rho", "label", "probA", "probB", "prob_density_marks", "nr_sv")]
        return "".join(
            f"{key} {' '.join(map(str, value)) if isinstance(value, list) else value}".rstrip() + "\n"
            for key, value in rows
            if value is not None
        )


def ranges(features: "list[int]") -> str:
    """Return the line `features` without its key: 1 2 3 7 -> 1:3 7"""
    out, first = [], None
    for at, index in enumerate(features):
        if first is None:
            first = index
        if at + 1 == len(features) or features[at + 1] != index + 1:
            out.append(f"{first}:{index}" if index > first else str(index))
            first = None
    return " ".join(out)


def class_pairs(nr_class: int) -> "list[tuple[int, int, int]]":
    """Return (pair, i, j) for classes i < j, in LIBSVM's order. A positive value votes for i."""
    return [(pair, i, j) for pair, (i, j) in enumerate(combinations(range(nr_class), 2))]
