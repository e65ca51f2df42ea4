"""The header of a model file: `key value...` lines, a grammar shared with LIBSVM."""

from itertools import combinations

from fastsvm_cli import _native

SVM_TYPES: "tuple[str, ...]" = _native.SVM_TYPES  # LIBSVM's order, as below
KERNEL_TYPES: "tuple[str, ...]" = _native.KERNEL_TYPES

_NEEDS = {  # kernel_type -> the keys its formula needs
    "linear": (),
    "polynomial": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "precomputed": (),
}


class Header:
    """What LIBSVM writes before the support vectors; a compiled model keeps these keys unchanged.

    svm_type, kernel_type: LIBSVM's words. degree, gamma, coef0: kernel parameters, 0 where the kernel has none.
    nr_class: classes; 2 for one-class and regression models. total_sv: support vectors. rho: (pairs). label: (nr_class)
    and nr_sv: (nr_class), the support vectors of each class, of classification models; else None. probA, probB: (pairs)
    or None. prob_density_marks: (10) or None.
    """

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
        """Whether an answer is one of at least two labels."""
        return (self.classification and self.nr_class > 1) or self.svm_type == "one_class"

    @property
    def regression(self) -> bool:
        return self.svm_type in ("epsilon_svr", "nu_svr")

    @property
    def pairs(self) -> int:
        """Decision functions: one per pair of classes, or one."""
        return len(self.rho)

    @property
    def class_pairs(self) -> "list[tuple[int, int, int]]":
        """(pair, i, j) of every decision function: as class_pairs(nr_class). (0, 0, 1) alone for one-class and
        regression models, whose decision function parts no classes."""
        return class_pairs(self.nr_class)

    @property
    def has_probability(self) -> bool:
        """svm_check_probability_model of LIBSVM."""
        if self.classification:
            return self.probA is not None and self.probB is not None
        return self.prob_density_marks is not None if self.svm_type == "one_class" else self.probA is not None

    def task(self) -> _native.Task:
        """What the native core needs to make predictions of decision values."""
        return _native.Task(
            SVM_TYPES.index(self.svm_type),
            self.label or [],
            self.probA or [],
            self.probB or [],
            self.prob_density_marks or [],
        )

    def lines(self) -> str:
        """LIBSVM's header, in its order, numbers as the shortest text that reads back to them."""
        rows: list[tuple[str, object]] = [("svm_type", self.svm_type), ("kernel_type", self.kernel_type)]
        rows += [(key, getattr(self, key)) for key in _NEEDS[self.kernel_type]]
        rows += [("nr_class", self.nr_class), ("total_sv", self.total_sv)]
        rows += [(key, getattr(self, key)) for key in ("rho", "label", "probA", "probB", "prob_density_marks", "nr_sv")]
        return "".join(
            f"{key} {' '.join(map(str, value)) if isinstance(value, list) else value}".rstrip() + "\n"
            for key, value in rows
            if value is not None
        )


def class_pairs(nr_class: int) -> "list[tuple[int, int, int]]":
    """(pair, i, j) for all classes i < j, in LIBSVM's order: decision function `pair` is positive for class i, negative
    for class j."""
    return [(pair, i, j) for pair, (i, j) in enumerate(combinations(range(nr_class), 2))]
