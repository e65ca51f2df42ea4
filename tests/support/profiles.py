"""Hypothesis's profiles. None has a deadline: no test is about time."""

from hypothesis import HealthCheck, settings

#: Other examples in every run; a decorator beside it says how many.
calm = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
#: The same examples in every run, for tests that cost much.
seeded = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)
#: Likewise, more of them, for tests that tell hypothesis what to aim at (`target`).
searching = settings(seeded, max_examples=250)
