"""Hypothesis's profiles. None has a deadline: no test is about time.

Each takes how many examples `--full` tries; without it a few are tried."""

from hypothesis import HealthCheck, settings

#: Of every test, without --full.
FEW = 10

_full = False


def try_all() -> None:
    """For --full; before tests are imported."""
    global _full
    _full = True


def _examples(count, **more):
    return settings(max_examples=count if _full else min(count, FEW), deadline=None, **more)


def calm(examples=100):
    """Other examples in every run."""
    return _examples(
        examples,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


def seeded(examples=150):
    """The same examples in every run, for tests that cost much."""
    return _examples(examples, suppress_health_check=list(HealthCheck), derandomize=True, database=None)


def searching(examples=250):
    """Likewise, more of them, for tests that tell hypothesis what to aim at (`target`)."""
    return seeded(examples)


def tries(count):
    """Of a test that draws its cases itself."""
    return count if _full else max(1, count // 10)
