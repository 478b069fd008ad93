"""What each family promises of its own: limits, corners, waypoints, joints; what is refused, and how."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.model.load import load_robot
from dynid.simulation import load_reference
from dynid.trajectories import (
    Fourier,
    ModifiedFourier,
    PointToPoint,
    Quintics,
    QuinticSpline,
    Sequence,
    Sines,
    Triangles,
    bridge,
    random_poses,
    reference_table,
    trajectory_from_table,
)

SCARA = load_robot("scara")


@pytest.mark.parametrize("seed", range(20))
def test_moves_keep_every_limit_and_reach_one(seed: int) -> None:
    """Fifty configurations as in P4: exact extremes against the limits, move by move."""
    rng = np.random.default_rng(seed)
    velocity, acceleration, jerk = rng.uniform(0.5, 2, 7), rng.uniform(0.5, 8, 7), rng.uniform(2, 200, 7)
    poses = random_poses(-np.ones(7), np.ones(7), 50, rng)
    limits = (velocity, acceleration, jerk) if seed % 2 else (velocity, acceleration)
    cruise = (0.0, 0.3, 0.5, 0.9)[seed % 4]
    motion = PointToPoint(poses, *limits, cruise=cruise)
    used = []
    for order, limit in enumerate(limits, 1):
        low, high = motion.extremes(order)
        assert np.all(-limit <= low)
        assert np.all(high <= limit)
        used.append(np.abs(motion.at(np.linspace(0, motion.duration, 20_000), order)) / limit)
    assert max(part.max() for part in used) > 0.99
    # Each single move is as fast as possible: one limit is reached, or speed and acceleration both.
    for k in range(5):
        one = PointToPoint(poses[k : k + 2], *limits, cruise=cruise)
        reached = [np.abs(one.extremes(order)).max(axis=0) / limit for order, limit in enumerate(limits, 1)]
        assert max(part.max() for part in reached) > 1 - 1e-6
        straight = np.diff(one.quintics.time)[1] / one.duration if len(one.quintics.time) == 4 else 0.0
        assert straight >= cruise - 1e-9
        assert reached[0].max() > 1 - 1e-6 or straight == pytest.approx(cruise, abs=1e-9)
    assert np.allclose(motion.at([0.0, motion.duration]), poses[[0, -1]])


def test_a_move_in_closed_form() -> None:
    """One axis: τ = 1.5 v/a, T = s/v + τ; where that leaves too little cruise, T² = 6 s/(a (1 − c²))."""
    far = PointToPoint([[0.0], [3.0]], 1.0, 2.0)
    assert far.duration == pytest.approx(3.75, rel=1e-8)
    assert far.at([1.875], 1)[0, 0] == pytest.approx(1.0, rel=1e-8)
    near = PointToPoint([[0.0], [0.3]], 1.0, 2.0, cruise=0.5)
    assert near.duration == pytest.approx(np.sqrt(6 * 0.3 / (2 * 0.75)), rel=1e-8)
    soft = PointToPoint([[0.0], [0.3]], 1.0, 200.0, jerk=10.0, cruise=0.5)
    assert soft.duration == pytest.approx(np.cbrt(48 * 0.3 / (10 * 1.5 * 0.25)), rel=1e-8)


def test_moves_rest_between() -> None:
    poses = [[0.0, 0.0], [1.0, 0.2], [0.5, 0.2], [0.0, 0.0]]
    motion = PointToPoint(poses, 1.0, 2.0, dwell=0.5)
    assert motion.duration == pytest.approx(PointToPoint(poses, 1.0, 2.0).duration + 2 * 0.5)
    t = np.linspace(0, motion.duration, 10_001)
    still = np.all(motion.at(t, 1) == 0, axis=1)
    assert still.sum() * motion.duration / 10_000 == pytest.approx(1.0, abs=2e-3)
    for pose in poses:
        assert np.any(np.all(np.isclose(motion.at(t), pose), axis=1))
    assert motion.periodic
    assert not motion.sample(0.01, periods=2).q[0].any()
    second = motion.at(t, 0)[:, 1]
    assert second.max() == pytest.approx(0.2)
    assert np.all(motion.at(t, 1)[(t > 2.9) & (t < 3.2), 1] == 0)  # an axis that has nowhere to go


def test_short_moves_far_from_zero_keep_their_limits() -> None:
    """The rounding of positions does not reach the accelerations; an axis that stays has no say."""
    poses = np.array([[1e3, 5.0], [1e3 + 1e-6, 5.0], [1e3 + 1.0, 5.0], [1e3, 5.0]])
    motion = PointToPoint(poses, 1.0, 300.0, jerk=1e5, cruise=0.0)
    for order, limit in ((1, 1.0), (2, 300.0), (3, 1e5)):
        assert np.abs(motion.extremes(order)).max() <= limit
    assert not motion.at(np.linspace(0, 1, 99), 1)[:, 1].any()


def test_random_poses_stay_inside() -> None:
    poses = random_poses([-1.0, 0.0], [0.0, 2.0], 500, np.random.default_rng(0), start=[0.0, 0.0])
    assert poses.shape == (500, 2)
    assert np.all((poses >= [-1, 0]) & (poses <= [0, 2]))
    assert not poses[[0, -1]].any()
    assert np.array_equal(
        poses[1:-1], random_poses([-1.0, 0.0], [0.0, 2.0], 500, np.random.default_rng(0))[1:-1]
    )


@pytest.mark.parametrize("blend", [1e-3, 0.1, 0.5])
@pytest.mark.parametrize("cycles", [(1, 1), (1, 7), (40, 3)])
def test_triangles_go_up_and_down_at_one_speed(blend: float, cycles: tuple[int, int]) -> None:
    motion = Triangles([0.5, -0.2], cycles, 20.0, [0.0, 0.1], blend)
    low, high = motion.extremes()
    assert np.allclose(low, [-0.5, -0.1], atol=1e-9)
    assert np.allclose(high, [0.5, 0.3], atol=1e-9)
    assert np.allclose(np.abs(motion.extremes(1)), np.abs(motion.speeds), rtol=1e-9)
    t = np.linspace(0.001, 19.998, 40_001)
    speed = np.abs(motion.at(t, 1))
    constant = np.isclose(speed, np.abs(motion.speeds), rtol=1e-9).mean(axis=0)
    assert np.allclose(constant, 1 - blend * (1 + 0.5 / np.array(cycles)), atol=1e-2)
    turns = blend * 20.0 / (2 * np.array(cycles))
    assert np.allclose(motion.extremes(2)[1], 3 * np.abs(motion.speeds) / turns, rtol=1e-6)
    q = motion.at(t) - [0.0, 0.1]
    crossings = np.sum(np.diff(np.sign(q), axis=0) != 0, axis=0)
    assert np.array_equal(crossings, 2 * np.array(cycles) - 1)


def test_splines_pass_their_waypoints_with_the_least_jerk() -> None:
    rng = np.random.default_rng(4)
    time, points = np.array([0.0, 0.5, 1.5, 2.0, 4.0]), rng.normal(size=(5, 3))
    spline = QuinticSpline(time, points)
    assert np.abs(spline.at(time) - points).max() < 1e-14
    inner = time[1:-1]
    for order in range(5):  # four derivatives are continuous
        jump = spline.at(inner + 1e-10, order) - spline.at(inner - 1e-10, order)
        assert np.abs(jump).max() < 1e-7 * np.abs(spline.extremes(order + 1)).max()
    t = np.linspace(0, 4, 20_001)

    def jerk(motion: Quintics) -> float:
        return float(np.mean(motion.at(t, 3) ** 2))

    own = spline.quintics
    for _ in range(10):
        qd, qdd = (values + 0.1 * rng.normal(size=values.shape) for values in (own.qd, own.qdd))
        qd[[0, -1]], qdd[[0, -1]] = 0.0, 0.0
        assert jerk(Quintics(time, points, qd, qdd)) > jerk(own)


def test_parts_follow_each_other() -> None:
    """P1's haptic arm: triangles, and then sines."""
    first = Triangles([0.3], (2,), 10.0)
    sines = Sines(((0.2, 0.1),), ((0.5, 1.3),), ((0.3, 0.1),), (0.4,), duration=8.0)
    both = Sequence((first, bridge(first, sines, 1.5), sines))
    assert both.duration == 19.5
    t = np.linspace(0, 19.5, 5001)
    q = both.at(t)
    assert np.array_equal(q[t < 10], first.at(t[t < 10]))
    assert np.array_equal(q[t > 11.5], sines.at(t[t > 11.5] - 11.5))
    assert np.abs(np.diff(q, 2, axis=0)).max() / (t[1] - t[0]) ** 2 <= np.abs(both.extremes(2)).max()
    with pytest.raises(
        DynidError, match=r"Between parts 1 and 2 .* jump by up to 0\.469, 1\.41 and .*put bridge"
    ):
        Sequence((first, sines))


