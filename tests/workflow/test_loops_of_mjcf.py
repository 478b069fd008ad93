"""A five-bar that MuJoCo simulates, from its MJCF file and a CSV log to a model that predicts new motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="MuJoCo records these logs; install the oracles extra.")

import mujoco

from dynid.base.find import find_base
from dynid.cli.main import run
from dynid.compile.kernels import kernels
from dynid.model.load import load_robot
from dynid.results.load import load_result
from support.evaluate import States
from support.mjcf_loop_oracle import LoopOracle
from support.mjcf_loops import FIVEBAR

MOTORS = ("left_motor", "right_motor")
MIDDLE = np.array([0.25, 0.05])
FREQUENCIES_HZ = np.array([[0.13, 0.41, 1.1], [0.19, 0.53, 1.3]])
AMPLITUDES = np.array([[0.2, 0.12, 0.06], [0.22, 0.12, 0.05]])
SETTLED = 500
"""Samples until the arms follow the reference."""


def record(file: Path, seed: int, duration: float = 15.0) -> None:
    """A log of both motors at 1 kHz: sines, a PD law, encoder noise of 2e-5 rad, torque noise of 2 %."""
    model = mujoco.MjModel.from_xml_string(FIVEBAR)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0.0, 2 * np.pi, FREQUENCIES_HZ.shape)
    places = [model.joint(name).qposadr[0] for name in MOTORS]
    w = 2 * np.pi * FREQUENCIES_HZ
    rows = []
    for k in range(round(duration / 1e-3)):
        angle = w * k * 1e-3 + phases
        wanted = MIDDLE + np.sum(AMPLITUDES * np.sin(angle), axis=1)
        speed = np.sum(AMPLITUDES * w * np.cos(angle), axis=1)
        q, qd = data.qpos[places].copy(), data.qvel[places].copy()
        data.ctrl[:] = 100.0 * (wanted - q) + 6.0 * (speed - qd)
        rows.append([k * 1e-3, *q, *data.ctrl])
        for _ in range(2):
            mujoco.mj_step(model, data)
    table = np.array(rows[SETTLED:])
    table[:, 1:3] += rng.normal(0.0, 2e-5, (len(table), 2))
    table[:, 3:] += 0.02 * table[:, 3:].std(axis=0) * rng.normal(size=(len(table), 2))
    np.savetxt(file, table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="", fmt="%.9g")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model, two logs of different motions, and the result of a fit."""
    place = tmp_path_factory.mktemp("fivebar")
    (place / "fivebar.xml").write_text(FIVEBAR, encoding="utf-8")
    for seed, name in enumerate(("log.csv", "new.csv")):
        record(place / name, seed)
    names = [str(place / name) for name in ("fivebar.xml", "log.csv", "new.csv", "fit")]
    assert run(["fit", names[0], names[1], "--validate", names[2], "--out", names[3]]) == 0
    return place


def test_unseen_motion_is_predicted(folder: Path) -> None:
    saved = load_result(folder / "fit")
    validation = saved.document["validation"]
    assert not validation["seen"]
    assert validation["decimated"]["overall_percent"] < 0.5


def test_torques_are_those_of_the_true_robot(folder: Path) -> None:
    """At states of the box, against mj_inverse projected by MuJoCo's own Jacobian; the fit saw noise only."""
    robot = load_robot(folder / "fivebar.xml")
    saved = load_result(folder / "fit")
    base = find_base(robot)
    assert saved.base.names == base.names
    rng = np.random.default_rng(9)
    x = States(
        MIDDLE + rng.uniform(-0.3, 0.3, (10, 2)), rng.normal(0.0, 0.6, (10, 2)), rng.normal(0.0, 4.0, (10, 2))
    )
    true = LoopOracle(FIVEBAR, robot).inverse(x)
    ours = kernels(robot, base.columns).regressor(x.q, x.qd, x.qdd) @ saved.values
    assert np.linalg.norm(ours - true) < 0.01 * np.linalg.norm(true)


def test_the_model_goes_back_into_the_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", str(folder / "fit"), "--to", "mjcf", "--out", str(folder / "out")]) == 0
    assert "MuJoCo holds the loop of 'tip' by soft constraints." in capsys.readouterr().out
    text = (folder / "out" / "fivebar.xml").read_text(encoding="utf-8")
    assert '<connect name="tip" body1="right_rod" body2="left_rod" anchor="0.15 0 0.3"/>' in text
    assert load_robot(folder / "out" / "fivebar.xml").closure == load_robot(folder / "fivebar.xml").closure
