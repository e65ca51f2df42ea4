"""Hypothesis profiles, without deadlines: no test is about time.

Their arguments count the examples of `--full`; without it, fewer are tried."""

from hypothesis import HealthCheck, settings

#: Most examples of a test without --full.
FEW = 10

_full, _share = False, 1.0


def try_all(share: float) -> None:
    """For --full; before tests are imported. share: of the examples of `calm` and `tries`."""
    global _full, _share
    _full, _share = True, share


def _examples(count, **more):
    return settings(max_examples=count if _full else min(count, FEW), deadline=None, **more)


def _shared(count):
    return min(count, max(FEW, round(_share * count)))


def calm(examples=100):
    """Other examples in every run."""
    return _examples(
        _shared(examples),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


def seeded(examples=150):
    """The same examples in every run, for expensive tests."""
    return _examples(examples, suppress_health_check=list(HealthCheck), derandomize=True, database=None)


def tries(count):
    """Number of cases for a test that draws them itself."""
    return _shared(count) if _full else max(1, count // 10)
