"""Exciting motion of the TX-90 as in P3: one gradient, whole designs, and seven axes among all limits.

The peer is what users of Pinocchio write: the regressor sample by sample in Python, as FIGAROH does, log det
or condition number of its base columns, forward differences, SciPy's SLSQP.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pinocchio as pin
from scipy.optimize import minimize

import dynid
from _arms import pinocchio_model, with_bodies
from _harness import Job, Report, best_of
from dynid.cli.process import settle
from dynid.excitation import Barrier, DesignTask, LimitChoice, LogCond, Workcell, design_motion
from dynid.excitation.problem import DesignProblem
from dynid.excitation.starts import random_start

SIDE = np.radians([180, 130, 140, 270, 115, 270])
"""The smaller side of each range in P3's table 1."""
PUBLISHED_S = {"hadamard": 36.0, "log-det": 586.0, "log-cond": 673.0}
"""Seconds of P3's designs J1, J2 and J3."""
STARTS, SLSQP_ITERATIONS, STEP = 5, 300, 1e-7
_PINOCCHIO_ORDER = ("M", "MX", "MY", "MZ", "XX", "XY", "YY", "XZ", "YZ", "ZZ")


def p3_problem(criterion: str) -> DesignProblem:
    """Five harmonics of 0.1 Hz from rest, 625 samples, conservative bounds, 48 free variables."""
    limits = LimitChoice(lower=-SIDE, upper=SIDE)
    task = DesignTask(
        criterion=criterion,
        limits=limits,
        start=np.zeros(6),
        conservative=True,
        noise=np.ones(6),
        rate_hz=62.5,
        samples=625,
    )
    return task.problem(dynid.load_robot("tx90"), np.random.default_rng(0))


class PinocchioCriterion:
    """J of the same motions by Pinocchio's regressor in a Python loop, with drives and friction."""

    def __init__(self, problem: DesignProblem) -> None:
        robot = problem.model.base.robot
        self.problem = problem
        self.model = pinocchio_model(with_bodies(robot))
        self.data = self.model.createData()
        names = [symbol + joint.label for joint in robot.joints for symbol in _PINOCCHIO_ORDER]
        names += [symbol + joint.label for symbol in ("Ia", "Fv", "Fc") for joint in robot.joints]
        entries = list(robot.table)
        self.base = [names.index(entries[c].name) for c in problem.model.base.columns]
        self.width = problem.model.sign_width

    def rows(self, x: np.ndarray) -> np.ndarray:
        """The base columns of W, (samples · axes, parameters)."""
        q, v, a = self.problem.motion(x)[:3]
        n = q.shape[1]
        W = np.zeros((len(q), n, 13 * n))
        for i in range(len(q)):
            W[i, :, : 10 * n] = pin.computeJointTorqueRegressor(self.model, self.data, q[i], v[i], a[i])
        c = np.clip(v / self.width, -1.0, 1.0)
        axes = np.arange(n)
        for k, values in enumerate((a, v, c * (1.5 - 0.5 * c * c))):
            W[:, axes, (10 + k) * n + axes] = values
        return W.reshape(-1, 13 * n)[:, self.base]

    def __call__(self, x: np.ndarray) -> float:
        """The criterion of these rows, as ours."""
        W = self.rows(x)
        return self.problem.criterion.grade(W.T @ W)[0]

    def differences(self, x: np.ndarray) -> np.ndarray:
        """The gradient by forward differences: one value, and one more for each variable."""
        value, gradient = self(x), np.empty(x.size)
        for k in range(x.size):
            moved = x.copy()
            moved.flat[k] += STEP
            gradient[k] = (self(moved) - value) / STEP
        return gradient.reshape(x.shape)


