"""A cause that is known stands before the errors it explains."""

from __future__ import annotations

from dynid.core.finding import Finding, Level, Name
from dynid.validation.causes import with_causes_first

ERROR = Finding(Name.TORQUE_ERROR, Level.FAIL, "The error is 20 %.", "Check the units.")
WORSE = Finding(Name.WORSE_THAN_FIT, Level.CARE, "It is 3 times worse.", "Excite more.")
SHORT = Finding(Name.FEW_ROWS, Level.CARE, "There are few rows.", "Record more.")


def suspect(share: float, level: Level = Level.CARE) -> Finding:
    figures = {"suspect": "payload since", "share": share}
    return Finding(Name.CHANGE_IN_TIME, level, "The payload has changed.", "Look at it.", figures=figures)


def test_a_cause_takes_the_place_and_the_level_of_the_errors() -> None:
    cause, error, short, worse = with_causes_first([SHORT, ERROR, suspect(0.9), WORSE])
    assert (cause.name, cause.level, cause.remedy) == (Name.CHANGE_IN_TIME, Level.FAIL, "Look at it.")
    assert (error.name, error.level, error.remedy) == (Name.TORQUE_ERROR, Level.FAIL, "")
    assert (worse.name, worse.level, worse.remedy) == (Name.WORSE_THAN_FIT, Level.CARE, "")
    assert short == SHORT


def test_what_explains_little_or_is_a_note_leaves_the_errors_alone() -> None:
    for weak in (suspect(0.1), suspect(0.9, Level.NOTE)):
        assert with_causes_first([weak, WORSE, ERROR]) == tuple(
            sorted([weak, WORSE, ERROR], key=lambda f: -f.level)
        )


def test_a_cause_without_errors_keeps_its_level() -> None:
    assert with_causes_first([SHORT, suspect(0.9)]) == (SHORT, suspect(0.9))


def test_a_wrong_sign_explains_without_a_share() -> None:
    sign = Finding(Name.REVERSED_SIGN, Level.FAIL, "The sign is wrong.", figures={"candidate": "sign"})
    assert [f.remedy for f in with_causes_first([ERROR, sign, WORSE])] == ["", "", ""]
    assert with_causes_first([ERROR, sign])[0] == sign
