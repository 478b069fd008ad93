"""Drive gains of an RX-90 from free and loaded motions (P2)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.calibration import DriveGains, PayloadKnowledge, calibrate_gains
from dynid.calibration.bilinear import bilinear_fit, prior_of
from dynid.calibration.constrained import constrained_fit
from dynid.calibration.gains import METHODS
from dynid.calibration.knowledge_file import load_payload_file
from dynid.calibration.motor_payload import payload_columns, row_maps
from dynid.calibration.shared_arm import SharedArm, fit_shared_arm
from dynid.core.errors import DynidError
from dynid.core.finding import Level, Name
from dynid.estimators import OLS, TLS
from dynid.model.condition import Condition
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import load_drives
from dynid.model.payload import free_and_loaded
from dynid.problem.build import build_problem
from support.loaded_arms import GAINS, MASS, MZ, PLAN, arm, both, measured, payload, random_states

WEIGHED = PayloadKnowledge.of_mass(MASS, 0.05)


@cache
def found(method: str = "global", seed: int = 3, noise: float = 0.03) -> DriveGains:
    return calibrate_gains(arm(), both(seed, noise=noise), PLAN, WEIGHED, method=method)


def test_model_says_which_motor_feels_what() -> None:
    """P2 §IV.B: 1 to 3 feel all, 4 and 5 not the mass, 6 neither the mass nor MZ."""
    robot = arm()
    maps = row_maps(robot, [], payload_columns(robot))
    names = [robot.table.names[c] for c in payload_columns(robot)]
    felt = [{name for name, column in zip(names, own.matrix.T, strict=True) if column.any()} for own in maps]
    assert all(own == set(names) for own in felt[:3])
    assert felt[3] == felt[4] == set(names) - {"ML"}
    assert felt[5] == set(names) - {"ML", "MZL"}


def test_other_conditions_of_the_robot_are_no_payload() -> None:
    warm = Condition("warm", ("off1",))
    robot = free_and_loaded(load_robot("rx90").with_conditions(warm))
    assert payload_columns(robot) == payload_columns(arm())
    gains = calibrate_gains(robot, both(3, noise=0.0), PLAN, WEIGHED)
    np.testing.assert_allclose(gains.relative, GAINS, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_exact_torques_give_exact_gains(method: str) -> None:
    gains = found(method, noise=0.0)
    np.testing.assert_allclose(gains.relative, GAINS, rtol=1e-6)
    np.testing.assert_allclose(gains.payload, payload().standard(), atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [3, 4])
def test_noisy_torques_give_gains_of_the_size_that_p2_asks_for(method: str, seed: int) -> None:
    gains = found(method, seed)
    error = np.abs(gains.relative / GAINS - 1)
    assert np.all(error[:3] < 0.025)
    assert np.all(error[3:5] < 0.06)
    assert gains.outcome.trustworthy


def test_motor_6_cannot_be_calibrated_from_the_mass() -> None:
    gains = found()
    assert [gain.stage for gain in gains.gains] == [1, 1, 1, 2, 2, 0]
    assert np.isnan(gains.gains[5].relative)
    assert np.isinf(gains.gains[5].sigma)
    [finding] = gains.findings
    assert finding.where.axis == 6
    assert (
        finding.sentence.startswith("Motor 6 cannot be calibrated from ML")
        or "not calibrated" in finding.text
    )
    assert "does not feel ML" in finding.sentence
    assert "MX and MY are large" in finding.remedy
    assert gains.gains[3].how.startswith(
        "From XXL, XYL, XZL, YYL, YZL, ZZL, MXL, MYL, MZL, as motors 1, 2 and 3"
    )


def test_a_payload_off_the_axis_calibrates_motor_6() -> None:
    """P2: "more exciting payload should be designed, especially with large MX"."""
    gains = calibrate_gains(arm(), both(3, load=payload(mx=0.7)), PLAN, WEIGHED)
    assert gains.gains[5].is_calibrated
    assert gains.relative[5] == pytest.approx(GAINS[5], rel=4 * gains.sigma[5])


def test_full_knowledge_calibrates_every_motor_by_itself() -> None:
    """P2 eq 27 with all parameters known: one column per motor."""
    known = PayloadKnowledge(payload(mx=0.7).by_name("L"))
    gains = calibrate_gains(arm(), both(3, load=payload(mx=0.7)), PLAN, known, method="sequential")
    assert [gain.stage for gain in gains.gains] == [1] * 6
    assert np.all(np.abs(gains.relative - GAINS) < 4 * gains.sigma)
    assert np.all(gains.sigma[3:5] < 0.7 * found("sequential").sigma[3:5])


@pytest.mark.parametrize("method", METHODS[:2])
def test_a_mass_weighed_wrongly_moves_all_gains_alike(method: str) -> None:
    heavier = PayloadKnowledge.of_mass(MASS + 0.05, 0.05)
    moved = calibrate_gains(arm(), both(3), PLAN, heavier, method=method).relative / found(method).relative
    np.testing.assert_allclose(moved[:5], 1 + 0.05 / MASS, rtol=1e-6)


def test_sigma_of_the_mass_is_part_of_every_gain() -> None:
    exact = calibrate_gains(arm(), both(3), PLAN, PayloadKnowledge.of_mass(MASS), method="global")
    own = (found().sigma / found().relative)[:5] ** 2 - (exact.sigma / exact.relative)[:5] ** 2
    np.testing.assert_allclose(np.sqrt(own), 0.05 / MASS, rtol=1e-2)
    assert np.all(found().correlation[:3, :3] > exact.correlation[:3, :3] - 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_sigma_of_the_mass_is_part_of_every_gain_where_com_and_inertia_follow_from_it(
    method: str, tmp_path: Path
) -> None:
    file = tmp_path / "payload.toml"
    file.write_text(
        f"com = [0.1, 0, {MZ / MASS}]\ninertia = [0.02, 0, 0, 0.02, 0, 0.025]\n", encoding="utf-8"
    )
    known = load_payload_file(file, MASS, 0.05)
    motions = both(3, load=payload(mx=0.1 * MASS))
    gains = calibrate_gains(arm(), motions, PLAN, known, method=method)
    share = 0.05 / MASS
    assert known.scale_sigma == pytest.approx(share)
    assert known.sigma_of("MXL") == pytest.approx(0.1 * 0.05)
    assert all(gain.is_calibrated for gain in gains.gains)
    assert np.all(gains.sigma >= share * gains.relative)
    exact = calibrate_gains(arm(), motions, PLAN, replace(known, scale_sigma=0.0), method=method)
    common = gains.covariance - exact.covariance
    np.testing.assert_allclose(common, share**2 * np.outer(gains.relative, gains.relative), rtol=1e-6)
    np.testing.assert_allclose(gains.payload_sigma, share * np.abs(gains.payload), atol=1e-12)
    larger = replace(known, values={name: (1 + share) * value for name, value in known.values.items()})
    moved = calibrate_gains(arm(), motions, PLAN, larger, method=method)
    np.testing.assert_allclose(moved.relative, (1 + share) * gains.relative, rtol=1e-6)


def test_payload_files_are_refused_in_sentences(tmp_path: Path) -> None:
    file = tmp_path / "payload.toml"
    file.write_text("sigma = 3\n", encoding="utf-8")
    with pytest.raises(DynidError, match=r"payload\.toml.*sigma") as refusal:
        load_payload_file(file, MASS, 0.05)
    assert "3" in str(refusal.value)
    file.write_text("mass = 7\ncom = [0, 0, 0.1]\n[sigma]\nML = -1\n", encoding="utf-8")
    with pytest.raises(DynidError, match="finite number of 0 or more"):
        load_payload_file(file)


def test_total_least_squares_agrees_where_positions_are_exact() -> None:
    total = calibrate_gains(arm(), both(3), PLAN, WEIGHED, method="global", strategy=TLS())
    assert np.all(np.abs(total.relative - GAINS)[:5] < 4 * total.sigma[:5])
    assert np.any(total.relative[:5] != found().relative[:5])
    plain = calibrate_gains(arm(), both(3), PLAN, WEIGHED, strategy=OLS(uncertainty="classical"))
    assert {row.uncertainty for row in plain.rows} == {"classical"}


def test_what_a_method_would_not_use_is_refused() -> None:
    with pytest.raises(DynidError, match="Total least squares is for the methods sequential, global and"):
        calibrate_gains(arm(), both(3), PLAN, WEIGHED, strategy=TLS())
    bounded = replace(WEIGHED, bounds={"MXL": (0.05, 0.1)})
    for method in ("shared", "global", "sequential"):
        with pytest.raises(DynidError, match=f"Bounds of MXL .* and the method is {method}"):
            calibrate_gains(arm(), both(3), PLAN, bounded, method=method)


def test_constraints_hold_gains_and_payload() -> None:
    bounded = replace(WEIGHED, bounds={"MXL": (0.05, 0.1)})
    held = calibrate_gains(arm(), both(3), PLAN, bounded, method="constrained", gain_range=(0.95, 1.1))
    names = list(held.payload_names)
    assert held.payload[names.index("MXL")] == pytest.approx(0.05, abs=1e-6)
    assert np.all((held.relative[:5] > 0.95 - 1e-6) & (held.relative[:5] < 1.1 + 1e-6))
    impossible = replace(WEIGHED, bounds={"ML": (20.0, 30.0)}, sigma={})
    with pytest.raises(DynidError, match="No gains and no payload satisfy"):
        calibrate_gains(arm(), both(3), PLAN, impossible, method="constrained")
    with pytest.raises(DynidError, match="0 < low < high"):
        calibrate_gains(arm(), both(3), PLAN, WEIGHED, method="constrained", gain_range=(-1.0, 2.0))


def test_derivatives_by_exact_parameters_are_zero_within_constraints() -> None:
    rows = found().rows[:5]
    knowledge = PayloadKnowledge.of_mass(MASS)
    prior = prior_of(knowledge, rows[0].names)
    start = bilinear_fit(rows, prior, 1 / found().relative[:5], found().payload)
    held = constrained_fit(rows, prior, knowledge, (0.95, 1.1), start)
    assert held.theta.min() >= 1 / 1.1 - 1e-6
    assert not np.any(held.jacobian[:, -1])
    assert not np.any(held.open[:5])


def test_swapped_logs_are_named() -> None:
    rng = np.random.default_rng(5)
    motions = [measured(name, random_states(rng), rng, carries=name == "free") for name in ("free", "loaded")]
    gains = calibrate_gains(arm(), motions, PLAN, WEIGHED)
    assert gains.outcome.name is Name.LOGS_SWAPPED
    assert "motors 1, 2 and 3 smaller, not larger" in gains.outcome.sentence
    assert gains.outcome.remedy == "Swap --free and --loaded."
    assert np.all(np.isnan(gains.relative))
    assert np.all(np.isnan(gains.payload))


def test_a_loaded_log_without_load_is_named() -> None:
    rng = np.random.default_rng(5)
    motions = [measured(name, random_states(rng), rng, carries=False) for name in ("free", "loaded")]
    gains = calibrate_gains(arm(), motions, PLAN, WEIGHED)
    assert gains.outcome.name is Name.NO_LOAD_SEEN
    assert "motors 1, 2 and 3 should feel ML, but none does" in gains.outcome.sentence
    assert "Check that the loaded log was taken with the payload on" in gains.outcome.remedy


def test_a_loaded_log_at_rest_is_named() -> None:
    """No load-dependent motion: one pose does not tell the mass from friction and offset."""
    rng = np.random.default_rng(5)
    t, q, qd, qdd = random_states(rng)
    still = t, np.zeros_like(q) + q[:1], 0 * qd, 0 * qdd
    motions = [measured("free", (t, q, qd, qdd), rng), measured("loaded", still, rng)]
    gains = calibrate_gains(arm(), motions, PLAN, WEIGHED, method="global")
    assert gains.outcome.level is Level.FAIL
    assert gains.outcome.name in (Name.NO_LOAD_SEEN, Name.NOT_CALIBRATABLE)
    assert np.all(np.isnan(gains.relative))
    # With one arm a pose is six equations for three moments; a mask of slow rows leaves none of them.
    masked = replace(PLAN, speed_thresholds=(0.01,) * 6)
    gains = calibrate_gains(arm(), motions, masked, WEIGHED)
    assert gains.outcome.level is Level.FAIL
    assert np.all(np.isnan(gains.relative))


def test_a_signal_of_the_wrong_sign_is_a_negative_gain() -> None:
    turned = GAINS * np.array([1, -1, 1, 1, 1, 1])
    gains = calibrate_gains(arm(), both(3, gains=turned), PLAN, WEIGHED)
    assert gains.outcome.name is Name.NEGATIVE_GAIN
    assert gains.outcome.sentence.startswith("Motor 2 has a negative gain: 1/g = -1.0")
    assert "Turn the sign" in gains.outcome.remedy
    assert np.isnan(gains.relative[1])
    np.testing.assert_allclose(gains.relative[[0, 2]], GAINS[[0, 2]], rtol=0.05)


@pytest.mark.parametrize("motor", [4, 5])
def test_the_wrong_sign_of_a_motor_that_does_not_feel_the_mass_is_named(motor: int) -> None:
    turned = GAINS.copy()
    turned[motor] *= -1
    gains = calibrate_gains(arm(), both(3, gains=turned), PLAN, WEIGHED)
    assert gains.outcome.name is Name.NEGATIVE_GAIN
    assert gains.outcome.level is Level.FAIL
    assert gains.outcome.where.axis == motor + 1
    assert gains.outcome.sentence.startswith(f"Motor {motor + 1} has a negative gain: 1/g = -")
    assert gains.gains[motor].how.startswith(f"Motor {motor + 1} has a negative gain")
    assert not any("would be known" in finding.sentence for finding in gains.findings)
    rest = [k for k in range(6) if k != motor]
    np.testing.assert_allclose(gains.relative[rest], GAINS[rest], rtol=0.06)


def test_no_calibrated_motor_is_never_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One arm for signals whose noise leaves every gain in doubt, while motors of their own see the load."""
    monkeypatch.setattr("dynid.calibration.shared_gains.fit_shared_arm", _hundred_times_wider)
    gains = calibrate_gains(arm(), both(3), PLAN, WEIGHED)
    assert gains.outcome.name is Name.NO_LOAD_SEEN
    assert gains.outcome.level is Level.FAIL
    assert "no motor shows the load well enough" in gains.outcome.sentence
    assert np.all(np.isnan(gains.relative))
    assert {f.name for f in gains.findings} <= {Name.UNCERTAIN_GAIN, Name.UNBOUNDED_GAIN}