def test_sines_without_an_end() -> None:
    endless = Sines(((0.5, 0.2),), ((0.3, 0.7),), offsets=(1.0,))
    assert not endless.periodic
    low, high = endless.extremes()
    assert (low[0], high[0]) == pytest.approx((0.3, 1.7))
    assert np.all(endless.at(np.linspace(0, 1e4, 100_000)) <= high)
    assert "duration" not in reference_table(endless)
    with pytest.raises(DynidError, match="The motion lasts inf s; say how long it is wanted as duration"):
        endless.sample(0.01)


def test_p3_repeats_three_periods_of_625_samples(tmp_path: Path) -> None:
    text = """
kind = "fourier"
frequency_hz = 0.1
a = [[0.3, -0.3], [0.2, -0.2]]
b = [[0.4, -0.2], [0.0, 0.0]]
offsets = [0.1, 0.2]
"""
    sizes = []
    for more in ("", "periods = 3\n", "duration = 25\n", "rate_hz = 62.5\n"):
        (tmp_path / "mine.toml").write_text(text + more)
        sizes.append(load_reference(tmp_path / "mine.toml", SCARA, 0.016).samples)
    assert sizes == [625, 1875, 1562, 625]
    longer = load_reference(tmp_path / "mine.toml", SCARA, 0.016, duration=40.0)
    assert longer.samples == 2500
    assert np.allclose(longer.q[:625], longer.q[1250:1875], atol=1e-12)


