"""Hypothesis's profiles: how long it searches, and where it starts."""

from hypothesis import HealthCheck, settings

calm = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
anything = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)
seeded = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)
searching = settings(
    max_examples=250, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None
)
