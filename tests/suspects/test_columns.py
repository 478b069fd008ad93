"""Each column is the derivative of the torques by its defect: mending a motion undoes it."""

from __future__ import annotations

import numpy as np
import pytest

from dynid import find_base, kernels, load_robot
from dynid.preparation import Preparation
from dynid.preparation.motion import Motion
from dynid.suspects.ledger import columns_along
from dynid.suspects.log_defects import GravityTilt, log_defects
from dynid.suspects.scene import Scene, scenes_of
from dynid.suspects.suspect import Suspect
from support.motions import base_truth, exact_torques, fourier_motion

ROBOT = load_robot("ur10")
BASE = find_base(ROBOT)
VALUES = base_truth(BASE, np.random.default_rng(5))
DEFECTS = {suspect.key: suspect for suspect in log_defects(ROBOT)}
STEP = 1e-4


def motion() -> Motion:
    made = fourier_motion(ROBOT, np.random.default_rng(1), seconds=4.0, rate_hz=500.0)
    return Motion("m", made.time, made.q, made.qd, made.qdd, exact_torques(BASE, VALUES, made), made.rate_hz)


def scene() -> Scene:
    return scenes_of(BASE, VALUES, [motion()], Preparation(cutoff_hz=10.0))[0]


@pytest.mark.parametrize("key", [key for key in DEFECTS if not key.startswith("gravity")])
def test_a_small_defect_changes_the_misfit_as_its_column_says(key: str) -> None:
    suspect: Suspect = DEFECTS[key]
    here, sound = scene(), motion()
    missed = []
    for sign in (1.0, -1.0):
        mended = suspect.mend(sound, np.array([sign * STEP]))
        assert mended is not None
        missed.append(mended.tau - exact_torques(BASE, VALUES, mended))
    # Mending a sound motion by θ takes s θ from what the torques have over the model's.
    (column,) = suspect.columns(here)
    slope = (missed[0] - missed[1]) / (2 * STEP)
    # Differences in time are one-sided at the ends and wrong where dry friction jumps: few samples.
    size = max(float(np.quantile(np.abs(column), 0.95)), 1e-6 * float(np.abs(here.torque).max()))
    off = np.abs(slope + column) / size
    assert np.quantile(off, 0.97) < 5e-3


def test_tilted_gravity_changes_the_torques_as_its_columns_say() -> None:
    tilt, here = GravityTilt(None, gravity=ROBOT.gravity), scene()
    size = np.array([3e-3, -2e-3])
    tilted = ROBOT.with_gravity(*(np.array(ROBOT.gravity) + size @ tilt.across))
    turned = motion()
    W = kernels(tilted, BASE.columns).regressor(turned.q, turned.qd, turned.qdd)
    expected = sum(s * column for s, column in zip(size, tilt.columns(here), strict=True))
    assert np.allclose(W @ VALUES - here.torque, expected, atol=1e-9 * np.abs(here.torque).max())


@pytest.mark.parametrize("decimation", [23, 24])
def test_thinned_motions_give_the_same_columns(decimation: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight samples per row, between the recorded ones where 8 … 15 do not divide the decimation."""
    plan, suspects = Preparation(cutoff_hz=10.0, decimation=decimation), list(DEFECTS.values())
    thin = scenes_of(BASE, VALUES, [motion()], plan)[0]
    assert (thin.decimation, len(thin.q)) == (8, -(-2000 * 8 // decimation))
    found = columns_along(thin, suspects)
    monkeypatch.setattr("dynid.suspects.scene._PER_ROW", decimation)
    whole = columns_along(scenes_of(BASE, VALUES, [motion()], plan)[0], suspects)
    off = np.linalg.norm((found - whole)[:, :, 3:-3], axis=2)
    share = off / np.maximum(np.linalg.norm(whole[:, :, 3:-3], axis=2), 1e-6)
    assert np.median(share) < 0.01
    assert np.max(share) < 0.06  # dry friction jumps
