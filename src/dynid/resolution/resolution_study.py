"""A finished study of resolution: outcomes, thresholds, the law, and what they say in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, gravest_first
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.resolution.chain import ENCODER, MOTOR, TORQUE
from dynid.resolution.digits import digits_finding
from dynid.resolution.law import BiasLaw
from dynid.resolution.outcome import BIASED_PERCENT, SOUND_PERCENT, Outcome, ReferenceEstimate
from dynid.resolution.rounding import MODES, mode_of
from dynid.resolution.study import LS, Threshold


@dataclass(frozen=True, eq=False)
class ResolutionStudy:
    """What a study found.

    Args:
        reference: estimates from the logs as they are, by method.
        outcomes: all settings of the sweeps.
        thresholds: the coarsest sensors, by limit.
        law: of the bias of least squares.
        own_steps: encoder steps that the logs show already, per axis on the sensor's side [rad or m]; 0 where
            none can be seen.
        digits: significant digits of the reference by stochastic arithmetic, (parameters,); None where not
            asked for.
        remarks: what was noticed on the way.
        searched: whether thresholds were searched for.
    """

    reference: dict[str, ReferenceEstimate]
    outcomes: tuple[Outcome, ...]
    thresholds: tuple[Threshold, ...]
    law: BiasLaw
    own_steps: FloatArray
    digits: FloatArray | None = None
    remarks: tuple[Finding, ...] = ()
    searched: bool = True

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self.law.chain.robot

    @property
    def side(self) -> str:
        """Where the sensors sit: "joint" or "motor"."""
        return self.law.chain.sensing.side

    @cached_property
    def sensor_kinds(self) -> set[JointKind]:
        """What the studied encoders measure, turns or lengths; a gear of 1 means that a motor slides, too."""
        robot, drives = self.robot, self.robot.drives
        kinds = set()
        for axis in np.flatnonzero(self.law.chain.sensing.ratios > 0):
            kind = robot.joints[robot.coordinates[axis]].kind
            geared = self.side == MOTOR and drives is not None and abs(drives.matrix[axis, axis]) != 1.0
            kinds.add(JointKind.REVOLUTE if geared else kind)
        return kinds

    def counts(self, step: float) -> float:
        """Counts per turn, metre or radian of an encoder with a step."""
        return (2 * np.pi if self.sensor_kinds == {JointKind.REVOLUTE} else 1.0) / step

    @property
    def count_unit(self) -> str:
        """What ``counts`` are per."""
        if self.sensor_kinds == {JointKind.REVOLUTE}:
            return f"counts per {self.side} turn"
        return (
            "counts per metre" if self.sensor_kinds == {JointKind.PRISMATIC} else "counts per radian or metre"
        )

    def threshold(self, channel: str, percent: float, method: str = LS) -> Threshold | None:
        """The coarsest sensor of a limit; None where none was found."""
        return next(
            (
                t
                for t in self.thresholds
                if (t.setting.channel, t.percent, t.setting.method) == (channel, percent, method)
            ),
            None,
        )

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The answer in words, the gravest first."""
        found = [
            *self.remarks,
            *self._encoder_findings(),
            *self._torque_findings(),
            *self._method_findings(),
            *self._own_step_findings(),
            *self._unsure_findings(),
            *self._digit_findings(),
        ]
        return gravest_first(found)

    def _encoder_findings(self) -> list[Finding]:
        found = []
        for percent in (SOUND_PERCENT, BIASED_PERCENT):
            own = self.threshold(ENCODER, percent)
            if own is not None:
                found.append(Finding(Name.COARSEST_SENSOR, Level.GOOD, self._encoder_words(own)))
        if self.searched and not found:
            words = (
                "Even an encoder ten million times finer than the motion shifts parameters by more than 5 %"
            )
            remedy = "Lower the cut-off of the preparation, or use a motion with larger accelerations."
            found.append(Finding(Name.COARSEST_SENSOR, Level.CARE, f"{words}.", remedy))
        return found

    def _encoder_words(self, own: Threshold) -> str:
        step = own.setting.step
        head = f"With these filters and this motion an encoder needs at least {ceil(self.counts(step))} "
        head += f"{self.count_unit} (Δ = {step:.3g}, {own.setting.mode})"
        head += f" for shifts below {own.percent:g} %"
        if not own.limited_by:
            return f"{head}; no coarser one was tried: that is the motion itself."
        law = "" if not own.law_step else f"; the law expects {ceil(self.counts(own.law_step))}"
        return f"{head}: beyond that {own.limited_by} gives way{law}."

    def _torque_findings(self) -> list[Finding]:
        worst = [o for o in self.outcomes if o.setting.channel == TORQUE]
        if not worst:
            return []
        coarsest = max(worst, key=lambda o: o.setting.step)
        error, whose = coarsest.largest_error
        main = coarsest.reference.main_parameters
        spread = float(np.max(coarsest.percent_sigma[main], initial=0.0))
        words = (
            f"A torque sensor with a step of {100 * coarsest.setting.step:g} % of each axis' largest torque "
        )
        words += (
            f"moves main parameters by up to {error:.2g} % ({whose}), the mean of {len(coarsest.estimates)} "
        )
        words += f"runs; single runs scatter by up to {spread:.2g} %: it widens σ and shifts nothing."
        if error <= BIASED_PERCENT:
            return [Finding(Name.COARSEST_SENSOR, Level.GOOD, words)]
        remedy = "Give more runs, or a finer step, to tell a shift from scatter."
        return [
            Finding(
                Name.COARSEST_SENSOR,
                Level.NOTE,
                words.replace(": it widens σ and shifts nothing", ""),
                remedy,
            )
        ]

    def _method_findings(self) -> list[Finding]:
        """Which other method bears a coarser encoder than least squares."""
        own = self.threshold(ENCODER, BIASED_PERCENT)
        others = [t for t in self.thresholds if t.setting.method != LS and t.percent == BIASED_PERCENT]
        if own is None or self.reference.keys() == {LS}:
            return []
        words = [
            f"{t.setting.method} bears a step {t.setting.step / own.setting.step:.3g} times as coarse as "
            "least squares"
            if t.limited_by
            else f"{t.setting.method} bears any step up to the motion itself"
            for t in others
        ]
        lost = set(self.reference) - {t.setting.method for t in others} - {LS}
        words += [f"{name} shifts by more than {BIASED_PERCENT:g} % at any step" for name in sorted(lost)]
        return [Finding(Name.COARSEST_SENSOR, Level.NOTE, f"{'; '.join(words)}.")]

    def _own_step_findings(self) -> list[Finding]:
        """Whether the logs themselves are coarser than the threshold; only axes that are studied count."""
        own, ratios = self.threshold(ENCODER, BIASED_PERCENT), self.law.chain.sensing.ratios
        if own is None:
            return []
        steps = np.divide(self.own_steps, ratios, out=np.zeros_like(ratios), where=ratios > 0)
        axis = int(np.argmax(steps))
        spread = np.sqrt([MODES["rounding"].variance, mode_of(own.setting.mode).variance])
        if steps[axis] * spread[0] <= own.setting.step * spread[1]:
            return []
        words = f"The positions of axis {axis + 1} in the logs already step by {self.own_steps[axis]:.3g}, "
        words += (
            f"coarser than the threshold of {BIASED_PERCENT:g} %: the estimates may be biased from the start."
        )
        remedy = "Lower the cut-off, use IV or DIDIM, or a finer encoder."
        return [Finding(Name.COARSEST_SENSOR, Level.CARE, words, remedy)]

    def _unsure_findings(self) -> list[Finding]:
        reference = self.reference[LS]
        unsure = [n for n, ok in zip(reference.names, reference.main_parameters, strict=True) if not ok]
        if not unsure:
            return []
        words = (
            f"{len(unsure)} of {len(reference.names)} parameters have a σ of more than {BIASED_PERCENT:g} %"
        )
        words += (
            f" ({', '.join(unsure)}): they move without a coarser sensor, and no threshold rests on them."
        )
        return [Finding(Name.UNSURE_PARAMETERS, Level.NOTE, words)]

    def _digit_findings(self) -> list[Finding]:
        return [] if self.digits is None else [digits_finding(self.reference[LS].names, self.digits)]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        law, ls = self.law, self.reference[LS]
        return {
            "robot": self.robot.name,
            "side": self.side,
            "count_unit": self.count_unit,
            "parameters": [
                {"name": n, "unit": u, "value": float(v), "percent_sigma": float(s), "judged": bool(j)}
                for n, u, v, s, j in zip(
                    ls.names, ls.units, ls.values, ls.percent_sigma, ls.main_parameters, strict=True
                )
            ],
            "outcomes": [{**o.to_dict(), "counts": self._counts_of(o.setting)} for o in self.outcomes],
            "thresholds": [
                {
                    **t.to_dict(),
                    "counts": self._counts_of(t.setting),
                    "law_counts": self.counts(t.law_step) if t.law_step else None,
                }
                for t in self.thresholds
            ],
            "law": {
                "acceleration_gain": [g.acceleration for g in law.gains],
                "speed_gain": [g.speed for g in law.gains],
                "acceleration_rms": law.acceleration_rms.tolist(),
                "linear": law.linear,
            },
            "own_steps": self.own_steps.tolist(),
            "digits": None if self.digits is None else self.digits.tolist(),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def _counts_of(self, setting: Any) -> float | None:
        return self.counts(setting.step) if setting.channel == ENCODER else None
