"""What of a suspects' table becomes findings."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.finding import Name
from dynid.preparation import Preparation
from dynid.suspects import rank_suspects
from dynid.suspects.all_suspects import suspects_of
from dynid.suspects.drive_defects import Elasticity
from dynid.suspects.scene import scenes_of
from dynid.suspects.torque_defects import TorqueDeadband
from support.defect_arms import defect_arm, with_torque


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


@pytest.mark.parametrize("cause", ["elasticity", "torque deadband"])
@pytest.mark.parametrize("real", [True, False])
def test_a_size_that_a_cause_cannot_have_does_not_name_it(cause: str, real: bool) -> None:
    """A link that runs ahead of its load, a tenth of a deadband: something else, whatever it explains."""
    arm = defect_arm(2)
    (motion,) = arm.motions(2, harmonics=15)
    scene = scenes_of(arm.base, arm.base.regroup(arm.values), [motion], Preparation(cutoff_hz=20.0))[0]
    level = float(np.quantile(np.abs(motion.tau[:, 1]), 0.4))
    if cause == "elasticity":
        (column,) = Elasticity(1).columns(scene)
        column = column * 0.1 * np.std(motion.tau[:, 1]) / np.std(column[:, 1]) * (1.0 if real else -1.0)
    else:
        (column,) = TorqueDeadband(1, level, level).columns(scene)
        column = column if real else 0.2 * column
    table = rank_suspects(arm.fit([with_torque(motion, motion.tau + column)], 2, 0.001))
    assert (f"{cause}@2" in [one.suspect.key for one in table.ranked]) == real


def test_a_joint_without_torque_has_neither_its_time_nor_its_scale() -> None:
    arm = defect_arm(2)
    motions = [with_torque(m, m.tau * (np.arange(m.tau.shape[1]) != 1)) for m in arm.motions(2, logs=2)]
    problem = arm.fit(motions, 2).problem
    suspects, _ = suspects_of(problem, np.ones(len(arm.base.names), dtype=bool))
    of_passive = {suspect.key for suspect in suspects if suspect.joint == 1}
    assert {"zero@2", "position scale@2"} <= of_passive
    assert not [key for key in of_passive if key.startswith(("delay", "torque", "gear"))]
