"""The suggested preparation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import io

from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.spectrum import position_spectrum
from dynid.preparation.suggestion import suggest
from support.datasets import dataset

RATE = 1000.0


def band_limited(noise: float, seconds: float = 30.0, top_hz: float = 2.0, seed: int = 0) -> Log:
    """Two axes that move below ``top_hz``, one mass each, with position noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, 1 / RATE)
    q, qdd = np.zeros((len(t), 2)), np.zeros((len(t), 2))
    for f in np.linspace(0.2, top_hz, 8):
        phase = rng.uniform(0, 2 * np.pi, 2)
        wave = np.sin(2 * np.pi * f * t[:, None] + phase) / f
        q += wave
        qdd -= (2 * np.pi * f) ** 2 * wave
    tau = qdd * np.array([2.0, 5.0]) + 0.5 * rng.standard_normal(q.shape)
    return Log("band", t, {"position": q + noise * rng.standard_normal(q.shape), "torque": tau})


def inertias(log: Log, plan: Preparation) -> np.ndarray:
    motion = prepare(log, plan)
    small = decimate_rows(np.vstack([motion.qdd.T, motion.tau.T]), plan.decimation, plan.convention)
    return np.array([small[j] @ small[2 + j] / (small[j] @ small[j]) for j in range(2)])


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-4, 1e-3])
def test_masses_come_out_right_whatever_the_noise(noise: float) -> None:
    log = band_limited(noise)
    suggestion = suggest(log)
    np.testing.assert_allclose(inertias(log, suggestion.plan), [2.0, 5.0], rtol=0.01)
    assert suggestion.plan.cutoff_hz is not None
    assert suggestion.plan.cutoff_hz > 2.5
    assert 10 < suggestion.plan.decimation < 400


def test_the_cut_off_falls_with_noise_but_stays_clear_of_the_motion() -> None:
    """A cut-off on the highest harmonic is the trap that cost P3 24 to 87 % of its parameters."""
    quiet, loud = (suggest(band_limited(noise)).plan.cutoff_hz or 0.0 for noise in (0.0, 1e-2))
    assert quiet > 2 * loud
    assert (2.0 / loud) ** 8 < 1e-3


def test_a_suggestion_beats_guessing() -> None:
    log = band_limited(1e-3)
    plan = suggest(log).plan
    guess = Preparation(cutoff_hz=100.0, decimation=4)
    truth = np.array([2.0, 5.0])
    assert np.max(np.abs(inertias(log, plan) / truth - 1)) < 0.05 * np.max(
        np.abs(inertias(log, guess) / truth - 1)
    )


def test_loud_noise_is_said() -> None:
    suggestion = suggest(band_limited(0.2))
    assert any("inertias will come out low" in reason for reason in suggestion.reasons)
    assert max(suggestion.facts["noise_share"]) > 0.02
    assert not any("come out low" in reason for reason in suggest(band_limited(1e-6)).reasons)


def test_noise_level_is_estimated() -> None:
    noise = 1e-3
    facts = suggest(band_limited(noise)).facts
    cutoff = suggest(band_limited(noise)).plan.cutoff_hz or 0.0
    expected = noise * np.sqrt(cutoff / (RATE / 2))
    np.testing.assert_allclose(facts["position_noise"], expected, rtol=0.1)
    np.testing.assert_allclose(facts["speed_noise"], expected * 2 * np.pi * cutoff / np.sqrt(3), rtol=0.1)


def test_reasons_facts_and_plan_agree() -> None:
    suggestion = suggest(band_limited(1e-4))
    plan, text = suggestion.plan, " ".join(suggestion.reasons)
    assert f"{plan.cutoff_hz:g} Hz" in text
    assert f"Decimation by {plan.decimation} " in text
    assert f"{plan.drop_samples} samples are dropped" in text
    assert all(reason.endswith(".") for reason in suggestion.reasons)
    document = json.loads(json.dumps(suggestion.to_dict()))
    assert document["plan"]["cutoff_hz"] == plan.cutoff_hz
    assert set(document["facts"]) >= {"rate_hz", "motion_hz", "noise_hz", "band_hz", "noise_share"}


def test_spikes_jitter_and_an_axis_at_rest() -> None:
    clean = band_limited(1e-5)
    assert suggest(clean).plan.median_window == 0
    q, tau = clean.channels["position"].copy(), clean.channels["torque"].copy()
    tau[5000] = 1e5
    q[:, 1] = 0.3 + 1e-5 * np.random.default_rng(1).standard_normal(len(q))
    t = clean.time + np.random.default_rng(2).uniform(-3e-4, 3e-4, len(q))
    suggestion = suggest(Log("spoiled", t, {"position": q, "torque": tau}))
    text = " ".join(suggestion.reasons)
    assert suggestion.plan.median_window > 0
    assert "outlier filter is on: 2 of" in text
    assert "stamps are uneven" in text
    assert "Axis 2 hardly moves" in text
    assert suggestion.plan.speed_thresholds[1] == 0.0
    assert suggestion.plan.speed_thresholds[0] > 0.0
    prepare(Log("spoiled", t, {"position": q, "torque": tau}), suggestion.plan)


