"""The population is what it says, and the package's judge keeps to a small fixed slice of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynid import fit
from dynid.base import find_base
from dynid.compile.kernels import kernels
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, JointKind
from dynid.suspects.all_suspects import suspects_of
from dynid.suspects.changes import OF_ALL, OF_JOINT
from population.cases import draw_case
from population.defects import DEFECTS, damage, with_sensors
from population.judge import fitted, judge, shown_sigmas
from population.plant import Drive
from population.robots import HALVES, ROBOTS, draw_robot, generator
from population.run import GRADES, MARK, defects_of, publish, read_rows
from population.table import CRASH, bounds, table_lines
from population.today import Today, meant_by


def test_robots_are_many_and_different() -> None:
    files = [draw_robot(half, number) for half in HALVES for number in range(ROBOTS)]
    robots = [file.robot for file in files]
    assert len({robot.digest for robot in robots}) == len(robots) == 48
    assert sum(file.kind == "urdf" for file in files) == 24
    assert {robot.n_coordinates for robot in robots} == set(range(1, 8))
    assert sum(any(j.kind is JointKind.PRISMATIC for j in robot.joints) for robot in robots) >= 10
    branched = [r for r in robots if any(j.antecedent not in (BASE, i - 1) for i, j in enumerate(r.joints))]
    assert len(branched) >= 5
    assert 10 <= sum(robot.drives is None for robot in robots) <= 38
    assert 5 <= sum(robot.gravity != (0.0, 0.0, -9.81) for robot in robots) <= 24


def test_bodies_can_exist() -> None:
    case = draw_case("setting", 7)
    for joint in case.robot.joints:
        names = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
        body = LinkInertia.from_standard([case.plant.bodies[s + joint.label] for s in names])
        spread = 0.5 * np.trace(body.tensor) * np.eye(3) - body.tensor
        pseudo = np.block([[spread, body.moment[:, None]], [body.moment[None], np.array([[body.mass]])]])
        assert np.linalg.eigvalsh(pseudo).min() > 0


def test_a_number_gives_the_same_case_and_halves_share_nothing() -> None:
    one, again, other = draw_case("setting", 3), draw_case("setting", 3), draw_case("showing", 3)
    np.testing.assert_array_equal(one.logs[0].array("torque"), again.logs[0].array("torque"))
    assert one.robot.digest != other.robot.digest
    drawn = [generator(half, 1).random() for half in HALVES]
    assert drawn[0] != drawn[1]


def test_without_what_models_lack_the_plant_is_the_model() -> None:
    """τ = W χ to rounding."""
    case = draw_case("setting", 3)
    known = {key: getattr(case.plant.drive, key) for key in ("Ia", "Fv", "Fc", "off")}
    zero, tiny = np.zeros(case.axes), np.full(case.axes, 1e-12)
    rest = {key: zero for key in Drive.__dataclass_fields__ if key not in known}
    plain = replace(
        case.plant, drive=Drive(**known, **(rest | {"presliding": tiny, "stribeck_speed": tiny + 1}))
    )
    time = np.arange(0, 3, 0.01)
    state, tau = plain.torques(case.unseen, time, np.random.default_rng(0))
    base = find_base(case.robot)
    W = kernels(case.robot, base.columns).regressor(*state)
    moving = np.all(np.abs(state[1]) > 1e-6, axis=1)
    expected = (W @ base.regroup(plain.parameters))[moving]
    np.testing.assert_allclose(tau[moving], expected, atol=1e-9 * np.abs(tau).max())


def test_an_elastic_joint_moves_as_its_equations_say() -> None:
    """The torques of the inverse model, put into two masses and a spring, give the same motor motion back."""
    case = damage(draw_case("setting", 12), "elasticity", 3)
    assert case is not None
    zero = {key: np.zeros(1) for key in ("Fc", "Fv", "stribeck", "load", "ripple", "asymmetry", "flattening")}
    plant = replace(case.plant, drive=replace(case.plant.drive, **zero, off=np.zeros(1)))
    time = np.arange(0, 2, 1e-3)
    (q_m, qd_m, _), tau = plant.torques(case.unseen, time, np.random.default_rng(0))
    q, qd, _ = case.unseen.at(time)
    k, Ia = 1 / plant.drive.compliance[0], plant.drive.Ia[0]
    still = np.zeros((1, 1))

    def slope(t: float, x: np.ndarray) -> np.ndarray:
        spring = k * (x[2] - x[0])
        gravity = plant.link_torques((x[:1, None], still, still))[0, 0]
        inertia = plant.link_torques((x[:1, None], still, still + 1))[0, 0] - gravity
        motor = np.interp(t, time, tau[:, 0]) - spring
        return np.array([x[1], (spring - gravity) / inertia, x[3], motor / Ia])

    start = [q[5, 0], qd[5, 0], q_m[5, 0], qd_m[5, 0]]
    made = solve_ivp(slope, (time[5], time[1000]), start, t_eval=time[5:1000], rtol=1e-8, atol=1e-10)
    bend = np.abs(q_m - q).max()
    assert bend > 3e-4
    assert np.abs(made.y[2] - q_m[5:1000, 0]).max() < 0.05 * bend


@pytest.mark.parametrize("name", DEFECTS)
def test_every_defect_changes_what_the_user_has(name: str) -> None:
    """The logs or the robot file, and nothing else; the larger size changes more."""
    numbers = iter(range(1, 24))
    pair = None
    while pair is None or None in pair:
        case = draw_case("setting", next(numbers))
        pair = [damage(case, name, grade) for grade in (DEFECTS[name].sizes[0], DEFECTS[name].sizes[-1])]
    sizes = []
    for made in pair:
        assert made is not None
        assert made.defect == name
        assert (made.joint is not None) == DEFECTS[name].of_joint
        other = made.robot.digest != case.robot.digest or made.robot.drives != case.robot.drives
        sizes.append(other or _difference(made.logs[-1], case.logs[-1]))
        assert sizes[-1] > 0
    if not isinstance(sizes[0], bool) and name not in ("torque saturation", "elasticity", "lost samples"):
        assert sizes[1] >= sizes[0]


def _difference(one: object, other: object) -> float:
    total = 0.0
    for name in ("position", "torque"):
        a, b = one.array(name), other.array(name)  # type: ignore[attr-defined]
        rows = min(len(a), len(b))
        total += float(np.sqrt(np.mean((a[:rows] - b[:rows]) ** 2) / np.mean(b[:rows] ** 2)))
    return total + float(np.abs(one.time[-1] - other.time[-1]))  # type: ignore[attr-defined]


def test_a_delay_is_in_the_torque_of_its_joint_alone() -> None:
    case = draw_case("setting", 2)
    late = damage(case, "delay of a joint", 20)
    assert late is not None
    j = late.joint
    assert j is not None
    now, then = (
        one.plant.robot.drives.joint_torque(one.logs[0].array("torque"))
        for one in (case, late)  # type: ignore[union-attr]
    )
    assert np.abs(np.delete(now - then, j, axis=1)).max() < 1e-9 * np.abs(now).max()
    lag = round(late.experiments[0].sensors.delay_s[j] * case.logs[0].rate_hz)
    assert abs(lag) == round(0.02 * case.logs[0].rate_hz)
    shifts = range(-2 * abs(lag), 2 * abs(lag) + 1)
    error = [np.std(np.roll(now[:, j], s)[200:-200] - then[200:-200, j]) for s in shifts]
    assert abs(shifts[int(np.argmin(error))] - lag) <= 1


def test_all_defects_and_sizes_come_in_turn() -> None:
    drawn = [pair for index in range(len(GRADES)) for pair in defects_of(index, 2)]
    assert {drawn.count(pair) for pair in GRADES} == {2}


def test_bounds_of_a_rate() -> None:
    assert bounds(0, 0) == (0.0, 1.0)
    low, high = bounds(5, 100)
    assert low == pytest.approx(0.0164, abs=1e-3)
    assert high == pytest.approx(0.1128, abs=1e-3)


def test_suspects_of_the_package_are_known_to_the_judge() -> None:
    """A suspect that gets another name is not silently a wrong cause."""
    case = draw_case("setting", 1)
    problem = fit(case.robot, case.logs).estimate.problem
    suspects, _ = suspects_of(problem, np.ones(len(problem.base), dtype=bool))
    names = {suspect.key.split("@")[0] for suspect in suspects}
    names |= {f"{what.name} {course}" for what in (*OF_JOINT, *OF_ALL) for course in ("step", "drift", "log")}
    meant = {defect for name in names for defect in meant_by(name)}
    always = ("delay", "zero", "gear", "position", "torque gain", "clock", "gravity", "elastic", "backlash")
    physics = ("Stribeck", "flattening", "load", "asymmetry", "spring", "coupling", "motor inertia")
    changes = ("torque zero", "viscous", "Coulomb", "payload", "one log")
    named = {name for name in DEFECTS if name.startswith((*always, *physics, *changes))}
    assert len(named) == 28
    assert named - meant == set()


def test_what_parameters_take_does_not_show() -> None:
    """A gain of a joint alone is taken by its parameters, its friction in one direction is not."""
    case = draw_case("setting", 12)
    assert case.axes == 1
    sound = fitted(case, None, case.robot, case.logs)
    assert sound is not None
    louder = with_sensors(case, lambda s: s.with_joint(0, gain=1.3))
    odd = damage(case, "asymmetry", 60)
    assert odd is not None
    assert shown_sigmas(louder, sound) < 1 < 5 < shown_sigmas(odd, sound)


def test_rows_of_a_run_that_was_broken_off_are_read_and_published(tmp_path: Path) -> None:
    file, page = tmp_path / "rows.jsonl", tmp_path / "page.md"
    file.write_text('{"index": 1}\n{"index": 2}\n{"ind', encoding="utf-8")
    assert [row["index"] for row in read_rows(file)] == [1, 2]
    page.write_text(f"Text.\n\n{MARK}\n\nold\n", encoding="utf-8")
    publish(page, ["new"])
    assert page.read_text(encoding="utf-8") == f"Text.\n\n{MARK}\n\nnew\n"


SLICE = (("reversed torque", 1), ("degrees", 1), ("gravity direction", 90), ("weak motion", 1))
"""Gross defects, which no judge may miss."""


def test_gross_defects_are_told_and_sound_logs_are_not_refused() -> None:
    """Robots of the half that thresholds are set on; at most one cause of a gross defect comes second."""
    judged = Today()
    rows = []
    for index in (1, 2, 4, 14, 16):
        case = draw_case("setting", index)
        row, sound = judge(case, judged)
        assert row["level"] != "fail", row
        assert row["worst"] < 0.1
        rows.append(row)
        for name, grade in SLICE[index % 2 :: 2]:
            made = damage(case, name, grade)
            if made is not None:
                rows.append(judge(made, judged, sound)[0])
    damaged = [row for row in rows if row["defect"] != "sound"]
    assert len(damaged) >= 7
    assert [row for row in damaged if not row["told"]] == []
    assert sum(not row["first"] for row in damaged) <= 1
    assert "Sound cases: 5" in table_lines(rows)[0]


def test_advice_that_is_followed_mends_the_log() -> None:
    """A gear ratio that is 10 % off: named, sized, and gone after the remedy."""
    case = draw_case("setting", 16)
    made = damage(case, "gear ratio", 10)
    assert made is not None
    row, _ = judge(made, Today(), judge(case, Today())[1])
    assert (row["matters"], row["told"], row["first"], row["right_size"]) == (True, True, True, True)
    assert row["advised_worst"] < 0.2 * row["worst"]


def test_a_judge_that_breaks_down_is_told() -> None:
    row = {"half": "setting", "index": 5, "defect": CRASH, "words": "ValueError('x')"}
    assert table_lines([row])[0] == "Broke down on case 5: ValueError('x')"
