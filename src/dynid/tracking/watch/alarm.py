"""What the watch tells, and the numbers by which it decides."""

from __future__ import annotations

from dataclasses import dataclass

from dynid.core.finding import Finding


@dataclass(frozen=True)
class WatchEvent:
    """Something that happened beside the arm.

    Args:
        time: when it was noticed [s].
        onset: when it began, as far as that can be told [s].
        finding: what it was, with its figures.
    """

    time: float
    onset: float
    finding: Finding


@dataclass(frozen=True)
class WatchOptions:
    """When the watch raises an alarm; docs/watch.md has the rates on generated arms.

    All times are seconds of motion: samples whose rows are all masked do not count. Thresholds of excess
    (see ``Excess``) trade false alarms per hour against the smallest payload and push that are seen; they
    were set on one half of the arms of tests/population/watch.py, the rates come from the other half.

    Args:
        settle_s: what passes before anything is learnt, and how often it is looked, during the first
            ``memory_s``, whether the recursion has converged further and learning begins anew [s].
        block_s: blocks whose largest statistic is learnt [s].
        memory_s: time constant of what is learnt [s]; longer ones give steadier thresholds, shorter ones
            follow other motions sooner.
        short_s: short window of the payload's columns [s].
        long_s: long window of the payload's columns, and age of the parameters that residuals are taken
            with [s]; longer ones see lighter payloads, later.
        every_s: time between two looks at the windows [s].
        payload_short_excess: excess of the short window from which a payload is suspected.
        payload_long_excess: the same of the long window.
        payload_share: least share of the residual's squares that a payload must explain.
        payload_sigmas: least size of the payload's torques over their σ, the root of what is explained.
        length_m: how far from the flange a payload's centre and how wide it may be, roughly [m].
        collision_s: window of the fast residual [s].
        collision_excess: excess from which a push is a collision.
        calm_excess: excess of the residual below which a disturbance is over.
        decide_s: time after its onset from which a disturbance that lasts can be a payload [s]; pushes that
            last longer may be taken for one.
        give_up_s: time after which what nothing explains is told as that [s].
        rest_s: time after a suspicion without result before the next one [s].
        weighing_s: how long a payload is weighed while the arm's parameters are held [s].
        mass_share: deviation of a mass beside that of its rows, as a share of it: what the arm's model lacks
            under load. With .02 93 % of the masses of the setting half lie within 2 σ, 96 % of the showing.
        empty_share: share of the known mass that may be left when a payload has been put down.
        friction_block_s: blocks of which each gives the friction of a joint once [s].
        friction_blocks: blocks that are averaged.
        friction_sigmas: change of the average over the spread of the learnt blocks.
        friction_share: least change as a share of the joint's rms torque.
        inertia_s: time between two looks at M(q) [s].
        acts: whether the recursion waits, goes back and gets the torques less the payload's; it takes every
            sample as it is when False, and the watch only tells.
    """

    settle_s: float = 5.0
    block_s: float = 2.0
    memory_s: float = 120.0
    short_s: float = 0.4
    long_s: float = 4.0
    every_s: float = 0.1
    payload_short_excess: float = 5.0
    payload_long_excess: float = 3.0
    payload_share: float = 0.6
    payload_sigmas: float = 6.0
    length_m: float = 0.15
    collision_s: float = 0.08
    collision_excess: float = 5.0
    calm_excess: float = 2.0
    decide_s: float = 0.5
    give_up_s: float = 3.0
    rest_s: float = 5.0
    weighing_s: float = 10.0
    mass_share: float = 0.02
    empty_share: float = 0.2
    friction_block_s: float = 10.0
    friction_blocks: int = 3
    friction_sigmas: float = 8.0
    friction_share: float = 0.03
    inertia_s: float = 0.1
    acts: bool = True
