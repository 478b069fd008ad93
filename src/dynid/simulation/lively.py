"""Where a reference asks most of an integration: joints that turn and that accelerate."""

from __future__ import annotations

import numpy as np

from dynid.simulation.reference import Reference


def liveliest(reference: Reference, samples: int, count: int) -> list[int]:
    """First samples of windows: the beginning of the reference, then where it is liveliest.

    A window counts its turns, as a share of the most that any has, and for every joint the largest
    acceleration, as a share of that of the whole reference.

    Args:
        reference: at the controller's rate, at least ``count`` windows long.
        samples: of a window.
        count: how many windows.
    """
    assert reference.qd is not None
    assert reference.qdd is not None
    windows = reference.samples // samples
    shape = (windows, samples, reference.axes)
    speeds, rates = (x[: windows * samples].reshape(shape) for x in (reference.qd, reference.qdd))
    turns = np.sum(np.signbit(speeds[:, 1:]) != np.signbit(speeds[:, :-1]), axis=(1, 2))
    peaks = np.abs(rates).max(axis=1)
    score = turns / max(turns.max(), 1) + (peaks / np.maximum(peaks.max(axis=0), 1e-300)).mean(axis=1)
    later = 1 + np.argsort(-score[1:], kind="stable")[: count - 1]
    return [0, *sorted(int(k) * samples for k in later)]
