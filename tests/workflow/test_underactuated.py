"""A pendubot, a cart-pole and an elastic drive from simulated CSV files, through `check` and `fit`."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid import find_suspects, read_log
from dynid.base.find import find_base
from dynid.cli.main import run
from dynid.compile.kernels import kernels
from dynid.logs.log import Log
from dynid.logs.save import save_log
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import robot_from_table, robot_to_toml
from dynid.model.robot import Robot
from dynid.results.load import load_result
from dynid.simulation import PID, Controller, Sensors, Sines, simulate
from support import urdf_text as urdf


@dataclass(frozen=True)
class Bench:
    """A robot of the catalog with its encoders: step and noise of each joint [rad or m], and the period."""

    robot: str
    resolution: str
    noise: str
    period: float

    def logged(self, file: str, seed: int) -> Path:
        """A CSV file of its own loop: encoders that round, 2 % torque noise."""
        loop = ("--controller", self.robot, "--reference", self.robot, "--seed", str(seed))
        sensors = ("--resolution", self.resolution, "--position-noise", self.noise)
        code = run(
            ["simulate", self.robot, *loop, *sensors, "--torque-noise-relative", "0.02", "--out", file]
        )
        assert code == 0
        return Path(file)


BENCHES = {
    "pendubot": Bench("pendubot", "3e-4", "5e-5", 2e-3),
    "cartpole": Bench("cartpole", "2e-5,3e-4", "5e-6,5e-5", 2e-3),
    "elastic_drive": Bench("elastic_drive", "1e-4", "3e-5", 5e-4),
}
BODIES = {
    "pendubot": ("ZZ1R", "MX1R", "ZZ2", "MX2"),
    "cartpole": ("M1R", "ZZ2", "MX2"),
    "elastic_drive": ("ZZ1", "ZZ2", "K1"),
}
LENGTHS = {"pendubot": (("ZZ1R", "MX1R"), ("ZZ2", "MX2")), "cartpole": (("ZZ2", "MX2"),), "elastic_drive": ()}
"""Inertia over first moment: the length of the simple pendulum that swings alike [m]."""


def fitted(robot: str, *arguments: str) -> dict[str, float]:
    """Values that a fit over the command line has saved, by name."""
    assert run(["fit", robot, *arguments, "--split", "0.7", "--out", "fit", "--force"]) == 0
    saved = load_result(Path("fit"))
    return dict(zip(saved.base.names, saved.values.tolist(), strict=True))


def errors(robot: str, found: dict[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """Relative errors of some base parameters."""
    arm = load_robot(robot)
    base = find_base(arm)
    truth = dict(zip(base.names, base.regroup(arm.parameters).tolist(), strict=True))
    return {name: found[name] / truth[name] - 1 for name in names}


@pytest.mark.parametrize("robot", BENCHES)
def test_bodies_come_back_within_two_per_cent(
    robot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    log = str(BENCHES[robot].logged("log.csv", 1))
    assert run(["check", log, "--robot", robot]) == 0
    said = capsys.readouterr().out
    assert "has no motor" in said
    assert not re.search(r"\bnan\b", said)
    found = fitted(robot, log)
    assert np.abs(list(errors(robot, found, BODIES[robot]).values())).max() < 0.02
    arm = load_robot(robot)
    base = find_base(arm)
    truth = dict(zip(base.names, base.regroup(arm.parameters).tolist(), strict=True))
    for inertia, moment in LENGTHS[robot]:
        length = found[inertia] / found[moment]
        assert length == pytest.approx(truth[inertia] / truth[moment], rel=0.02)
    said = capsys.readouterr().out
    assert "early" in said
    assert "A controller that holds its torque makes it early by half a sample." in said
    early = float(re.search(r"Add (-[\d.]+) to delay_s", said)[1])
    assert early == pytest.approx(-0.5 * BENCHES[robot].period, rel=0.2)
    assert "Do not trust" not in said


def test_a_joint_without_motor_is_not_compared_with_its_torque(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what is left there nor a gain that has changed since is a share of a torque that is not."""
    monkeypatch.chdir(tmp_path)
    logs = [str(BENCHES["pendubot"].logged(f"log{seed}.csv", seed)) for seed in (1, 2)]
    fitted("pendubot", logs[0])
    saved = load_result(Path("fit"))
    assert saved.document["suspects"]["unexplained"][1] == 0.0
    assert not re.search(r"joint 2: \d{3}", saved.document["suspects"]["sentence"])
    asked = {score["suspect"] for score in find_suspects(saved, read_log(logs[1])).to_dict()["scores"]}
    assert {"torque gain since@1", "friction since@2"} <= asked
    assert not asked & {"torque gain since@2", "torque zero since@2", "torque gain since"}


