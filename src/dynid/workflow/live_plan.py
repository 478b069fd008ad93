"""The causal plan of a stream: suggested from a log, or from the first seconds of the stream itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from dynid.core.errors import NotTrustworthyError
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.causal_plan import CausalPlan, suggest_causal
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import spectrum_of_log
from dynid.preparation.suggestion import suggest, suggest_for_instruments
from dynid.tracking.sample import Arrival, Sample
from dynid.tracking.tracker import RIV
from dynid.workflow.preparation_choice import choose_preparation


def live_plan(robot: Robot, log: Log, method: str, overrides: Mapping[str, Any]) -> CausalPlan:
    """The live counterpart of what a log suggests.

    Args:
        robot: the robot, with which preparations are compared.
        log: joint side, of motion like that of the stream.
        method: "rls" or "riv", whose instruments keep noise out of the parameters and need less filtering.
        overrides: keys of the plan to replace.
    """
    if method == RIV:
        found = suggest_for_instruments(log)
    else:
        found = choose_preparation(robot, [log], suggest(log), {})
    return replace(suggest_causal(found.plan, log.rate_hz), **overrides)


def listen(
    arrivals: Iterator[Arrival],
    seconds: float,
    name: str = "stream",
    waiting: Callable[[str], None] = lambda text: None,
) -> tuple[Log, Iterator[Arrival]]:
    """The first seconds of a stream with motion in them as a log, and the stream with these samples in it.

    A robot at rest says nothing of the filters that its motion needs: rest is listened to and forgotten. The
    longest stretch without a gap is taken.

    Args:
        arrivals: samples in their places.
        seconds: how long to listen [s of samples].
        name: of the log.
        waiting: told when the robot does not move.

    Raises:
        NotTrustworthyError: when nothing came.
    """
    while True:
        heard, ended = _heard(arrivals, seconds)
        log = _log_of(heard, name)
        spectrum = spectrum_of_log(log, Preparation())
        if ended or spectrum is None or spectrum.moving_axes().any():
            return log, chain(heard, arrivals)
        waiting(f"{name}: the robot has not moved for {seconds:g} s; waiting for motion")


def _heard(arrivals: Iterator[Arrival], seconds: float) -> tuple[list[Arrival], bool]:
    """Some seconds of samples, gaps not counted, and whether the stream has ended."""
    heard, lasted = list[Arrival](), 0.0
    for arrival in arrivals:
        if heard and not arrival.anew:
            lasted += arrival.sample.time - heard[-1].sample.time
        heard.append(arrival)
        if lasted >= seconds:
            return heard, False
    return heard, True


def _log_of(heard: Sequence[Arrival], name: str) -> Log:
    """The longest stretch without a gap."""
    stretches: list[list[Sample]] = []
    for arrival in heard:
        if arrival.anew or not stretches:
            stretches.append([])
        stretches[-1].append(arrival.sample)
    if not stretches:
        raise NotTrustworthyError("The source ended without a single usable sample.")
    longest = max(stretches, key=len)
    columns = {"position": "q", "torque": "tau", "velocity": "qd", "reference": "reference"}
    channels = {
        channel: np.array([getattr(sample, own) for sample in longest])
        for channel, own in columns.items()
        if getattr(longest[0], own) is not None
    }
    return Log(name, np.array([sample.time for sample in longest]), channels)
