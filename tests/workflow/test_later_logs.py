"""Logs taken after a fit: what has changed since, and what cannot be asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid import DynidError, find_suspects, fit, load_robot
from dynid.core.finding import Level
from dynid.workflow import FitResult
from support.motions import Array
from support.plain_logs import plain_log

ARM = load_robot("double_pendulum")
MASK = {"speed_thresholds": (0.05, 0.05)}


def moved_zero(q: Array, qd: Array, tau: Array) -> Array:
    return tau + np.array([0.3, 0.0])


@pytest.fixture(scope="module")
def model() -> FitResult:
    return fit(ARM, plain_log(ARM))


def test_a_joint_without_rows_is_not_asked(model: FitResult) -> None:
    found = find_suspects(model, plain_log(ARM, "later", seed=7, still=(1,)))
    assert [f for f in found.judged.findings if f.level >= Level.CARE] == []


def test_logs_without_any_row_get_a_sentence(model: FitResult) -> None:
    constant = plain_log(ARM, "later", seed=7, change=lambda q, qd, tau: 0 * tau + 1)
    slow = plain_log(ARM, "later", seed=7, size=0.001)
    with pytest.raises(DynidError, match="No row is left of these logs"):
        find_suspects(model, constant, accept=["stuck channel"])
    with pytest.raises(DynidError, match="No row is left of these logs"):
        find_suspects(fit(ARM, plain_log(ARM), overrides=MASK), slow)


def test_what_is_accepted_is_a_note_in_the_table_too(model: FitResult) -> None:
    later = plain_log(ARM, "later", seed=6, change=moved_zero)
    plain, accepted = (
        find_suspects(model, later, accept=names).to_dict() for names in ((), ["change-in-time"])
    )
    assert plain["ranked"][0]["level"] == "care"
    assert {row["level"] for row in accepted["ranked"]} == {"note"}
    assert accepted["sentence"].startswith("No suspect asks for care")


def test_a_fit_that_has_not_seen_a_joint_move_cannot_tell_what_has_changed_there() -> None:
    held = fit(ARM, plain_log(ARM, still=(1,)))
    with pytest.raises(DynidError, match=r"has never seen .*Fc2, and these logs show it"):
        find_suspects(held, plain_log(ARM, "later", seed=7))
    again = find_suspects(held, plain_log(ARM, "later", seed=7, still=(1,)))
    assert [f for f in again.judged.findings if f.level >= Level.CARE] == []


def test_sentences_are_about_later_logs(model: FitResult) -> None:
    later = plain_log(ARM, "later", seed=5)
    with pytest.raises(DynidError, match="Logs 'later' and 'again' hold the same data"):
        find_suspects(model, [later, replace(later, name="again")])
    with pytest.raises(DynidError, match=r"^Log 'short' is not usable"):
        find_suspects(model, plain_log(ARM, "short", seconds=0.1))
    with pytest.raises(DynidError, match="taken later, or none to see the suspects of the fit"):
        find_suspects(model, plain_log(ARM))
    bare = replace(model, suspects=None)
    with pytest.raises(DynidError, match=r"give logs that were taken later\.$"):
        find_suspects(bare, plain_log(ARM))


def test_one_log_against_the_others_is_found_whatever_the_logs_are_called() -> None:
    logs = [plain_log(ARM, "data", seed=k, change=moved_zero if k == 1 else None) for k in range(3)]
    logs = [replace(log, time=log.time + 3600 * k) for k, log in enumerate(logs)]
    suspects = fit(ARM, logs).suspects
    assert suspects is not None
    first = suspects.findings[0]
    assert (first.figures["suspect"], first.level) == ("torque zero log@1", Level.CARE)
    assert "in log 'data (2)' alone (+0.3 N m" in first.sentence
