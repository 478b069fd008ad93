"""What of a suspects' table becomes findings."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.finding import Name
from dynid.suspects.all_suspects import suspects_of
from support.defect_arms import defect_arm


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_every_suspect_can_be_told(sign: float) -> None:
    """Whichever is ranked: a name of a finding, a clause and a remedy that is a sentence."""
    arm = defect_arm(3)
    estimate = arm.fit(arm.motions(3, logs=2), 3)
    suspects, _ = suspects_of(estimate.problem, estimate.kept)
    assert len({suspect.key for suspect in suspects}) == len(suspects)
    for suspect in suspects:
        size = np.full(suspect.width, 0.03 * sign)
        assert isinstance(suspect.finding_of(size), Name), suspect.key
        assert len(suspect.words(size).split()) >= 4, suspect.key
        assert suspect.remedy(size).endswith("."), suspect.key
        assert suspect.joint is None or f"oint {suspect.joint + 1}" in suspect.words(size), suspect.key
