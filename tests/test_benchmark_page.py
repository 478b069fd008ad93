"""The published benchmark tables are those of the saved results."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from dynid.model import load_robot

ROOT = Path(__file__).parent.parent


def test_the_page_shows_the_saved_results() -> None:
    spec = importlib.util.spec_from_file_location("publish", ROOT / "benchmarks" / "_publish.py")
    assert spec
    assert spec.loader
    publish = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(publish)
    assert publish.PAGE.read_text() == publish.page(), "docs/benchmarks.md is stale: run make bench"
    assert "7-axis regressor" in publish.tables()


def test_the_arms_of_the_benchmarks_have_their_peers() -> None:
    """Benchmarks are not run here, but the models they compare with can be built."""
    pytest.importorskip("pinocchio", reason="Pinocchio is a peer; install the oracles extra.")
    spec = importlib.util.spec_from_file_location("arms", ROOT / "benchmarks" / "_arms.py")
    assert spec
    assert spec.loader
    arms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(arms)
    robot = arms.with_bodies(load_robot("iiwa14").with_terms())
    assert arms.pinocchio_model(robot).nv == 7
    assert "<mujoco" in arms.mujoco_text(robot, 0.1, 1e-3)
