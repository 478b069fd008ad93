"""P1 on a simulated haptic arm: what is accepted, what is refused, and that refusals can happen."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

from dynid.casestudies import haptic, haptic_loop
from dynid.casestudies.case import Row
from dynid.casestudies.haptic_runs import HapticRuns, centred_log, robot, truth
from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.report.page import render_case

TABLE_6 = {
    "ZZ1R": 0.051, "MY1R": 0.024, "Fc1": 0.12, "XX2R": -0.023, "ZZ2R": 0.029, "MX2R": -0.019, "Fc2": 0.11,
    "off2": 0.020, "XX3R": -0.011, "ZZ3R": 0.014, "MX3R": 0.039, "MX5R": 0.068, "Fc5": 0.11, "off5": 0.030,
}  # fmt: skip
"""The column "LS identified value"."""


def refused(rows: tuple[Row, ...] | list[Row]) -> set[str]:
    return {row.quantity for row in rows if not row.ok}


def test_the_truth_is_the_papers_table() -> None:
    assert truth() == TABLE_6


@pytest.mark.slow
def test_all_rows_hold_on_five_seeds() -> None:
    result = haptic.run()
    assert refused(result.rows) == set()
    assert result.ok
    assert max(row.worst or 0.0 for row in result.rows if "rule: largest deviation" in row.quantity) < 0.015
    shown = {row.quantity: row.published for row in result.rows if row.group == "table 6: identified values"}
    assert shown == TABLE_6
    document = result.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == json.loads(json.dumps(document))
    assert render_case(document, result.figures).count("<svg") == 3


class HeldRuns(HapticRuns):
    """The torque held until the next sample, taken for the torque at the sample."""

    @cached_property
    def logs(self) -> tuple[Log, ...]:
        """Half a sample later than it should be."""
        return tuple(
            replace(log, channels={**log.channels, "torque": np.roll(log.array("torque"), -1, axis=0)})
            for log in super().logs
        )


def test_a_late_torque_shows_as_friction_that_the_arm_does_not_have() -> None:
    assert "20 % rule: others, kept" in refused(haptic.table_rows([HeldRuns(0)]))


class WrongRuns(HapticRuns):
    """Torques of joint 2 that are 5 % too large."""

    @cached_property
    def logs(self) -> tuple[Log, ...]:
        """With a wrong drive gain."""
        gain = np.array([1.0, 1.05, 1.0])
        return tuple(
            replace(log, channels={**log.channels, "torque": gain * log.array("torque")})
            for log in super().logs
        )


def test_a_wrong_gain_is_refused() -> None:
    assert {"ZZ2R", "Fc2"} <= refused(haptic.table_rows([WrongRuns(0)]))


def test_a_held_torque_belongs_to_the_middle_of_its_time() -> None:
    time = np.arange(5) / 10
    held = np.column_stack([time + 0.05] * 3)  # of a ramp, held from each sample to the next
    centred = centred_log(Log("ramp", time, {"position": held, "torque": held}))
    np.testing.assert_allclose(centred.array("torque")[:, 0], centred.time)


def test_the_cut_is_closed_only_by_the_closed_form() -> None:
    q = haptic_loop.workspace()
    assert haptic_loop.closure_gap(q) < 1e-14
    assert haptic_loop.singular_value(q) > 1e-3
    assert haptic_loop.power_error() < 1e-8
    cut = haptic_loop.linkage()
    turned = q @ haptic_loop.G.T + haptic_loop.SHIFT + np.eye(6)[2] * 1e-3
    assert np.abs(cut.residuals(turned)).max(axis=1).min() > 1e-5


def test_the_coupling_of_the_catalog_is_the_closed_form() -> None:
    coupling = robot().coupling
    assert coupling is not None
    np.testing.assert_array_equal(coupling.G, haptic_loop.G)
    np.testing.assert_allclose(coupling.offset, haptic_loop.SHIFT, rtol=1e-15)


def test_bad_options_are_told() -> None:
    with pytest.raises(DynidError, match="0 seeds were asked for; give at least 1"):
        haptic.run(seeds=0)
    with pytest.raises(DynidError, match="The case 'haptic' has no option --section; allowed are: --seeds"):
        haptic.CASE.reproduce(None, {"section": "A"})
