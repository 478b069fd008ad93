"""A first tour: identify a made-up Stäubli TX40 from 20 s of motion, and judge whether to trust the answer.

Everything is simulated here, so the truth is known and every estimate can be held against it. The report is
written to out/demo/report.html.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

import dynid
from _report import html_report, write_json, write_text

SEED = 7
RATE_HZ = 100.0
DURATION = 20.0
HARMONICS = 5
SHARE = 0.6  # of the speed limits, as a careful operator would drive
CANDIDATES = 40
NOISE = 0.03  # of each joint's torque, root mean square
OUT = Path("out/demo")

# A made-up but possible arm: solid boxes (mass [kg], centre [m], edges [m]) in the frames of the links.
BOXES = (
    (8.0, (0.0, 0.0, -0.08), (0.20, 0.20, 0.30)),
    (6.0, (0.11, 0.01, 0.07), (0.30, 0.12, 0.12)),
    (4.0, (0.01, -0.02, 0.05), (0.12, 0.14, 0.14)),
    (1.8, (0.0, 0.01, -0.07), (0.09, 0.09, 0.18)),
    (0.9, (0.005, 0.02, 0.0), (0.08, 0.10, 0.07)),
    (0.3, (0.01, 0.0, 0.05), (0.05, 0.06, 0.04)),
)


@dataclass(frozen=True)
class Motion:
    """Positions, speeds and accelerations, each (samples, joints), SI."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


@dataclass(frozen=True)
class Fit:
    """Base parameters with standard deviations, and the torque noise found on each joint [N m]."""

    values: np.ndarray
    sigma: np.ndarray
    noise: np.ndarray


def true_parameters(robot: dynid.Robot) -> dict[str, float]:
    """Boxes for the links; drive inertia and friction in the size the literature gives for this arm."""
    values = {name: v for name, v in robot.parameters.items() if name[:2] in ("Ia", "Fv", "Fc", "of")}
    values |= {"Ia1": 0.35, "Ia2": 0.40, "Fc6": 0.9, "off1": 0.4, "off2": 1.3, "off3": 0.3, "off5": -0.1}
    for joint, (mass, centre, edges) in zip(robot.joints, BOXES, strict=True):
        x2, y2, z2 = np.square(edges)
        tensor = mass / 12 * np.diag([y2 + z2, x2 + z2, x2 + y2])
        # from_com refuses what no rigid body can be, so the truth is consistent by construction.
        values |= dynid.LinkInertia.from_com(mass, centre, tensor).named(joint.label)
    return values


def fourier_motion(robot: dynid.Robot, rng: np.random.Generator) -> Motion:
    """A random periodic motion, q = q0 + Σ a_l sin(lωt) + b_l cos(lωt), scaled into the joint limits."""
    t = np.arange(0.0, DURATION, 1.0 / RATE_HZ)
    w = 2 * np.pi / DURATION * 2 * np.arange(1, HARMONICS + 1)  # two periods
    a, b = rng.normal(size=(2, HARMONICS, robot.n_coordinates)) / w[:, None]
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, qd, qdd = s @ a + c @ b, (c * w) @ a - (s * w) @ b, -(s * w**2) @ a - (c * w**2) @ b
    limits = [robot.joints[j].limits for j in robot.coordinates]
    lower, upper = np.array([x.lower for x in limits]), np.array([x.upper for x in limits])
    speed = SHARE * np.array([x.velocity for x in limits])
    middle = (q.max(0) + q.min(0)) / 2
    room = 0.45 * (upper - lower) / np.abs(q - middle).max(0)
    scale = np.minimum(room, speed / np.abs(qd).max(0))
    return Motion(t, (lower + upper) / 2 + scale * (q - middle), scale * qd, scale * qdd)


def exciting_motion(robot: dynid.Robot, base: dynid.BaseMap, rng: np.random.Generator) -> Motion:
    """The best of some random motions: the one whose scaled regressor is conditioned best."""
    kernels = dynid.kernels(robot, base.columns)

    def condition(motion: Motion) -> float:
        W = np.vstack([block.T for block in kernels.regressor_blocks(motion.q, motion.qd, motion.qdd)])
        return float(np.linalg.cond(W / np.linalg.norm(W, axis=0)))

    return min((fourier_motion(robot, rng) for _ in range(CANDIDATES)), key=condition)