def _hundred_times_wider(*given: Any) -> SharedArm:
    fit = fit_shared_arm(*given)
    return replace(fit, covariance=1e4 * fit.covariance)


def test_every_gain_that_changes_is_named() -> None:
    rng = np.random.default_rng(5)
    warm = GAINS * np.array([1, 1.15, 0.85, 1, 1, 1])
    motions = [
        measured("free", random_states(rng), rng),
        measured("loaded", random_states(rng), rng, gains=warm),
    ]
    gains = calibrate_gains(arm(), motions, PLAN, WEIGHED)
    said = [f for f in (gains.outcome, *gains.findings) if f.name is Name.GAIN_CHANGED]
    assert {2, 3} <= {finding.where.axis for finding in said}
    words = {finding.where.axis: finding.sentence for finding in said}
    assert re.search(r"is 1\d\.\d ± \d\.\d % smaller in the loaded logs", words[2])
    assert re.search(r"is 1\d\.\d ± \d\.\d % larger in the loaded logs", words[3])


def test_a_gain_that_changes_between_the_logs_is_named() -> None:
    rng = np.random.default_rng(5)
    warm = GAINS * np.array([1, 1.15, 1, 1, 1, 1])
    motions = [
        measured("free", random_states(rng), rng),
        measured("loaded", random_states(rng), rng, gains=warm),
    ]
    gains = calibrate_gains(arm(), motions, PLAN, WEIGHED)
    assert gains.outcome.name is Name.GAIN_CHANGED
    assert gains.outcome.where.axis == 2
    assert "friction changed between them" in gains.outcome.sentence
    assert gains.rows[1].change == pytest.approx(1 / 1.15 - 1, abs=0.02)
    assert "same temperature" in gains.outcome.remedy


