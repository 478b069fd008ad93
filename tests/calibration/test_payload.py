"""Payloads from free and loaded motions: exact without errors, honest with them, never a plausible number."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.calibration import FlangeFrame, identify_payload
from dynid.calibration.controller_forms import quaternion
from dynid.calibration.payload import PayloadEstimate
from dynid.calibration.payload_sight import TenParameters
from dynid.calibration.possible_payload import nearest_payload
from dynid.compile.kernels import kernels
from dynid.consistency.pseudo_inertia import pseudo_inertia
from dynid.core.errors import DynidError
from dynid.core.finding import Level, Name
from dynid.estimators import WLS, identify
from dynid.model.inertia import LinkInertia
from dynid.model.load import load_robot
from dynid.model.orientation import to_rpy
from dynid.model.payload import LOADED, UNLOADED, free_and_loaded
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from dynid.validation.model import IdentifiedModel, as_model
from support.motions import fourier_motion

Array = NDArray[np.float64]
PLAIN = Preparation(decimation=1)
WAYS = ("fixed", "refitted", "difference")
PAYLOAD = LinkInertia.from_com(3.0, (0.02, -0.01, 0.12), np.diag([0.02, 0.025, 0.015]).tolist(), "payload")
FLANGE = FlangeFrame.from_rpy((0.0, 0.01, 0.05), (0.3, -0.2, 1.1))


@cache
def arm() -> Robot:
    """An RX-90 whose truth is the catalog's."""
    return load_robot("rx90").with_drives(None)


def taken(
    condition: str,
    seed: int,
    *,
    noise: float = 0.0,
    payload: LinkInertia = PAYLOAD,
    path: int | None = None,
    gains: Array | float = 1.0,
    robot: Robot | None = None,
) -> Motion:
    """A motion in a condition, its torques with white noise of a share of their size."""
    whole = free_and_loaded(robot or arm(), payload)
    motion = fourier_motion(whole, np.random.default_rng((7, seed if path is None else path)), speed=3.0)
    values = whole.table.vector(whole.parameters) * np.array(whole.lives_in(condition))
    tau = kernels(whole).inverse(values, *motion.states)
    error = noise * np.sqrt(np.mean(tau**2, axis=0)) * np.random.default_rng((8, seed)).normal(size=tau.shape)
    return replace(motion, name=f"{condition} {seed}", tau=gains * (tau + error), condition=condition)


def both(noise: float = 0.0, **others: object) -> list[Motion]:
    """Two free and two loaded runs of the same motions."""
    return [
        taken(condition, seed, noise=noise, path=seed % 10, **others)  # type: ignore[arg-type]
        for condition, seed in ((UNLOADED, 1), (LOADED, 11), (UNLOADED, 2), (LOADED, 12))
    ]


def model_of(motions: list[Motion]) -> IdentifiedModel:
    free = [replace(m, condition="") for m in motions if m.condition == UNLOADED]
    return as_model(identify(build_problem(arm(), free, PLAIN), WLS()))


def estimate(way: str, motions: list[Motion], **options: object) -> PayloadEstimate:
    model = model_of(motions) if way == "fixed" else None
    return identify_payload(arm(), motions, PLAIN, way=way, model=model, **options)  # type: ignore[arg-type]


def names_of(found: PayloadEstimate) -> set[Name]:
    return {finding.name for finding in found.findings}


@pytest.mark.parametrize("way", WAYS)
def test_without_errors_the_payload_comes_back(way: str) -> None:
    """All ten parameters, and the central form in the flange's frame by an independent formula."""
    found = estimate(way, both(), flange=FLANGE)
    np.testing.assert_allclose(found.values, PAYLOAD.standard(), atol=1e-7)
    R, p = FLANGE.rotation, FLANGE.position
    mass, com, tensor = PAYLOAD.com_form()
    assert found.mass == pytest.approx(mass, rel=1e-7)
    np.testing.assert_allclose(found.com, R.T @ (com - p), atol=1e-7)
    np.testing.assert_allclose(found.central.inertia, R.T @ tensor @ R, atol=1e-6)
    moments, _, axes = found.central.principal
    np.testing.assert_allclose(moments, [0.015, 0.02, 0.025], atol=1e-6)
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, found.central.inertia, atol=1e-9)
    assert found.trustworthy
    assert found.way == way
    assert found.carrier == "joint6"


