"""Strategies and small problems with known truth, for the suites that every estimator passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.base import BaseMap, find_base
from dynid.estimators import (
    IRLS,
    OLS,
    STRIBECK,
    TLS,
    WLS,
    Bootstrap,
    Consistent,
    Essential,
    Ridge,
    Separable,
    Strategy,
)
from dynid.model.friction import FrictionTerm
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import Problem, build_problem
from support.motions import base_truth, exact_torques, fourier_motion

Array = NDArray[np.float64]
STRIBECK_TRUTH = {"Fs1": 0.6, "Fs2": 0.1, "vs1": 0.3, "vs2": 0.4}


def stribeck_torques(motion: Motion) -> Array:
    """Torques of the SCARA's sticking friction."""
    c = np.array([STRIBECK_TRUTH["Fs1"], STRIBECK_TRUTH["Fs2"]])
    v = np.array([STRIBECK_TRUTH["vs1"], STRIBECK_TRUTH["vs2"]])
    return np.asarray(c * np.sign(motion.qd) * np.exp(-((motion.qd / v) ** 2)))


@dataclass(frozen=True)
class Case:
    """A strategy, and the torques that its model holds beside W χ."""

    strategy: Strategy
    beside: Callable[[Motion], Array] = lambda motion: np.zeros_like(motion.tau)


CASES = {
    "ols": Case(OLS()),
    "wls": Case(WLS()),
    "wls-iterated": Case(WLS(iterations=10)),
    "wls-hac": Case(WLS(uncertainty="hac")),
    "wls-bootstrap": Case(WLS(uncertainty=Bootstrap(replicates=60))),
    "huber": Case(IRLS()),
    "bisquare": Case(IRLS(loss="bisquare")),
    "tls": Case(TLS()),
    "tls-plain": Case(TLS(scaled=False)),
    "ridge": Case(Ridge(prior={})),
    "ridge-auto": Case(Ridge(prior={}, strength="auto")),
    "consistent": Case(Consistent(WLS())),
    "essential-sigma": Case(Essential(WLS())),
    "essential-residual": Case(Essential(WLS(), rule="residual")),
    "essential-f-test": Case(Essential(OLS(), rule="f-test")),
    "separable": Case(Separable(terms=(STRIBECK,)), stribeck_torques),
}
DEPENDS_ON_UNITS = ("tls-plain",)


@cache
def scara() -> tuple[BaseMap, Array]:
    """The SCARA and values that all matter."""
    base = find_base(load_robot("scara"))
    truth = dict(zip(base.names, base_truth(base, np.random.default_rng(0)), strict=True))
    truth |= {"Fv1": 0.4, "Fv2": 0.15, "MY2": 0.1}
    return base, np.array([truth[name] for name in base.names])


def scara_motions(case: Case, noise: float = 0.0, seed: int = 3, count: int = 2) -> list[Motion]:
    """Simulated experiments of the SCARA; noise is a share of each joint's RMS torque."""
    base, truth = scara()
    rng = np.random.default_rng(seed)
    motions = []
    for k in range(count):
        motion = fourier_motion(base.robot, rng, seconds=6.0, name=f"experiment {k + 1}")
        tau = exact_torques(base, truth, motion) + case.beside(motion)
        rms = np.sqrt(np.mean(tau**2, axis=0))
        motions.append(replace(motion, tau=tau + noise * rms * rng.normal(size=tau.shape)))
    return motions


def scara_problem(case: Case, noise: float = 0.0, seed: int = 3) -> Problem:
    """Both experiments as a problem."""
    return build_problem(scara()[0].robot, scara_motions(case, noise, seed), Preparation(), scara()[0])


def with_friction(robot: Robot, name: str, expression: str) -> Robot:
    """The SCARA with one more friction term of the user's."""
    return replace(
        robot, friction=(FrictionTerm(name, expression),), terms=(*robot.terms, name), parameters={}
    )


def with_column(base: BaseMap, name: str) -> BaseMap:
    """A base map with one column too many, which depends on the others."""
    column = base.robot.table.index(name)
    columns = tuple(sorted((*base.columns, column)))
    matrix = np.zeros((len(columns), base.matrix.shape[1]))
    for i, c in enumerate(columns):
        matrix[i, c] = 1.0
    return replace(base, columns=columns, matrix=matrix)
