"""Spaces of motions: boundary conditions, linearity, and what their coefficients mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BPoly

from dynid.core.errors import DynidError
from dynid.trajectories import Fourier, FourierSpace, ModifiedFourierSpace, MotionSpace, SplineSpace

SPACES: list[MotionSpace] = [
    FourierSpace(0.1, 5),
    FourierSpace(2.0, 2),
    ModifiedFourierSpace(0.13, 4, 7.0),
    ModifiedFourierSpace(0.1, 5, 10.0, closed=True),
    ModifiedFourierSpace(3.0, 1, 0.5),
    SplineSpace(5.0, 8),
    SplineSpace(0.2, 1),
    SplineSpace(60.0, 300, closed=True),
]
every = pytest.mark.parametrize("space", SPACES, ids=str)


@every
def test_motions_begin_at_the_start_and_rest_at_both_ends(space: MotionSpace) -> None:
    scale = [np.abs(space.matrix(np.linspace(0, space.duration, 999), k)).max() for k in range(3)]
    ends = [space.matrix([0.0, space.duration], order) for order in range(3)]
    assert ends[0].shape == (2, space.size)
    assert np.abs(ends[0][0]).max() < 1e-13 * scale[0]
    for order in (1, 2):
        assert np.abs(ends[order]).max() < 1e-12 * scale[order]
    free = not isinstance(space, FourierSpace) and not space.closed  # type: ignore[attr-defined]
    last = np.eye(space.size)[-1] if free else np.zeros(space.size)
    assert np.allclose(ends[0][1], last, atol=1e-13 * scale[0])


@every
def test_the_matrix_times_coefficients_is_the_motion(space: MotionSpace) -> None:
    rng = np.random.default_rng(3)
    start, c = rng.normal(size=3), rng.normal(size=(3, space.size))
    motion = space.trajectory(start, c)
    assert (motion.axes, motion.duration) == (3, space.duration)
    t = np.linspace(0, space.duration, 777)
    for order in range(4):
        wanted = space.matrix(t, order) @ c.T + (start if order == 0 else 0)
        assert np.abs(motion.at(t, order) - wanted).max() < 1e-9 * max(1.0, np.abs(wanted).max())
    for order in range(3):
        wanted = space.matrix(t, order) @ c.T + (start if order == 0 else 0)
        assert np.abs(motion.at(t, order) - wanted).max() < 1e-12 * max(1.0, np.abs(wanted).max())


@every
def test_no_coefficient_is_idle(space: MotionSpace) -> None:
    t = np.linspace(0, space.duration, 2000)
    columns = space.matrix(t)
    assert np.linalg.matrix_rank(columns / np.linalg.norm(columns, axis=0)) == space.size


def test_a_modified_series_is_the_series_where_that_rests() -> None:
    """Wu's quintic corrects nothing where P3's equations hold already."""
    plain = FourierSpace(0.1, 5)
    motion = plain.trajectory([0.3], np.random.default_rng(0).normal(size=(1, plain.size)))
    assert isinstance(motion, Fourier)
    space = ModifiedFourierSpace(0.1, 5, 10.0, closed=True)
    same = space.trajectory([0.3], np.hstack([motion.a, motion.b]))
    t = np.linspace(0, 10, 500)
    for order in range(3):
        assert np.allclose(same.at(t, order), motion.at(t, order), rtol=0, atol=1e-13)


def test_the_quintic_is_hermite_s() -> None:
    """SciPy's polynomial with the same states at both ends."""
    space = ModifiedFourierSpace(0.17, 3, 4.0)
    c = np.random.default_rng(5).normal(size=(1, space.size))
    motion = space.trajectory([0.2], c)
    series = Fourier(0.17, c[:, :3], c[:, 3:6], [0.0])
    ends = [[-series.at([t], k)[0, 0] for k in range(3)] for t in (0.0, 4.0)]
    ends[0][0] += 0.2
    ends[1][0] += 0.2 + c[0, -1]
    hermite = BPoly.from_derivatives([0.0, 4.0], ends)
    t = np.linspace(0, 4, 300)
    assert np.allclose(motion.at(t)[:, 0], series.at(t)[:, 0] + hermite(t), rtol=0, atol=1e-12)


def test_a_spline_stays_between_its_control_points() -> None:
    space = SplineSpace(5.0, 12)
    c = np.random.default_rng(1).normal(size=(4, space.size))
    low, high = space.trajectory(np.zeros(4), c).extremes()
    assert np.all(low >= np.minimum(c.min(axis=1), 0) - 1e-11)
    assert np.all(high <= np.maximum(c.max(axis=1), 0) + 1e-11)


def test_a_motion_of_cancelling_terms_has_extremes_in_finite_time() -> None:
    """A thousandth of a turn: series and quintic cancel but for rounding."""
    motion = ModifiedFourierSpace(1e-3, 2, 1.0).trajectory([1.0], [[1.0, 2.0, 3.0, 4.0, 0.0]])
    low, high = motion.extremes(1)
    values = motion.at(np.linspace(0, 1, 1000), 1)
    assert np.all((low <= values) & (values <= high))
    assert np.all(high - low < 1e-6)


REFUSED = {
    "one harmonic": (lambda: FourierSpace(0.1, 1), "1 harmonics were asked for; .* needs 2 to 100, because"),
    "no harmonic": (lambda: ModifiedFourierSpace(0.1, 0), "0 harmonics were asked for; .* has 1 to 100"),
    "no frequency": (lambda: FourierSpace(0.0), "frequency_hz is 0.0; it must be a positive number"),
    "no duration": (lambda: ModifiedFourierSpace(duration=0.0), "duration is 0.0; it must be a positive"),
    "endless": (lambda: SplineSpace(np.inf), "duration is inf; it must be a positive number"),
    "no knot": (lambda: SplineSpace(1.0, 0), "0 knots were asked for; a quintic spline .* has 1 to 10,000"),
    "coefficients": (
        lambda: SplineSpace(1.0, 4).trajectory([0.0], np.zeros((2, 5))),
        r"The array of coefficients has shape \(2, 5\); give numbers of shape \(1, 5\)",
    ),
    "pose": (
        lambda: FourierSpace().trajectory([np.nan], np.zeros((1, 8))),
        "The start pose holds numbers that are not finite",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    action, sentence = REFUSED[case]
    with pytest.raises(DynidError, match=sentence):
        action()