def test_false_knowledge_is_a_contradiction() -> None:
    false = PayloadKnowledge({"ML": MASS, "MZL": 1.5})
    gains = calibrate_gains(arm(), both(3), PLAN, false)
    assert gains.outcome.name is Name.MOTORS_CONTRADICT
    assert "contradict each other about the payload" in gains.outcome.sentence
    assert "the same in all loaded logs" in gains.outcome.remedy


@pytest.mark.parametrize("mass", [0.0, -3.0, np.nan])
def test_a_mass_that_is_none_is_refused(mass: float) -> None:
    with pytest.raises(DynidError, match=r"above 0|finite number"):
        PayloadKnowledge.of_mass(mass)


def test_wrong_knowledge_is_refused() -> None:
    with pytest.raises(DynidError, match="finite number of 0 or more"):
        PayloadKnowledge.of_mass(3.0, -1.0)
    with pytest.raises(DynidError, match="Nothing that scales"):
        PayloadKnowledge({"MXL": 0.0})
    with pytest.raises(DynidError, match="Unknown payload parameter 'MQ'"):
        calibrate_gains(arm(), both(3), PLAN, PayloadKnowledge({"ML": 1.0, "MQ": 2.0}))
    with pytest.raises(DynidError, match="Unknown method of calibrating gains 'all'"):
        calibrate_gains(arm(), both(3), PLAN, WEIGHED, method="all")
    with pytest.raises(DynidError, match="no payload that lives in the condition 'loaded'"):
        calibrate_gains(load_robot("rx90"), [replace(m, condition="") for m in both(3)], PLAN, WEIGHED)


