"""Is this robot possible: what a fit recommends, what it tells, and what its result keeps."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dynid.consistency import Knowledge, LinkBounds, pseudo_inertias
from dynid.core.errors import DynidError
from dynid.estimators import WLS, Consistent, Essential
from dynid.export import export_model
from dynid.logs.log import Log
from dynid.results import load_result
from dynid.workflow import FitResult, fit
from population.cases import Case, draw_case
from population.defects import damage


@cache
def case() -> Case:
    """A sound arm of three axes."""
    return draw_case("setting", 3)


def mirrored(log: Log) -> Log:
    """The log with all torques of the other sign."""
    return replace(log, channels={**log.channels, "torque": -log.array("torque")})


@cache
def fitted(choice: str) -> FitResult:
    return fit(case().robot, list(case().logs), consistent=choice)


def test_a_sound_fit_is_possible_as_it_is() -> None:
    result = fitted("auto")
    found = result.possibility
    assert found is not None
    assert found.as_it_is
    assert not found.is_recommended
    assert found.findings == ()
    assert result.strategy == WLS()
    np.testing.assert_array_equal(result.estimate.values, fitted("never").estimate.values)


def test_always_gives_the_values_of_the_possible_robot() -> None:
    result = fitted("always")
    assert type(result.strategy).__name__ == "Consistent"
    assert result.standard is not None
    np.testing.assert_allclose(
        result.estimate.values, result.estimate.problem.base.regroup(result.standard), rtol=1e-6, atol=1e-9
    )


def test_a_weak_motion_recommends_the_possible_robot_and_says_both_errors() -> None:
    weak = damage(draw_case("setting", 8), "weak motion", 1.0)
    assert weak is not None
    plain, auto = (fit(weak.robot, list(weak.logs), consistent=c) for c in ("never", "auto"))
    found = auto.possibility
    assert found is not None
    assert found.is_recommended
    told = next(f for f in auto.concerns if f.name == "possible robot")
    assert "robot that can exist" in told.sentence
    assert f"{told.figures['plain_percent']:.3g} %" in told.sentence
    assert f"{told.figures['possible_percent']:.3g} %" in told.sentence
    clean = weak.clean
    errors = [clean.errors(result.predict(clean.q, clean.qd, clean.qdd))[0] for result in (plain, auto)]
    assert errors[1] < errors[0]


def test_reversed_torques_are_told_and_the_advice_helps() -> None:
    result = fit(case().robot, [mirrored(log) for log in case().logs])
    found = result.possibility
    assert found is not None
    assert found.torques_reversed
    assert not found.is_recommended
    told = next(f for f in result.concerns if f.name == "reversed torques")
    assert told.level.word == "care"
    assert "sign = -1 under [torque]" in told.remedy
    accepted = fit(case().robot, [mirrored(log) for log in case().logs], accept=["reversed torques"])
    assert next(f for f in accepted.concerns if f.name == "reversed torques").level.word == "note"


def test_a_wrong_structure_is_told() -> None:
    """A motor that turns with two joints, and a file that does not know."""
    broken = damage(draw_case("setting", 162), "coupling", 60.0)
    assert broken is not None
    result = fit(broken.robot, list(broken.logs))
    told = next(f for f in result.concerns if f.name == "impossible robot")
    assert told.level.word == "care"
    assert "couplings" in told.remedy
    assert told.figures["possible_percent"] > told.figures["plain_percent"]
    assert result.possibility is not None
    assert not result.possibility.is_recommended


def test_essential_parameters_stay_and_have_a_possible_robot_beside_them() -> None:
    result = fit(case().robot, list(case().logs), Essential(WLS()))
    assert type(result.strategy).__name__ == "Essential"
    assert result.standard is not None
    with pytest.raises(DynidError, match="essential and consistent ones exclude each other"):
        fit(case().robot, list(case().logs), Essential(WLS()), consistent="always")


def test_a_strategy_with_knowledge_of_its_own_is_what_the_result_holds() -> None:
    known = Knowledge(link=(LinkBounds(joint=3, mass=(7.0, 7.5)),))
    result = fit(case().robot, list(case().logs), Consistent(WLS(), known))
    assert result.standard is not None
    assert 7.0 - 1e-5 <= result.standard[case().robot.table.index("M3")] <= 7.5 + 1e-5
    np.testing.assert_allclose(
        result.estimate.values, result.estimate.problem.base.regroup(result.standard), rtol=1e-6, atol=1e-9
    )
    with pytest.raises(DynidError, match="held to possible robots already"):
        fit(case().robot, list(case().logs), Consistent(WLS()), consistent="never")


def test_bounds_that_are_wrong_are_what_is_blamed() -> None:
    light = Knowledge(total_mass=(0.0, 0.5))
    result = fit(case().robot, list(case().logs), known=light)
    told = next(f for f in result.concerns if f.name == "impossible robot")
    assert told.sentence.startswith("No robot within what is known fits these logs")
    assert "total mass at most 0.5 kg" in told.sentence
    assert told.remedy == "Look at what is known of the robot: its bounds and its prior."


def test_an_export_of_values_that_the_fit_does_not_keep_says_so() -> None:
    broken = damage(draw_case("setting", 162), "coupling", 60.0)
    assert broken is not None
    made = export_model(fit(broken.robot, list(broken.logs), split=0.7), "python", name="arm")
    assert any("keeps to values that no robot has" in caution for caution in made.cautions)
    assert any("No robot that can exist fits these logs" in caution for caution in made.cautions)
    assert "of the base values" in made.files[0].content.decode()


def test_what_is_known_holds_and_words_are_checked() -> None:
    known = Knowledge(link=(LinkBounds(joint=3, mass=(7.0, 7.5)),))
    result = fit(case().robot, list(case().logs), known=known)
    assert result.standard is not None
    assert 7.0 - 1e-5 <= result.standard[case().robot.table.index("M3")] <= 7.5 + 1e-5
    with pytest.raises(DynidError, match="leave out one of the two"):
        fit(case().robot, list(case().logs), known=known, consistent="never")
    with pytest.raises(DynidError, match="choice of consistent parameters"):
        fit(case().robot, list(case().logs), consistent="sometimes")
    wrong = Knowledge(total_mass=(0.0, 1.0), link=(LinkBounds(joint=3, mass=(7.0, 7.5)),))
    with pytest.raises(DynidError, match="These bounds contradict each other: mass of link of"):
        fit(case().robot, list(case().logs), known=wrong)


def test_a_result_folder_keeps_the_possible_robot(tmp_path: Path) -> None:
    result = fitted("auto")
    saved = load_result(result.save(tmp_path / "out"))
    assert saved.standard is not None
    assert result.standard is not None
    np.testing.assert_array_equal(saved.standard, result.standard)
    assert np.linalg.eigvalsh(pseudo_inertias(saved.robot, saved.standard))[:, 0].min() > 0
    section = saved.section("possibility")
    assert len(section["links"]) == 3
    assert set(section["fixed_by"]) <= {"data", "bound", "prior"}
    assert section["names"] == list(saved.robot.table.names)
