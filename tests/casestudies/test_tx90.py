"""P3 on a simulated TX-90: what is accepted, what is refused, and that refusals can happen."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

from dynid.casestudies import tx90, tx90_measured
from dynid.casestudies.case import Row
from dynid.casestudies.tx90_chain import (
    PRINTED_HZ,
    ChainRuns,
    Way,
    averaged_log,
    deviations,
    recorded_log,
)
from dynid.casestudies.tx90_paper import (
    SUMS,
    TABLE_4,
    TABLE_5_EXCITATION,
    TABLE_5_VALIDATION,
    TABLE_6_LOW_PASS,
    TABLE_8,
)
from dynid.casestudies.tx90_runs import (
    NOISE,
    STAMPS,
    Tx90Runs,
    base,
    largest_motion,
    limits,
    observation,
    truth,
    validation_motions,
    white_noise_fits,
)
from dynid.casestudies.tx90_tables import section_designs
from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError
from dynid.excitation.design import Design
from dynid.report.page import render_case
from dynid.trajectories.fourier import Fourier

FIGURES = {
    "designs": ["Fig. 2", "Fig. 3", "Fig. 4"],
    "validation": ["Fig. 7"],
    "measured": ["Fig. 8", "Fig. 9", "Fig. 10"],
}
RUN = ChainRuns(1)
"""One seed, shared by the tests."""


def refused(rows: tuple[Row, ...] | list[Row]) -> set[tuple[str, str]]:
    return {(row.group, row.quantity) for row in rows if not row.ok}


@pytest.mark.parametrize(("section", "seeds"), [("designs", 2), ("validation", 3), ("measured", 1)])
def test_a_section_holds_on_few_seeds(section: str, seeds: int) -> None:
    result = tx90.run(section=section, seeds=seeds)
    assert refused(result.rows) == set()
    assert result.ok
    assert all(row.group.startswith(section) for row in result.rows)
    assert [figure.title for figure in result.figures] == FIGURES[section]
    document = result.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == json.loads(json.dumps(document))
    page = render_case(document, result.figures)
    assert page.count("<svg") == sum(len(figure.charts) for figure in result.figures)


@pytest.mark.slow
def test_all_tables_hold_on_five_seeds() -> None:
    result = tx90.run()
    assert refused(result.rows) == set()
    told = " ".join(row.group for row in result.rows)
    assert all(table in told for table in ("table 4", "table 5", "table 6", "table 7", "table 8"))
    assert [figure.title for figure in result.figures] == [
        title for titles in FIGURES.values() for title in titles
    ]


def test_the_printed_figures_agree_with_each_other() -> None:
    values = {name: float(value) for name, value in zip(base().names, truth(), strict=True) if value}
    assert values == {name: value for name, (value, _, _) in TABLE_4.items()}
    for value, rsd, sigma in TABLE_4.values():
        assert abs(100 * sigma / abs(value) - rsd) < 0.5 + 100 * 0.005 / abs(value)
    parts = {
        "table 5": (TABLE_5_EXCITATION, TABLE_5_VALIDATION),
        "table 6": (TABLE_5_EXCITATION, TABLE_6_LOW_PASS),
        "table 8": tuple(TABLE_8.values()),
    }
    for table, sums in SUMS.items():
        np.testing.assert_allclose([sum(part) for part in parts[table]], sums, atol=0.041)


def test_torques_of_the_regressor_are_those_of_the_inverse_model() -> None:
    motion = validation_motions()[3]
    states = (motion.at(STAMPS, order) for order in range(3))
    direct = kernels(base().robot).inverse(base().robot.parameters, *states)
    np.testing.assert_allclose(observation(motion) @ truth(), direct, atol=1e-9)


def test_a_filling_motion_touches_a_bound_of_every_axis() -> None:
    motion = largest_motion(validation_motions()[0])
    shares = np.array([motion.bound(order) / limits().high[order] for order in range(3)])
    np.testing.assert_allclose(shares.max(axis=0), 1.0)
    assert np.max(np.abs([motion.at([0.0, 10.0], order) for order in range(3)])) < 1e-9


def test_a_log_has_the_noise_of_table_5() -> None:
    motion = validation_motions()[1]
    log = recorded_log(motion, np.random.default_rng(0))
    mean = averaged_log(log)
    true = observation(motion) @ truth()
    noise, left = log.array("torque") - np.tile(true, (3, 1)), mean.array("torque") - true
    np.testing.assert_allclose(np.std(noise, axis=0), NOISE, rtol=0.1)
    np.testing.assert_allclose(np.std(left, axis=0), NOISE / np.sqrt(3), rtol=0.1)
    assert log.samples == 1875
    assert mean.samples == 625
    assert 0 < np.max(np.abs(mean.array("position") - motion.at(STAMPS))) < np.deg2rad(1e-4)


def test_errors_grow_with_the_size_of_the_motions_and_fall_with_that_of_the_fit() -> None:
    motion = RUN.motions["random"]
    small = white_noise_fits(motion, np.random.default_rng(0))
    large = white_noise_fits(largest_motion(motion), np.random.default_rng(0))
    assert small.full.sum() > 1.5 * small.small.sum()
    assert large.small.sum() < small.small.sum()
    assert np.all(small.on_noisy_motions > NOISE)


def test_equations_18_and_20_as_printed_do_not_rest() -> None:
    a, b = np.array([[1.0, -1.0]]), np.array([[1.0, -1.0]])  # Σ a = 0, and Σ b = 0 for Σ l b = 0
    pulsations = 2 * np.pi * 0.1 * np.arange(1, 3)
    printed = Fourier(0.1, a, b, -b @ (1.0 / pulsations))
    assert abs(printed.at([0.0])[0, 0]) > 0.1
    assert abs(printed.at([0.0], 2)[0, 0]) > 0.1


class LargerMotions(Tx90Runs):
    """Designs that are 5 % too large."""

    @cached_property
    def motions(self) -> dict[str, Fourier]:
        own = RUN.motions
        return {
            name: replace(m, a=1.05 * m.a, b=1.05 * m.b, offset=1.05 * m.offset) for name, m in own.items()
        }


class SilentDesigns(Tx90Runs):
    """Designs that tell nothing, one of which has parallel columns."""

    @cached_property
    def designs(self) -> dict[str, Design]:
        own = Tx90Runs(0).designs
        return {name: without_findings(design) for name, design in own.items()}


def test_limits_that_are_passed_are_refused() -> None:
    lost = {quantity for _, quantity in refused(section_designs([LargerMotions(1)]))}
    assert "share of a limit that the bounds (15)–(17) use" in lost


def without_findings(design: Design) -> Design:
    silent = copy.copy(design)
    vars(silent)["findings"] = ()
    return silent


def test_parallel_columns_that_are_not_told_are_refused() -> None:
    lost = {quantity for _, quantity in refused(section_designs([SilentDesigns(0)]))}
    assert lost == {"wrongly told or untold parallel columns, J1 to J3"}


def test_the_printed_cut_off_loses_essential_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tx90_measured, "CHAIN", Way(cutoff_hz=PRINTED_HZ))
    lost = {quantity for _, quantity in refused(tx90_measured._essential_rows([RUN]))}
    assert {"of the 29, lost", "others, kept", "median deviation of the 29"} <= lost


def test_without_noise_everything_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.casestudies.tx90_chain.NOISE", np.zeros(6))
    quiet = ChainRuns(1)
    quiet.__dict__["designs"] = RUN.designs
    assert max(deviations(quiet.estimate(Way(cutoff_hz=5.0))).values()) < 0.05


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"section": "3.3"}, "Unknown section '3.3'"),
        ({"seeds": 0}, "0 seeds were asked for; give at least 1"),
        ({"loop": "hz"}, "The case 'tx90' has no option --loop; allowed are: --section, --seeds"),
    ],
)
def test_bad_options_are_told(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(DynidError, match=sentence):
        tx90.CASE.reproduce(None, options)
