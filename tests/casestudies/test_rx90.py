"""P2 on a simulated RX-90: what is accepted, and that refusals can happen."""

from __future__ import annotations

import json
from functools import cached_property

import pytest

from dynid.calibration import DriveGains, PayloadKnowledge
from dynid.casestudies import rx90, rx90_tables
from dynid.casestudies.case import Row
from dynid.casestudies.cases import CASES
from dynid.casestudies.rx90_paper import TABLE_2, TABLE_3, TABLE_4
from dynid.casestudies.rx90_runs import Rx90Runs
from dynid.core.errors import DynidError
from dynid.report.page import render_case


def refused(rows: list[Row] | tuple[Row, ...]) -> set[str]:
    return {row.quantity for row in rows if not row.ok}


def test_all_rows_hold_on_one_seed() -> None:
    result = rx90.run(seeds=1)
    assert refused(result.rows) == set()
    assert result.ok
    published = {row.quantity: row.published for row in result.rows}
    assert [
        published[f"{name}, {case} [kg]"] for name, case in [("ML", c) for c in rx90_tables.CASES]
    ] == list(TABLE_2["ML"])
    assert set(TABLE_3) | set(TABLE_4) <= {row.published for row in result.rows}
    assert any(row.published == 4.35 for row in result.rows)
    document = result.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == json.loads(json.dumps(document))
    assert render_case(document, result.figures).count("<svg") == 4


@pytest.mark.slow
def test_all_rows_hold_on_five_seeds() -> None:
    assert refused(rx90.run().rows) == set()


class LightRuns(Rx90Runs):
    """The mass weighed a twentieth too small."""

    @cached_property
    def sequential(self) -> DriveGains:
        """Gains that are all five per cent too small."""
        return self.gains("sequential", PayloadKnowledge.of_mass(0.95 * 7.025))


def test_a_wrong_mass_is_refused() -> None:
    assert {"gain of motor 1", "gain of motor 2", "gain of motor 3"} <= refused(
        rx90_tables._gain_rows([LightRuns(0)])
    )


def test_gains_of_motors_5_and_6_keep_mz_from_following() -> None:
    """Case 3: with all gains × 1.2 the payload is × 1.2, exactly."""
    [row] = [row for row in rx90_tables._case_3_rows([Rx90Runs(0)]) if "all six gains" in row.quantity]
    assert row.ours == pytest.approx(1.2, rel=1e-6)


def test_options() -> None:
    assert CASES["rx90"].options == ("section", "seeds")
    with pytest.raises(DynidError, match="Unknown section 'table'"):
        rx90.run(section="table")
    with pytest.raises(DynidError, match="0 seeds were asked for"):
        rx90.run(seeds=0)
