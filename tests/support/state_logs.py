"""A generated population of logs: joints that rest, are held or undriven, and logs that are broken.

Every log is drawn from its own seed: an arm of one to six axes, a motion with or without dwells, sensors. The
torques are those of the arm; at rest friction holds a part of them, under a brake all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import cos, sin, tanh

import numpy as np
from numpy.typing import NDArray

from dynid.logs.log import Log
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.robot import Robot
from support.logs import torques, with_channel

FloatArray = NDArray[np.float64]
Vector = tuple[float, float, float, float]
Change = Callable[["Case", np.random.Generator], "Case"]


@dataclass(frozen=True)
class Case:
    """A log, its robot, and the axis that a change concerns."""

    robot: Robot
    log: Log
    axis: int = 0


def draw_arm(rng: np.random.Generator) -> Robot:
    """An arm of one to six axes with physical links and friction."""
    n = int(rng.choice([1, 2, 2, 3, 4, 6]))
    joints, values = [], {}
    for j in range(n):
        turn = 0.0 if j == 0 else float(rng.choice([0.0, np.pi / 2, -np.pi / 2]))
        d, r = (0.0, 0.0) if j == 0 else rng.uniform(0, 0.4, 2)
        kind = JointKind.PRISMATIC if n < 4 and rng.random() < 0.15 else JointKind.REVOLUTE
        joints.append(Joint(f"j{j + 1}", BASE if j == 0 else j - 1, kind, alpha=turn, d=float(d), r=float(r)))
        values |= _link(j + 1, 8.0 * 0.6**j, rng)
    gravity = np.array([[0, 0, -9.81], [9.81, 0, 0], [0, -9.81, 0]])[int(rng.integers(3))]
    bare = Robot("arm", tuple(joints), gravity=tuple(float(g) for g in gravity))
    return bare.with_parameters(values)


def _link(number: int, mass: float, rng: np.random.Generator) -> dict[str, float]:
    """Standard parameters of a physical link, with friction of a geared drive."""
    mass *= rng.uniform(0.6, 1.4)
    c, sizes = rng.uniform(-0.15, 0.15, 3), rng.uniform(0.05, 0.2, 3)
    central = np.diag(mass / 3 * (np.sum(sizes**2) - sizes**2))
    inertia = central + mass * (c @ c * np.eye(3) - np.outer(c, c))
    drive = 0.3 * mass * rng.uniform(0.1, 1.0)
    xx, xy, xz, yy, yz, zz = inertia[np.triu_indices(3)]
    named = {"XX": xx, "XY": xy, "XZ": xz, "YY": yy, "YZ": yz, "ZZ": zz + 0.1 * drive, "M": mass}
    named |= dict(zip(("MX", "MY", "MZ"), mass * c, strict=True))
    named |= {"Fv": drive * rng.uniform(0.2, 1.5), "Fc": drive * rng.uniform(0.5, 3.0)}
    return {f"{symbol}{number}": float(value) for symbol, value in named.items()}


def draw_case(rng: np.random.Generator) -> Case:
    """A driven arm along sums of sines, or from place to place with dwells."""
    robot = draw_arm(rng)
    rate, seconds = float(rng.choice([40.0, 100.0, 250.0, 500.0, 1000.0])), float(rng.uniform(8, 20))
    t = np.arange(int(rate * seconds)) / rate
    path = _sines if rng.random() < 0.5 else _dwells
    q, qd, qdd = (
        np.stack(x, axis=1) for x in zip(*(path(t, rng) for _ in range(robot.n_coordinates)), strict=True)
    )
    return Case(robot, _log(robot, t, q, qd, qdd, rng), int(rng.integers(robot.n_coordinates)))


def _sines(t: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    q, qd, qdd = np.zeros((3, len(t)))
    base = rng.uniform(0.08, 0.25)
    for k in range(1, 6):
        w, (a, b) = 2 * np.pi * base * k, rng.normal(0, 0.5 / k, 2)
        s, c = np.sin(w * t), np.cos(w * t)
        q, qd, qdd = q + a * s + b * c, qd + w * (a * c - b * s), qdd - w**2 * (a * s + b * c)
    return q, qd, qdd


def _dwells(t: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Moves of fifth order from place to place, with rests between them."""
    q, qd, qdd = np.zeros((3, len(t)))
    at, here = float(rng.uniform(0, 1.5)), float(rng.normal(0, 0.5))
    q[:] = here
    while at < t[-1]:
        there, length = float(rng.normal(0, 0.8)), float(rng.uniform(0.4, 1.5))
        s = np.clip((t - at) / length, 0, 1)
        now = (t >= at) & (t < at + length)
        q = np.where(t >= at, here + (there - here) * (10 * s**3 - 15 * s**4 + 6 * s**5), q)
        qd = np.where(now, (there - here) / length * 30 * (s**2 - 2 * s**3 + s**4), qd)
        qdd = np.where(now, (there - here) / length**2 * (60 * s - 180 * s**2 + 120 * s**3), qdd)
        here, at = there, at + length + float(rng.uniform(0.0, 2.0))
    return q, qd, qdd


