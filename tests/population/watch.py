"""The watch beside a recursion: false alarms per hour, and payloads, pushes and friction seen, on drawn arms.

``python -m population.watch setting`` prints what the thresholds were set on, ``… showing`` the rates on the
other half, as docs/watch.md has them. Arms have three to seven axes, with the friction, ripple, compliance,
encoders and coloured torque errors of the other populations; the model knows Ia, Fv, Fc and offsets only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, lfilter

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.compile.kernels import RobotKernels, kernels
from dynid.core.finding import Name
from dynid.estimators.recursive.forgetting import Exponential, Remember
from dynid.estimators.recursive.recursion import RecursionOptions
from dynid.estimators.recursive.rls import LeastSquaresRecursion
from dynid.model.inertia import LinkInertia
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.tracking.watch import PayloadColumns, Watch, WatchedInstant, WatchEvent, WatchOptions
from population.cases import draw_case
from population.motions import Path, draw_path
from population.plant import Plant
from population.robots import generator
from support.motions import coloured

Array = NDArray[np.float64]
LOG_HZ, EVERY = 200.0, 4
CUTOFF_HZ = 12.0
PUSHES = (0.5, 1.0, 2.0, 4.0)
SHARES = (0.03, 0.1, 0.2)
SUPERSEDED = (Name.INERTIA_NOT_POSITIVE,)
"""Told of a recursion that begins with nothing, in its first seconds; not counted as an alarm."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Filtered rows of a stretch at 50 Hz: what the recursion and the watch take."""

    base: BaseMap
    time: Array
    q: Array
    qd: Array
    W: Array
    y: Array
    X: Array

    def instants(self) -> Iterator[WatchedInstant]:
        """One after the other."""
        for k in range(len(self.time)):
            yield WatchedInstant(self.time[k], self.q[k], self.qd[k], self.W[k], self.y[k], self.X[k])


@dataclass(frozen=True, eq=False)
class Arm:
    """A drawn arm of three to seven axes, and how it moves."""

    robot: Robot
    plant: Plant
    kind: str
    speed: float
    encoder_step: Array
    white: Array
    slow: Array
    memory_s: float

    def path(self, seconds: float, rng: np.random.Generator) -> Path:
        """A motion of its own kind."""
        return draw_path(self.robot, self.kind, self.speed, seconds, rng)


def arms(half: str) -> Iterator[tuple[int, Arm]]:
    """Arms of a half, with their numbers, without end."""
    index = 0
    while True:
        case = draw_case(half, index)
        if case.axes >= 3:
            sensors = case.experiments[0].sensors
            speed = float(np.sqrt(np.mean(np.square(case.experiments[0].path.at(np.arange(0, 8, 0.01))[1]))))
            kind = type(case.experiments[0].path).__name__.lower()
            noise = sensors.encoder_step, sensors.white, sensors.coloured, sensors.memory_s
            plain = replace(case.robot.with_drives(None), parameters={})
            plant = replace(case.plant, robot=replace(case.plant.robot.with_drives(None), parameters={}))
            yield index, Arm(plain, plant, kind, float(np.clip(speed, 0.4, 1.2)), *noise)
        index += 1


def rows_of(
    arm: Arm, state: tuple[Array, Array, Array], tau: Array, time: Array, rng: np.random.Generator
) -> Rows:
    """What sensors and causal filters make of a motion: positions rounded, torques with errors, one delay."""
    step = np.maximum(arm.encoder_step, 1e-6)
    q = np.round(state[0] / step) * step
    noise = rng.normal(size=tau.shape) * arm.white
    slow = coloured(rng, tau.shape, arm.slow, pole=float(np.exp(-1 / (arm.memory_s * LOG_HZ))))
    b, a = butter(2, CUTOFF_HZ / (LOG_HZ / 2))
    q, tau = lfilter(b, a, q - q[0], axis=0) + q[0], lfilter(b, a, tau + noise + slow, axis=0)
    qd = np.gradient(q, 1 / LOG_HZ, axis=0)
    qdd = np.gradient(qd, 1 / LOG_HZ, axis=0)
    part = slice(round(LOG_HZ), None, EVERY)
    return rows_at(arm.robot, time[part], q[part], qd[part], qdd[part], tau[part])


def rows_at(robot: Robot, time: Array, q: Array, qd: Array, qdd: Array, tau: Array) -> Rows:
    """Rows of filtered signals."""
    base = base_of(robot)
    W = np.ascontiguousarray(RobotKernels(robot, base.columns).regressor(q, qd, qdd))
    return Rows(base, time, q, qd, W, tau, PayloadColumns(base).of(q, qd, qdd))


