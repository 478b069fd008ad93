"""Measured logs that lie outside the project: found in place, or the test is skipped with a sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def dataset(*parts: str) -> Path:
    """Path of a file of the measured logs; skips the test when it is not there."""
    folder = Path(os.environ.get("DYNID_DATA", ROOT.parent / "shared" / "data"))
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there; set DYNID_DATA to the folder of the measured logs.")
    return path