FOURIER = {"kind": "fourier", "frequency_hz": 0.1, "a": [[0.1], [0.2]], "b": [[0.1], [0.2]]}
MOVES = {"kind": "point-to-point", "poses": [[0, 0], [1, 1]], "velocity": 1, "acceleration": [1, 2]}
UP = {"kind": "triangles", "amplitudes": 0.5, "cycles": [1, 2], "duration": 9}
SPLINE = {"kind": "quintic", "time": [0, 1], "position": [[0, 0], [1, 1]]}
WU = {**FOURIER, "kind": "modified-fourier", "duration": 3, "start": 0}
TABLES = {
    "Did you mean 'fourier'": {**FOURIER, "kind": "fourrier"},
    "fourier reference: a is missing; give a list of numbers per": {"kind": "fourier", "frequency_hz": 1},
    "fourier reference: a has 1 values for 2 axes": {**FOURIER, "a": [[0.1]]},
    "b of the Fourier series has shape (2, 2); give numbers of shape (2": {**FOURIER, "b": [[1, 2], [3, 4]]},
    "a has 101 entries; at most 100 are taken": {**FOURIER, "a": [[0.1] * 101, [0.2]]},
    "frequency_hz is 0; it must be a number above 0 Hz": {**FOURIER, "frequency_hz": 0},
    "frequency_hz is nan; it must be a finite number": {**FOURIER, "frequency_hz": float("nan")},
    "duration and periods are both given; keep one": {**FOURIER, "duration": 3, "periods": 2},
    "periods is 0; it must be a whole number from 1": {**FOURIER, "periods": 0},
    "a of the Fourier series must be an array of numbers": {**FOURIER, "a": [[0.1], [0.2, 0.3]]},
    "modified-fourier reference: duration is 0; it must be a number above 0 s": {**WU, "duration": 0},
    "end has 3 values for 2 axes": {**WU, "end": [1, 2, 3]},
    "point 2 of position has 1 numbers, and the first has 2": {**SPLINE, "position": [[0, 0], [1]]},
    "time must hold at least two instants that begin at 0 and increase": {**SPLINE, "time": [1, 2]},
    "position of the waypoints has shape (2, 2); give numbers of shape (3": {**SPLINE, "time": [0, 1, 2]},
    "Poses 1 and 2 are the same; leave one out": {**MOVES, "poses": [[0, 1], [0, 1]]},
    "There are 1 poses; give from 2 to 10,000": {**MOVES, "poses": [[0, 1]]},
    "velocity is -1; it must be a number above 0": {**MOVES, "velocity": -1},
    "cruise is 1.0; it must be a share from 0 to below 1": {**MOVES, "cruise": 1},
    "dwell is -1; it must be a number from 0 s": {**MOVES, "dwell": -1},
    "entry 1 of cycles is 1.5; it must be a whole number from 1 to 1000": {**UP, "cycles": [1.5, 2]},
    "blend is 0; it must be a number from 1e-06 to 0.5": {**UP, "blend": 0},
    "Unknown key 'speed'": {**UP, "speed": 1},
}  # fmt: skip


