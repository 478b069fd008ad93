"""May the model be used? A grade with reasons, in sentences for people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from dynid.core.errors import DynidError

LEVELS = ("good", "note", "care", "fail")
"""Levels of a reason, from harmless to grave; a note says something about σ, not about the torque."""


@dataclass(frozen=True)
class Thresholds:
    """Where trust ends. All of them can be changed.

    Args:
        overall_percent: relative error over all joints beyond which the model fails.
        joint_percent: relative error of one joint beyond which that joint needs care.
        joint_fail_percent: relative error of one joint beyond which the model fails.
        ratio_to_fit: how many times the fit's own error, relative and rms, a joint may have on unseen motion.
        ratio_from_percent: relative error below which the ratio is not asked about.
        bias_share: |bias| / rms beyond which a joint's offset is said to have moved.
        rest_share: share of samples left out as nearly at rest beyond which that is said.
        rest_care_share: the same beyond which it asks for care: most of the motion proves nothing.
        level: probability below which a residual test rejects.
    """

    overall_percent: float = 15.0
    joint_percent: float = 15.0
    joint_fail_percent: float = 30.0
    ratio_to_fit: float = 2.0
    ratio_from_percent: float = 5.0
    bias_share: float = 0.5
    rest_share: float = 0.1
    rest_care_share: float = 0.5
    level: float = 0.01

    def __post_init__(self) -> None:
        """Refuse thresholds that nothing or everything would pass."""
        for name, value in asdict(self).items():
            if not value > 0:
                raise DynidError(f"The validation threshold {name} is {value}; it must be positive.")


@dataclass(frozen=True)
class Reason:
    """One thing that speaks for or against the model: a level of ``LEVELS`` and a sentence."""

    level: str
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """The grade is that of the gravest reason; notes do not lower it.

    Args:
        grade: "good", "care" or "fail".
        sentence: the answer in one sentence.
        reasons: gravest first.
    """

    grade: str
    sentence: str
    reasons: tuple[Reason, ...]

    @property
    def trustworthy(self) -> bool:
        """Whether the model may be used, if need be with care."""
        return self.grade != "fail"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "grade": self.grade,
            "trustworthy": self.trustworthy,
            "sentence": self.sentence,
            "reasons": [asdict(reason) for reason in self.reasons],
        }


def grade_of(reasons: Iterable[Reason]) -> str:
    """The gravest level among the reasons, notes aside."""
    worst = max((LEVELS.index(reason.level) for reason in reasons), default=0)
    return "good" if LEVELS[worst] == "note" else LEVELS[worst]
