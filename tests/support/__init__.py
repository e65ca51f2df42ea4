"""Code that tests share; nothing here is a test. See tests/README.md."""

from pkgutil import iter_modules

import pytest

# Assertions in here show their values, as in tests.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))