@pytest.mark.parametrize("sentence", TABLES)
def test_tables_that_are_refused(sentence: str) -> None:
    with pytest.raises(DynidError) as caught:
        trajectory_from_table(TABLES[sentence], 2)
    assert sentence in str(caught.value)
    assert len(str(caught.value)) < 600


def test_tables_are_short_where_they_can_be() -> None:
    for table in (FOURIER, MOVES, UP, SPLINE, WU):
        assert trajectory_from_table(table, 2).axes == 2
    assert trajectory_from_table(WU, 2).periodic
    one = trajectory_from_table({**MOVES, "poses": [0, 1, 0.5], "acceleration": 2}, 1)
    assert one.at([0.0, one.duration]).tolist() == [[0.0], [pytest.approx(0.5)]]


def test_what_files_refuse_of_a_motion(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('kind = "quintic"\ntime = [0, 1]\nposition = [[0, 0, 0], [1, 1, 1]]')
    with pytest.raises(DynidError, match=r"Reference mine\.toml: It has 3 axes, but robot 'scara' has 2"):
        load_reference(file, SCARA, 0.01)
    text = 'kind = "quintic"\ntime = [0, 2]\nposition = [[0, 0], [1, 1]]\n'
    file.write_text(text)
    assert load_reference(file, SCARA, 0.01).samples == 201
    assert load_reference(file, SCARA, 0.01, duration=1.0).samples == 100
    with pytest.raises(DynidError, match="9 s of a motion of 2 s are asked for, and it cannot be repeated"):
        load_reference(file, SCARA, 0.01, duration=9.0)
    with pytest.raises(DynidError, match="at most 20,000,000 values are made"):
        load_reference(file, SCARA, 1e-8)
    file.write_text(text + "periods = 2")
    with pytest.raises(DynidError, match="does not end where and as it begins; ask for less, or close"):
        load_reference(file, SCARA, 0.01)


STATES = np.zeros((2, 1))
REFUSED = {
    "Fourier": (
        lambda: Fourier(0.1, [[np.nan]], [[1.0]], [0.0]),
        "a of the Fourier series holds numbers that",
    ),
    "frequency": (
        lambda: Fourier(-1.0, [[1.0]], [[1.0]], [0.0]),
        "frequency_hz is -1.0; it must be a positive",
    ),
    "no harmonics": (lambda: Fourier(1.0, [[]], [[]], [0.0]), r"a of the Fourier series has shape \(1, 0\)"),
    "end": (
        lambda: ModifiedFourier(1.0, 1.0, [[1.0]], [[1.0]], [0.0], [0.0, 1.0]),
        r"The end pose has shape \(2,\); give numbers of shape \(1\)",
    ),
    "states": (lambda: Quintics([0.0, 0.0], STATES, STATES, STATES), "begin at 0 and increase"),
    "bridge": (
        lambda: bridge(Sines(((1.0,),), ((1.0,),), duration=1.0), SHORT, 0.0),
        "begin at 0 and increase",
    ),
    "sines": (lambda: Sines(((np.inf,),), ((1.0,),)), "The sines have numbers that are not finite"),
    "sines' duration": (lambda: Sines(((1.0,),), ((1.0,),), duration=0.0), "duration is 0.0 s; it must be"),
    "limits": (lambda: PointToPoint([[0.0], [1.0]], 0.0, 1.0), r"velocity is \[0\.0\]; it must be above 0"),
    "limits' shape": (
        lambda: PointToPoint([[0.0], [1.0]], [1.0, 2.0], 1.0),
        r"velocity has shape \(2,\); give numbers of shape \(1\)",
    ),
    "no limit": (lambda: PointToPoint([[0.0], [1.0]], np.inf, 1.0), "velocity holds numbers that are not"),
    "dwell": (lambda: PointToPoint([[0.0], [1.0]], 1.0, 1.0, dwell=np.nan), "dwell is nan s; it must be a"),
    "poses": (lambda: PointToPoint([0.0, 1.0], 1.0, 1.0), r"poses has shape \(2,\); give numbers of shape"),
    "drawn": (lambda: random_poses([1.0], [0.0], 5, np.random.default_rng()), "lower must be less"),
    "drawn count": (lambda: random_poses([0.0], [1.0], 1, np.random.default_rng()), "1 poses were asked for"),
    "cycles": (lambda: Triangles([1.0], (0,), 1.0), "whole number from 1 to 1000 per axis"),
    "corners": (lambda: Triangles([1.0], (1,), 1.0, blend=0.0), "sharp corners need infinite accelerations"),
    "long corners": (
        lambda: Triangles([1.0], (1,), 1.0, blend=0.6),
        "blend is 0.6; it must be from 1e-06 to 0.5",
    ),
    "zero time": (lambda: Triangles([1.0], (1,), 0.0), "duration is 0.0; it must be a positive number"),
    "no parts": (lambda: Sequence(()), "The sequence has no parts"),
    "axes": (
        lambda: Sequence((SHORT, Triangles([1.0, 1.0], (1, 1), 1.0))),
        "Parts 1 and 2 have 1 and 2 axes",
    ),
    "endless part": (lambda: Sequence((Sines(((1.0,),), ((1.0,),)), SHORT)), "Part 1 has no end; give it a"),
    "two lengths": (
        lambda: SHORT.sample(0.1, 1.0, periods=2),
        "duration and periods are both given; keep one",
    ),
    "no periods": (lambda: SHORT.sample(0.1, periods=0), "periods is 0; it must be a whole number from 1"),
    "no step": (lambda: SHORT.sample(0.0), "A reference of 1 s in steps of 0 s has fewer than two samples"),
    "no length": (lambda: SHORT.sample(0.1, np.nan), "The motion lasts nan s; say how long"),
    "written": (lambda: reference_table(Sequence((SHORT,))), "A Sequence is not written as a reference file"),
    "written periods": (
        lambda: reference_table(PointToPoint([[0.0], [1.0]], 1.0, 1.0), periods=2),
        "does not end where and as it begins; leave periods out",
    ),
}
SHORT = Triangles([1.0], (1,), 1.0)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    action, sentence = REFUSED[case]
    with pytest.raises(DynidError, match=sentence):
        action()
