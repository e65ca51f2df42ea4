"""The rule of a budget: which changed labels rule a model out."""

from typing import TYPE_CHECKING

from fastsvm_cli.comparisons.sampled import lower_bound, upper_bound

if TYPE_CHECKING:
    from fastsvm_cli.comparisons.changed import Changed, ClassRows

#: Share of labels that may differ, where no budget is given (regression: of the standard deviation).
DEFAULT_BUDGET = 0.005
#: Confidence of a bound. With 95 %, picks on other rows went over the budget as often, and were slower
#: (scripts/README.md, "What bench picks").
CONFIDENCE = 0.9
#: A class rules a model out if its share is above so many times the budget, with CONFIDENCE for all classes together.
CLASS_TIMES = 4
#: Confidence with which a model is dropped by a sample of the rows.
_SURELY = 0.999


class Budget:
    """Largest share of labels that a model may change. each_class: whether this holds per class.

    The share of all labels counts: Clopper and Pearson's upper bound (1934), of the rows compared, must be within the
    budget, or no label may differ if the rows are too few to show it. The bound is of one model: the fastest of several
    may have passed by chance. A class rules a model out only if the rows show that its share is above CLASS_TIMES the
    budget (Clopper and Pearson's lower bound, with Bonferroni's inequality).
    """

    def __init__(self, share: float, each_class: bool = False):
        self.share, self.each_class = share, each_class

    def permits(self, changed: "Changed") -> bool:
        """Return whether a model that changes these labels is within the budget."""
        return self._shown(changed.different, changed.rows) and self.class_over(changed) is None

    def class_over(self, changed: "Changed") -> "ClassRows | None":
        """Return the class of largest share among those that rule the model out, or None."""
        classes = [each for each in changed.classes if each.different]
        confidence = 1 - (1 - CONFIDENCE) / max(1, len(changed.classes))
        over = [
            each
            for each in classes
            if (
                not self._shown(each.different, each.rows)
                if self.each_class
                else lower_bound(each.different, each.rows, confidence) > CLASS_TIMES * self.share
            )
        ]
        return max(over, key=lambda each: each.share, default=None)

    def surely_exceeded(self, changed: "Changed") -> bool:
        """Return whether so many of a sample's labels differ that all rows can hardly be within the budget."""
        return changed.different > 0 and lower_bound(changed.different, changed.rows, _SURELY) > self.share

    def _shown(self, different: int, rows: int) -> bool:
        return not different or bound(different, rows) <= self.share


def bound(different: int, rows: int) -> float:
    """Return the share that, with CONFIDENCE, the labels that differ do not exceed."""
    return upper_bound(different, rows, CONFIDENCE) if rows else 1.0
