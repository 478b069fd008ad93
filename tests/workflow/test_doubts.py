"""What makes a fit doubtful beside its errors: noise, impossible values, duplicates, stale reasons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.base import find_base
from dynid.checks.accelerations import acceleration_findings, noise_share
from dynid.checks.physical import impossible_values
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Level
from dynid.estimators import STRIBECK, WLS, Further, identify
from dynid.logs.log import Log, Source
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import spectrum_of_log
from dynid.preparation.suggestion import suggest
from dynid.problem import build_problem
from dynid.workflow.fitting import fit
from dynid.workflow.result import FitResult, document_of
from dynid.workflow.usable_log import LogIdentity, identity_of, logs_to_fit, logs_to_validate
from support.motions import base_truth, fourier_motion, simulated
from support.robots import with_random_inertias

ROBOT = load_robot("scara")
BASE = find_base(ROBOT)
TRUTH = base_truth(BASE, np.random.default_rng(0))
CALM = Preparation(cutoff_hz=4.0, drop_samples=125, decimation=25)
OPEN = Preparation(cutoff_hz=60.0, drop_samples=60, decimation=2)


def log_of(seed: int, position_noise: float = 0.0) -> Log:
    rng = np.random.default_rng(seed)
    motion = fourier_motion(ROBOT, rng, seconds=20.0, rate_hz=500.0, name=f"run{seed}")
    motion = simulated(BASE, TRUTH, motion, rng, 0.01)
    q = motion.q + position_noise * rng.normal(size=motion.q.shape)
    return Log(f"run{seed}", motion.time, {"position": q, "torque": motion.tau})


def fitted(plan: Preparation, position_noise: float) -> FitResult:
    return fit(ROBOT, [log_of(1, position_noise)], WLS(), plan=plan, validate=[log_of(2, position_noise)])


def test_noise_in_the_band_used_asks_for_care() -> None:
    result = fitted(OPEN, 3e-5)
    inertia = result.estimate.values[0] / TRUTH[0]
    assert inertia < 0.9
    assert result.concerns[0].level is Level.CARE
    assert result.concerns[0].sentence.startswith("Below 60 Hz noise has ")
    assert "inertias come out too small by up to as much" in result.concerns[0].sentence
    assert document_of(result, {})["verdict"]["grade"] != "good"


def test_the_same_log_below_the_noise_is_fine() -> None:
    result = fitted(CALM, 3e-5)
    assert abs(result.estimate.values[0] / TRUTH[0] - 1) < 0.02
    assert result.concerns == ()
    assert document_of(result, {})["verdict"]["grade"] == "good"
    spectrum = spectrum_of_log(result.logs[0], CALM)
    assert spectrum is not None
    assert noise_share(spectrum, CALM).max() < 1e-3
    assert spectrum_of_log(result.logs[0].part(slice(100)), CALM) is None
    sound = spectrum_of_log(log_of(1), OPEN)
    assert sound is not None
    assert noise_share(sound, OPEN).max() < 1e-6


def test_inertias_that_depend_on_the_band_tell_it_without_a_spectrum() -> None:
    told = acceleration_findings(fitted(OPEN, 3e-5).estimate, None)
    assert told[0].level is Level.CARE
    assert told[0].sentence.startswith("Below 60 Hz inertias come out at ")
    assert "attenuation" in told[0].sentence
    assert acceleration_findings(fitted(CALM, 3e-5).estimate, None) == ()
    assert acceleration_findings(fitted(OPEN, 0.0).estimate, None) == ()


def test_values_that_no_robot_has() -> None:
    estimate = fitted(CALM, 0.0).estimate
    motions = estimate.problem.motions
    assert motions
    assert impossible_values(estimate, motions) == ()
    names = list(estimate.names)
    driven = estimate.values.copy()
    driven[names.index("Fc1")] *= -1
    (told,) = impossible_values(replace(estimate, values=driven), motions)
    assert told.level is Level.CARE
    assert told.sentence.startswith("Values that no robot has: Fc1 = -")
    light = estimate.values.copy()
    light[names.index("ZZ1R")] *= -1
    (told,) = impossible_values(replace(estimate, values=light), motions)
    assert told.sentence.startswith("The inertia matrix is not positive definite in 100 % of the motion")
    assert "mostly joint1" in told.sentence
    # Beside a term that is not linear only the sum is friction; the other joint's stays what it is.
    sticking = replace(STRIBECK, joints=(0,))
    further = Further(("Fs1", "vs1"), ("N m", "rad/s"), np.array([9.0, 5.0]), np.eye(10), (sticking,))
    assert impossible_values(replace(estimate, values=driven, further=further), motions) == ()
    driven[names.index("Fc2")] *= -1
    (told,) = impossible_values(replace(estimate, values=driven, further=further), motions)
    assert told.sentence.startswith("Values that no robot has: Fc2 = -")
    assert "Fc1" not in told.sentence
    # Within their doubt, such values prove nothing.
    vague = replace(estimate, values=light, covariance=estimate.covariance * 1e8)
    assert impossible_values(vague, motions) == ()


def test_the_sign_of_a_sum_proves_nothing() -> None:
    """Only parameters that stand alone must be positive; here Ia is regrouped into ZZ1R."""
    rng = np.random.default_rng(0)
    robot = with_random_inertias(load_robot("tx40"), rng)
    base = find_base(robot)
    truth = base.regroup(robot.parameters)
    assert np.any(truth < 0)
    motion = simulated(base, truth, fourier_motion(robot, rng, seconds=20.0), rng, 0.001)
    estimate = identify(build_problem(robot, [motion], Preparation(), base), WLS())
    assert impossible_values(estimate, [motion]) == ()


def test_logs_are_known_by_their_data_and_their_files() -> None:
    one, same, other = log_of(1), replace(log_of(1), name="copy", time=log_of(1).time + 5), log_of(2)
    assert identity_of(one).same_log(identity_of(same))
    assert not identity_of(one).same_log(identity_of(other))
    file = (Source("a.csv", "ab" * 32, 7),)
    part = replace(one.part(slice(100)), sources=file)
    assert identity_of(part).same_log(identity_of(replace(other, sources=file)))
    kept = identity_of(part)
    assert LogIdentity.from_dict(kept.to_dict()) == kept
    unknown = LogIdentity("old", None, None, kept.files)  # as earlier versions wrote long logs
    assert unknown.same_log(kept)
    assert not unknown.same_log(LogIdentity("old", None, None, ()))  # no file is not the same file
    held = logs_to_validate(ROBOT, [same, other], [identity_of(one)], [None, None])
    assert [used.fitted for used in held] == [True, False]
    logs_to_fit(ROBOT, [one, other], [None, None])
    with pytest.raises(DynidError, match="Logs 'run1' and 'copy' hold the same data"):
        logs_to_fit(ROBOT, [one, other, same], [None, None, None])
    with pytest.raises(DynidError, match="Give each log once"):
        fit(ROBOT, [one, same], WLS(), plan=CALM)


def test_repairs_do_not_hide_other_warnings() -> None:
    log = log_of(1)
    position, torque = log.channel("position").copy(), np.roll(log.channel("torque"), 20, axis=0)
    position[500, 0] = np.nan
    late = replace(log, channels={"position": position, "torque": torque})
    result = fit(ROBOT, [late], WLS(), plan=CALM, validate=[log_of(2)], repair=True)
    assert np.all(np.isfinite(result.logs[0].channel("position")))
    document = document_of(result, {})
    (log_check, _) = document["data"]
    assert {f["name"]: f["level"] for f in log_check["findings"]}["missing values"] == "note"
    assert {f["name"]: f["level"] for f in document["verdict"]["findings"]}["delay"] == "care"


def test_garbage_must_be_repaired() -> None:
    log = log_of(1)
    torque = log.channel("torque").copy()
    torque[700, 1] = 1e300
    wild = replace(log, channels={"position": log.channel("position"), "torque": torque})
    with pytest.raises(
        NotTrustworthyError, match=r"Log 'run1' must be repaired: .* Add --repair \(repair=True\)"
    ):
        logs_to_fit(ROBOT, [wild], [None])
    with pytest.raises(NotTrustworthyError, match="Validation log 'run1' must be repaired"):
        fit(ROBOT, [log_of(2)], WLS(), plan=CALM, validate=[wild])
    (mended,) = logs_to_fit(ROBOT, [wild], [None], repair=True)
    assert np.max(np.abs(mended.log.channel("torque"))) < 1e3


def test_reasons_of_replaced_keys_are_replaced() -> None:
    suggestion = suggest(log_of(1))
    assert {"cutoff_hz", "difference_points", "decimation", "speed_thresholds"} <= set(suggestion.why)
    assert suggestion.with_keys({}) is suggestion
    given = {"cutoff_hz": 40.0, "speed_thresholds": (0.1, 0.2), "convention": "matlab"}
    changed = suggestion.with_keys(given)
    followed = {"decimation": changed.plan.decimation, "drop_samples": changed.plan.drop_samples}
    assert changed.plan == replace(suggestion.plan, **given, **followed)
    assert changed.plan.decimation < suggestion.plan.decimation
    assert changed.reasons[0] == (
        f"cutoff_hz is 40 Hz as given (suggested: {suggestion.plan.cutoff_hz:g} Hz)."
    )
    assert changed.reasons[1].startswith("speed_thresholds is 0.1, 0.2 rad/s or m/s as given (suggested: ")
    assert changed.reasons[2] == "convention is matlab as given (suggested: scipy)."
    assert not any("The cut-off is" in reason for reason in changed.reasons)
    assert "Decimation by" in changed.why["decimation"]