def test_table_of_drives_is_read_back(tmp_path: Path) -> None:
    text = found().to_toml()
    assert "# Motor 6: 1, the a-priori gain, is kept. Motor 6 cannot" in text
    assert set(tomllib.loads(text)) == {"drives"}
    file = tmp_path / "drives.toml"
    file.write_text(text, encoding="utf-8")
    drives = load_drives(file)
    assert drives == found().drives
    assert drives.gain[5] == 1.0
    assert drives.gain[0] == found().relative[0]
    assert drives.ratio == arm().drives.ratio  # type: ignore[union-attr]


def test_absolute_gains_from_currents() -> None:
    """A-priori gains of the drives scale what is told as absolute, not the relative ones."""
    own = arm().drives
    assert own is not None
    factors = np.array([50.0, 40.0, 30.0, 20.0, 10.0, 5.0])
    robot = arm().with_drives(replace(own, gain=tuple(factors)))
    gains = calibrate_gains(robot, both(3), PLAN, WEIGHED, method="global")
    np.testing.assert_allclose(gains.relative, found().relative)
    np.testing.assert_allclose([g.absolute for g in gains.gains][:5], (factors * found().relative)[:5])
    assert gains.gains[5].absolute == 5.0


def test_one_arm_for_all_motors_calibrates_every_motor() -> None:
    """Motor 6 does not feel the mass, but shares inertias with the others; the rest is as good as P2's."""
    shared, apart = found("shared"), found("global")
    error = np.abs(shared.relative - GAINS) / shared.sigma
    assert np.all(error < 3)
    assert np.all(shared.sigma[:5] < 1.2 * apart.sigma[:5])
    assert "cannot be calibrated from ML, which it does not feel" in shared.gains[5].how
    assert shared.sigma[5] < 0.03


