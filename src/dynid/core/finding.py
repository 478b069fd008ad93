"""What was noticed: a defect of a log, the outcome of a computation, a doubt, a reason of a verdict.

All of these are one thing, a ``Finding``. Its name and level decide; its sentence is for people and is never
parsed. Terminal, JSON and report show the same findings in the same order: the gravest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any


class Level(IntEnum):
    """How much a finding weighs, from harmless to grave."""

    GOOD = 0
    """Speaks for the result."""
    NOTE = 1
    """Worth knowing; lowers nothing."""
    CARE = 2
    """The result may suffer: use it with care."""
    FAIL = 3
    """The result cannot be trusted."""

    @property
    def word(self) -> str:
        """The level in lower case, as JSON and the report write it."""
        return self.name.lower()


class Name(StrEnum):
    """Names of all findings, by what they are about."""

    # Rows and stamps of a log.
    TRUNCATED_ROW = "truncated row"
    CUT_TO_COMMON_LENGTH = "cut to common length"
    MESSAGES_LEFT_OUT = "messages left out"
    TOPIC_CHOSEN = "topic chosen"
    PUBLISHERS_MERGED = "publishers merged"
    COLUMNS_NOT_TAKEN = "columns not taken"
    DAMAGED_LINES = "damaged lines"
    GARBAGE_ROWS = "garbage rows"
    REPEATED_ROWS = "repeated rows"
    FROZEN_ROWS = "frozen rows"
    STALE_SAMPLES = "stale samples"
    HELD_SAMPLES = "held samples"
    UNSIGNED_NUMBERS = "unsigned numbers"
    OVERFLOWING_NUMBERS = "overflowing numbers"
    MISSING_CHANNEL = "missing channel"
    MISSING_VALUES = "missing values"
    GARBAGE_VALUES = "garbage values"
    TOO_SHORT = "too short"
    CLOCK = "clock"
    CLOCK_SET_BACK = "clock set back"
    CLOCK_SET_FORWARD = "clock set forward"
    COARSE_CLOCK = "coarse clock"
    LOST_STAMPS = "lost stamps"
    LOST_SAMPLES = "lost samples"
    BACKWARD_STAMPS = "backward stamps"
    REPEATED_STAMPS = "repeated stamps"
    SHORT_GAPS = "short gaps"
    LONG_GAPS = "long gaps"
    JITTER = "jitter"
    RATE_AGAINST_STAMPS = "rate against stamps"
    TIME_UNIT = "time unit"

    # Columns of a log.
    SPIKES = "spikes"
    POSITION_JUMP = "position jump"
    WRAPPED_POSITION = "wrapped position"
    COUNTER_ZERO = "counter zero"
    SATURATION = "saturation"
    TORQUE_DEADBAND = "torque deadband"
    STUCK_CHANNEL = "stuck channel"
    FROZEN_CHANNEL = "frozen channel"
    COARSE_QUANTISATION = "coarse quantisation"
    POSITION_UNIT = "position unit"
    TORQUE_UNIT = "torque unit"
    DRIVE_SIGNAL = "drive signal"
    LIMITS = "limits"
    OVERSPEED = "overspeed"
    SPEED_AND_POSITION = "speed and position"
    LOOP_NOT_CLOSED = "loop not closed"
    LOOP_SINGULAR = "loop near a singularity"

    # Motion and torque together.
    NO_MOTION = "no motion"
    NO_SMOOTH_MOTION = "no smooth motion"
    LONG_LOG = "long log"
    DELAY = "delay"
    REVERSED_SIGN = "reversed sign"
    REVERSED_TORQUES = "reversed torques"
    IMPOSSIBLE_ROBOT = "impossible robot"
    SWAPPED_AXES = "swapped axes"
    UNDRIVEN_AXIS = "undriven axis"
    HELD_AXIS = "held axis"
    GRAVITY_DIRECTION = "gravity direction"
    JOINT_ZERO = "joint zero"
    POSITION_SCALE = "position scale"
    TORQUE_SCALE = "torque scale"
    GEAR_RATIO = "gear ratio"
    CLOCK_RATE = "clock rate"
    LINK_LENGTH = "link length"
    CHANGE_IN_TIME = "change in time"
    LACKING_PHYSICS = "lacking physics"
    LACK_OF_FIT = "lack of fit"
    HARDLY_EXPLAINED = "hardly explained"
    EXCITATION = "excitation"
    NOT_EXCITED = "not excited"
    LOG_CHECKED = "log checked"

    # How an estimation ended.
    FINE = "fine"
    TOO_FEW_ROWS = "too few rows"
    FEW_ROWS = "few rows"
    RANK_DEFICIENT = "rank deficient"
    SCALE_UNKNOWN = "scale unknown"
    UNDER_EXCITED = "under-excited"
    NOT_CONVERGED = "not converged"
    NOT_GENERIC = "not generic"
    OUTLIERS_DOMINATE = "outliers dominate"
    WEAK_INSTRUMENTS = "weak instruments"
    TORQUE_NOT_EXPLAINED = "torque not explained"
    CONTROL_LAW_MISMATCH = "control law mismatch"
    POOR_CONDITION = "poor condition"
    OUTLIERS = "outliers"
    PRIOR_DOMINATES = "prior dominates"
    NO_PRIOR = "no prior"
    FEW_INDEPENDENT_SAMPLES = "few independent samples"
    LAW_UNCHECKED = "law unchecked"
    LAW_IN_DOUBT = "law in doubt"
    LAW_MEMORY_UNKNOWN = "law memory unknown"
    TORQUE_LAG = "torque lag"
    INSTRUMENTS = "instruments"
    FRICTION_SHAPE = "friction shape"

    # How a simulation ended.
    DIVERGED = "diverged"
    INERTIA_NOT_POSITIVE = "inertia not positive definite"
    FRICTION_TOO_STIFF = "friction too stiff"
    TOLERANCE_NOT_REACHED = "tolerance not reached"
    OUTSIDE_LIMITS = "outside the limits"
    REFERENCE_NOT_FOLLOWED = "reference not followed"
    LAW_GAVE_NAN = "law gave NaN"

    # How a design of motion ended.
    ASSUMED_LIMIT = "assumed limit"
    UNCHECKED_LIMIT = "unchecked limit"
    PARALLEL_COLUMNS = "parallel columns"
    SHRUNK_MOTION = "shrunk motion"
    INTERRUPTED = "interrupted"

    # How a calibration of drive gains ended.
    LOGS_SWAPPED = "logs swapped"
    NO_LOAD_SEEN = "no load seen"
    NEGATIVE_GAIN = "negative gain"
    UNBOUNDED_GAIN = "unbounded gain"
    UNCERTAIN_GAIN = "uncertain gain"
    NOT_CALIBRATABLE = "not calibratable"
    GAIN_CHANGED = "gain changed"
    MOTORS_CONTRADICT = "motors contradict"
    GAIN_AT_BOUND = "gain at bound"
    GAINS_UNUSUAL = "gains unusual"
    ONE_ARM_LEAVES_MORE = "one arm leaves more"

    # How the identification of a payload ended.
    MODEL_UNUSED = "model unused"
    PAYLOAD_CHANGED = "payload changed"
    PAYLOAD_UNCERTAIN = "payload uncertain"
    PAYLOAD_ABSENT = "payload absent"
    PAYLOAD_NOT_SHOWN = "payload not shown"
    IMPOSSIBLE_PAYLOAD = "impossible payload"
    PAYLOAD_CORRECTION = "payload correction"
    GAINS_IN_DOUBT = "gains in doubt"
    COMMON_GAIN_UNCHECKED = "common gain unchecked"
    MASS_CONFIRMED = "mass confirmed"

    # What happens beside a running robot.
    PAYLOAD_PICKED_UP = "payload picked up"
    PAYLOAD_WEIGHED = "payload weighed"
    PAYLOAD_PUT_DOWN = "payload put down"
    FRICTION_DRIFT = "friction drift"
    COLLISION = "collision"
    UNEXPLAINED_CHANGE = "unexplained change"
    STATE_NOT_KEPT = "state not kept"

    # How good sensors must be.
    COARSEST_SENSOR = "coarsest sensor"
    UNSURE_PARAMETERS = "unsure parameters"
    ENDS_DROPPED = "ends dropped"
    SIGNIFICANT_DIGITS = "significant digits"

    # How units of a fleet compare.
    UNIT_DRIFTS = "unit drifts"
    FLEET_NOT_COMPARED = "fleet not compared"

    # What a fit is worth.
    ESTIMATION_SOUND = "estimation sound"
    ATTENUATION = "attenuation"
    LOW_RATE = "low rate"
    IMPOSSIBLE_VALUES = "impossible values"
    POSSIBLE_ROBOT = "possible robot"
    POORLY_KNOWN = "poorly known parameters"
    PARAMETERS_MOVED = "parameters moved"
    MOTIONS_CONTRADICT = "motions contradict"
    NO_UNSEEN_MOTION = "no unseen motion"
    FIT_LOG_REUSED = "log of the fit"
    REPEATED_MOTION = "repeated motion"
    NOVELTY_UNKNOWN = "novelty unknown"
    TORQUE_ERROR = "torque error"
    JOINT_ERROR = "joint error"
    JOINT_HARDLY_LOADED = "joint hardly loaded"
    WORSE_THAN_FIT = "worse than the fit"
    OFFSET_MOVED = "offset moved"
    NEARLY_AT_REST = "nearly at rest"
    COLOURED_RESIDUAL = "coloured residual"
    HEAVY_TAILS = "heavy tails"
    PUSHED_FROM_OUTSIDE = "pushed from outside"
    ALONG_MEASURED = "along measured positions"
    TERMS_ADDED = "terms added"
    TERMS_LACKING = "terms lacking"
    BEYOND_TERMS = "beyond the terms' range"


@dataclass(frozen=True)
class Where:
    """What a finding is about; empty fields mean all of them.

    Args:
        log: name of the experiment.
        channel: channel of the log.
        axis: axis, counted from 1.
        parameter: name of a parameter.
        moment: time or sample, in words.
    """

    log: str = ""
    channel: str = ""
    axis: int | None = None
    parameter: str = ""
    moment: str = ""


@dataclass(frozen=True)
class Finding:
    """One thing that was noticed.

    Args:
        name: what kind of thing.
        level: how much it weighs.
        sentence: what was seen, with numbers.
        remedy: what to do about it, in a sentence.
        where: log, channel, axis or parameter concerned.
        figures: numbers behind the sentence, ready for JSON.
        repairable: whether ``repair_log`` can mend it.
        mapping: keys of a mapping that would mend it, as tables; empty where none would.
    """

    name: Name
    level: Level
    sentence: str = ""
    remedy: str = ""
    where: Where = Where()
    figures: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    repairable: bool = False
    mapping: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def trustworthy(self) -> bool:
        """Whether the result may be used, if need be with care."""
        return self.level < Level.FAIL

    @property
    def text(self) -> str:
        """Sentence and remedy."""
        return " ".join(part for part in (self.sentence, self.remedy) if part)

    def in_log(self, log: str) -> Finding:
        """The finding with the name of its log."""
        return replace(self, where=replace(self.where, log=log))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; empty fields are left out."""
        about = {key: value for key, value in vars(self.where).items() if value not in ("", None)}
        return {
            "name": self.name.value,
            "level": self.level.word,
            "sentence": self.sentence,
            "remedy": self.remedy,
            "where": about,
            "figures": dict(self.figures),
            "repairable": self.repairable,
            "mapping": dict(self.mapping),
        }


