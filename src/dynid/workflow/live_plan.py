"""The causal plan of a stream: suggested from a log, or from the first seconds of the stream itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from dynid.core.errors import NotTrustworthyError
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.causal_plan import CausalPlan, suggest_causal
from dynid.preparation.suggestion import suggest, suggest_for_instruments
from dynid.tracking.sample import Arrival
from dynid.tracking.tracker import RIV
from dynid.workflow.preparation_choice import choose_preparation


@dataclass(frozen=True)
class LivePlan:
    """A plan, and where it comes from.

    Args:
        plan: causal filters and rows.
        why: reasons by key; empty where the plan was given.
    """

    plan: CausalPlan
    why: Mapping[str, str]


def live_plan(
    robot: Robot,
    log: Log | None,
    method: str,
    overrides: Mapping[str, Any],
    plan: CausalPlan | None = None,
) -> LivePlan:
    """The plan given, or the live counterpart of what a log suggests.

    Args:
        robot: the robot, with which preparations are compared.
        log: joint side, of motion like that of the stream; not needed where a plan is given.
        method: "rls" or "riv", whose instruments keep noise out of the parameters and need less filtering.
        overrides: keys of the plan to replace.
        plan: taken as it is but for the overrides; suggested when None.
    """
    if plan is not None or log is None:
        assert plan is not None
        return LivePlan(replace(plan, **overrides), {})
    if method == RIV:
        found = suggest_for_instruments(log)
    else:
        found = choose_preparation(robot, [log], suggest(log), {})
    suggested = suggest_causal(found.plan, log.rate_hz)
    return LivePlan(replace(suggested, **overrides), found.why)


def listen(
    arrivals: Iterator[Arrival], seconds: float, name: str = "stream"
) -> tuple[Log, Iterator[Arrival]]:
    """The first seconds of a stream as a log, and the stream with these samples still in it.

    The longest stretch without a gap is taken.

    Args:
        arrivals: samples in their places.
        seconds: how long to listen [s by the stamps].
        name: of the log.

    Raises:
        NotTrustworthyError: when nothing came.
    """
    heard: list[Arrival] = []
    for arrival in arrivals:
        heard.append(arrival)
        if arrival.sample.time - heard[0].sample.time >= seconds:
            break
    stretches: list[list[Arrival]] = []
    for arrival in heard:
        if arrival.anew or not stretches:
            stretches.append([])
        stretches[-1].append(arrival)
    if not stretches:
        raise NotTrustworthyError("The source ended without a single usable sample.")
    longest = [arrival.sample for arrival in max(stretches, key=len)]
    channels = {"position": np.array([s.q for s in longest]), "torque": np.array([s.tau for s in longest])}
    if longest[0].qd is not None:
        channels["velocity"] = np.array([s.qd for s in longest])
    if longest[0].reference is not None:
        channels["reference"] = np.array([s.reference for s in longest])
    log = Log(name, np.array([s.time for s in longest]), channels)
    return log, chain(heard, arrivals)
