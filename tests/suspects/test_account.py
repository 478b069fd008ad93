"""The table of suspects as people and programs read it: document, conclusion, lines, table, picture."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dynid.core.finding import Level
from dynid.estimators import Estimate
from dynid.suspects.account import suspect_lines, suspect_table, suspects_document
from dynid.suspects.judgement import SuspectJudgement, judge_suspects
from support.defect_arms import defect_arm, with_torque

SEED = 2


@cache
def fitted(defect: str) -> Estimate:
    """A fit of two logs of a three-axis arm, with one defect or none."""
    arm = defect_arm(SEED)
    motions = arm.motions(SEED, logs=2, seconds=10.0)
    size = 0.3 * np.sqrt(np.mean(motions[1].tau ** 2, axis=0))
    if defect == "log":
        motions[1] = with_torque(motions[1], motions[1].tau + size * np.array([0.0, 1.0, 0.0]))
    if defect == "physics":
        motions = [with_torque(m, m.tau - 0.6 * size * m.qd * np.abs(m.qd) * [1, 0, 0]) for m in motions]
    return arm.fit(motions, SEED)


@cache
def judged(defect: str) -> SuspectJudgement:
    """Its suspects."""
    found = judge_suspects(fitted(defect))
    assert found is not None
    return found


def test_ranked_suspects_are_told_in_full_and_the_others_short() -> None:
    content = suspects_document(judged("log"))
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    first = content["ranked"][0]
    assert first["suspect"] == "torque zero log@2"
    assert first["level"] == "care"
    assert first["alone"]["share"] == pytest.approx(first["share"])
    assert len(first["sigma"]) == len(first["size"]) == 1
    assert {"words", "remedy", "unit", "effect", "missed", "confusable", "z"} <= first.keys()
    assert all(
        score.keys() == {"suspect", "kind", "joint", "size", "z", "share"} for score in content["scores"]
    )
    assert len(content["scores"]) > 30


def test_the_winner_is_concluded_with_its_size_and_what_to_do() -> None:
    sentence = suspects_document(judged("log"))["sentence"]
    assert "orque zero of joint 2 changes from log 'log1' to log 'log2' (+" in sentence
    assert "Fit these logs apart, or leave one out." in sentence


def test_where_nothing_wins_the_sentence_says_what_is_left() -> None:
    found = judged("")
    assert all(finding.level < Level.CARE for finding in found.findings)
    content = suspects_document(found)
    assert content["sentence"].startswith("No suspect ")
    assert "noise alone would leave" in content["sentence"]
    assert content["noise_share"] == pytest.approx(1.0, abs=0.3)
    assert content["picture"] is None or content["ranked"]


def test_the_worst_joint_is_the_one_that_lacks_most() -> None:
    unexplained = judged("physics").table.ledger.unexplained
    assert int(np.argmax(unexplained)) == 0
    assert unexplained[0] > 3 * max(unexplained[1:])


@pytest.mark.parametrize(("defect", "joint"), [("log", 2), ("physics", 1)])
def test_the_picture_shows_the_winner_on_the_joint_that_feels_it(defect: str, joint: int) -> None:
    table = judged(defect).table
    content = suspects_document(judged(defect))["picture"]
    assert content["suspect"] == table.ranked[0].suspect.key
    assert content["joint"] == joint
    time, left, explained = (np.array(content[name]) for name in ("time", "left", "explained"))
    assert len(time) == len(left) == len(explained) <= 2000
    assert np.all(np.diff(time) > 0)
    # What a suspect explains lies over what is left: there, most of the squares go.
    assert np.mean((left - explained) ** 2) < 0.5 * np.mean(left**2)


def test_a_change_is_drawn_over_all_logs_and_physics_over_a_stretch() -> None:
    change, effect = judged("log").table.picture, judged("physics").table.picture
    assert change is not None
    assert effect is not None
    assert change.time[-1] - change.time[0] > 18.0  # two logs of ten seconds
    assert effect.time[-1] - effect.time[0] < 9.0


def test_the_terminal_gets_one_line() -> None:
    (line,) = suspect_lines(suspects_document(judged("log")))
    assert line.startswith("suspects (")
    assert "torque zero log@2 (" in line
    assert "noise alone would leave" in line
    (nothing,) = suspect_lines({**suspects_document(judged("")), "ranked": []})
    assert "none is more than chance" in nothing


def test_the_table_has_ranked_rows_first_and_as_many_others_as_asked() -> None:
    content = suspects_document(judged("log"))
    ranked = len(content["ranked"])
    assert len(suspect_table(content).rows) == ranked
    rows = suspect_table(content, ranked + 3).rows
    assert len(rows) == ranked + 3
    assert rows[0][0] == "torque zero log@2"
    assert rows[0][-1] == "care"
    assert " ± " in rows[0][1]
    assert {row[-1] for row in rows[ranked:]} == {""}
    assert len({row[0] for row in rows}) == ranked + 3
    assert len(suspect_table(content, 1).rows) == 1


def test_one_further_suspect_asks_and_two_ask() -> None:
    found = judged("log")
    grave = replace(found.findings[0], level=Level.CARE)
    for more, said in ((1, " 1 more below asks for care too."), (2, " 2 more below ask for care too.")):
        several = replace(found, findings=(grave,) * (1 + more))
        assert suspects_document(several)["sentence"].endswith(said)
