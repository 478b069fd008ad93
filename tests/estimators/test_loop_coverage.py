"""Monte-Carlo: how often the truth lies within 2σ of closed-loop methods. Printed with pytest -m slow -s."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dynid.estimators import DIDIM, IV, OutputError
from support.coverage import ERRORS, Errors, coverage, scara_world

pytestmark = pytest.mark.slow
STRATEGIES = {"didim": DIDIM(), "iv": IV(), "oe": OutputError()}
KINDS = {**ERRORS, "position and steps": Errors(encoder=2e-4, step=1e-4, torque=0.02)}


@pytest.mark.parametrize("kind", KINDS)
def test_two_sigma_hold_the_truth(kind: str) -> None:
    """50 runs each, torques as the controller holds them."""
    found = coverage(scara_world(), replace(KINDS[kind], held=True), STRATEGIES, runs=50)
    for name, made in found.items():
        print(f"\n{kind}, {name}: {made.cells} (worst parameter {100 * made.lowest:.0f} %, {made.worst})")
    assert {name: made.share for name, made in found.items() if made.share < 0.9} == {}
