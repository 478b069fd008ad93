"""Continuous control laws: the loop as one differential equation, integrated with error control."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynid.compile.program import Port
from dynid.compile.trace import Kernel
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import FINE, Finding, Level, Name
from dynid.dynamics.algebra import Scalar
from dynid.dynamics.operations import symbolic
from dynid.simulation.outcomes import PATH, law_failure
from dynid.simulation.programs import STICK, LoopPlan, Measured, control
from dynid.simulation.simulator import Paths

_METHOD = "LSODA"
"""Switches between stiff and non-stiff by itself: smooth friction is stiff near rest only."""


def _kernel(plan: LoopPlan) -> Kernel:
    """From "x" (q, q̇, memory), "u", "p": rates, then the law's torques."""
    n, memory = plan.axes, plan.controller.law.memory

    def body(s: dict[str, list[Any]]) -> list[Any]:
        ops, p = symbolic(), plan.split(s["p"])
        q, qd, z = s["x"][:n], s["x"][n : 2 * n], s["x"][2 * n :]
        parts: list[list[Scalar]] = [s["u"][k * n : (k + 1) * n] for k in range(6)]
        measured = [a + b for a, b in zip(q, parts[4], strict=True)]
        seen = Measured(parts[0], parts[1], parts[2], measured, qd, parts[3])
        torques, rates = control(plan.controller, seen, z, p, ops, plan.robot.driven)
        at = plan.state(s["x"], [t + d for t, d in zip(torques, parts[5], strict=True)], p, ops)
        return [*qd, *plan.accelerations(at, p, ops), *rates, *torques]

    sizes = plan.sizes
    inputs = (Port("x", 2 * n + memory), Port("u", sizes.inputs), Port("p", sizes.parameters))
    outputs = (Port("dx", 2 * n + memory), Port("tau", n))
    return Kernel("continuous_loop", plan.key, inputs, outputs, body)


def run_adaptive(
    plan: LoopPlan,
    vector: FloatArray,
    inputs: FloatArray,
    step: float,
    q0: FloatArray,
    qd0: FloatArray,
    tolerance: float = 1e-7,
) -> tuple[Paths, Finding]:
    """Integrate a continuous law; inputs, noise among them, are interpolated between their samples.

    Args:
        plan: the loop.
        vector: its parameters.
        inputs: (samples, 6 coordinates).
        step: time between the samples of the inputs [s].
        q0: positions at the beginning.
        qd0: speeds.
        tolerance: wanted accuracy of q [rad or m]; single steps are held to a hundredth of it.
    """
    from scipy.integrate import solve_ivp
    from scipy.interpolate import CubicSpline

    if plan.friction == STICK or plan.quantised:
        raise DynidError(
            "A continuous law is simulated with smooth friction and without quantisation; give the "
            "controller a sample_time for those."
        )
    function = _kernel(plan).function()
    n, memory = plan.axes, plan.controller.law.memory
    time = step * np.arange(len(inputs))

    # A smooth curve through the samples, so that steps need not end at them.
    at = CubicSpline(time, inputs)

    def rate(t: float, x: FloatArray) -> FloatArray:
        return np.asarray(function(x, at(t), vector)[0], dtype=float).ravel()

    followed = [plan.controller.law.feedback and on for on in plan.robot.driven]
    lost = np.where(followed, 1.01 * PATH.lost * (np.ptp(inputs[:, :n], axis=0) + 1.0), np.inf)

    def inside(t: float, x: FloatArray) -> float:
        # A loop that has left its reference for good only costs time.
        return float(min(np.min(lost - np.abs(x[:n] - at(t)[:n])), 1.0))

    inside.terminal = True  # type: ignore[attr-defined]
    x0 = np.concatenate([q0, qd0, np.zeros(memory)])
    local = max(1e-2 * tolerance, 1e-12)
    found = solve_ivp(
        rate,
        (0.0, time[-1]),
        x0,
        method=_METHOD,
        t_eval=time,
        rtol=local,
        atol=local,
        max_step=10 * step,
        events=inside,
    )
    path = np.full((len(time), len(x0)), np.nan)
    reached = found.y.shape[1]
    path[:reached] = found.y.T
    if found.status == 1 and reached < len(path):
        path[reached] = found.y_events[0][-1]  # where it got lost, for the judge to see
    rates, tau = function.map(len(time))(path.T, inputs.T, np.tile(vector[:, None], len(time)))
    dx = np.asarray(rates, dtype=float).T
    q, qd = path[:, :n], path[:, n : 2 * n]
    measured = q + inputs[:, 4 * n : 5 * n]
    paths = Paths(
        q[None],
        qd[None],
        dx[None, :, n : 2 * n],
        np.asarray(tau, dtype=float).T[None],
        measured[None],
        path[-1:],
    )
    known = int(np.argmin(np.append(np.all(np.isfinite(path), axis=1), False)))
    if found.status != 1 and 0 < known < len(path):
        # What the law says next, of the last state in sight, tells its own failure from an instability.
        ahead = np.asarray(function(path[known - 1], inputs[known], vector)[1], dtype=float).T
        failed = law_failure(plan.robot, ahead, np.asarray(time[known:], dtype=float))
        if failed is not None:
            return paths, failed
    if found.status >= 0:
        return paths, FINE
    end = float(found.t[-1]) if len(found.t) else 0.0
    return paths, Finding(
        Name.DIVERGED,
        Level.FAIL,
        f"The adaptive integrator stops at {end:.3g} s ({found.message}).",
        "Check the gains of the law and the robot's parameters.",
    )