def measured_torque(true: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What a torque sensor would log: white noise in proportion to each joint's torque."""
    return true + NOISE * np.sqrt(np.mean(true**2, axis=0)) * rng.normal(size=true.shape)


def weighted_least_squares(blocks: np.ndarray, tau: np.ndarray) -> Fit:
    """χ = argmin Σ_j ‖τ_j − W_j χ‖² / σ_j², with σ_j from a first plain fit; C = (Σ W_jᵀ W_j / σ_j²)⁻¹.

    Args:
        blocks: W, one observation matrix per joint, (joints, columns, samples).
        tau: (samples, joints).
    """
    joints, columns, samples = blocks.shape
    noise = np.ones(joints)
    for _ in range(2):
        W = np.vstack([blocks[j].T / noise[j] for j in range(joints)])
        y = np.concatenate([tau[:, j] / noise[j] for j in range(joints)])
        Q, R = np.linalg.qr(W)
        x = np.linalg.solve(R, Q.T @ y)
        residual = (y - W @ x).reshape(joints, samples) * noise[:, None]
        if np.all(noise == 1.0):
            noise = np.sqrt(np.sum(residual**2, axis=1) / (samples - columns / joints))
    # W is weighted to unit noise, so the covariance is (WᵀW)⁻¹ = R⁻¹ R⁻ᵀ.
    sigma = np.linalg.norm(np.linalg.inv(R), axis=1)
    return Fit(x, sigma, noise)


def relative(error: np.ndarray, signal: np.ndarray) -> np.ndarray:
    """‖error‖ / ‖signal‖ of each joint."""
    return np.asarray(np.linalg.norm(error, axis=0) / np.linalg.norm(signal, axis=0))


def run_study() -> dict:  # type: ignore[type-arg]
    """All of it; returns what the report shows."""
    rng = np.random.default_rng(SEED)
    print("1/6 load the robot and find its base parameters")
    robot = dynid.load_robot("tx40")
    base = dynid.find_base(robot)
    print(f"    {len(robot.table)} standard parameters; the torques can reveal {len(base)} combinations")
    truth = true_parameters(robot)
    kernels = dynid.kernels(robot, base.columns)

    print(f"2/6 choose an exciting motion among {CANDIDATES} random ones, and a second one for the proof")
    motion, unseen = exciting_motion(robot, base, rng), fourier_motion(robot, rng)

    print(f"3/6 simulate the torques with {NOISE:.0%} noise")
    exact = [kernels.inverse(truth, m.q, m.qd, m.qdd) for m in (motion, unseen)]
    tau, tau_unseen = (measured_torque(x, rng) for x in exact)

    print("4/6 fit by weighted least squares")
    fit = weighted_least_squares(kernels.regressor_blocks(motion.q, motion.qd, motion.qdd), tau)

    print("5/6 predict the second motion, which the fit has not seen")
    standard = base.expand(fit.values)
    fitted = kernels.inverse(standard, motion.q, motion.qd, motion.qdd)
    predicted = kernels.inverse(standard, unseen.q, unseen.qd, unseen.qdd)

    print("6/6 write the report, the result and the inverse model as C source")
    z = (fit.values - base.regroup(truth)) / fit.sigma
    prediction, floor = (
        relative(tau_unseen - predicted, tau_unseen),
        relative(tau_unseen - exact[1], tau_unseen),
    )
    trusted = bool(np.mean(np.abs(z) < 2) > 0.85 and np.all(prediction < 1.1 * floor))
    packages = ("dynid", "numpy", "scipy", "casadi", "llvmlite")
    return {
        "schema": "dynid-demo-1",
        "versions": {name: version(name) for name in packages} | {"python": platform.python_version()},
        "options": {"seed": SEED, "rate_hz": RATE_HZ, "duration": DURATION, "noise": NOISE, "speed": SHARE},
        "robot": {"name": robot.name, "title": robot.title, "digest": robot.digest, "samples": len(motion.t)},
        "trusted": trusted,
        "within_two_sigma": float(np.mean(np.abs(z) < 2)),
        "rank_gap": base.rank_gap,
        "joints": [
            {
                "name": robot.joints[j].name,
                "noise": float(fit.noise[k]),
                "fit": float(relative(tau - fitted, tau)[k]),
                "prediction": float(prediction[k]),
                "noise_floor": float(floor[k]),
                "bias": float(relative(exact[1] - predicted, exact[1])[k]),
            }
            for k, j in enumerate(robot.coordinates)
        ],
        "base": [
            {"name": n, "formula": f, "unit": u, "truth": float(t), "value": float(v), "sigma": float(s)}
            for n, f, u, t, v, s in zip(
                base.names, base.formulas, base.units, base.regroup(truth), fit.values, fit.sigma, strict=True
            )
        ],
        "standard": robot.table.mapping(standard),
        "curves": {"t": unseen.t, "measured": tau_unseen, "predicted": predicted},
        "c_source": kernels.c_source("inverse", "tx40_inverse"),
    }


def main() -> int:
    """Run the study, write its files, and say where they lie; 2 when the answer cannot be trusted."""
    study = run_study()
    page = html_report(study)
    source, curves = study.pop("c_source"), study.pop("curves")
    write_text(OUT / "tx40_inverse.c", source)
    write_json(OUT / "result.json", study | {"unseen_samples": len(curves["t"])})
    write_text(OUT / "report.html", page)
    worst = max(study["joints"], key=lambda joint: joint["prediction"] / joint["noise_floor"])
    print(
        f"\n{'Trustworthy' if study['trusted'] else 'NOT trustworthy'}: {study['within_two_sigma']:.0%} of "
        f"{len(study['base'])} base parameters lie within 2σ of the truth (95% expected);\n"
        f"on unseen motion the worst joint, {worst['name']}, is predicted to {worst['prediction']:.2%} where "
        f"the noise alone is {worst['noise_floor']:.2%}."
    )
    print(f"\nReport: {(OUT / 'report.html').resolve()}")
    return 0 if study["trusted"] else 2


if __name__ == "__main__":
    sys.exit(main())