def drawn_payload(arm: Arm, share: float, rng: np.random.Generator) -> LinkInertia:
    """A box of a share of the moving mass, within 8 cm of the flange."""
    moving = sum(v for name, v in arm.plant.bodies.items() if name.rstrip("0123456789").split("_")[0] == "M")
    mass, edges = share * moving, rng.uniform(0.05, 0.15, 3)
    return LinkInertia.from_com(
        mass, rng.uniform(-0.08, 0.08, 3), np.diag(mass / 12 * (edges @ edges - edges**2))
    )


def push_torques(arm: Arm, q: Array, force: Array, link: int) -> Array:
    """Jᵀ F of a force (3,) [N] at the origin of a link's frame, in the base frame, (samples, joints)."""
    positions, rotations = kernels(arm.robot).forward_kinematics(q)
    tau = np.zeros(q.shape)
    on = link
    while on >= 0:
        joint = arm.robot.joints[on]
        if on in arm.robot.coordinates:
            axis = rotations[:, on, :, 2]
            arm_of = positions[:, link] - positions[:, on]
            way = axis if joint.kind is JointKind.PRISMATIC else np.cross(axis, arm_of)
            tau[:, arm.robot.coordinates.index(on)] = way @ force
        on = joint.antecedent
    return tau


@dataclass(frozen=True, eq=False)
class Stretch:
    """What an arm does and what happens to it.

    Args:
        nominal_s: nominal motion at the beginning [s].
        payload: share of the moving mass that is picked up then; none when 0.
        carried_s: how long it is carried before it is put down [s].
        pushes: sizes of pushes as shares of the rms torque of the joint that feels most, ten seconds apart.
        drift: relative growth of friction over ``drift_s`` of the end.
        drift_s: how long that takes [s].
    """

    nominal_s: float = 600.0
    payload: float = 0.0
    carried_s: float = 40.0
    pushes: tuple[float, ...] = ()
    drift: float = 0.0
    drift_s: float = 0.0

    @property
    def put_down(self) -> float:
        """[s]."""
        return self.nominal_s + self.carried_s * (self.payload > 0)

    @property
    def pushed(self) -> list[float]:
        """When pushes begin [s]."""
        return [self.put_down + 20.0 + 10.0 * k for k in range(len(self.pushes))]

    @property
    def seconds(self) -> float:
        """All of it [s]."""
        return self.put_down + 20.0 * bool(self.payload) + 10.0 * len(self.pushes) + self.drift_s + 10.0


def stretch_rows(arm: Arm, stretch: Stretch, rng: np.random.Generator) -> tuple[Rows, LinkInertia | None]:
    """Rows of a stretch and its payload."""
    time = np.arange(0.0, stretch.seconds, 1 / LOG_HZ)
    path, held = arm.path(stretch.seconds, rng), np.random.default_rng(int(rng.integers(2**31)))
    state, tau = arm.plant.torques(path, time, np.random.default_rng(1))
    size, body = np.sqrt(np.mean(tau**2, axis=0)), None
    if stretch.payload:
        body = drawn_payload(arm, stretch.payload, rng)
        loaded = arm.plant.with_payload(body).torques(path, time, np.random.default_rng(1))[1]
        on = np.clip((time - stretch.nominal_s) / 0.05, 0, 1) * (time < stretch.put_down)
        tau = tau + on[:, None] * (loaded - tau)
    for begin, share in zip(stretch.pushed, stretch.pushes, strict=True):
        lasting, link = held.uniform(0.05, 0.3), int(held.integers(1, len(arm.robot.joints)))
        part = slice(round(begin * LOG_HZ), round((begin + lasting) * LOG_HZ))
        pushed = push_torques(arm, state[0][part], held.normal(size=3), link)
        most = float(np.max(np.abs(pushed) / size, initial=0.0))
        shape = np.sin(np.pi * (time[part] - begin) / lasting)[:, None]
        tau[part] += share * shape * pushed / max(most, 1e-9)
    if stretch.drift:
        grown = replace(arm.plant.drive, Fc=1.3 * arm.plant.drive.Fc, Fv=1.3 * arm.plant.drive.Fv)
        more = replace(arm.plant, drive=grown).torques(path, time, np.random.default_rng(1))[1]
        grows = np.clip((time - (stretch.seconds - stretch.drift_s)) / stretch.drift_s, 0, 1)
        tau = tau + (stretch.drift / 0.3) * grows[:, None] * (
            more - arm.plant.torques(path, time, np.random.default_rng(1))[1]
        )
    return rows_of(arm, state, tau, time, rng), body


