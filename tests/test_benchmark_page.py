"""The published benchmark tables are those of the saved results."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_page_shows_the_saved_results() -> None:
    spec = importlib.util.spec_from_file_location("publish", ROOT / "benchmarks" / "_publish.py")
    assert spec
    assert spec.loader
    publish = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(publish)
    assert publish.PAGE.read_text() == publish.page(), "docs/benchmarks.md is stale: run make bench"
    assert "7-axis regressor" in publish.tables()
