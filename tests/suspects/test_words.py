"""What suspects say: units of the joint, signs, parts that the data do not determine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.estimators.linear.catalogue import CATALOGUE
from dynid.model.load import load_robot
from dynid.suspects.account import suspect_lines
from dynid.suspects.changes import MOUNTED, OF_ALL, OF_JOINT, Change
from dynid.suspects.courses import SINCE, TimeCourse
from dynid.suspects.drive_defects import Backlash, Elasticity
from dynid.suspects.log_defects import GearRatio, JointZero
from dynid.suspects.physics import Effect
from dynid.suspects.position_effects import Ripple
from dynid.suspects.torque_defects import TorqueDeadband

SIZE = np.array([0.1])


def test_units_are_those_of_the_joint() -> None:
    """EMPS slides, the SCARA turns."""
    zero = JointZero(0)
    turns, slides = zero.on_robot(load_robot("scara")), zero.on_robot(load_robot("emps"))
    assert turns.words(SIZE) == "the zero of joint 1 is off by 5.73° (0.1 rad)"
    assert slides.words(SIZE) == "the zero of joint 1 is off by 0.1 m"
    assert "0.1 m more on the joint's side" in slides.remedy(SIZE)
    assert "times the gear ratio" in turns.remedy(SIZE)


@pytest.mark.parametrize(
    ("suspect", "turning", "sliding"),
    [
        (TorqueDeadband(0, 1.0, 2.0), "2 N m", "2 N"),
        (Elasticity(0, 1.0), "10 N m/rad", "10 N/m"),
        (Backlash(0), "5.73° (0.1 rad)", "0.1 m"),
        (Change(0, OF_JOINT[0], OF_JOINT[0].parts, SINCE), "+0.1 N m", "+0.1 N"),
        (Effect(0, "asymmetry", CATALOGUE["asymmetry"]), "+0.1 N m s/rad", "+0.1 N s/m"),
        (Effect(0, "load", CATALOGUE["load"]), "(+0.1)", "(+0.1)"),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_no_sentence_leaves_the_unit_open(suspect: object, turning: str, sliding: str) -> None:
    for own, unit in ((suspect, turning), (replace(suspect, slides=True), sliding)):  # type: ignore[type-var]
        words = own.words(SIZE)  # type: ignore[attr-defined]
        assert unit in words
        assert " or " not in words.replace(" or above", "")


def test_friction_flattens_or_grows() -> None:
    term = Effect(0, "flattening", CATALOGUE["flattening"])
    assert term.words(-SIZE) == (
        "the model lacks friction that flattens with speed of joint 1 (-0.1 N m s²/rad²)"
    )
    assert "friction that grows faster than speed of joint 1 (+0.1 N m s²/rad²)" in term.words(SIZE)


def test_parts_of_a_payload_that_are_in_doubt_have_no_size() -> None:
    load = Change(None, MOUNTED, MOUNTED.parts[:3], SINCE)
    size, sigma = np.array([5.12, 0.2, -0.3]), np.array([4.0, 0.02, 0.1])
    assert load.words_in_doubt(size, sigma) == (
        "payload has changed since the fit (MX +0.2 kg m, MY -0.3 kg m; M not determined)"
    )
    assert "(M, MX, MY not determined)" in load.words_in_doubt(size, 9 * np.abs(size))
    assert "M +5.12 kg" in load.words(size)


def test_a_share_says_against_what() -> None:
    all_logs = TimeCourse("drift", False, 0.0, "over the logs")
    friction = OF_ALL[0]
    assert Change(None, friction, friction.parts, all_logs).words(SIZE).endswith("(+10 % against the fit)")
    assert Change(None, friction, friction.parts, SINCE).words(SIZE).endswith("(+10 %)")


def test_a_gear_ratio_is_divided() -> None:
    assert GearRatio(1).remedy(np.array([-0.06])) == (
        "Check the gear ratio of joint 2: dividing it by 0.94 fits the torques."
    )


def test_ripple_on_a_slide_has_a_length() -> None:
    waves = replace(Ripple(0, 20.0), slides=True)
    assert waves.words(np.array([0.3, 0.4])) == (
        "the torque of joint 1 ripples over position by 0.5 N (every 0.314 m)"
    )


def test_one_suspect_explains_and_noise_has_the_rest_at_most() -> None:
    row = {"suspect": "delay@1", "share": 0.19}
    (line,) = suspect_lines({"ranked": [row], "scores": [row, row], "noise_share": 1.2})
    assert (
        line
        == "suspects (2 asked): delay@1 (19 %) explains part of the residual; noise alone would leave 81 %"
    )
    (line,) = suspect_lines({"ranked": [row, row], "scores": [row], "noise_share": 0.3})
    assert "explain part" in line
