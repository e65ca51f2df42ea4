"""What tests share: nothing here is a test, and nothing that tests share stands anywhere else. See tests/README.md."""

from pkgutil import iter_modules

import pytest

# A failing assertion in here shows its values, as one in a test does.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in iter_modules(__path__)))
