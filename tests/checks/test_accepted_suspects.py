"""Suspects that a user knows better about, by their own names."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.checks.check import accept_findings, accepted_names
from dynid.checks.data_check import with_accepted
from dynid.core.errors import UnknownNameError
from dynid.core.finding import Finding, Level, Name
from dynid.logs.log import Log
from dynid.results.view import accept_lines

LOG = Log("a", np.arange(4.0), {"position": np.zeros((4, 1)), "torque": np.zeros((4, 1))})


def delay(joint: int) -> Finding:
    return Finding(Name.DELAY, Level.CARE, "Late.", figures={"suspect": f"delay@{joint}"})


def test_a_suspect_is_accepted_on_its_joint_or_everywhere() -> None:
    levels = {
        name: [
            f.level for f in with_accepted([delay(1), delay(2)], accepted_names(accept_findings(LOG, [name])))
        ]
        for name in ("delay@2", "delay", "joint-zero")
    }
    assert levels["delay@2"] == [Level.CARE, Level.NOTE]
    assert levels["delay"] == [Level.NOTE, Level.NOTE]
    assert levels["joint-zero"] == [Level.CARE, Level.CARE]


@pytest.mark.parametrize(
    "name", ["zero@3", "payload since", "friction log@2", "inertia coupling@1-2", "torque-gain@1", "load@2"]
)
def test_names_of_suspects_are_known(name: str) -> None:
    (accepted,) = accepted_names(accept_findings(LOG, [name]))
    assert accepted == name.replace("torque-gain", "torque gain")


@pytest.mark.parametrize("name", ["delai@2", "nonsense since"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UnknownNameError, match="finding to accept"):
        accept_findings(LOG, [name])


def test_one_line_says_which_names() -> None:
    error = Finding(Name.TORQUE_ERROR, Level.FAIL, "20 %.")
    sign = Finding(Name.REVERSED_SIGN, Level.FAIL, "Wrong.")
    (line,) = accept_lines([f.to_dict() for f in (error, delay(2), sign)])
    assert line.endswith('--accept NAME makes a note of it: delay@2, "reversed sign")')
    assert accept_lines([error.to_dict()]) == []
