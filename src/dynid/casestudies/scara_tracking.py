"""How near the simulated SCARA stays to the robot and to the reference, pass by pass (Figs. 11 and 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.casestudies.case import Row, grouped
from dynid.casestudies.scara_published import TRACKING
from dynid.casestudies.scara_rules import least, most
from dynid.casestudies.scara_runs import Runs
from dynid.casestudies.scara_setup import FOLLOW, Experiment, loop_problem, measured_motion
from dynid.estimators.estimate import Estimate
from dynid.estimators.loop_gains import Gains
from dynid.preparation.motion import Motion
from dynid.problem.replay import Model, regular_start, replay

FloatArray = NDArray[np.float64]
SIGNALS = ("position", "speed", "acceleration")
CLOSER = 3.0
"""§VI.B: the simulation is 3 to 5 times closer to the robot than to the reference."""


@dataclass(frozen=True, eq=False)
class Tracking:
    """Relative norm errors of the simulated motion, (passes, signals, joints) each.

    Args:
        actual: to the filtered measured motion.
        reference: to the reference.
        last: the simulated motion after the last pass, with the measured torques.
        torque: the simulated torques of that motion.
    """

    actual: FloatArray
    reference: FloatArray
    last: Motion
    torque: FloatArray


def track(experiment: Experiment, estimate: Estimate, bandwidth: float = 1.0) -> Tracking:
    """Simulate again what every pass of DIDIM from the regular start had simulated.

    Args:
        experiment: the experiment.
        estimate: of DIDIM.
        bandwidth: the share of the true bandwidth that DIDIM believed in.
    """
    problem = loop_problem(experiment, bandwidth=bandwidth)
    gains = Gains(problem.controller, FOLLOW)
    solved = [np.array(h["solved"]) for h in estimate.facts["history"]]
    models = [regular_start(problem), *(Model(problem.robot, problem.base, values) for values in solved)]
    trim = float(estimate.facts["transient_s"])
    runs = [replay(problem, model, gains.controller(model), trim) for model in models]
    measured, r = measured_motion(experiment), experiment.reference
    assert r.qd is not None
    assert r.qdd is not None
    rate = 1.0 / r.sample_time
    place = np.rint(measured.time * rate).astype(int)
    actual, wanted = [], []
    for run in runs:
        motion = run.motions[0]
        rows = place - round(float(motion.time[0]) * rate)
        kept = (rows >= 0) & (rows < motion.samples)
        own = [s[rows[kept]] for s in (motion.q, motion.qd, motion.qdd)]
        actual.append(_errors(own, [s[kept] for s in (measured.q, measured.qd, measured.qdd)]))
        wanted.append(_errors(own, [s[place[kept]] for s in (r.q, r.qd, r.qdd)]))
    return Tracking(np.array(actual), np.array(wanted), runs[-1].motions[0], runs[-1].torques[0])


def _errors(signals: Sequence[FloatArray], others: Sequence[FloatArray]) -> list[FloatArray]:
    return [
        np.linalg.norm(a - b, axis=0) / np.linalg.norm(b, axis=0)
        for a, b in zip(signals, others, strict=True)
    ]


def tracking_rows(runs: Sequence[Runs]) -> list[Row]:
    """What §VI.B reads from Fig. 11, after the last pass; the larger of the joints."""
    found = [track(r.experiment, r.regular) for r in runs]
    rows = []
    for what, k in (("robot", 0), ("reference", 1)):
        for s, signal in enumerate(SIGNALS):
            values = [float((t.reference if k else t.actual)[-1, s].max()) for t in found]
            # How far the loop is from its reference depends on a trajectory the paper does not give.
            bound = np.inf if k else 2 * TRACKING[0][s]
            rows.append(most(f"{signal}, simulated to {what}", TRACKING[k][s], values, bound))
    for s, signal in enumerate(SIGNALS):
        ratios = [float((t.reference[-1, s] / t.actual[-1, s]).min()) for t in found]
        quantity = f"{signal}: times closer to the robot than to the reference"
        # Accelerations jump where a joint turns: the filter of the measured ones smears the jump.
        rule = most(quantity, CLOSER, ratios, np.inf) if s == 2 else least(quantity, CLOSER, ratios, CLOSER)
        rows.append(rule)
    return grouped("B · Fig. 11: relative errors of the simulated motion", rows)