_SHOWN = 12
"""Findings in a repr, which has at most 15 lines."""
FINE = Finding(Name.FINE, Level.GOOD)
"""How a computation ends that nothing is said against."""


def gravest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by level, the gravest first; equal ones keep their order."""
    return tuple(sorted(findings, key=lambda finding: -finding.level))


def findings_repr(head: str, findings: Iterable[Finding]) -> str:
    """A head line and the first findings below it."""
    lines = [f"  {finding.level.word}: {finding.text}" for finding in findings]
    more = [f"  … {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join([head, *lines[:_SHOWN], *more])


def worst_level(findings: Iterable[Finding]) -> Level:
    """The gravest level; GOOD when there is none."""
    return max((finding.level for finding in findings), default=Level.GOOD)


def finding_line(finding: Mapping[str, Any], *, named: bool = False) -> str:
    """One line about a finding, as terminals show it.

    Args:
        finding: as ``Finding.to_dict`` gives it.
        named: whether its name, the moment and whether it can be repaired are told too, as for a log.
    """
    text = " ".join(part for part in (finding["sentence"], finding.get("remedy", "")) if part)
    if not named:
        return f"  {finding['level']}: {text}"
    place = finding.get("where", {}).get("moment", "")
    facts = [finding["name"], *([place] if place else []), *(["repairable"] if finding["repairable"] else [])]
    return f"  {finding['level']} ({', '.join(facts)}): {text}"