@pytest.mark.parametrize(("noise", "highest"), [(1e-8, 12.0), (1e-6, 6.5)])
def test_a_short_log_that_is_cut_out_of_a_motion_has_no_band_of_its_own(noise: float, highest: float) -> None:
    """What leaks of the motion is not taken for motion; a Hann window alone finds 33 and 14 Hz here."""
    rng = np.random.default_rng(7)
    t = np.arange(0, 4, 1 / RATE)
    for _ in range(10):
        q = np.sum(np.sin(np.outer(t, 2 * np.pi * rng.uniform(0.3, 0.8, 4)) + rng.uniform(0, 6, 4)), axis=1)
        q = q[:, None] + noise * rng.standard_normal((len(t), 1))
        found = suggest(Log("cut out", t, {"position": q, "torque": q}))
        assert found.facts["noise_hz"] < highest
        assert (found.plan.cutoff_hz or 0.0) < highest


def test_the_decimation_follows_a_cut_off_that_is_given_alone() -> None:
    suggestion = suggest(band_limited(1e-4))
    rate, wide = 1000.0, suggestion.with_keys({"cutoff_hz": 40.0})
    assert wide.plan.decimation == 25
    assert wide.plan.drop_samples == 75
    assert "Decimation by 25 follows the cut-off that was given: the band ends at 16 Hz." in wide.reasons
    assert wide.plan.band_hz(rate) > 3 * suggestion.plan.band_hz(rate)
    both = suggestion.with_keys({"cutoff_hz": 40.0, "decimation": 7})
    assert both.plan.decimation == 7
    assert not any("follows" in reason for reason in both.reasons)
    assert suggestion.with_keys({"decimation": 7}).plan.cutoff_hz == suggestion.plan.cutoff_hz


@pytest.mark.parametrize("samples", [5, 31, 32, 100, 255, 256, 400])
def test_short_logs_get_safe_defaults_that_run(samples: int) -> None:
    log = band_limited(1e-4)
    short = Log("short", log.time[:samples], {name: c[:samples] for name, c in log.channels.items()})
    suggestion = suggest(short)
    assert prepare(short, suggestion.plan).samples > 0
    if samples < 256:
        assert "its spectrum says too little" in suggestion.reasons[0]
        assert suggestion.plan.decimation == 1


def test_motionless_logs_do_not_crash() -> None:
    t = np.arange(1000) / RATE
    still = Log("still", t, {"position": np.zeros((1000, 1)), "torque": np.ones((1000, 1))})
    assert "hardly moves" in " ".join(suggest(still).reasons)


def test_spectrum_has_the_power_of_white_noise() -> None:
    noise = np.random.default_rng(3).standard_normal((40_000, 1))
    spectrum = position_spectrum(noise, RATE)
    top = spectrum.frequency > 10.0
    np.testing.assert_allclose(spectrum.density[top, 0], 2 / RATE, rtol=0.2)
    power = float(np.sum(spectrum.density[top, 0] * spectrum.width[top]))
    assert power == pytest.approx(1.0, rel=0.05)


def test_emps_gets_the_published_plan() -> None:
    data = io.loadmat(dataset("emps", "DATA_EMPS.mat"))
    force = data["vir"] * float(data["gtau"].squeeze())
    plan = suggest(Log("emps", data["t"].ravel(), {"position": data["qm"], "torque": force})).plan
    assert (plan.cutoff_hz, plan.decimation) == (100.0, 10)


def test_tx40_gets_a_plan_near_the_best() -> None:
    """The best cut-offs of a scan lie from 20 to 100 Hz with a band of 10 to 20 Hz."""
    drives = load_robot("tx40_log").drives
    assert drives is not None
    names = ("pos_read_data.csv", "curr_data.csv")
    q, tau = (np.loadtxt(dataset("tx40", name), delimiter=",", skiprows=1) for name in names)
    samples = min(len(q), len(tau))
    channels = {"position": drives.joint_position(q[:samples]), "torque": drives.joint_torque(tau[:samples])}
    suggestion = suggest(Log("tx40", np.arange(samples) / 5000.0, channels))
    assert suggestion.plan.median_window == 0
    assert 20 <= (suggestion.plan.cutoff_hz or 0) <= 100
    assert 8 <= suggestion.facts["band_hz"] <= 20
    assert max(suggestion.facts["noise_share"]) < 1e-3
    # One percent of the axes' largest speeds, as the published fit of this log takes them.
    published = (0.0501, 0.0501, 0.0750, 0.0716, 0.0559, 0.1222)
    np.testing.assert_allclose(suggestion.plan.speed_thresholds, published, rtol=0.1)