@pytest.mark.parametrize("way", WAYS)
def test_errors_lie_within_their_sigma(way: str) -> None:
    """3 % white noise: mass to 1 %, centre to 3 mm, and no parameter farther than 4σ."""
    found = estimate(way, both(0.03))
    assert found.mass == pytest.approx(3.0, rel=0.01)
    np.testing.assert_allclose(found.com, (0.02, -0.01, 0.12), atol=3e-3)
    assert np.all(np.abs(found.values - PAYLOAD.standard()) < 4 * found.sigma)
    assert np.all(found.sigma[6:] < (0.05, 0.05, 0.05, 0.1))


def test_the_doubt_of_the_arm_counts() -> None:
    """σ of "fixed" is that of the rows alone where the model is exact, and grows with the model's σ."""
    motions = both(0.03)
    model = model_of(motions)
    sizes = []
    for scale in (0.0, 1.0, 100.0):
        doubtful = replace(model, covariance=scale * model.covariance)  # type: ignore[operator]
        sizes.append(identify_payload(arm(), motions, PLAIN, way="fixed", model=doubtful).mass_sigma)
    rows, whole, wide = np.array(sizes) ** 2
    assert wide - rows == pytest.approx(100 * (whole - rows), rel=1e-6)
    assert whole > 1.1 * rows
    blind = identify_payload(arm(), motions, PLAIN, way="fixed", model=replace(model, covariance=None))
    assert "counts the loaded logs only" in " ".join(f.sentence for f in blind.findings)


