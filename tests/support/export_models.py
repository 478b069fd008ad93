"""Models to export: robots with bodies that can exist, and the torques that other programs give for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from dynid.base.find import base_of
from dynid.estimators.estimate import Further
from dynid.export.model import ExportModel, export_model_of
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.results.result import SavedResult
from support.evaluate import States, dynid_inverse
from support.robots import random_link

Array = NDArray[np.float64]


def model_of(robot: Robot, seed: int = 1, further: Further | None = None, **values: float) -> ExportModel:
    """A result with a random body on every link, positive drive and friction values, and those given."""
    rng = np.random.default_rng(seed)
    known: dict[str, float] = {}
    for joint in robot.joints:
        known |= random_link(rng).by_name(joint.label)
    for entry in robot.table:
        if entry.family != "inertial":
            known[entry.name] = float(rng.uniform(0.05, 0.5))
    base = base_of(robot)
    standard = robot.table.vector(known | values)
    return export_model_of(
        SavedResult(
            Path("result"),
            robot,
            base,
            base.regroup(standard),
            np.zeros((len(base), len(base))),
            np.ones(len(base), dtype=bool),
            np.ones(robot.n_coordinates),
            Preparation(decimation=1),
            {},
            further,
            standard=standard,
        )
    )


def only(model: ExportModel, *symbols: str) -> tuple[Robot, Array]:
    """The robot with every joint free, and its inertial parameters and those of the symbols."""
    robot = model.robot
    terms = tuple(term for term in robot.terms if term in symbols)
    elements = tuple(e for e in robot.elements if e.name in symbols)
    free = replace(
        robot, coupling=None, closure=None, drives=None, terms=terms, elements=elements, parameters={}
    )
    known = {name: value for name, value in model.by_name.items() if name in free.table.names}
    return free, free.table.vector(known)


def states_of(robot: Robot, seed: int = 3, samples: int = 8) -> States:
    rng = np.random.default_rng(seed)
    n = robot.n_coordinates
    return States(*(rng.normal(0.0, size, (samples, n)) for size in (1.5, 3.0, 10.0)))


def our_torques(model: ExportModel, *symbols: str) -> tuple[Robot, States, Array]:
    robot, chi = only(model, *symbols)
    x = states_of(robot)
    return robot, x, dynid_inverse(robot, chi, x)


def pinocchio_torques(text: str, robot: Robot, x: States) -> Array:
    """pin.rnea under the robot's gravity, with Pinocchio's own damping and friction of the file."""
    model = pin.buildModelFromXML(text)
    model.gravity.linear = np.array(robot.gravity)
    data = model.createData()
    ids = [model.getJointId(robot.joints[j].name) for j in robot.movable]
    assert len(ids) == model.njoints - 1
    places = [model.joints[i].idx_v for i in ids]
    rows = []
    for q, v, a in x:
        full = pin.neutral(model)
        for i, angle in zip(ids, q, strict=True):
            joint = model.joints[i]
            full[joint.idx_q : joint.idx_q + joint.nq] = (
                [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
            )
        speeds, accelerations = np.zeros(model.nv), np.zeros(model.nv)
        speeds[places], accelerations[places] = v, a
        rows.append(pin.rnea(model, data, full, speeds, accelerations)[places].copy())
    return np.array(rows)


def mujoco_torques(text: str, robot: Robot, x: States) -> Array:
    """mj_inverse without constraints, and sign(q̇) × the file's frictionloss, which MuJoCo makes of one."""
    model: Any = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    model.opt.gravity[:] = robot.gravity
    data = mujoco.MjData(model)
    places = [int(model.joint(robot.joints[j].name).dofadr[0]) for j in robot.movable]
    assert len(places) == model.nv
    rows = []
    for q, v, a in x:
        mujoco.mj_resetData(model, data)
        data.qpos[places], data.qvel[places] = q, v
        mujoco.mj_forward(model, data)
        data.qacc[places] = a
        mujoco.mj_inverse(model, data)
        rows.append(data.qfrc_inverse[places] + np.sign(v) * model.dof_frictionloss[places])
    return np.array(rows)
