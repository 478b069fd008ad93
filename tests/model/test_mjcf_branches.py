"""Bodies with several children, as hands and two-armed robots have, move as in MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

from hypothesis import given, strategies as st

from dynid.model.loaders.mjcf import from_mjcf_text
from support.evaluate import dynid_inverse, dynid_regressor, random_states, relative_error
from support.mjcf_oracle import mjcf_oracle


def inertial(i: int) -> str:
    """A body unlike its siblings."""
    return (
        f'<inertial pos="{0.02 * i} -0.03 {0.1 - 0.01 * i}" mass="{1 + 0.3 * i}" '
        f'fullinertia="{0.03 + 0.001 * i} 0.025 0.02 0.001 -0.002 0.003"/>'
    )


def body(name: str, pose: str, joint: str, i: int, *children: str) -> str:
    """A body with at most one joint; ``joint`` is its attributes or empty for a welded body."""
    line = f'<joint name="{name}_joint" {joint}/>' if joint else ""
    return f'<body name="{name}" {pose}>{line}{inertial(i)}{"".join(children)}</body>'


def model(*bodies: str) -> str:
    return f'<mujoco model="arm"><worldbody>{"".join(bodies)}</worldbody></mujoco>'


def limb(name: str, pose: str, i: int) -> str:
    """Two moving bodies in a row."""
    tip = body(f"{name}2", 'pos="0.1 0 0.2" euler="0 20 5"', 'axis="1 0 0.2"', i + 1)
    return body(f"{name}1", pose, 'axis="0 1 0"', i, tip)


THREE_SIBLINGS = model(
    body(
        "trunk",
        'pos="0 0 0.4" euler="5 10 15"',
        'axis="0 0.2 1"',
        0,
        limb("left", 'pos="0 0.3 0" euler="30 0 0"', 1),
        limb("right", 'pos="0 -0.3 0.1" euler="-40 0 20"', 3),
        limb("neck", 'pos="0.1 0 0.5"', 5),
    )
)
# A welded sibling between two moving ones carries two children of its own, one of them welded again.
WELDED_SIBLING = model(
    body(
        "trunk",
        'pos="0 0 0.4"',
        'axis="0 1 0"',
        0,
        limb("left", 'pos="0 0.3 0" euler="30 0 0"', 1),
        body(
            "mount",
            'pos="0.2 0 0.1" euler="0 35 0"',
            "",
            2,
            limb("camera", 'pos="0 0.1 0"', 3),
            body("plate", 'pos="0 -0.1 0.2"', "", 4, limb("lamp", 'euler="0 0 70"', 5)),
        ),
        limb("right", 'pos="0 -0.3 0.1"', 6),
    ),
    limb("other", 'pos="1 0 0"', 7),
)
GRIPPER = model(
    body(
        "link6",
        'euler="90 0 0"',
        'axis="0 0 1"',
        0,
        body(
            "link7",
            'pos="0.088 0 0" euler="90 0 0"',
            'axis="0 0 1"',
            1,
            body(
                "hand",
                'pos="0 0 0.107" euler="0 0 -45"',
                "",
                2,
                body("left_finger", 'pos="0 0 0.0584"', 'type="slide" axis="0 1 0"', 3),
                body("right_finger", 'pos="0 0 0.0584" euler="0 0 180"', 'type="slide" axis="0 1 0"', 4),
            ),
        ),
    )
)


def arm(name: str, side: float, i: int) -> str:
    hand = body(
        f"{name}_hand",
        'pos="0 0 0.1"',
        "",
        i + 3,
        body(f"{name}_finger1", 'pos="0.02 0 0.05"', 'type="slide" axis="1 0 0"', i),
        body(f"{name}_finger2", 'pos="-0.02 0 0.05"', 'type="slide" axis="-1 0 0"', i + 1),
    )
    wrist = body(f"{name}_wrist", 'pos="0 0 0.25"', 'axis="0 0 1"', i + 2, hand)
    elbow = body(f"{name}_elbow", 'pos="0 0 0.3"', 'axis="0 1 0"', i + 1, wrist)
    return body(f"{name}_shoulder", f'pos="0 {side} 0.4" euler="{100 * side} 0 0"', 'axis="1 0 0"', i, elbow)


TWO_ARMS = model(
    body("torso", 'pos="0 0 0.8"', 'axis="0 0 1"', 0, arm("left", 0.2, 1), arm("right", -0.2, 4))
)
TEXTS = {
    "three siblings": (THREE_SIBLINGS, [-1, 0, 1, 0, 3, 0, 5]),
    "welded sibling": (WELDED_SIBLING, [-1, 0, 1, 0, 3, 0, 5, 0, 7, -1, 9]),
    "gripper": (GRIPPER, [-1, 0, 1, 1]),
    "two arms": (TWO_ARMS, [-1, 0, 1, 2, 3, 3, 0, 6, 7, 8, 8]),
}


def disagreement(text: str, rng: np.random.Generator) -> float:
    loaded = from_mjcf_text(text, snap_rad=0.0)
    loaded = loaded.with_terms(*(term for term in loaded.terms if term != "Fc"))
    chi = loaded.table.vector(loaded.parameters)
    x = random_states(loaded, rng)
    theirs = mjcf_oracle(text).inverse(loaded, x)
    ours = dynid_inverse(loaded, chi, x)
    return max(relative_error(ours, theirs), relative_error(dynid_regressor(loaded, x) @ chi, theirs))


@pytest.mark.parametrize("name", TEXTS)
def test_branched_bodies_move_as_in_mujoco(name: str, rng: np.random.Generator) -> None:
    text, antecedents = TEXTS[name]
    assert [joint.antecedent for joint in from_mjcf_text(text).joints] == antecedents
    assert disagreement(text, rng) < 1e-10


def test_masses_of_welded_siblings_stay_with_their_carrier() -> None:
    loaded = from_mjcf_text(WELDED_SIBLING)
    # trunk (1.0) + mount (1.6) + plate (2.2); the left arm in between takes nothing.
    assert loaded.parameters["M1"] == pytest.approx(4.8)
    assert loaded.parameters["M3"] == pytest.approx(1.6)


@st.composite
def mjcf_trees(draw: st.DrawFn) -> str:
    """A random tree of up to eight bodies: hinges, slides and welds in any place."""
    count = draw(st.integers(2, 8))
    parents = [draw(st.integers(-1, i - 1)) for i in range(count)]
    tenths = st.integers(-4, 4).map(lambda v: v / 10)
    lines = []
    for i in range(count):
        x, y, z, a = (draw(tenths) for _ in range(4))
        kinds = ['axis="0 1 0.3"', 'type="slide" axis="1 0.2 0"', *([""] if i > 0 else [])]
        lines.append((f'pos="{x} {y} {z}" euler="{100 * a} {70 * x} {50 * y}"', draw(st.sampled_from(kinds))))

    def written(i: int) -> str:
        children = [written(k) for k in range(count) if parents[k] == i]
        return body(f"b{i}", *lines[i], i, *children)

    return model(*(written(i) for i in range(count) if parents[i] == -1))


@given(text=mjcf_trees(), seed=st.integers(0, 2**32 - 1))
def test_random_mjcf_trees_move_as_in_mujoco(text: str, seed: int) -> None:
    assert disagreement(text, np.random.default_rng(seed)) < 1e-8


def test_a_body_without_a_name_takes_none_that_another_body_has() -> None:
    inside = f'<body name="body1" pos="0.1 0 0"><joint/>{inertial(1)}</body>'
    loaded = from_mjcf_text(model(f'<body><joint axis="1 0 0"/>{inertial(0)}{inside}</body>'))
    assert [joint.name for joint in loaded.joints] == ["body2_joint1", "body1_joint1"]
