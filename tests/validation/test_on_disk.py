"""Motions on disk are validated as those in memory are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.preparation.preparation import Preparation
from dynid.validation.validation import validate
from support.spooled import motion_on_disk
from support.study import PLAN, study


@pytest.mark.parametrize(
    "plan", [PLAN, replace(PLAN, decimation=1, speed_thresholds=(0.05,) * 6), Preparation()]
)
def test_figures_are_those_of_motions_in_memory(plan: Preparation, monkeypatch: pytest.MonkeyPatch) -> None:
    s = study()
    whole = validate(s.estimate, s.unseen, plan)
    monkeypatch.setattr("dynid.preparation.motion.TILE", 300)
    found = validate(s.estimate, [motion_on_disk(motion) for motion in s.unseen], plan)
    for name in ("full", "decimated"):
        own, other = getattr(found, name), getattr(whole, name)
        assert (own is None) == (other is None)
        for key, value in vars(other).items() if other is not None else ():
            np.testing.assert_allclose(getattr(own, key), value, rtol=1e-9, atol=1e-12, err_msg=key)
    for name, value in whole.shares.rms.items():
        np.testing.assert_allclose(found.shares.rms[name], value, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.shares.percent[name], whole.shares.percent[name], rtol=1e-9)
    np.testing.assert_allclose(found.doubt_rms, whole.doubt_rms, rtol=1e-9)
    assert [test.samples for test in found.tests] == [test.samples for test in whole.tests]
    assert found.verdict.grade == whole.verdict.grade
    assert [motion.name for motion in found.motions] == [motion.name for motion in whole.motions]