def slsqp(problem: DesignProblem, x: np.ndarray) -> tuple[np.ndarray, int, float]:
    """Where SLSQP with SciPy's forward differences ends, how many values it takes, and seconds beside them.

    The values come from our kernels: the path is the same, and only their number counts.
    """
    inside, count = 0.0, 0

    def value(z: np.ndarray) -> float:
        nonlocal inside, count
        begun = time.perf_counter()
        found = problem.value(z.reshape(x.shape))
        inside, count = inside + time.perf_counter() - begun, count + 1
        return found

    def limits(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return problem.constraints(z.reshape(x.shape))

    begun = time.perf_counter()
    rows = {"type": "ineq", "fun": lambda z: limits(z)[0], "jac": lambda z: limits(z)[1]}
    options = {"maxiter": SLSQP_ITERATIONS, "ftol": 1e-5, "eps": STEP}
    found = minimize(value, x.ravel(), constraints=[rows], method="SLSQP", options=options)
    return found.x.reshape(x.shape), count, time.perf_counter() - begun - inside


def one_gradient(report: Report, problem: DesignProblem) -> float:
    """Value and gradient of log det; seconds of one value of the peer."""
    x, peer = random_start(problem, np.random.default_rng(0)), PinocchioCriterion(problem)
    size = problem.model.size
    assert problem.shape == (6, 8)
    assert size == 52
    assert abs(size * (peer(x) - problem.value(x))) < 1e-9 * abs(size * peer(x)), "must be the same log det"
    ours, theirs = problem.objective(x)[1], peer.differences(x)
    assert np.abs(ours - theirs).max() < 1e-4 * np.abs(ours).max(), "must be the same gradient"
    times = best_of(
        {
            "ours": Job(lambda: problem.objective(x), inner=3),
            "value": Job(lambda: peer(x)),
        },
        rounds=200,
    )
    # Both jobs take some 3 ms: on a busy machine a long one is disturbed in every round, a short one is not.
    differences = (1 + x.size) * times["value"]
    what = "value and gradient of log det, TX-90, 625 samples, 48 variables"
    peer_name = "forward differences over Pinocchio in a Python loop"
    report.ratio(what, peer_name, times["ours"], differences, 120, "ms")
    return times["value"]


def log_det(problem: DesignProblem, x: np.ndarray) -> float:
    return float(np.linalg.slogdet(problem.observe(x).information)[1])


def condition(problem: DesignProblem, x: np.ndarray) -> float:
    return float(np.sqrt(np.linalg.cond(problem.observe(x).information)))


def whole_design(
    report: Report, name: str, ours: DesignProblem, theirs: DesignProblem, value_s: float
) -> None:
    """Medians of several starts, and SLSQP from the same ones."""
    figure = condition if ours.criterion.name == "log-cond" else log_det
    seconds, peer_seconds, ends, peer_ends, counts = [], [], [], [], []
    for seed in range(STARTS):
        x = random_start(ours, np.random.default_rng(seed))
        job = {"design": Job(lambda x=x: Barrier().solve(ours, x, lambda z: None))}
        seconds.append(best_of(job, rounds=7)["design"])
        ends.append(figure(ours, Barrier().solve(ours, x, lambda z: None).x))
        end, count, beside = slsqp(theirs, x)
        peer_seconds.append(count * value_s + beside)
        peer_ends.append(figure(ours, end))
        counts.append(count)
    peer = "SLSQP with these differences, projected"
    middle, peer_middle = float(np.median(seconds)), float(np.median(peer_seconds))
    report.ratio(f"{name}, TX-90, median of {STARTS} starts", peer, middle, peer_middle, 40, "s")
    report.note(
        name,
        P3_seconds=PUBLISHED_S[ours.criterion.name],
        ours=f"{min(ends):.1f} … {max(ends):.1f}",
        slsqp=f"{min(peer_ends):.1f} … {max(peer_ends):.1f}",
        values_of_slsqp=int(np.median(counts)),
    )


def seven_axes(report: Report) -> None:
    """An iiwa with limits at every instant, torques, floor and self-collision."""
    robot = dynid.load_robot("iiwa14")
    task = DesignTask(workcell=Workcell(floor=-0.36))
    design_motion(robot, task, starts=1, workers=1)  # compiles
    what = "7-axis design, exact limits, torques, floor, self-collision"
    for starts, workers in ((1, 1), (5, 2)):
        begun = time.perf_counter()
        design = design_motion(robot, task, starts=starts, workers=workers)
        seconds = time.perf_counter() - begun
        assert all(use.kept for use in design.uses)
        assert design.clearance is not None
        assert design.clearance.bound >= 0
        words = "one start" if starts == 1 else f"{starts} starts on {workers} cores"
        report.bound(f"{what}, {words}, proof included", seconds, 30.0, "s")


def main() -> None:
    settle()
    report = Report("excitation")
    problem = p3_problem("log-det")
    value_s = one_gradient(report, problem)
    hadamard = p3_problem("hadamard")
    whole_design(report, "whole design J1, Hadamard's bound", hadamard, hadamard, value_s)
    whole_design(report, "whole design J2, log det", problem, problem, value_s)
    # Users of SLSQP give it the condition number as it is; ours is smooth where eigenvalues meet.
    problem = p3_problem("log-cond")
    rough = replace(problem, criterion=LogCond(1000.0))
    whole_design(report, "whole design J3, condition number", problem, rough, value_s)
    seven_axes(report)
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