def events_of(
    rows: Rows, forget_s: float | None = None, options: WatchOptions | None = None
) -> list[WatchEvent]:
    """Events of a recursion that begins with nothing and forgets nothing, or over a while."""
    sigma = 0.05 * np.sqrt(np.mean(rows.y[:500] ** 2, axis=0)) + 1e-9
    rate = LOG_HZ / EVERY
    law = Remember() if forget_s is None else Exponential(factor=1.0 - 1.0 / (forget_s * rate))
    recursion = LeastSquaresRecursion(
        rows.base.names, sigma, None, RecursionOptions(forgetting=law, blocks=0)
    )
    watch = Watch(rows.base, rate, options)
    events = [event for at in rows.instants() for event in watch.update(recursion, at)]
    return [event for event in events if event.finding.name not in SUPERSEDED]


def events_named(events: list[WatchEvent], name: Name, begin: float, end: float) -> list[WatchEvent]:
    """Events of a name within a while."""
    return [event for event in events if event.finding.name is name and begin <= event.time < end]


def row_of(half: str, number: int, index: int, arm: Arm) -> dict[str, object]:
    """What an arm's stretch gave, with friction that drifts on every third arm instead of a payload."""
    rng, share = generator(half, 78, index), SHARES[number % 3]
    stretch = Stretch(600.0, payload=share, pushes=PUSHES)
    rows, body = stretch_rows(arm, stretch, rng)
    assert body is not None
    events = events_of(rows, 60.0 if number % 2 else None)
    begin, end = stretch.nominal_s, stretch.put_down
    seen = events_named(events, Name.PAYLOAD_PICKED_UP, begin, end)
    weighed = events_named(events, Name.PAYLOAD_WEIGHED, begin, end)
    down = events_named(events, Name.PAYLOAD_PUT_DOWN, end, end + 15.0)
    told = [
        e for e in events if begin <= e.time < end + 15.0 and e not in (*seen[:1], *weighed[:1], *down[:1])
    ]
    mass = [float(e.finding.figures["mass"]) / body.mass - 1.0 for e in weighed[:1]]
    sigma = [float(e.finding.figures["mass_sigma"]) / body.mass for e in weighed[:1]]
    drift = Stretch(180.0, drift=0.3, drift_s=150.0)
    drifting = events_of(stretch_rows(arm, drift, rng)[0])
    return {
        "arm": number,
        "axes": arm.robot.n_coordinates,
        "share": share,
        "nominal_h": (begin - 40.0) / 3600.0,
        "false": [str(e.finding.name) for e in events if e.time < begin],
        "delay": seen[0].time - begin if seen else None,
        "mass": mass[0] if mass else None,
        "sigma": sigma[0] if sigma else None,
        "put_down": down[0].time - end if down else None,
        "other": [str(e.finding.name) for e in told],
        "pushes": [[str(e.finding.name) for e in events if t <= e.time < t + 6.0] for t in stretch.pushed],
        "drift": [e.finding.where.axis for e in events_named(drifting, Name.FRICTION_DRIFT, 180.0, 400.0)],
        "drift_false": [str(e.finding.name) for e in drifting if e.time < 180.0],
        "drift_other": [
            str(e.finding.name)
            for e in drifting
            if e.time >= 180.0 and e.finding.name is not Name.FRICTION_DRIFT
        ],
    }


def main(half: str, count: int) -> None:
    """Print a line per arm and the table."""
    rows = []
    for number, (index, arm) in zip(range(count), arms(half), strict=False):
        rows.append(row_of(half, number, index, arm))
        print(rows[-1], flush=True)
    hours = sum(float(row["nominal_h"]) for row in rows)  # type: ignore[arg-type]
    false = [name for row in rows for name in row["false"]]  # type: ignore[attr-defined]
    print(
        f"nominal motion {hours:.2f} h: "
        + (", ".join(f"{n} {false.count(n)}" for n in sorted(set(false))) or "no alarm")
    )
    for share in SHARES:
        own = [row for row in rows if row["share"] == share]
        delays = [float(row["delay"]) for row in own if row["delay"] is not None]  # type: ignore[arg-type]
        masses = [abs(float(row["mass"])) for row in own if row["mass"] is not None]  # type: ignore[arg-type]
        print(
            f"| {share:.0%} | {len(delays)} of {len(own)} | {sum(d <= 1.0 for d in delays)} | "
            f"{np.median(delays):.2f} s | {sum(m < 0.05 for m in masses)} of {len(masses)} | "
            f"{sum(row['put_down'] is not None for row in own)} |"
        )
    for k, size in enumerate(PUSHES):
        names = [row["pushes"][k] for row in rows]  # type: ignore[index]
        seen, other = (
            sum("collision" in n for n in names),
            sum(bool(n) and "collision" not in n for n in names),
        )
        print(f"| push {size:g} | {seen} of {len(names)} | otherwise named {other} |")
    print(f"| drift | {sum(bool(row['drift']) for row in rows)} of {len(rows)} |")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 30)