def _log(
    robot: Robot, t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray, rng: np.random.Generator
) -> Log:
    """What sensors make of a motion: at rest the torque is anywhere within its friction."""
    tau = torques(robot, q, qd, qdd)
    for j in range(q.shape[1]):
        held = rng.uniform(-0.8, 0.8) * robot.parameters[f"Fc{j + 1}"]
        tau[:, j] += np.where(qd[:, j] == 0, held, 0.0)
    tau += rng.choice([0.003, 0.01, 0.03]) * np.std(tau, axis=0) * rng.standard_normal(tau.shape)
    step = float(rng.choice([0.0, 1e-6, 2e-5, 4e-4]))
    noise = float(rng.choice([0.0, 1e-5])) if step < 1e-4 else 0.0
    seen = q + noise * rng.standard_normal(q.shape)
    seen = np.round(seen / step) * step if step else seen
    channels = {"position": seen, "torque": tau}
    if rng.random() < 0.4:
        channels["velocity"] = qd + 1e-3 * rng.standard_normal(q.shape)
    return Log("drawn", t, channels)


# ── sound logs: states that a joint can be in ─────────────────────────────────────────────────────────────


def _retorqued(case: Case, q: FloatArray, rng: np.random.Generator) -> Case:
    """The case along other positions, by differences."""
    t = case.log.time
    qd = np.gradient(q, t, axis=0)
    qd[np.abs(qd) < 1e-12] = 0.0
    return replace(case, log=_log(case.robot, t, q, qd, np.gradient(qd, t, axis=0), rng))


def hold_axis(case: Case, rng: np.random.Generator) -> Case:
    """One axis is held in its place for the whole log; its encoder may flicker between two steps."""
    log, q = case.log, case.log.channels["position"].copy()
    if log.axes == 1:
        return case
    q[:, case.axis] = q[0, case.axis]
    held = _retorqued(case, q, rng)
    if rng.random() < 0.5:
        x = held.log.channels["position"].copy()
        x[:, case.axis] = q[0, case.axis] + 8e-5 * (rng.random(log.samples) < 0.02)
        held = replace(held, log=with_channel(held.log, position=x))
    return held


def rest_for_a_while(case: Case, rng: np.random.Generator) -> Case:
    """One axis comes to rest in the middle and goes on, while the others move."""
    n, axis = case.log.samples, case.axis
    q = case.log.channels["position"].copy()
    start, count = int(rng.uniform(0.2, 0.4) * n), int(rng.uniform(0.1, 0.3) * n)
    ramp = int(0.1 * n)
    pace = np.ones(n)  # share of the usual pace of time: slows down, stands, goes on
    pace[start : start + ramp] = 0.5 + 0.5 * np.cos(np.linspace(0, np.pi, ramp))
    pace[start + ramp : start + ramp + count] = 0.0
    pace[start + ramp + count : start + 2 * ramp + count] = 0.5 - 0.5 * np.cos(np.linspace(0, np.pi, ramp))
    q[:, axis] = np.interp(np.cumsum(pace) - 1, np.arange(n), q[:, axis])
    return _retorqued(case, q, rng)


