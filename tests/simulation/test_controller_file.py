"""Controller files: what every key means, what is refused in which words, and that controllers come back."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.core.errors import DynidError, FileError, UnknownNameError
from dynid.core.keys import entries_of
from dynid.dynamics.operations import NUMERIC
from dynid.model.drives import Drives
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.simulation import PID, Bandwidth, Cascade, ComputedTorque, Controller, OpenLoop, Sines, simulate
from dynid.simulation.controller_file import (
    controller_from_table,
    controller_names,
    controller_to_toml,
    load_controller,
)
from dynid.simulation.controller_keys import KINDS
from dynid.simulation.inertia import joint_inertias
from dynid.simulation.law import DriveSide, LawSignals
from dynid.simulation.parameter_file import named_parameters
from dynid.simulation.reference_file import KINDS as REFERENCE_KINDS, Clock, reference_from_table

DOCS = Path(__file__).parents[2] / "docs"
SCARA, EMPS, TX40, IIWA = (load_robot(name) for name in ("scara", "emps", "tx40", "iiwa14"))
SIZES = {
    "scara": SCARA,
    "emps": EMPS,
    "tx40": TX40,
    "iiwa14": IIWA,
    "generic": IIWA,
    "computed-torque": SCARA,
} | {name: load_robot(name) for name in ("pendubot", "cartpole", "elastic_drive")}
SWING = Sines(((0.5,), (0.4,)), ((0.5,), (0.8,)))


def made(text: str, robot: Robot = SCARA, folder: Path | None = None) -> Controller:
    return controller_from_table(tomllib.loads(text), robot, folder)


def refused(text: str, robot: Robot = SCARA) -> str:
    with pytest.raises(DynidError) as caught:
        made(text, robot)
    return str(caught.value)


# ── shipped ones ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_shipped_controllers() -> None:
    assert set(controller_names()) == set(SIZES)
    for name, robot in SIZES.items():
        controller = load_controller(name, robot)
        assert (controller.name, controller.axes) == (name, robot.n_coordinates)


def test_the_emps_loop_is_in_newtons() -> None:
    """v = kp kv (qg − qm) − kv q̇ in volts, limited to ±10 V, through 35.15 N/V."""
    controller = load_controller("emps", EMPS)
    assert controller.sample_time == 1e-3
    assert controller.velocity.kind == "mean"
    assert controller.saturation == pytest.approx([351.5065188])
    assert isinstance(controller.law, Cascade)
    assert controller.law.kp == (160.18,)
    assert controller.law.kv == pytest.approx([243.45 * 35.15065188])


def test_the_scara_loop_is_the_paper_s() -> None:
    controller = load_controller("scara", SCARA)
    assert isinstance(controller.law, Bandwidth)
    assert controller.law.natural_frequency == pytest.approx([2 * np.pi, 20 * np.pi])
    own = SCARA.table.vector(SCARA.parameters)
    assert controller.law.inertia == pytest.approx(joint_inertias(SCARA, own, controller))
    assert controller.law.inertia == pytest.approx([3.759, 0.061])  # M(0) of table 2


# ── laws ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_gains_for_all_or_per_axis() -> None:
    law = made('kind = "pid"\nrate_hz = 500\nkp = 3\nkd = [1, 2]\nki = 0.5\nreference_speed = 0').law
    assert law == PID((3, 3), (1, 2), (0.5, 0.5), (0, 0))
    assert made('kind = "p"\nrate_hz = 500\nkp = 3').law == PID((3, 3))
    assert made('kind = "pd"\nrate_hz = 500\nkp = 3\nkd = 1').law == PID((3, 3), (1, 1))
    assert made('kind = "pi"\nrate_hz = 500\nkp = 3\nki = 1').law == PID((3, 3), 0.0, (1, 1))
    cascade = 'kind = "cascade"\nrate_hz = 500\nkp = 3\nkv = 1\nki = 4\nacceleration = 2'
    assert made(cascade).law == Cascade((3, 3), (1, 1), (4, 4), 0.0, (2, 2))
    assert made('kind = "open-loop"\nsample_time = 0.01\nfeedforward = true').law == OpenLoop(2)


def test_clock_velocity_and_delay() -> None:
    base = 'kind = "p"\nkp = 1\n'
    assert made(base + "rate_hz = 400").sample_time == 1 / 400
    assert made(base + "sample_time = 0.002").sample_time == 0.002
    assert made(base + "continuous = true").sample_time is None
    assert made(base + "continuous = false\nrate_hz = 10").sample_time == 0.1
    filtered = made(base + 'rate_hz = 400\nvelocity = "filtered"\nvelocity_cutoff_hz = 60\ndelay = 2')
    assert (filtered.velocity.kind, filtered.velocity.cutoff_hz, filtered.delay) == ("filtered", 60.0, 2)


def test_frequencies_in_radians_or_hertz() -> None:
    base = 'kind = "bandwidth"\nrate_hz = 500\ninertia = [2, 3]\ndamping = 0.7\n'
    radians, hertz = (made(base + f"{key} = 4") for key in ("natural_frequency", "natural_frequency_hz"))
    assert radians.law == Bandwidth((4, 4), (0.7, 0.7), (2, 3))
    assert hertz.law.natural_frequency == pytest.approx([8 * np.pi] * 2)  # type: ignore[attr-defined]
    torque = made('kind = "computed-torque"\nrate_hz = 500\nnatural_frequency = 4\ndamping = 0.5')
    assert isinstance(torque.law, ComputedTorque)
    assert (torque.law.kp, torque.law.kd) == ((16, 16), (4, 4))
    assert torque.law.robot.parameters == SCARA.parameters


def test_drive_gains_and_gears_become_joint_gains() -> None:
    """τ_m = g k (q_mr − q_m) with q_m = r q is τ = r² g k (q_r − q); a limit of u is |r g| of τ."""
    wrist = load_robot("tx40").with_terms("Fv")
    text = 'kind = "pd"\nrate_hz = 500\nkp = 3\nkd = 1\ndrive_gain = 2\nsaturation = 5\n'
    assert made(text).law == PID((6, 6), (2, 2))
    assert made(text).saturation == (10, 10)
    geared = _geared()
    motor = made(text + 'side = "motor"', geared)
    assert motor.law == PID((6 * 2500, 6 * 400), (2 * 2500, 2 * 400))
    assert motor.saturation == (10 * 50, 10 * 20)
    bandwidth = made(
        'kind = "bandwidth"\nrate_hz = 500\nnatural_frequency = 3\ninertia = 1e-4\nside = "motor"', geared
    )
    assert bandwidth.law.inertia == pytest.approx([0.25, 0.04])  # type: ignore[attr-defined]
    assert isinstance(made(text + 'side = "motor"', wrist).law, DriveSide)


def _geared() -> Robot:
    return replace(SCARA, drives=Drives(((50.0, 0.0), (0.0, -20.0)), (0.1, -0.2), (1.0, 1.0)))


def test_a_law_on_motors_is_the_same_loop_as_its_joint_law() -> None:
    """The wrapper for coupled motors, on motors that are not: two ways to one motion."""
    joint = made('kind = "pid"\nrate_hz = 500\nkp = 0.05\nkd = 0.004\nki = 0.01\nside = "motor"', _geared())
    inner = PID((0.05, 0.05), (0.004, 0.004), (0.01, 0.01))
    around = DriveSide(inner, ((50.0, 0.0), (0.0, -20.0)), (0.1, -0.2), (1.0, 1.0))
    reference = SWING.sample(2e-3, 0.4)
    paths = [simulate(SCARA, None, Controller(law, 2e-3), reference).q for law in (joint.law, around)]
    assert np.abs(paths[0] - reference.q).max() > 1e-5
    assert np.abs(paths[0] - paths[1]).max() < 1e-9


def test_coupled_motors_pull_both_joints() -> None:
    """τ = Rᵀ K R e: an error of joint 5 alone also moves motor 6, which turns with it."""
    law = made('kind = "p"\nrate_hz = 500\nkp = 1\nside = "motor"\nsaturation = 1e3', TX40).law
    assert isinstance(law, DriveSide)
    e, zero = [0.0, 0.0, 0.0, 0.0, 0.01, 0.0], [0.0] * 6
    signals = LawSignals(e, zero, zero, zero, zero, zero)
    torques, _ = law.torque(signals, [], list(law.gains), NUMERIC)
    R = TX40.drives.matrix  # type: ignore[union-attr]
    assert np.allclose(torques, R.T @ R @ np.array(e))
    assert torques[5] == pytest.approx(32 * 32 * 0.01)
    with pytest.raises(DynidError, match="coupled motors, which follow no single joint"):
        law.scaled([2.0] * 6)


# ── models and Python ─────────────────────────────────────────────────────────────────────────────────────


def test_feedforward_from_robot_table_or_file(tmp_path: Path) -> None:
    base = 'kind = "p"\nrate_hz = 500\nkp = 1\n'
    assert made(base).feedforward is None
    assert made(base + "feedforward = false").feedforward is None
    assert made(base + "feedforward = true").feedforward == SCARA.parameters
    assert made(base + "[feedforward]\nZZ1 = 2.0").feedforward == {"ZZ1": 2.0}
    regrouped = made(base + "[feedforward]\nZZ1R = 2.0").feedforward
    assert regrouped is not None
    assert regrouped["ZZ1"] == 2.0
    (tmp_path / "values.json").write_text('{"parameters": [{"name": "ZZ2", "value": 0.5, "sigma": 1}]}')
    (tmp_path / "values.toml").write_text("[parameters]\nZZ2 = 0.5\n")
    for file in ("values.json", "values.toml"):
        (tmp_path / "c.toml").write_text(base + f'feedforward = "{file}"')
        assert load_controller(tmp_path / "c.toml", SCARA).feedforward == {"ZZ2": 0.5}


# ── refusals ──────────────────────────────────────────────────────────────────────────────────────────────

PD = 'kind = "pd"\nrate_hz = 500\nkp = 1\nkd = 1\n'
BANDWIDTH = 'kind = "bandwidth"\nrate_hz = 5\n'
REFUSED = {
    "rate_hz = 500": "kind is missing; give bandwidth, p, pd",
    'kind = "pdd"\nrate_hz = 5': "Unknown kind 'pdd'. Did you mean",
    'kind = ["pd"]\nrate_hz = 5': "kind is ['pd']; it must be bandwidth, p, pd",
    'kind = "pd"\nrate_hz = 5\nkp = 1':
        "pd controller: kd is missing; give a number, or a list with one per axis.",
    'kind = "python"\nrate_hz = 5\nfile = "x.py"': "python controller: function is missing; give text.",
    PD + "ki = 1": "pd controller: Unknown key 'ki'. Did you mean",
    PD + "kp_ = 1": "pd controller: Unknown key 'kp_'",
    'kind = "p"\nkp = 1': "exactly one of sample_time, rate_hz and continuous = true; none is given",
    PD + "sample_time = 1e-3": "sample_time and rate_hz are both given; keep one.",
    PD + "continuous = true": "one of sample_time, rate_hz and continuous = true; two are given",
    PD + "continuous = 1": "continuous is 1; it must be true or false.",
    'kind = "p"\nkp = 1\nrate_hz = 0': "rate_hz is 0; it must be a number above 0 Hz.",
    'kind = "p"\nkp = 1\nsample_time = nan': "sample_time is nan; it must be a finite number.",
    'kind = "p"\nrate_hz = 5\nkp = "1"': "kp is '1'; it must be a number, or a list with one per axis.",
    'kind = "p"\nrate_hz = 5\nkp = [1, true]': "entry 2 of kp is True; it must be a number.",
    'kind = "p"\nrate_hz = 5\nkp = inf': "kp is inf; it must be a finite number.",
    'kind = "p"\nrate_hz = 5\nkp = []': "kp is an empty list; give one value per axis, or one for all.",
    'kind = "p"\nrate_hz = 5\nkp = [1, 2, 3]': "kp has 3 values for 2 axes",
    'kind = "p"\nrate_hz = 5\nkp = [[1, 2], [3, 4]]': "entry 1 of kp is [1, 2]; it must be a number.",
    f'kind = "p"\nrate_hz = 5\nkp = {10**400}': "kp is a number of more than 300 digits; it must be between",
    PD + "delay = 1.5": "delay is 1.5; it must be a whole number from 0 to 1000.",
    PD + "delay = -1": "delay is -1; it must be a whole number from 0 to 1000.",
    PD + 'velocity = "kalman"': "Unknown velocity 'kalman'.",
    PD + 'velocity = "filtered"': "velocity is 'filtered' without velocity_cutoff_hz",
    PD + "velocity_cutoff_hz = 5": "velocity is 'backward' with velocity_cutoff_hz",
    'kind = "p"\nkp = 1\ncontinuous = true\nvelocity = "mean"': "a continuous law knows the speed",
    'kind = "p"\nkp = 1\ncontinuous = true\ndelay = 1': "A continuous law has no samples to delay",
    PD + "saturation = 0": "every axis needs a positive torque",
    PD + "drive_gain = 0": "drive_gain is 0; it must be a number other than 0",
    PD + 'side = "motor"': "robot 'scara' has no drives; add [drives] with ratio to the robot file",
    PD + 'side = "left"': "Unknown side 'left'.",
    PD + 'posture = "middle"': "posture is 'middle'; it must be \"maximum\" or one position per axis.",
    PD + "posture = [0, 0, 0]": "posture has 3 values for 2 axes",
    PD + "feedforward = 1": "feedforward is 1; it must be true or false, a table of parameters, or",
    PD + "[feedforward]": "There are no parameters in it; give names and values.",
    PD + "[feedforward]\nZZ9 = 1": "Unknown parameter 'ZZ9'. Did you mean",
    PD + "[feedforward]\nZZ1R = 1\nZZ1 = 2": "ZZ1R is a base parameter and ZZ1 a standard one",
    PD + "[feedforward]\nZZ1 = nan": "ZZ1 is nan; it must be a finite number.",
    'kind = "bandwidth"\nrate_hz = 5':
        "natural_frequency or natural_frequency_hz is missing; give a number above 0 rad/s",
    BANDWIDTH + "natural_frequency = 1\nnatural_frequency_hz = 1":
        "natural_frequency and natural_frequency_hz are both given",
    'kind = "bandwidth"\nrate_hz = 5\nnatural_frequency = -1':
        "natural_frequency is -1; it must be a number above 0 rad/s",
    BANDWIDTH + 'natural_frequency = 1\ninertia = "mine"': "inertia is 'mine'; it must be numbers, or",
    'kind = "computed-torque"\nrate_hz = 5\nkp = 1': "needs kp and kd, or a natural frequency",
    'kind = "computed-torque"\nrate_hz = 5\nkp = 1\ndamping = 1': "either kp and kd, or a natural frequency",
    'kind = "computed-torque"\nrate_hz = 5\nkp = 1\nkd = 1\nmodel = false': "model is false",
    PD + "title = 3": "title is 3; it must be text.",
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items())
def test_what_is_refused(text: str, sentence: str) -> None:
    said = refused(text)
    assert sentence in said
    assert said.endswith((".", "?"))
    assert len(said) < 600


def test_refusals_that_need_another_robot() -> None:
    bare = load_robot("ur10").with_parameters({})
    bandwidth = 'kind = "bandwidth"\nrate_hz = 5\nnatural_frequency = 1'
    assert "whose own parameters give 0, 0, 0, 0, 0, 0; give inertia as numbers" in refused(bandwidth, bare)
    assert "robot 'ur10' has none; give a table or a file" in refused(PD + "feedforward = true", bare)
    assert "'tx90' cannot be simulated with its own values: table 4" in refused(bandwidth, load_robot("tx90"))
    motor = 'kind = "bandwidth"\nrate_hz = 5\nnatural_frequency = 1\nside = "motor"'
    assert 'give inertia as numbers, or side = "joint"' in refused(motor, TX40)
    limited = PD + 'side = "motor"\nsaturation = 1\nfeedforward = true'
    assert "saturation cannot be combined with feedforward" in refused(limited, TX40)
    torque = 'kind = "computed-torque"\nrate_hz = 5\nnatural_frequency = 1\nside = "motor"'
    assert "A computed-torque controller acts on the joints" in refused(torque, TX40)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown controller 'scarra'\. Did you mean 'scara'"):
        load_controller("scarra", SCARA)
    with pytest.raises(FileError, match="There is no controller file at"):
        load_controller(tmp_path / "none.toml", SCARA)
    with pytest.raises(FileError, match="is a folder"):
        load_controller(tmp_path, SCARA)
    file = tmp_path / "mine.toml"
    for text, sentence in {
        "kind = ": "is not TOML",
        "a = " + "[" * 100_000: "is not TOML",
        'kind = "p"\nrate_hz = 5\nkp = [1, 2, 3]': r"^Controller mine\.toml: p controller: kp has 3 values",
        'kind = "p"\nrate_hz = 5\nkp = "' + "x" * 10_000 + '"': "^.{,200}$",
    }.items():
        file.write_text(text)
        with pytest.raises(FileError, match=sentence):
            load_controller(file, SCARA)
    file.write_bytes(b"x" * 20_000_001)
    with pytest.raises(FileError, match="at most 20 MB are read"):
        load_controller(file, SCARA)


# ── round trip and documents ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", SIZES)
def test_shipped_controllers_come_back(name: str) -> None:
    controller = load_controller(name, SIZES[name])
    again = controller_from_table(tomllib.loads(controller_to_toml(controller)), SIZES[name])
    assert again == controller


@pytest.mark.parametrize(
    "text",
    [
        PD + 'velocity = "filtered"\nvelocity_cutoff_hz = 33.3\ndelay = 3\nposture = [0.1, 0.2]',
        PD + 'velocity = "exact"\nsaturation = [1, 2]\n[feedforward]\nZZ1 = 1e-7',
        'kind = "pid"\ncontinuous = true\nkp = 1\nkd = 2\nki = 3\nacceleration = 4',
        'kind = "open-loop"\nrate_hz = 300\nfeedforward = true',
        'kind = "computed-torque"\nrate_hz = 300\nkp = 1\nkd = 2\n[model]\nZZ1 = 3.0',
    ],
)
def test_controllers_come_back(text: str) -> None:
    controller = made(text)
    assert made(controller_to_toml(controller)) == controller


def test_controllers_of_coupled_motors_come_back() -> None:
    controller = made(PD + 'side = "motor"\ndrive_gain = 0.5\nsaturation = 3', TX40)
    text = controller_to_toml(controller)
    assert 'side = "motor"' in text
    assert made(text, TX40) == controller


def test_every_key_and_kind_is_described() -> None:
    text = "".join(
        (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("controllers", "trajectories")
    )
    classes = (*KINDS.values(), *REFERENCE_KINDS.values())
    keys = {name for cls in classes for entry in entries_of(cls) for name in entry.names}
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []
    kinds = (*KINDS, *REFERENCE_KINDS, *SIZES)
    assert [kind for kind in kinds if f"`{kind}`" not in text and f'`"{kind}"`' not in text] == []


def test_the_examples_of_the_page_load(tmp_path: Path) -> None:
    page = (DOCS / "controllers.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(toml|python|text)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    law = next(text for language, text in blocks if language == "text")
    (tmp_path / "my_law.py").write_text(law)
    loaded = []
    for language, text in blocks:
        kind = tomllib.loads(text).get("kind") if language == "toml" else None
        robot = EMPS if "drive_gain" in text else SCARA
        if kind in KINDS:
            made(text, robot, tmp_path)
        elif kind in ("sines", "waypoints"):
            assert reference_from_table(tomllib.loads(text), SCARA, Clock(1e-2)).axes == 2
        elif kind is None and language == "toml":
            assert named_parameters(tomllib.loads(text), SCARA)
        elif language == "python":
            names: dict[str, Any] = {}
            exec(compile(text, "controllers.md", "exec"), names)
            assert names["log"].samples == 20_000
        loaded.append(kind)
    assert loaded.count("sines") == 1
    assert {"bandwidth", "cascade", "python", "waypoints", "log"} <= set(loaded)


def test_the_bound_of_a_number_is_named() -> None:
    assert "kp is 1e+300; it must be between -1e+300 and 1e+300." in refused(
        'kind = "p"\nrate_hz = 5\nkp = 1e300'
    )
