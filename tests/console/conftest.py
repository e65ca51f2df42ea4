import pytest

from support.paths import GOLDEN


@pytest.fixture
def directory(tmp_path):
    """A model m, its compiled form fast, a few rows, and an earlier output."""
    (tmp_path / "m").write_bytes((GOLDEN / "c_svc.model").read_bytes())
    (tmp_path / "fast").write_bytes((GOLDEN / "version2" / "c_svc-certified.approx").read_bytes())
    (tmp_path / "rows").write_text("1 1:0.5 2:-0.25 4:1 7:0.125 8:-0.75\n-1 2:0.3 7:-0.6\n" * 25)
    (tmp_path / "out").write_text("before\n")
    return tmp_path
