"""What a caller needs of a model's decision values."""

from collections.abc import Sequence


class Wanted:
    """Labels, values within a tolerance, or values: made by one of the three constructors. A model that stops early, or
    evaluates in less than double precision first, goes on until it has this; others may give more than is asked for.

    tolerance: that of `within`, None of the others. sides: those of `values`, None of the others. odds: of `values`.
    """

    __slots__ = ("odds", "sides", "tolerance")

    def __init__(
        self,
        tolerance: "float | None",
        sides: "list[tuple[float, float]] | None",
        odds: "tuple[list[float], list[float]] | None" = None,
    ):
        self.tolerance, self.sides, self.odds = tolerance, sides, odds

    @classmethod
    def labels(cls) -> "Wanted":
        """Every row's label: the side of zero on which each decision value lies. Of a regression model the label is
        the value itself, to rounding."""
        return cls(None, None)

    @classmethod
    def within(cls, tolerance: float) -> "Wanted":
        """The values, each within `tolerance` of svm-predict's; of regression models."""
        return cls(tolerance, None)

    @classmethod
    def values(
        cls, sides: "Sequence[tuple[float, float]]" = (), odds: "tuple[list[float], list[float]] | None" = None
    ) -> "Wanted":
        """The values, to rounding, and labels with them. sides: (value, margin) pairs; the side of each such value is
        wanted as surely as that of zero, as though it lay anywhere within its margin; of models with one decision
        function. odds: (A, B) of every pair's sigmoid 1 / (1 + exp(A f + B)), which makes probabilities of the values:
        a model that proves its labels answers with values whose probabilities print as svm-predict's do, digit for
        digit."""
        return cls(None, list(sides), odds)

    @property
    def labels_alone(self) -> bool:
        """Whether labels are wanted and nothing else."""
        return self.tolerance is None and self.sides is None

    def in_full(self, regression: bool) -> bool:
        """Whether the values are wanted to rounding. regression: of such a model."""
        return self.sides is not None or (regression and self.tolerance is None)


#: What is wanted where nothing is said.
LABELS = Wanted.labels()
