"""How far a compiler has come, told by its steps."""

from collections.abc import Callable


def part_of(
    on_progress: "Callable[..., None] | None", begin: float, end: float, *words: str
) -> "Callable[[float], None] | None":
    """What a step is given as its on_progress, during which the share of the whole goes from `begin` to `end`; None
    where nobody asks. words: said with every share."""
    if on_progress is None:
        return None
    return lambda share: on_progress(begin + (end - begin) * share, *words)