def brake(case: Case, rng: np.random.Generator) -> Case:
    """As above, and a brake takes the load: the torque is zero, or its noise, while the axis stands."""
    made = rest_for_a_while(case, rng)
    x, tau = made.log.channels["position"][:, case.axis], made.log.channels["torque"].copy()
    still = np.abs(np.gradient(np.convolve(x, np.ones(9) / 9, "same"))) < 1e-6
    tau[still, case.axis] *= 0.0 if rng.random() < 0.5 else 0.01
    return replace(made, log=with_channel(made.log, torque=tau))


def hold_samples(case: Case, rng: np.random.Generator) -> Case:
    """Torques, or torques and positions, come from a slower bus: each value is logged several times."""
    k = int(rng.integers(2, 8))
    rows = np.arange(case.log.samples) // k * k
    names = ["torque"] if rng.random() < 0.5 else list(case.log.channels)
    return replace(case, log=with_channel(case.log, **{n: case.log.channels[n][rows] for n in names}))


def draw_undriven(rng: np.random.Generator) -> Case:
    """A double pendulum of which one motor is off: its torque is zero, noise, or its current loop's."""
    case, qdd = _draw_pendulum(rng, lambda t, pd: pd)
    tau, off = case.log.channels["torque"].copy(), case.axis
    kind, size = int(rng.integers(3)), np.std(tau[:, 1 - off])
    if kind > 0:
        tau[:, off] = 0.01 * size * rng.standard_normal(len(tau))
    if kind == 2:
        tau[:, off] -= rng.uniform(0.02, 0.08) * case.robot.parameters[f"ZZ{off + 1}"] * qdd[:, off]
    return replace(case, log=with_channel(case.log, torque=tau))


def draw_coasting(rng: np.random.Generator) -> Case:
    """The same, and the other motor is off for a while too."""
    start, count = rng.uniform(3, 6), rng.uniform(0.5, 3)
    return _draw_pendulum(rng, lambda t, pd: 0.0 if start < t < start + count else pd)[0]


def draw_steps(rng: np.random.Generator) -> Case:
    """The same, driven by constant torques, a new one every half a second or so."""
    levels, length = rng.normal(0, 0.2, 100), rng.uniform(0.2, 0.8)
    return _draw_pendulum(rng, lambda t, pd: float(levels[int(t / length) % 100]), noise=0.0)[0]


def turn_on(case: Case, rng: np.random.Generator) -> Case:
    """One joint turns on and on, three to twenty turns in all."""
    kinds = [case.robot.joints[j].kind for j in case.robot.coordinates]
    if kinds[case.axis] is JointKind.PRISMATIC:
        return case
    q = case.log.channels["position"].copy()
    q[:, case.axis] += rng.uniform(3, 20) * 2 * np.pi * case.log.time / case.log.time[-1]
    return _retorqued(case, q, rng)


def _draw_pendulum(
    rng: np.random.Generator, command: Callable[[float, float], float], noise: float = 0.01
) -> tuple[Case, FloatArray]:
    """A double pendulum with one motor, and its accelerations."""
    links = {f"{symbol}{j}": v for j in (1, 2) for symbol, v in _pendulum_link(rng).items()}
    l1, off = float(rng.uniform(0.15, 0.4)), int(rng.integers(2))
    joints = (Joint("j1", BASE), Joint("j2", 0, d=l1))
    robot = Robot("pendulum", joints, gravity=(9.81, 0.0, 0.0)).with_parameters(links)
    t = np.arange(5000) / float(rng.choice([250.0, 500.0]))
    w, a = 2 * np.pi * rng.uniform(0.15, 1.4, 4), rng.uniform(0.1, 0.5, 4)
    wanted = (a * np.sin(w * t[:, None] + rng.uniform(0, 6, 4))).sum(axis=1)
    inertia = links["ZZ2"] + (links["ZZ1"] + links["M2"] * l1**2 if off == 1 else 0.0)
    speed, kp = np.gradient(wanted, t), 60.0 * inertia

    def drive(k: int, q: float, qd: float) -> float:
        return command(float(t[k]), float(kp * (wanted[k] - q) + 0.2 * kp * (speed[k] - qd)))

    q, qd, qdd, tau = _swing(links, l1, t, drive, 1 - off)
    moved = tau != 0
    tau = tau + moved * noise * np.std(tau, axis=0) * rng.standard_normal(tau.shape)
    channels = {"position": q + 1e-5 * rng.standard_normal(q.shape), "torque": tau}
    if rng.random() < 0.4:
        channels["velocity"] = qd
    return Case(robot, Log("undriven", t, channels), off), qdd