def test_half_a_sample_of_hold_brings_the_friction_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A torque that is set at t and held acts half a sample later; the docs' mapping says so."""
    monkeypatch.chdir(tmp_path)
    bench = BENCHES["elastic_drive"]
    log = str(bench.logged("log.csv", 2))
    Path("map.toml").write_text(
        '[time]\ncolumn = "t"\n[position]\ncolumns = ["q1", "q2"]\n'
        f'[torque]\ncolumns = ["tau1", "tau2"]\ndelay_s = {-0.5 * bench.period}\n'
    )
    names = (*BODIES["elastic_drive"], "D1", "Fv1", "Fv2", "Fc1", "Fc2")
    found = errors("elastic_drive", fitted("elastic_drive", log, "--map", "map.toml"), names)
    assert np.abs(list(found.values())).max() < 0.05
    assert "This model can be trusted." in capsys.readouterr().out


def without_column(file: str, name: str, to: str) -> None:
    """A CSV file without one of its columns."""
    with Path(file).open() as whole:
        rows = list(csv.DictReader(whole))
    with Path(to).open("w", newline="") as short:
        writer = csv.DictWriter(short, [n for n in rows[0] if n != name], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def test_a_urdf_robot_and_a_log_without_a_torque_lead_on_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A URDF cannot say that a joint has no motor: the refusal names the line, `dynid map` writes it."""
    monkeypatch.chdir(tmp_path)
    BENCHES["pendubot"].logged("log.csv", 3)
    without_column("log.csv", "tau2", "short.csv")
    shoulder = urdf.joint("shoulder", "base", "upper", "continuous", rpy="0 1.5707963267948966 0")
    elbow = urdf.joint("elbow", "upper", "lower", "continuous", xyz="0.22 0 0")
    links = [urdf.link(name, "") for name in ("base", "upper", "lower")]
    Path("arm.urdf").write_text(urdf.robot(*links, shoulder, elbow))
    assert run(["fit", "arm.urdf", "short.csv"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "If elbow had no motor, or one that was off, write axes = [1] under [torque] of a mapping" in said
    assert "dynid map short.csv --out map.toml does, and --map map.toml" in said
    assert run(["map", "short.csv", "--out", "map.toml"]) == 0
    assert "\naxes = [1] " in Path("map.toml").read_text()
    assert run(["check", "short.csv", "--robot", "arm.urdf", "--map", "map.toml"]) == 0
    assert "the axis moves as it would by itself" in capsys.readouterr().out
    found = fitted("arm.urdf", "short.csv", "--map", "map.toml")
    assert np.abs(list(errors("pendubot", found, BODIES["pendubot"]).values())).max() < 0.02


@pytest.mark.parametrize("robot", ["pendubot", "cartpole"])
def test_a_file_without_the_passive_torque_gives_the_same(
    robot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loggers have no column for a joint without a motor."""
    monkeypatch.chdir(tmp_path)
    BENCHES[robot].logged("log.csv", 3)
    without_column("log.csv", "tau2", "short.csv")
    whole, short = fitted(robot, "log.csv"), fitted(robot, "short.csv")
    assert short == pytest.approx(whole, rel=1e-6, abs=1e-9)


# ── robots drawn at random ────────────────────────────────────────────────────────────────────────────────


def drawn_robot(kind: str, rng: np.random.Generator) -> Robot:
    """Rods of 0.15–0.4 m and 0.2–2 kg: a pendubot, an acrobot, a Furuta pendulum or a cart-pole."""
    lengths, masses = rng.uniform(0.15, 0.4, 2).tolist(), rng.uniform(0.2, 2.0, 2).tolist()
    links = [
        {
            "mass": m,
            "com": [L * float(rng.uniform(0.4, 0.7)), 0.0, 0.0],
            "inertia": [1e-4 * m, 0.0, 0.0, m * L * L / 12, 0.0, m * L * L / 12],
        }
        for L, m in zip(lengths, masses, strict=True)
    ]
    driven, free = {"Fv": 0.02, "Fc": 0.06}, {"Fv": 0.002, "Fc": 0.004}
    first: dict[str, Any] = {"link": links[0], "actuated": kind != "acrobot"}
    second: dict[str, Any] = {"link": links[1], "actuated": kind == "acrobot", "d": lengths[0]}
    if kind == "furuta":
        second |= {"alpha_deg": 90.0, "theta_deg": -90.0}
    if kind == "cart":
        first |= {"kind": "prismatic", "link": {"mass": float(rng.uniform(0.5, 3.0))}}
        second |= {"d": 0.0, "alpha_deg": -90.0}
        driven = {"Fv": 3.0, "Fc": 1.0}
    friction = (free, driven) if kind == "acrobot" else (driven, free)
    values = {f"{name}{j + 1}": value for j, row in enumerate(friction) for name, value in row.items()}
    gravity = [0.0, 0.0, -9.81] if kind == "furuta" else [9.81, 0.0, 0.0]
    return robot_from_table({"joint": [first, second], "gravity": gravity, "parameters": values}, kind)


def swinging_log(robot: Robot, rng: np.random.Generator) -> Log:
    """25 s under PD of 5 Hz on the driven joint, four sines; 16-bit encoders, 2 % torque noise."""
    amplitudes = (0.12 if robot.name == "cart" else 0.6) * np.array([1.0, 0.5, 0.3, 0.08])
    hertz = np.array([0.21, 0.53, 1.07, 1.6]) * rng.uniform(0.9, 1.1, 4)
    parts = [
        (amplitudes, hertz, rng.uniform(0, 6, 4)) if on else ([0.0], [1.0], [0.0]) for on in robot.driven
    ]
    sines = Sines(*(tuple(tuple(map(float, row)) for row in rows) for rows in zip(*parts, strict=True)))
    inertia = np.diag(
        kernels(robot).inertia_matrix(robot.table.vector(robot.parameters), np.zeros((1, 2)))[0]
    )
    kp, kd = (tuple((factor * inertia).tolist()) for factor in ((10 * np.pi) ** 2, 20 * np.pi))
    sensors = Sensors(resolution=(2e-5 if robot.name == "cart" else 1e-4, 1e-4), torque_noise_relative=0.02)
    return simulate(
        robot, None, Controller(PID(kp, kd), 1e-3), sines.sample(1e-3, 25.0), sensors=sensors, rng=rng
    ).log


@pytest.mark.slow
def test_robots_drawn_at_random_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All go through; of their bodies' parameters at least nine in ten are within 2 %, and all within 5 %."""
    monkeypatch.chdir(tmp_path)
    found: list[float] = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        robot = drawn_robot(("pendubot", "acrobot", "furuta", "cart")[seed % 4], rng)
        Path("robot.toml").write_text(robot_to_toml(robot))
        Path("log.csv").unlink(missing_ok=True)
        save_log(swinging_log(robot, rng), Path("log.csv"))
        assert run(["check", "log.csv", "--robot", "robot.toml"]) == 0
        values = fitted("robot.toml", "log.csv")
        base = find_base(robot)
        truth = dict(zip(base.names, base.regroup(robot.parameters).tolist(), strict=True))
        bodies = [name for name in truth if name[0] in "XZM" and abs(truth[name]) > 1e-3]
        found += [abs(values[name] / truth[name] - 1) for name in bodies]
    assert np.mean(np.array(found) < 0.02) >= 0.9
    assert max(found) < 0.05