def test_a_weighed_mass_is_taken_in() -> None:
    """Gaussian conditioning equals least squares with one more row."""
    plain, weighed = (
        estimate("refitted", both(0.03)),
        estimate("refitted", both(0.03), mass=3.001, mass_sigma=0.002),
    )
    C = plain.found_covariance
    h = np.eye(10)[-1]
    information = np.linalg.inv(C) + np.outer(h, h) / 0.002**2
    expected = np.linalg.solve(information, np.linalg.solve(C, plain.found) + h * 3.001 / 0.002**2)
    np.testing.assert_allclose(weighed.found, expected, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(weighed.found_covariance, np.linalg.inv(information), rtol=1e-3, atol=1e-10)
    assert weighed.measured_mass[0] == pytest.approx(plain.mass)
    assert Name.MASS_CONFIRMED in names_of(weighed)
    exact = estimate("refitted", both(0.03), mass=3.0)
    assert exact.mass == 3.0
    assert exact.mass_sigma == 0.0


@pytest.mark.parametrize("way", WAYS)
def test_gains_wrong_alike_need_a_weighed_mass(way: str) -> None:
    """A common factor of 1.2 makes a payload of 3.6 kg; a scale tells, and without one it is said."""
    motions = both(0.03, gains=1.2)
    blind = estimate(way, motions)
    assert blind.mass == pytest.approx(3.6, rel=0.02)
    assert blind.trustworthy
    said = next(f for f in blind.findings if f.name is Name.COMMON_GAIN_UNCHECKED)
    assert "a factor that is common to all drive gains cannot be seen" in said.sentence
    found = estimate(way, motions, mass=3.0, mass_sigma=0.01)
    told = next(f for f in found.findings if f.name is Name.GAINS_IN_DOUBT)
    assert not found.trustworthy
    assert told.figures["factor"] == pytest.approx(1.2, rel=0.02)
    assert "wrong by this factor" in told.sentence
    assert "dynid gains" in told.remedy
    assert found.mass == pytest.approx(3.6, rel=0.02)


@pytest.mark.parametrize("way", WAYS)
def test_one_wrong_gain_is_noticed_without_a_scale(way: str) -> None:
    """Joint 3 sees 1.2 times the payload of the others."""
    assert Name.MOTORS_CONTRADICT not in names_of(estimate(way, both(0.03)))
    found = estimate(way, both(0.03, gains=np.array([1.0, 1.0, 1.2, 1.0, 1.0, 1.0])))
    told = next(f for f in found.findings if f.name is Name.MOTORS_CONTRADICT)
    assert told.level is Level.FAIL
    assert "the payload that the other joints see" in told.sentence
    factors = {joint: (factor, sigma) for joint, factor, sigma in told.figures["factors"]}
    # A model that was fitted to rows which contradict each other adds its own errors.
    assert factors[3][0] == pytest.approx(1.2, abs=0.3 if way == "fixed" else 0.05)


def test_swapped_logs_are_named() -> None:
    """The free log given as loaded: a negative mass, and no form for a controller."""
    swapped = [replace(m, condition=LOADED if m.condition == UNLOADED else UNLOADED) for m in both(0.03)]
    for way in WAYS:
        found = estimate(way, swapped)
        told = next(f for f in found.findings if f.name is Name.LOGS_SWAPPED)
        assert "which is negative" in told.sentence
        assert not found.trustworthy
        assert set(found.controller_forms().values()) == {None}


def test_a_payload_that_is_not_there_is_named() -> None:
    """A mass of zero within 2σ."""
    motions = [
        *both(0.03)[::2],
        *(replace(m, condition=LOADED) for m in [taken(UNLOADED, 21, noise=0.03, path=1)]),
    ]
    for way in ("refitted", "difference"):
        found = estimate(way, motions)
        assert any(
            "No payload is seen" in f.sentence for f in found.findings
        ) or Name.LOGS_SWAPPED in names_of(found)
        assert not found.trustworthy
    model = model_of(both(0.03))
    exact = identify_payload(arm(), [replace(motions[0], condition=LOADED)], PLAIN, model=model)
    assert Name.PAYLOAD_ABSENT in names_of(exact)


def test_motion_that_does_not_depend_on_the_load_is_named() -> None:
    """Only the last joint turns, slowly, in one pose: mass and offset cannot be told apart."""
    motions = both(0.03)
    still = []
    for motion in motions:
        q, qd, qdd = (np.array(x) for x in motion.states)
        q[:, :5], qd[:, :5], qdd[:, :5] = q[0, :5], 0.0, 0.0
        whole = free_and_loaded(arm(), PAYLOAD)
        values = whole.table.vector(whole.parameters) * np.array(whole.lives_in(motion.condition))
        rng = np.random.default_rng(3)
        tau = kernels(whole).inverse(values, q, qd, qdd) + 0.1 * rng.normal(size=q.shape)
        still.append(replace(motion, q=q, qd=qd, qdd=qdd, tau=tau))
    loaded = [m for m in still if m.condition == LOADED][:1]  # two poses would show the mass
    found = identify_payload(arm(), loaded, PLAIN, model=model_of(motions))
    assert Name.NO_LOAD_SEEN in names_of(found)
    assert any("do not depend on the load" in f.sentence for f in found.findings)
    assert not found.trustworthy


def test_what_the_motion_does_not_show_has_no_number() -> None:
    """Noise of a tenth on a light payload: inertias are words, mass and centre are numbers."""
    light = LinkInertia.from_com(1.0, (0.0, 0.0, 0.05), np.diag([1e-3, 1e-3, 1e-3]).tolist(), "payload")
    found = estimate("refitted", both(0.3, payload=light))
    lost = [name for name, seen in zip(found.names, found.seen, strict=True) if not seen]
    assert lost
    assert set(lost) <= {"XXL", "XYL", "XZL", "YYL", "YZL", "ZZL", "MXL", "MYL", "MZL"}
    assert np.all(np.isnan(found.values[~found.seen]))
    assert np.all(np.isinf(found.sigma[~found.seen]))
    said = " ".join(f.sentence for f in found.findings if f.name is Name.PAYLOAD_NOT_SHOWN)
    assert all(name in said for name in lost)
    assert found.to_dict()["parameters"][found.names.index(lost[0])]["value"] is None


def test_a_planar_robot_says_what_no_motion_shows() -> None:
    """The SCARA moves in a plane without gravity: no moment along its axes, no inertia across."""
    scara = load_robot("scara")
    motions = [taken(c, s, robot=scara, noise=0.01) for c, s in ((UNLOADED, 1), (LOADED, 2), (LOADED, 3))]
    found = identify_payload(scara, motions, PLAIN)
    assert "No motion of this robot shows" in " ".join(f.sentence for f in found.findings)
    assert {"XXL", "MZL"} <= {n for n, seen in zip(found.names, found.seen, strict=True) if not seen}


def test_an_impossible_payload_gets_the_nearest_possible_one() -> None:
    """Inertias that no body has: the nearest one is possible, and no body between it and the estimate is."""
    found = estimate("refitted", both(0.03))
    ten = TenParameters(
        found.found + 0.03 * np.eye(10)[3],
        found.found_covariance,
        found.found_covariance + np.diag(1e-12 + 1e-3 * np.diag(found.found_covariance)),
        3.0 * np.array([0.04] * 6 + [0.2] * 3 + [1.0]),
        np.ones(10, dtype=bool),
        np.ones(10, dtype=bool),
    )
    body, said = nearest_payload(ten)
    assert said is not None
    assert body is not None
    assert "nearest one that can exist" in said.sentence
    assert np.linalg.eigvalsh(pseudo_inertia(ten.values))[0] < 0
    assert np.linalg.eigvalsh(pseudo_inertia(body.standard()))[0] > 0
    metric = np.linalg.inv(ten.metric)
    step = body.standard() - ten.values
    rise = float(step @ metric @ step)
    assert rise == pytest.approx(said.figures["rise"], rel=1e-3)
    assert rise > 1.0
    rng = np.random.default_rng(0)
    nearer = 0
    for draw in rng.multivariate_normal(body.standard(), 1e-4 * ten.metric, 2000):
        if np.linalg.eigvalsh(pseudo_inertia(draw))[0] > 0:
            nearer += (draw - ten.values) @ metric @ (draw - ten.values) < 0.98 * rise
    assert nearer == 0


def test_a_flat_payload_is_not_impossible_by_rounding() -> None:
    """A plate has a second moment of zero: exact data give rounding on either side of it."""
    plate = LinkInertia.from_com(3.0, (0.0, 0.0, 0.1), np.diag([0.01, 0.02, 0.03]).tolist(), "payload")
    found = estimate("refitted", both(payload=plate))
    assert found.possible is None
    assert Name.IMPOSSIBLE_PAYLOAD not in names_of(found)


def test_forms_of_controllers_are_one_body() -> None:
    """Quaternion, roll-pitch-yaw and matrix turn the principal moments into the same inertia."""
    found = estimate("refitted", both(), flange=FLANGE)
    forms = found.controller_forms()
    inertia = np.array(forms["plain"]["inertia_kg_m2"])
    np.testing.assert_allclose(np.array(forms["plain"]["com_mm"]), 1e3 * found.com)
    R = FlangeFrame.from_rpy(rpy=np.deg2rad(forms["principal"]["rpy_deg"])).rotation
    np.testing.assert_allclose(R @ np.diag(forms["principal"]["moments_kg_m2"]) @ R.T, inertia, atol=1e-9)
    mass, centre, turn, *moments = _record(forms["record"])
    w, v = turn[0], turn[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    R = np.eye(3) + 2 * w * cross + 2 * cross @ cross
    np.testing.assert_allclose(R @ np.diag(moments) @ R.T, inertia, atol=3e-6)
    assert mass == pytest.approx(3.0, abs=1e-4)
    np.testing.assert_allclose(centre, 1e3 * found.com, atol=1e-2)
    xx, yy, zz, xy, xz, yz = forms["set_payload"]["inertia_kg_m2"]
    np.testing.assert_allclose([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], inertia)


def _record(text: str) -> list:  # type: ignore[type-arg]
    return list(json.loads(text))


def test_turns_are_turns() -> None:
    """Any rotation comes back from its roll, pitch and yaw, also where the pitch is 90°."""
    rng = np.random.default_rng(0)
    for angles in (*rng.uniform(-1.5, 1.5, (20, 3)), np.array([0.4, np.pi / 2, 0.3])):
        R = FlangeFrame.from_rpy(rpy=angles).rotation
        again = FlangeFrame.from_rpy(rpy=to_rpy(R)).rotation
        np.testing.assert_allclose(again, R, atol=1e-9)
        assert np.linalg.norm(quaternion(R)) == pytest.approx(1.0)


def test_sigma_of_the_central_form_is_that_of_draws() -> None:
    """Delta method against 4000 draws from the covariance."""
    found = estimate("refitted", both(0.03), flange=FLANGE)
    rng = np.random.default_rng(1)
    draws = rng.multivariate_normal(found.found, found.found_covariance, 4000)
    forms = [FLANGE.seen_from(LinkInertia.from_standard(x)).com_form() for x in draws]
    com, inertia = np.std([f[1] for f in forms], axis=0), np.std([f[2] for f in forms], axis=0)
    np.testing.assert_allclose(found.com_sigma, com, rtol=0.06)
    np.testing.assert_allclose(found.central.inertia_sigma, inertia, rtol=0.06)


def test_the_difference_needs_one_motion() -> None:
    """Late starts are found; another motion is refused with its distance."""
    motions = both(0.02)
    late = [
        motions[0],
        motions[2],
        *(replace(m.part(slice(37, None)), time=m.time[: m.samples - 37]) for m in motions[1::2]),
    ]
    found = estimate("difference", late)
    assert found.mass == pytest.approx(3.0, rel=0.02)
    assert [pair[2] for pair in found.facts["pairs"]] == pytest.approx([0.37, 0.37])
    with pytest.raises(DynidError, match=r"No free motion is the same.*% of its travel away on joint.*refit"):
        estimate("difference", [taken(UNLOADED, 1), taken(LOADED, 2)])
    slow = replace(motions[1], rate_hz=50.0)
    with pytest.raises(DynidError, match="sampled at 50 Hz and the free ones at 100 Hz"):
        estimate("difference", [motions[0], slow])


def test_bad_input_is_refused() -> None:
    """With sentences."""
    motions = both()
    model = model_of(motions)
    loaded = motions[1::2]
    with pytest.raises(DynidError, match="None of the 2 motions was taken with the payload"):
        identify_payload(arm(), motions[::2], PLAIN)
    with pytest.raises(DynidError, match="Loaded motions alone do not tell the payload"):
        identify_payload(arm(), loaded, PLAIN)
    with pytest.raises(DynidError, match="'fixed' needs a model"):
        identify_payload(arm(), motions, PLAIN, way="fixed")
    with pytest.raises(DynidError, match="'difference' needs free motions"):
        identify_payload(arm(), loaded, PLAIN, way="difference", model=model)
    with pytest.raises(DynidError, match="Unknown way to a payload 'guess'"):
        identify_payload(arm(), motions, PLAIN, way="guess")
    with pytest.raises(DynidError, match=r"Unknown condition of motion 'loaded 11' 'heavy'"):
        identify_payload(arm(), [motions[0], replace(motions[1], condition="heavy")], PLAIN)
    with pytest.raises(
        DynidError, match="model is of another robot: 'rx90' has 6 axes, and robot 'scara' has 2"
    ):
        identify_payload(load_robot("scara"), loaded, PLAIN, model=model)
    with pytest.raises(DynidError, match=r"model is of another robot.*geometry, gravity, terms"):
        identify_payload(arm().with_gravity(0.0, 0.0, -1.6), loaded, PLAIN, model=model)
    with pytest.raises(DynidError, match="weighed mass is -1 kg; give the mass"):
        identify_payload(arm(), motions, PLAIN, mass=-1.0)
    with pytest.raises(DynidError, match="σ of the weighed mass is -1 kg"):
        identify_payload(arm(), motions, PLAIN, mass=1.0, mass_sigma=-1.0)
    with pytest.raises(DynidError, match="Unknown carrier joint 'hand'"):
        identify_payload(arm(), motions, PLAIN, carrier="hand")
    with pytest.raises(DynidError, match="left-handed"):
        FlangeFrame(np.diag([1.0, 1.0, -1.0]), np.zeros(3))
    with pytest.raises(DynidError, match="no rotation matrix"):
        FlangeFrame(2 * np.eye(3), np.zeros(3))
