"""Robots read from URDF move as Pinocchio's reading of the same text."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

pytest.importorskip("pinocchio")

from dynid.model.loaders.urdf import from_urdf, from_urdf_text
from dynid.model.robot import Robot
from support.evaluate import States, dynid_inverse, dynid_regressor, random_states, relative_error
from support.robots import free_tree
from support.urdf_oracle import urdf_oracle
from support.urdf_text import joint, link, robot

SKEW_ARM = robot(
    link("base", "box"),
    *(link(f"l{i}", body) for i, body in enumerate(("box", "rod", "ball", "box", "rod", "ball"), start=1)),
    joint("j1", "base", "l1", xyz="0.1 -0.2 0.4", rpy="0.3 0.2 -0.7", axis="1 2 -0.5"),
    joint("j2", "l1", "l2", "continuous", xyz="0 0.2 0.1", rpy="-1.1 0.4 0.9", axis="0 -1 0"),
    joint("j3", "l2", "l3", xyz="0.3 0 0", rpy="0 0 2.2", axis="-3 0.1 0.2"),
    joint("j4", "l3", "l4", xyz="0.3 0.1 0", axis="0 0 -1"),
    joint("j5", "l4", "l5", xyz="0 0 0.2", rpy="1 1 1", axis="0.5 0.5 -20"),
    joint("j6", "l5", "l6", xyz="0 0.05 0.1", rpy="0 -2.5 0", axis=None),  # the default axis is x
)

PRISMATIC = robot(
    link("base", ""),
    *(link(f"l{i}", "box") for i in range(1, 5)),
    joint("lift", "base", "l1", "prismatic", xyz="0 0 0.3", rpy="0 0.1 0", axis="0 0 2"),
    joint("turn", "l1", "l2", "revolute", xyz="0.1 0 0", rpy="1.5707963267948966 0 0"),
    joint("reach", "l2", "l3", "prismatic", xyz="0.2 0 0", rpy="0 0.8 0.1", axis="1 1 0"),
    joint("roll", "l3", "l4", "continuous", xyz="0.2 0 0", axis="1 0 0"),
)

# Links fixed to the base, inside the chain (two in a row) and at the tip, one of them without mass.
WELDED = robot(
    link("world", ""),
    link("pedestal", "box"),
    *(link(f"l{i}", "rod") for i in (1, 2, 3)),
    link("flange", "ball"),
    link("camera", "box"),
    link("tool", "ball"),
    link("tcp", ""),
    joint("to_pedestal", "world", "pedestal", "fixed", xyz="0.2 0 0.5", rpy="0.4 -0.3 0.2"),
    joint("j1", "pedestal", "l1", xyz="0 0 0.1", rpy="0.2 0 0", axis="0 1 0"),
    joint("to_flange", "l1", "flange", "fixed", xyz="0.1 0.1 0.2", rpy="0.5 1.0 -0.7"),
    joint("to_camera", "flange", "camera", "fixed", xyz="0 0.3 0", rpy="0 0 1.1"),
    joint("j2", "camera", "l2", xyz="0.2 0 0", rpy="0 1.2 0", axis="0.2 0 1"),
    joint("j3", "l2", "l3", "prismatic", xyz="0.2 0 0.1", rpy="0.7 0 0", axis="0 0 -1"),
    joint("to_tool", "l3", "tool", "fixed", xyz="0 0 0.2", rpy="0.1 0.2 0.3"),
    joint("to_tcp", "tool", "tcp", "fixed", xyz="0 0 0.1"),
)

# Pinocchio sorts the children of a link by name; the file lists them the other way round.
BRANCHED = robot(
    link("base", "box"),
    *(link(name, "box") for name in ("trunk", "z1", "z2", "a1", "a2", "other")),
    joint("z_trunk", "base", "trunk", xyz="0 0 0.3", rpy="0 0.4 0"),
    joint("z_right1", "trunk", "z1", xyz="0 -0.2 0.1", rpy="1.2 0 0", axis="1 0 0.3"),
    joint("z_right2", "z1", "z2", "prismatic", xyz="0 0 0.2", rpy="0 0.6 0", axis="0 1 0"),
    joint("a_left1", "trunk", "a1", xyz="0 0.2 0.1", rpy="-1.2 0 0.3", axis="1 0 0"),
    joint("a_left2", "a1", "a2", xyz="0 0 0.2", axis="0 1 0"),
    joint("a_other", "base", "other", xyz="0.5 0.5 0", rpy="0 0 0.5", axis="0 1 1"),
)
TEXTS = {"skew": SKEW_ARM, "prismatic": PRISMATIC, "welded": WELDED, "branched": BRANCHED}


def agreement(loaded: Robot, text: str, rng: np.random.Generator) -> float:
    """Largest relative error of inverse dynamics and of regressor × parameters against pin.rnea."""
    bare = loaded.with_terms()
    chi = bare.table.vector(bare.parameters)
    x = random_states(bare, rng)
    theirs = urdf_oracle(text).rnea(bare, x)
    ours = dynid_inverse(bare, chi, x)
    return max(relative_error(ours, theirs), relative_error(dynid_regressor(bare, x) @ chi, theirs))


@pytest.mark.parametrize("name", TEXTS)
def test_inverse_dynamics_of_a_urdf_is_pinocchios(name: str, rng: np.random.Generator) -> None:
    loaded = from_urdf_text(TEXTS[name], snap_rad=0.0)
    assert agreement(loaded, TEXTS[name], rng) < 1e-10


def test_joints_are_depth_first_in_the_order_of_the_file() -> None:
    loaded = from_urdf_text(BRANCHED)
    assert [j.name for j in loaded.joints] == [
        "z_trunk",
        "z_right1",
        "z_right2",
        "a_left1",
        "a_left2",
        "a_other",
    ]
    assert [j.label for j in loaded.joints] == ["1", "2", "3", "4", "5", "6"]
    assert [j.antecedent for j in loaded.joints] == [-1, 0, 1, 0, 3, -1]


def test_fixed_joints_leave_no_joint_and_no_mass_behind() -> None:
    loaded = from_urdf_text(WELDED)
    assert [j.name for j in loaded.joints] == ["j1", "j2", "j3"]
    # l1 + flange + camera, l2, l3 + tool; the pedestal on the base does not count.
    masses = [loaded.parameters[f"M{i}"] for i in (1, 2, 3)]
    assert masses == pytest.approx([1.2 + 0.4 + 2.5, 1.2, 1.2 + 0.4])


MIMIC = robot(
    link("base", ""),
    *(link(f"l{i}", "box") for i in range(1, 6)),
    joint("j1", "base", "l1", xyz="0 0 0.2", rpy="0.3 0 0"),
    # A follower listed before its leader, and a follower of a follower.
    joint(
        "j2",
        "l1",
        "l2",
        axis="0 1 0",
        xyz="0.2 0 0",
        more='<mimic joint="j4" multiplier="-0.5" offset="0.3"/>',
    ),
    joint("j3", "l2", "l3", axis="1 0 0", xyz="0.2 0 0", more='<mimic joint="j2" multiplier="2"/>'),
    joint("j4", "l3", "l4", "continuous", axis="0 1 0.2", xyz="0.2 0.1 0"),
    joint("j5", "l4", "l5", "prismatic", axis="0 0 1", more='<mimic joint="j1" offset="-0.1"/>'),
)


def test_mimic_joints_load_the_joints_they_follow(rng: np.random.Generator) -> None:
    loaded = from_urdf_text(MIMIC, snap_rad=0.0).with_terms()
    assert loaded.coupling is not None
    G, g0 = loaded.coupling.G, np.array(loaded.coupling.offset)
    assert [loaded.joints[c].name for c in loaded.coordinates] == ["j1", "j4"]
    assert np.allclose(G, [[1, 0], [0, -0.5], [0, -1], [0, 1], [1, 0]], atol=0)
    assert np.allclose(g0, [0, 0.3, 0.6, 0, -0.1], atol=1e-16)
    x = random_states(loaded, rng)
    tree = States(x.q @ G.T + g0, x.qd @ G.T, x.qdd @ G.T)
    theirs = urdf_oracle(MIMIC).rnea(free_tree(loaded), tree) @ G
    chi = loaded.table.vector(loaded.parameters)
    assert relative_error(dynid_inverse(loaded, chi, x), theirs) < 1e-10
    assert relative_error(dynid_regressor(loaded, x) @ chi, theirs) < 1e-10


def test_snapped_angles_change_the_torques_no_more_than_the_decimals(rng: np.random.Generator) -> None:
    text = PRISMATIC.replace("1.5707963267948966", "1.5708")
    loaded = from_urdf_text(text)
    assert loaded.joints[1].alpha == np.pi / 2 or loaded.joints[1].alpha == -np.pi / 2
    assert 1e-9 < agreement(loaded, text, rng) < 1e-4
    assert agreement(from_urdf_text(text, snap_rad=0.0), text, rng) < 1e-10
    # The file with the exact digits is the robot that the short digits mean.
    assert from_urdf_text(text).digest == from_urdf_text(PRISMATIC).digest


def test_tx40_file_moves_as_in_pinocchio(rng: np.random.Generator) -> None:
    folder = Path(os.environ.get("DYNID_DATA", Path(__file__).parents[3] / "shared" / "data"))
    file = folder / "tx40" / "tx40_mdh_modified.urdf"
    if not file.exists():
        pytest.skip(f"The TX40 log is not there: {file}; set DYNID_DATA to the folder of the logs.")
    loaded = from_urdf(file, snap_rad=0.0)
    assert agreement(loaded, file.read_text(), rng) < 1e-9  # its 1.57079632679 is 5e-12 off
    snapped = from_urdf(file)
    assert [j.alpha for j in snapped.joints] == pytest.approx(
        [0, *(np.pi / 2 * s for s in (-1, 0, 1, -1, 1))]
    )
    assert snapped.joints[2].d == pytest.approx(0.225)
    assert snapped.joints[0].limits.effort == 131.84


def triple(low: float, high: float) -> st.SearchStrategy[str]:
    """Three numbers with few digits, so that axes are parallel, orthogonal or clearly neither."""
    one = st.integers(round(low * 10), round(high * 10)).map(lambda v: v / 10)
    return st.tuples(one, one, one).map(lambda v: " ".join(str(x) for x in v))


@st.composite
def urdf_trees(draw: st.DrawFn) -> str:
    """A random tree of up to seven links with every kind of joint, always with one that moves."""
    parts = [link("link0", draw(st.sampled_from(["", "box"])))]
    for i in range(1, draw(st.integers(1, 7)) + 1):
        kinds = ["revolute", "continuous", "prismatic", *(["fixed"] if i > 1 else [])]
        parts += [
            link(f"link{i}", draw(st.sampled_from(["box", "rod", "ball", ""]))),
            joint(
                f"j{draw(st.integers(0, 9))}_{i}",  # names in no order
                f"link{draw(st.integers(0, i - 1))}",
                f"link{i}",
                draw(st.sampled_from(kinds)),
                xyz=draw(triple(-0.4, 0.4)),
                rpy=draw(triple(-3.0, 3.0)),
                axis=draw(triple(-1.0, 1.0).filter(lambda text: any(float(v) for v in text.split()))),
            ),
        ]
    return robot(*parts)


@given(text=urdf_trees(), seed=st.integers(0, 2**32 - 1))
def test_random_urdf_trees_move_as_in_pinocchio(text: str, seed: int) -> None:
    assert agreement(from_urdf_text(text, snap_rad=0.0), text, np.random.default_rng(seed)) < 1e-10
