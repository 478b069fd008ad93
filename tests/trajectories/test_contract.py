"""What every family of trajectories promises: exact derivatives, extremes that hold, samples, files."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from dynid.model.load import load_robot
from dynid.simulation import load_reference
from dynid.trajectories import (
    Fourier,
    FourierSpace,
    ModifiedFourierSpace,
    PointToPoint,
    QuinticSpline,
    Sequence,
    Sines,
    SplineSpace,
    Trajectory,
    Triangles,
    bridge,
    reference_toml,
    trajectory_from_table,
)
from dynid.trajectories.quintics import PiecewiseTrajectory, Quintics

RNG = np.random.default_rng(13)
SCARA = load_robot("scara")


def drawn(space: FourierSpace | ModifiedFourierSpace | SplineSpace) -> Trajectory:
    """A motion of two axes with random coefficients."""
    return space.trajectory(RNG.normal(size=2), RNG.normal(size=(2, space.size)))


TRIANGLES = Triangles([0.5, -0.2], (1, 3), 20.0, [0.0, 0.1])
SINES = Sines(((0.5, 0.2), (0.3,)), ((0.3, 0.7), (0.5,)), ((0.1, 0.2), (0.4,)), (0.3, -0.5), duration=9.0)
ALL: dict[str, Trajectory] = {
    "sines": SINES,
    "closed sines": Sines(((0.5,), (0.3,)), ((0.5,), (1.0,)), duration=4.0),
    "Fourier": Fourier(0.2, RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3)), RNG.normal(size=2)),
    "Fourier at rest": drawn(FourierSpace(0.1, 5)),
    "modified Fourier": drawn(ModifiedFourierSpace(0.13, 4, 7.0)),
    "closed modified Fourier": drawn(ModifiedFourierSpace(0.3, 1, 2.0, closed=True)),
    "spline": drawn(SplineSpace(5.0, 8)),
    "closed spline": drawn(SplineSpace(3.0, 1, closed=True)),
    "waypoints": QuinticSpline([0.0, 0.3, 2.0, 2.5], RNG.normal(size=(4, 2))),
    "point to point": PointToPoint(RNG.normal(size=(9, 2)), 1.0, [2.0, 3.0], dwell=0.2),
    "soft point to point": PointToPoint(RNG.normal(size=(5, 2)), 1.0, 2.0, jerk=4.0, cruise=0.0),
    "triangles": TRIANGLES,
    "sequence": Sequence((TRIANGLES, bridge(TRIANGLES, SINES, 2.0), SINES)),
}
AT_REST = [name for name in ALL if name not in ("sines", "closed sines", "Fourier", "sequence")]
CLOSED = [name for name in ALL if name.startswith(("closed", "Fourier", "triangles"))]
WRITTEN = [name for name in ALL if name != "sequence"]
every = pytest.mark.parametrize("name", ALL)


def joints(motion: Trajectory) -> np.ndarray:
    """Instants at which high derivatives may jump."""
    if isinstance(motion, PiecewiseTrajectory):
        return motion.quintics.time
    if isinstance(motion, Triangles):
        return np.unique([t for axis in motion._quintics for t in axis.time])
    if isinstance(motion, Sequence):
        ends = np.cumsum([0.0, *(part.duration for part in motion.parts)])
        return np.concatenate([ends[k] + joints(part) for k, part in enumerate(motion.parts)])
    return motion.time if isinstance(motion, Quintics) else np.array([0.0, motion.duration])


@every
@pytest.mark.parametrize("order", range(4))
def test_derivatives_are_those_of_the_order_below(name: str, order: int) -> None:
    """Central differences, away from the joints, at two steps: their error falls with the square."""
    motion = ALL[name]
    t = RNG.uniform(0, motion.duration, 2000)
    t = t[np.min(np.abs(t[:, None] - joints(motion)), axis=1) > 2e-3]
    assert len(t) > 1500
    exact = motion.at(t, order + 1)
    assert exact.shape == (len(t), 2)
    size = max(np.abs(motion.at(t, k)).max() for k in range(6))
    third = np.abs(motion.at(t, order + 3)).max()
    for h in (1e-3, 1e-4):
        numeric = (motion.at(t + h, order) - motion.at(t - h, order)) / (2 * h)
        rounding = 1e-14 * size / h
        assert np.abs(numeric - exact).max() < h * h / 3 * third + rounding  # half of it by Taylor


@every
@pytest.mark.parametrize("order", range(4))
def test_extremes_hold_at_every_instant_and_are_reached(name: str, order: int) -> None:
    motion = ALL[name]
    low, high = motion.extremes(order)
    t = RNG.uniform(0, motion.duration, 100_000)
    values = motion.at(t, order)
    size = np.abs(values).max(axis=0)
    assert np.all(values >= low)
    assert np.all(values <= high)
    ends = joints(motion)
    # Just inside the joints, and finely around the largest and least samples.
    inside = np.concatenate([ends[:-1] + 1e-9, ends[1:] - 1e-9])
    near = t[np.concatenate([np.argmax(values, axis=0), np.argmin(values, axis=0)])]
    fine = np.clip((near[:, None] + np.linspace(-1e-3, 1e-3, 4001)).ravel(), 0, motion.duration)
    closer = np.vstack([motion.at(np.concatenate([inside, fine]), order), values])
    assert np.all(high - closer.max(axis=0) < 1e-6 * size)
    assert np.all(closer.min(axis=0) - low < 1e-6 * size)


@pytest.mark.parametrize("name", AT_REST)
def test_motions_begin_and_end_at_rest(name: str) -> None:
    motion = ALL[name]
    for order in (1, 2):
        assert np.abs(motion.at([0.0, motion.duration], order)).max() < 1e-12


@every
def test_closed_motions_are_periodic_and_no_others(name: str) -> None:
    assert ALL[name].periodic == (name in CLOSED)


@every
def test_samples_are_the_motion(name: str) -> None:
    motion = ALL[name]
    step = motion.duration / 97.3
    made = motion.sample(step)
    assert made.samples == (97 if motion.periodic else 98)
    assert made.time[-1] <= motion.duration
    for order, values in enumerate((made.q, made.qd, made.qdd)):
        assert np.array_equal(values, motion.at(made.time, order))  # type: ignore[arg-type]
    assert motion.sample(motion.duration / 50).samples == (50 if motion.periodic else 51)
    assert motion.sample(motion.duration / 50, motion.duration / 2).samples == 25


@pytest.mark.parametrize("name", CLOSED)
def test_periods_repeat(name: str) -> None:
    motion = ALL[name]
    step = motion.duration / 125
    once, thrice = motion.sample(step), motion.sample(step, periods=3)
    assert thrice.samples == 3 * once.samples
    for one, three in ((once.q, thrice.q), (once.qd, thrice.qd), (once.qdd, thrice.qdd)):
        assert np.allclose(np.tile(one, (3, 1)), three, rtol=0, atol=1e-11)  # type: ignore[arg-type]
    assert motion.sample(step, 2.5 * motion.duration).samples == round(2.5 * 125)


@pytest.mark.parametrize(
    ("name", "periods"), [*((name, None) for name in WRITTEN), *((name, 3) for name in CLOSED)]
)
def test_files_give_the_same_motion(name: str, periods: int | None, tmp_path: Path) -> None:
    motion = ALL[name]
    text = reference_toml(motion, periods=periods, title="made by a test")
    assert text.startswith('kind = "')
    again = trajectory_from_table(tomllib.loads(text), 2)
    t = np.linspace(0, motion.duration, 1000)
    for order in range(4):
        assert np.array_equal(motion.at(t, order), again.at(t, order))
    (tmp_path / "mine.toml").write_text(text)
    read = load_reference(tmp_path / "mine.toml", SCARA, 0.01)
    whole = {"duration": motion.duration} if isinstance(motion, Sines) and not periods else {}
    wanted = motion.sample(0.01, **whole, periods=periods)
    assert read.samples == wanted.samples
    for got, value in ((read.q, wanted.q), (read.qd, wanted.qd), (read.qdd, wanted.qdd)):
        assert np.abs(got - value).max() < 1e-12  # type: ignore[operator]
