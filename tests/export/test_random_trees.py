"""Random trees as URDF and MJCF: read by Pinocchio and MuJoCo, they move as the model says."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from dynid.export.mjcf import to_mjcf
from dynid.export.urdf import to_urdf
from dynid.model.robot import Robot
from support.evaluate import relative_error
from support.export_models import model_of, mujoco_torques, our_torques, pinocchio_torques
from support.trees import trees


@given(trees(), st.integers(0, 1000))
def test_a_random_tree_as_urdf_equals_pinocchios(tree: Robot, seed: int) -> None:
    model = model_of(tree, seed)
    export = to_urdf(model)
    free, x, torques = our_torques(model)
    assert export.figures["largest_difference"] < 1e-9
    assert relative_error(pinocchio_torques(export.files[0].content.decode(), free, x), torques) < 1e-9


@given(trees(), st.integers(0, 1000))
def test_a_random_tree_as_mjcf_equals_mujocos(tree: Robot, seed: int) -> None:
    model = model_of(tree, seed)
    export = to_mjcf(model)
    free, x, torques = our_torques(model, "Fv", "Fc")
    assert export.figures["largest_difference"] < 1e-9
    assert relative_error(mujoco_torques(export.files[0].content.decode(), free, x), torques) < 1e-9
