"""The preparation chosen for a robot by prediction on parts that were not used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.base.find import base_of
from dynid.core.errors import ShapeError
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.suggestion import suggest
from dynid.workflow import fit
from dynid.workflow.choice import Gain, PartGrams, PartRows, best_of, gain_over, least_squares, part_numbers
from dynid.workflow.preparation_choice import choose_preparation
from dynid.workflow.trial_rows import trial_logs
from support.population import draw


def test_parts_are_predicted_by_the_others() -> None:
    rng = np.random.default_rng(0)
    W = rng.standard_normal((100, 3))
    rows = np.column_stack([W, W @ [1.0, 2.0, 3.0] + 0.1 * rng.standard_normal(100)])
    parts = np.split(rows, 5)
    errors = PartRows(parts, parts).held_out_errors(least_squares)
    for b in range(5):
        others = np.concatenate(parts[:b] + parts[b + 1 :])
        solved = np.linalg.lstsq(others[:, :3], others[:, 3], rcond=None)[0]
        assert errors[b] == pytest.approx(np.linalg.norm(parts[b][:, 3] - parts[b][:, :3] @ solved))


def test_a_candidate_must_be_better_by_more_than_chance_and_by_enough() -> None:
    default = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert gain_over(default, 0.9 * default).better
    assert not gain_over(default, 0.99 * default).better
    assert not gain_over(default, default * [0.5, 1.4, 0.6, 1.3, 0.9]).better
    assert gain_over(default, 0 * default) == Gain(0.0, np.inf)
    assert best_of({"a": Gain(-0.1, 0.01), "b": Gain(-0.2, 0.01), "c": Gain(-0.9, 0.8)}) == "b"
    assert best_of({"a": Gain(-0.1, 0.2)}) is None


def test_each_joint_has_ten_rows_per_parameter_or_a_finding_says_so() -> None:
    drawn = draw(10)
    assert drawn.base.robot.n_coordinates == 6
    suggestion = suggest(drawn.log)
    found = choose_preparation(drawn.base.robot, [drawn.log], suggestion)
    assert found.plan.decimation < suggestion.plan.decimation
    assert (
        f"Decimation by {found.plan.decimation} instead of {suggestion.plan.decimation}" in found.why["rows"]
    )
    given = choose_preparation(drawn.base.robot, [drawn.log], suggestion, ("decimation",))
    assert given.plan.decimation == suggestion.plan.decimation
    enough = fit(drawn.base.robot, drawn.log)
    few = fit(drawn.base.robot, drawn.log, overrides={"decimation": suggestion.plan.decimation})
    assert not any(finding.name == "few rows" for finding in enough.concerns)
    told = [finding for finding in few.concerns if finding.name == "few rows"]
    assert len(told) == 1
    assert told[0].figures["least_rows_per_parameter"] < 10
    assert "There are fewer than 10 rows per parameter: joint1 " in told[0].sentence
    assert 'decimate less: --decimation (overrides={"decimation": …})' in told[0].remedy


def coarse_log(seed: int, step: float, late: int = 0) -> tuple[Robot, Log]:
    """A drawn arm with a good tachometer, its encoder coarse, the tachometer perhaps late by some samples."""
    drawn = draw(seed)
    q, qd = drawn.log.array("position"), np.roll(drawn.log.array("velocity"), late, axis=0)
    channels = {**drawn.log.channels, "position": np.round(q / step) * step, "velocity": qd}
    return drawn.base.robot, replace(drawn.log, channels=channels)


@pytest.mark.parametrize(
    ("seed", "step", "late", "said"),
    [
        (47, 1e-2, 0, "Logged speeds are used: they predict parts that were not used 3"),
        (41, 1e-5, 0, "logged speeds predict parts that were not used 0.0"),
        (41, 1e-5, 50, "logged speeds differ from them by "),
    ],
)
def test_logged_speeds_are_used_when_better_and_said_either_way(
    seed: int, step: float, late: int, said: str
) -> None:
    robot, log = coarse_log(seed, step, late)
    found = choose_preparation(robot, [log], suggest(log))
    assert said in found.why["velocity"]
    assert found.plan.velocity == ("measured" if said.startswith("Logged") else "differentiated")
    assert (found.plan.velocity == "measured") != ("--velocity measured (overrides=" in found.why["velocity"])
    kept = suggest(log).with_keys({"velocity": "differentiated"})
    assert choose_preparation(robot, [log], kept, ("velocity",)).plan.velocity == "differentiated"


@pytest.mark.parametrize(
    ("seed", "friction"), [(21, "smooth"), (55, "smooth"), (155, "stribeck"), (6, "coulomb")]
)
def test_the_mask_grows_where_friction_near_rest_is_not_coulomb_s(seed: int, friction: str) -> None:
    """Friction tanh(v / v0) with v0 beyond the suggested mask takes Fv along; a Coulomb joint stays."""
    drawn = draw(seed)
    assert drawn.kind["friction"] == friction
    suggestion = suggest(drawn.log)
    found = choose_preparation(drawn.base.robot, [drawn.log], suggestion)
    if friction == "coulomb":
        assert found.plan.speed_thresholds == suggestion.plan.speed_thresholds
        return
    assert "Near rest friction is not what it is above" in found.why["friction"]
    narrow = replace(found.plan, speed_thresholds=suggestion.plan.speed_thresholds)
    assert drawn.errors(found.plan)[0] < 0.7 * drawn.errors(narrow)[0]
    given = choose_preparation(drawn.base.robot, [drawn.log], suggestion, ("speed_thresholds",))
    assert given.plan.speed_thresholds == suggestion.plan.speed_thresholds


@pytest.mark.slow
def test_the_choice_does_not_lose_on_a_population() -> None:
    """Second half of the population; rules were set on seeds below 200. Prints the table of the docs page."""
    ratios, kinds = [], []
    for seed in range(200, 400):
        drawn = draw(seed)
        suggestion = suggest(drawn.log)
        found = choose_preparation(drawn.base.robot, [drawn.log], suggestion)
        ratios.append(np.log(drawn.errors(found.plan) / drawn.errors(suggestion.plan)))
        kinds.append(str(drawn.kind["friction"]))
    table = np.array(ratios)
    for kind in ("coulomb", "smooth", "stribeck", "flat"):
        own = table[[k == kind for k in kinds]]
        print(kind, len(own), np.exp(own.mean(axis=0)), np.exp(own.max(axis=0)))
    print("all", len(table), np.exp(table.mean(axis=0)), np.exp(table.max(axis=0)))
    parameters, faster, everywhere = np.exp(table.mean(axis=0))
    assert max(parameters, faster) < 1.0
    assert everywhere < 1.01
    assert np.exp(table.max()) < 2.0


def test_a_log_that_is_trimmed_away_gives_a_sentence() -> None:
    time = np.arange(200) / 100.0
    log = Log("short", time, {"position": np.sin(time)[:, None], "torque": np.cos(time)[:, None]})
    plan = Preparation(trim_start_s=1e4)
    with pytest.raises(ShapeError, match="has 0 samples after trimming"):
        trial_logs([log], plan, base_of(load_robot("emps")))


def test_whole_logs_are_the_parts_where_there_are_three() -> None:
    assert part_numbers(np.zeros(10, dtype=np.intp)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert part_numbers(np.repeat([0, 1], 5)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert part_numbers(np.array([0, 0, 0, 1, 2, 2])).tolist() == [0, 0, 0, 1, 2, 2]
    assert part_numbers(np.arange(7)).tolist() == [0, 0, 1, 2, 2, 3, 4]


def test_rows_and_grams_say_the_same_of_parts() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((5, 40, 4))
    grams = PartGrams(*[rows.transpose(0, 2, 1) @ rows] * 2)
    by_rows = PartRows(list(rows), list(rows)).held_out_errors(least_squares)
    by_grams = grams.held_out_errors(lambda gram: np.linalg.solve(gram[:-1, :-1], gram[:-1, -1]))
    assert by_grams == pytest.approx(by_rows, rel=1e-9)


def test_a_part_is_tried_on_its_longest_log() -> None:
    def log(samples: int) -> Log:
        time = np.arange(samples) / 100.0
        return Log(str(samples), time, {"position": np.sin(time)[:, None], "torque": np.cos(time)[:, None]})

    logs = [log(n) for n in (300, 200, 250, 260, 210, 220, 230)]
    trial = trial_logs(logs, Preparation(), base_of(load_robot("emps")))
    assert [log.name for log in trial.logs] == ["300", "250", "260", "220", "230"]