def test_one_arm_widens_sigma_where_it_does_not_hold() -> None:
    """Friction that the model lacks, other for every motor, spreads the gains over blocks of time."""
    motions = []
    for motion in both(3):
        q, qd = np.asarray(motion.q), np.asarray(motion.qd)
        extra = 6.0 * np.tanh(qd / 0.3) * np.cos(2 * q) + 3.0 * np.exp(-np.abs(qd))
        motions.append(replace(motion, tau=np.asarray(motion.tau) + extra))
    gains = calibrate_gains(arm(), motions, PLAN, WEIGHED)
    told = np.array([gain.is_calibrated for gain in gains.gains])
    assert np.count_nonzero(told) >= 4
    assert np.all(gains.sigma > 2 * found("shared").sigma)
    assert np.all(np.abs(gains.relative - GAINS)[told] < 3 * gains.sigma[told])


def test_squares_beyond_arms_of_their_own_widen_sigma_and_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.calibration.shared_gains.fit_shared_arm", _four_times_the_squares)
    gains = calibrate_gains(arm(), both(3), PLAN, PayloadKnowledge.of_mass(MASS))
    (said,) = [f for f in gains.findings if f.name is Name.ONE_ARM_LEAVES_MORE]
    assert said.level is Level.NOTE
    assert "4.0 times the squares" in said.sentence
    monkeypatch.undo()
    plain = calibrate_gains(arm(), both(3), PLAN, PayloadKnowledge.of_mass(MASS))
    np.testing.assert_allclose(gains.sigma, 2 * plain.sigma)


def _four_times_the_squares(*given: Any) -> SharedArm:
    return replace(fit_shared_arm(*given), excess=4.0)


def test_long_logs_whose_rows_are_not_kept_give_the_same_gains() -> None:
    """Only factors of stretches of time are left of them, which serve as blocks one after the other."""
    names = tuple(arm().table.names[c] for c in payload_columns(arm()))
    kept = build_problem(arm(), both(3), PLAN, motor_rows=True)
    given_up = build_problem(arm(), both(3), PLAN, motor_rows=True, budget_bytes=0, block_samples=256)
    assert not given_up.has_rows
    first, second = (fit_shared_arm(p, WEIGHED, names, np.ones(6)) for p in (kept, given_up))
    np.testing.assert_allclose(second.theta, first.theta, rtol=1e-6)
    white = [fit.covariance / fit.inflation for fit in (first, second)]
    np.testing.assert_allclose(white[1], white[0], rtol=1e-5, atol=1e-12)
