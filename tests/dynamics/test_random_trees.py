"""Random trees — mixed joints, branches, welded links, skew axes, tilted gravity — against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dynid.model.robot import Robot
from support.evaluate import (
    dynid_direct,
    dynid_frames,
    dynid_inertia_matrix,
    dynid_inverse,
    dynid_regressor,
    random_states,
    relative_error,
)
from support.robots import with_random_inertias
from support.trees import trees

pytest.importorskip("pinocchio", reason="Pinocchio is the oracle of these tests; install the oracles extra.")
from support.pinocchio_oracle import pinocchio_oracle


@given(trees(), st.integers(0, 2**32 - 1))
def test_random_tree_equals_pinocchio(tree: Robot, seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = with_random_inertias(tree, rng)
    oracle = pinocchio_oracle(robot)
    chi = robot.table.vector(robot.parameters)
    x = random_states(robot, rng, samples=4)
    inertial = [i for i, entry in enumerate(robot.table) if entry.family == "inertial"]
    tau = oracle.rnea(x)
    assert relative_error(dynid_inverse(robot, chi, x), tau) < 1e-10
    assert relative_error(dynid_regressor(robot, x) @ chi, tau) < 1e-10
    assert relative_error(dynid_regressor(robot, x)[:, :, inertial], oracle.frame_regressor(x)) < 1e-10
    assert relative_error(dynid_inertia_matrix(robot, chi, x), oracle.inertia_matrix(x)) < 1e-10
    assert relative_error(dynid_direct(robot, chi, x, tau), x.qdd) < 1e-9
    for ours, theirs in zip(dynid_frames(robot, x), oracle.frames(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
