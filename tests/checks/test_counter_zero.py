"""The zero of a counter that wraps: chosen by the torques where they tell, said to be open where not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import dynid
from dynid.checks import check_log, repair_log
from dynid.checks.counter_zero import with_ranges_by_torques
from dynid.core.finding import Finding
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.repair import counter_ranges, unwrap_positions
from support.damage import sheet
from support.logs import robot_log, torques, with_channel

ROBOT = dynid.load_robot("double_pendulum")


def far_from_zero(robot: Robot, by: float = 2.2) -> Log:
    """A motion about a place that is far from the zeros of the joints, positions and torques only."""
    log = robot_log(robot, seconds=8.0)
    q, qd = log.array("position") + by, log.array("velocity")
    tau = torques(robot, q, qd, np.gradient(qd, log.time, axis=0))
    tau += 0.01 * np.std(tau, axis=0) * np.random.default_rng(1).standard_normal(tau.shape)
    return Log("far", log.time, {"position": q, "torque": tau})


LOG = far_from_zero(ROBOT)


def counted(log: Log, axis: int, modulus: float) -> Log:
    """One position as a counter of 16 bits that is full at ``modulus``."""
    q, unit = log.array("position").copy(), modulus / 2**16
    q[:, axis] = np.round(q[:, axis] / unit) % 2**16 * unit
    return with_channel(log, position=q)


def zeros(log: Log, robot: Robot | None) -> list[Finding]:
    return [finding for finding in check_log(log, robot).findings if finding.name == "counter zero"]


def test_the_torques_choose_the_range() -> None:
    log = counted(LOG, 0, 1.9)
    nearest_zero = repair_log(log)
    assert np.abs(nearest_zero.array("position") - LOG.array("position")).max() == pytest.approx(
        1.9, abs=1e-3
    )
    mended = repair_log(log, robot=ROBOT)
    assert np.allclose(mended.array("position"), LOG.array("position"), atol=1e-3)
    assert mended.history[-1].note == "Whole ranges were added where the torques say so (1 of position 1)."
    assert zeros(log, ROBOT) == zeros(mended, ROBOT) == []
    plain, found = dynid.fit(ROBOT, LOG).estimate, dynid.fit(ROBOT, log, repair=True).estimate
    assert np.abs((plain.values - found.values) / plain.sigma).max() < 1.0


def test_where_the_torques_do_not_tell_the_zero_is_said_to_be_open(tmp_path: Path) -> None:
    """The zero of the last joint turns the frame of its link: other parameters, the same torques."""
    log = counted(LOG, 1, 1.9)
    for one in (log, repair_log(log), repair_log(log, robot=ROBOT)):
        (finding,) = zeros(one, ROBOT)
        assert finding.level.word == "care"
        assert finding.where.axis == 2
        assert "its zero is known up to whole ranges of 1.9 only" in finding.sentence
        assert "the torques do not tell" in finding.remedy
    (note,) = zeros(repair_log(log), None)
    assert note.level.word == "note"
    assert "--robot" in note.remedy
    dynid.save_log(repair_log(log, robot=ROBOT), tmp_path / "mended.npz")
    assert zeros(dynid.read_log(tmp_path / "mended.npz"), ROBOT)


def test_nothing_is_said_where_it_does_not_matter() -> None:
    """A full turn is the same place, and so is any angle of a first axis that stands upright."""
    turned = with_channel(LOG, position=(LOG.array("position") + np.pi) % (2 * np.pi) - np.pi)
    assert "wrapped position" in {finding.name for finding in check_log(turned, ROBOT).findings}
    assert zeros(turned, ROBOT) == zeros(repair_log(turned), ROBOT) == []
    scara = dynid.load_robot("scara")
    log = counted(far_from_zero(scara), 0, 1.9)
    assert "wrapped position" in {finding.name for finding in check_log(log, scara).findings}
    assert zeros(log, scara) == []


@pytest.mark.slow
def test_rates_on_logs_that_set_no_threshold() -> None:
    """Each axis in turn as a counter, up to two ranges from zero; seeds below 100 set the threshold."""
    found: Counter[str] = Counter()
    for seed in range(100, 140):
        made, rng = sheet(seed), np.random.default_rng([seed, 3])
        n = made.axes
        plain = Log("p", made.values[:, 0], {"position": made.values[:, 1 : 1 + n],
                                             "torque": made.values[:, 1 + n :]})  # fmt: skip
        for axis in range(n):
            q = plain.array("position")[:, axis]
            log = unwrap_positions(counted(plain, axis, float(np.ptp(q) / rng.uniform(0.8, 2.5))), made.robot)
            if axis not in counter_ranges(log):
                continue
            shifted, modulus = log.array("position").copy(), counter_ranges(log)[axis]
            shifted[:, axis] += int(rng.integers(-2, 3)) * modulus
            chosen = with_ranges_by_torques(with_channel(log, position=shifted), made.robot)
            off = float(np.median(chosen.array("position")[:, axis] - q)) / modulus
            upright = axis == 0 and made.robot.name != "double_pendulum"
            known = bool(chosen.history[-1].options["known"])
            kind = "same" if upright else "last" if axis == n - 1 else "telling"
            outcome = "known" if upright else "right" if abs(off) < 0.3 else "wrong"
            found[f"{kind}: {outcome if known else 'open'}"] += 1
    print(dict(found))
    assert found["telling: wrong"] == found["last: wrong"] == found["last: right"] == found["same: open"] == 0
    assert found["telling: right"] > 0.9 * (found["telling: right"] + found["telling: open"])
