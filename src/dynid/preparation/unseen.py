"""Motion that a fit has not used, prepared so that a model can be judged on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.core.arrays import BoolArray
from dynid.logs.log import Log
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.spectrum import BAND
from dynid.preparation.suggestion import Suggestion, suggest


def prepare_unseen(log: Log, plan: Preparation) -> Motion:
    """Prepare a log by the plan of a fit, as far as the new motion lets it.

    The plan suits the motion of the fit. A new motion may be faster, so that the plan's filter would take
    something off its accelerations but not off its torques: the cut-off is then the one that the new log asks
    for. And it may rest, where dry friction is anything between ± its value, and a low-pass would spread that
    over the rows around: samples below the speed threshold, of the plan or of the new log, do not count.

    Args:
        log: joint side, with position and torque.
        plan: of the fit; derivatives that the log does not hold are differences.
    """
    own_plan = plan.for_channels(log.channels)
    if plan.convention == "matlab":  # a published computation, to be repeated as it was
        return prepare(log, own_plan)
    asked = suggest(log)
    motion = prepare(log, _wide_enough(own_plan, asked))
    return replace(motion, at_rest=_at_rest(motion, plan, asked.plan))


def _wide_enough(plan: Preparation, asked: Suggestion) -> Preparation:
    """The plan with the cut-off and differences of a suggestion, where its own would smooth the motion."""
    speed_hz, wanted = asked.facts["speed_hz"], asked.plan.cutoff_hz
    if plan.cutoff_hz is None or wanted is None or speed_hz is None:
        return plan
    if wanted <= plan.cutoff_hz or plan.cutoff_hz >= BAND.clear_of_speed * speed_hz:
        return plan
    points = max(plan.difference_points, asked.plan.difference_points)
    return replace(plan, cutoff_hz=wanted, difference_points=points)


def _at_rest(motion: Motion, plan: Preparation, asked: Preparation) -> BoolArray | None:
    """Samples of each coordinate below its threshold, (samples, coordinates); None without thresholds."""
    if not plan.speed_thresholds:
        return None
    limits = np.array(plan.speed_thresholds)
    if asked.speed_thresholds:
        limits = np.where(limits > 0, np.maximum(limits, asked.speed_thresholds), 0.0)
    slow = [np.abs(motion.qd[:, j]) < limit for j, limit in enumerate(limits)]
    return np.stack(slow, axis=1)
