"""Every published digit of the EMPS benchmark (Janot, Gautier, Brunot 2019) from the raw log."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import io

from dynid.logs.log import Log
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from support.datasets import dataset

FloatArray = NDArray[np.float64]
PLAN = Preparation(
    stamps="even", cutoff_hz=100.0, order=4, drop_samples=49, drop_end=0, decimation=10, convention="matlab"
)


def motion(name: str) -> Motion:
    data = io.loadmat(dataset("emps", name))
    force = data["vir"] * float(data["gtau"].squeeze())
    return prepare(Log(name, data["t"].ravel(), {"position": data["qm"], "torque": force}), PLAN)


def rows(made: Motion, columns: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    small = decimate_rows(np.stack([made.tau[:, 0], *columns]), PLAN.decimation, PLAN.convention)
    return small[1:].T, small[0]


def symmetric(made: Motion) -> tuple[FloatArray, FloatArray]:
    speed = made.qd[:, 0]
    return rows(made, [made.qdd[:, 0], speed, np.sign(speed), np.ones_like(speed)])


def relative_percent(W: FloatArray, y: FloatArray, x: FloatArray) -> float:
    return float(100 * np.linalg.norm(y - W @ x) / np.linalg.norm(y))


@pytest.fixture(scope="module")
def identified() -> tuple[FloatArray, FloatArray, FloatArray]:
    W, y = symmetric(motion("DATA_EMPS.mat"))
    return W, y, np.linalg.lstsq(W, y, rcond=None)[0]


def test_parameters(identified: tuple[FloatArray, FloatArray, FloatArray]) -> None:
    assert [f"{value:.4f}" for value in identified[2]] == ["95.1089", "203.5034", "20.3935", "-3.1648"]


def test_standard_deviations_condition_and_residual(
    identified: tuple[FloatArray, FloatArray, FloatArray],
) -> None:
    W, y, x = identified
    residual = y - W @ x
    scale = np.sqrt(residual @ residual / (len(y) - 1))  # the authors divide by r − 1, not by r − 4
    deviations = scale * np.sqrt(np.diag(np.linalg.inv(W.T @ W)))
    assert [f"{value:.4f}" for value in deviations] == ["0.1085", "1.1460", "0.1012", "0.0444"]
    assert f"{np.linalg.cond(W):.4f}" == "25.9883"
    assert f"{relative_percent(W, y, x):.4f}" == "4.0834"
    assert f"{scale:.4f}" == "2.1843"


def test_asymmetric_friction() -> None:
    made = motion("DATA_EMPS.mat")
    speed = made.qd[:, 0]
    forth, back = (speed > 0).astype(float), (speed < 0).astype(float)
    W, y = rows(made, [made.qdd[:, 0], speed * forth, forth, speed * back, -back])
    x = np.linalg.lstsq(W, y, rcond=None)[0]
    assert [f"{value:.4f}" for value in x] == ["95.1540", "166.7061", "20.1440", "240.4236", "20.6277"]
    assert f"{relative_percent(W, y, x):.4f}" == "3.1117"


def test_cross_test_on_pulses(identified: tuple[FloatArray, FloatArray, FloatArray]) -> None:
    """The same preparation, first 49 samples dropped and decimation included, with the parameters above."""
    W, y = symmetric(motion("DATA_EMPS_PULSES.mat"))
    assert f"{relative_percent(W, y, identified[2]):.4f}" == "5.9824"
