"""Trees drawn by Hypothesis: mixed joints, branches, welded links, skew axes, tilted gravity."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.robot import Robot

# Multiples of a right angle and zero lengths fold away in the kernels, so they must turn up often.
ANGLES = st.sampled_from([0.0, math.pi / 2, -math.pi / 2, math.pi]) | st.floats(-3.0, 3.0)
LENGTHS = st.just(0.0) | st.floats(-0.5, 0.5)


@st.composite
def trees(draw: st.DrawFn) -> Robot:
    kinds = draw(st.lists(st.sampled_from(JointKind), min_size=1, max_size=7))
    if all(kind is JointKind.FIXED for kind in kinds):
        kinds.append(draw(st.sampled_from([JointKind.REVOLUTE, JointKind.PRISMATIC])))
    joints = [
        Joint(
            f"joint{i + 1}",
            draw(st.integers(BASE, i - 1)),
            kind,
            **{name: draw(ANGLES) for name in ("gamma", "alpha", "theta")},
            **{name: draw(LENGTHS) for name in ("b", "d", "r")},
            actuated=kind is not JointKind.FIXED,
        )
        for i, kind in enumerate(kinds)
    ]
    gravity = draw(st.tuples(*[st.floats(-10.0, 10.0)] * 3))
    return Robot("tree", tuple(joints), gravity=gravity)
