"""Random trees, fresh regressors and formulas read back, shared by the tests of the base parameters."""

from __future__ import annotations

import math
import re

import numpy as np
from hypothesis import strategies as st

from dynid.base import BaseMap
from dynid.base.numeric import random_states, regressor_matrix
from dynid.model.drives import Drives
from dynid.model.joint import Joint, JointKind
from dynid.model.robot import Robot

ANGLES = (0.0, math.pi / 2, -math.pi / 2, math.pi, 0.7)
LENGTHS = (0.0, 0.0, 0.3, -0.25, 0.41)
GRAVITIES = ((0, 0, 0), (0, 0, -9.81), (0, -9.81, 0), (3, -4, 5), (0, -6, -7))
TERMS = (
    ("Fv", "Fc", "off"),
    ("Ia", "Fv", "Fc", "off"),
    ("Ia",),
    (),
    ("Ia", "Fv", "Fc", "off", "Fcp", "Fcn"),
    ("off", "Ia", "Fvp", "Fvn", "Fv"),
)


@st.composite
def trees(draw: st.DrawFn) -> Robot:
    """Trees of one to five joints over parallel, orthogonal, skew, intersecting and coincident axes."""
    kinds = draw(st.lists(st.sampled_from(["revolute", "prismatic", "fixed"]), min_size=1, max_size=5))
    if all(kind == "fixed" for kind in kinds):
        kinds.append("revolute")
    angle, length = st.sampled_from(ANGLES), st.sampled_from(LENGTHS)
    joints = tuple(
        Joint(
            f"j{i}",
            draw(st.one_of(st.just(i - 1), st.integers(-1, i - 1))),
            JointKind(kind),
            gamma=draw(st.one_of(st.just(0.0), angle)),
            b=draw(st.one_of(st.just(0.0), length)),
            alpha=draw(angle),
            d=draw(length),
            theta=draw(st.one_of(st.just(0.0), angle)),
            r=draw(length),
        )
        for i, kind in enumerate(kinds)
    )
    terms = draw(st.sampled_from(TERMS))
    drives = draw(st.one_of(st.none(), coupled_drives(sum(joint.movable for joint in joints))))
    if drives is not None and drives.coupled_motors():
        terms += ("Fcm", *(["Iam"] if "Ia" in terms else []), *(["Fvm"] if "Fv" in terms else []))
    return Robot("tree", joints, gravity=draw(st.sampled_from(GRAVITIES)), terms=terms, drives=drives)


@st.composite
def coupled_drives(draw: st.DrawFn, n: int) -> Drives | None:
    ratio = np.diag([draw(st.sampled_from([1.0, 2.0, -3.0])) for _ in range(n)])
    for _ in range(draw(st.integers(0, 3))):
        i, k = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        if i != k:
            ratio[i, k] = draw(st.sampled_from([1.0, -1.0, 2.0]))
    if abs(np.linalg.det(ratio)) < 1e-3:
        return None
    return Drives(tuple(map(tuple, ratio.tolist())), (0.0,) * n, (1.0,) * n)


def fresh_regressor(base: BaseMap, seed: int = 99) -> np.ndarray:
    """The standard regressor at states that the search has not seen."""
    states = random_states(base.robot, np.random.default_rng(seed))
    return regressor_matrix(base.robot, states, base.rows)


def unexplained(base: BaseMap) -> float:
    """max |W − W_base K|, each column by its own size (by 1 where it is small)."""
    W = fresh_regressor(base)
    error = np.abs(W - W[:, list(base.columns)] @ base.matrix).max(axis=0)
    return float((error / np.maximum(np.abs(W).max(axis=0), 1.0)).max())


def read(formula: str, values: dict[str, float]) -> float:
    """Right-hand side of a formula at values of its names."""
    text = formula.split(" = ")[1].replace("^", "**")
    names = set(re.findall(r"[A-Za-z_]\w*", text))
    return float(eval(text, {"__builtins__": {}}, {name: values[name] for name in names}))


def same_meaning(ours: str, theirs: str) -> bool:
    """Whether two formulas are the same polynomial: equal at random values of every name in them."""
    names = sorted(set(re.findall(r"[A-Za-z_]\w*", f"{ours} {theirs}")))
    rng = np.random.default_rng(5)
    for _ in range(4):
        values = dict(zip(names, rng.uniform(-2, 2, len(names)), strict=True))
        if not math.isclose(read(ours, values), read(theirs, values), rel_tol=1e-9, abs_tol=1e-9):
            return False
    return ours.split(" = ")[0] == theirs.split(" = ")[0]


def regrouped_formulas(base: BaseMap) -> dict[str, str]:
    """The formulas of the parameters that are sums, by the kept parameter's name."""
    names = base.robot.table.names
    pairs = zip(base.columns, base.names, base.formulas, strict=True)
    return {names[column]: text for column, name, text in pairs if name != names[column]}