def _pendulum_link(rng: np.random.Generator) -> dict[str, float]:
    m, c, size = rng.uniform(0.3, 1.2), rng.uniform(0.08, 0.25), rng.uniform(0.1, 0.25)
    own = {"ZZ": m * (c * c + size**2 / 3), "MX": m * c, "M": m, "Fv": 0.01 * m, "Fc": 0.03 * m}
    return {name: float(value) for name, value in own.items()}


def _swing(
    p: dict[str, float], l1: float, t: FloatArray, drive: Callable[[int, float, float], float], driven: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Two links in a vertical plane, one joint driven, the other free; two Runge–Kutta steps per sample."""
    h, hh = float(t[1] - t[0]) / 2, p["MX2"] * l1
    m22, g1, g2 = p["ZZ2"], 9.81 * (p["MX1"] + p["M2"] * l1), 9.81 * p["MX2"]

    def rates(x: Vector, torque: float) -> Vector:
        q1, q2, v1, v2 = x
        c, s = cos(q2), sin(q2)
        m11, m12 = p["ZZ1"] + p["M2"] * l1**2 + m22 + 2 * hh * c, m22 + hh * c
        pull = g2 * sin(q1 + q2)
        b1 = hh * s * (2 * v1 * v2 + v2**2) - g1 * sin(q1) - pull - p["Fv1"] * v1 - p["Fc1"] * tanh(v1 / 5e-3)
        b2 = -hh * s * v1**2 - pull - p["Fv2"] * v2 - p["Fc2"] * tanh(v2 / 5e-3)
        b1, b2 = (b1 + torque, b2) if driven == 0 else (b1, b2 + torque)
        det = m11 * m22 - m12**2
        return v1, v2, (m22 * b1 - m12 * b2) / det, (m11 * b2 - m12 * b1) / det

    def ahead(x: Vector, rate: Vector, step: float) -> Vector:
        return x[0] + step * rate[0], x[1] + step * rate[1], x[2] + step * rate[2], x[3] + step * rate[3]

    x: Vector = (0.0, 0.0, 0.0, 0.0)
    path, taus = np.empty((len(t), 6)), np.zeros((len(t), 2))
    for k in range(len(t)):
        torque = drive(k, x[driven], x[2 + driven])
        path[k, :4], path[k, 4:], taus[k, driven] = x, rates(x, torque)[2:], torque
        for _ in range(2):
            k1 = rates(x, torque)
            k2 = rates(ahead(x, k1, h / 2), torque)
            k3 = rates(ahead(x, k2, h / 2), torque)
            k4 = rates(ahead(x, k3, h), torque)
            for rate, share in ((k1, 1), (k2, 2), (k3, 2), (k4, 1)):
                x = ahead(x, rate, share * h / 6)
    return path[:, :2], path[:, 2:4], path[:, 4:], taus


# ── broken logs ───────────────────────────────────────────────────────────────────────────────────────────


def _moving_stretch(case: Case, rng: np.random.Generator) -> slice:
    """Rows, 4 to 15 % of the log, through which the axis moves."""
    x, n = case.log.channels["position"][:, case.axis], case.log.samples
    count = int(rng.uniform(0.04, 0.15) * n)
    starts = rng.integers(n // 20, n - count - n // 20, 40)
    moved = [float(np.ptp(x[s : s + count])) for s in starts]
    start = int(starts[int(np.argmax(moved))])
    return slice(start, start + count)


def _changed(case: Case, channel: str, change: Callable[[FloatArray], None]) -> Case:
    values = case.log.channels[channel].copy()
    change(values)
    return replace(case, log=with_channel(case.log, **{channel: values}))


def freeze_position(case: Case, rng: np.random.Generator) -> Case:
    """The encoder repeats its last value while the axis moves; a logged speed goes on."""
    rows = _moving_stretch(case, rng)

    def freeze(x: FloatArray) -> None:
        x[rows, case.axis] = x[rows.start, case.axis]

    return _changed(case, "position", freeze)


def freeze_torque(case: Case, rng: np.random.Generator) -> Case:
    """The torque repeats its last value while the axis moves."""
    rows = _moving_stretch(case, rng)

    def freeze(x: FloatArray) -> None:
        x[rows, case.axis] = x[rows.start, case.axis]

    return _changed(case, "torque", freeze)


def drop_torque(case: Case, rng: np.random.Generator) -> Case:
    """The torque reads zero for a while, though the motor works."""
    rows = _moving_stretch(case, rng)

    def drop(x: FloatArray) -> None:
        x[rows, case.axis] = 0.0

    return _changed(case, "torque", drop)


def stick_torque(case: Case, rng: np.random.Generator) -> Case:
    """The torque of a driven axis is one value in the whole log."""
    value = 0.0 if rng.random() < 0.7 else float(rng.normal())

    def stick(x: FloatArray) -> None:
        x[:, case.axis] = value

    return _changed(case, "torque", stick)


def slip_encoder(case: Case, rng: np.random.Generator) -> Case:
    """The position leaps by 2 to 20 % of its travel and stays there."""
    x = case.log.channels["position"][:, case.axis]
    leap = float(rng.choice([-1, 1]) * rng.uniform(0.02, 0.2) * np.ptp(x))
    at = int(rng.uniform(0.2, 0.8) * len(x))

    def slip(values: FloatArray) -> None:
        values[at:, case.axis] += leap

    return _changed(case, "position", slip)


def reverse_torque(case: Case, rng: np.random.Generator) -> Case:
    """The torque of an axis has the wrong sign."""

    def turn(x: FloatArray) -> None:
        x[:, case.axis] *= -1

    return _changed(case, "torque", turn)


SOUND: dict[str, Callable[[np.random.Generator], Case]] = {
    "as it is": draw_case,
    "axis held": lambda rng: hold_axis(draw_case(rng), rng),
    "rest for a while": lambda rng: rest_for_a_while(draw_case(rng), rng),
    "brake": lambda rng: brake(draw_case(rng), rng),
    "sample and hold": lambda rng: hold_samples(draw_case(rng), rng),
    "joint that turns on": lambda rng: turn_on(draw_case(rng), rng),
    "motor off": draw_undriven,
    "motor off for a while": draw_coasting,
    "steps of torque": draw_steps,
}


def in_degrees(case: Case, rng: np.random.Generator) -> Case:
    """The positions are in degrees; a speed that is their derivative too."""
    scaled = {n: x * 180 / np.pi for n, x in case.log.channels.items() if n != "torque"}
    return replace(case, log=with_channel(case.log, **scaled))


def on_motor_side(case: Case, rng: np.random.Generator) -> Case:
    """Positions and torques are those of motors behind gears of 50 to 160."""
    gears = rng.uniform(50, 160, case.log.axes)
    scaled = {n: x / gears if n == "torque" else x * gears for n, x in case.log.channels.items()}
    return replace(case, log=with_channel(case.log, **scaled))


BROKEN: dict[str, tuple[Change, str]] = {
    "frozen position": (freeze_position, "frozen channel"),
    "frozen torque": (freeze_torque, "frozen channel"),
    "torque dropped to zero": (drop_torque, "frozen channel"),
    "stuck torque": (stick_torque, "stuck channel"),
    "slipped encoder": (slip_encoder, "position jump"),
    "reversed torque": (reverse_torque, "reversed sign"),
    "positions in degrees": (in_degrees, "position unit"),
    "motor side": (on_motor_side, "position unit"),
}


def sound_case(kind: str, seed: int) -> Case:
    """A sound log of a kind."""
    rng = np.random.default_rng([seed, 1])
    return SOUND[kind](rng)


def broken_case(kind: str, seed: int) -> Case:
    """A broken log of a kind."""
    rng = np.random.default_rng([seed, 2])
    return BROKEN[kind][0](draw_case(rng), rng)
