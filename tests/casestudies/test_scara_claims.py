"""Every claim of P0 can fail: what each row is about is broken, and that row, not another, is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import pytest

from dynid.casestudies import scara_claims
from dynid.casestudies.case import Row
from dynid.casestudies.scara_claims import CLAIMED, ClaimRuns, Claims
from dynid.casestudies.scara_runs import loop_problem
from dynid.core.arrays import FloatArray
from dynid.estimators import Estimate
from dynid.estimators.closed_loop import didim as didim_module
from dynid.estimators.closed_loop.didim import DIDIM
from dynid.estimators.closed_loop.strategy import Gains
from dynid.estimators.identification import identify

DRAWS = range(2000, 2012)
RUNS = ClaimRuns(0)
"""One seed as it is, shared by the tests."""


def refused(rows: list[Row]) -> set[str]:
    return {row.quantity for row in rows if not row.ok}


Patch = pytest.MonkeyPatch


def gains_that_stay(patch: Patch) -> ClaimRuns:
    patch.setattr(Gains, "controller", lambda self, model: self.actual)
    return ClaimRuns(0)


def gains_that_always_follow(patch: Patch) -> ClaimRuns:
    patch.setattr(scara_claims, "DIDIM", lambda **options: DIDIM(**{**options, "follow_inertia": "always"}))
    own = scara_claims.fit_steps
    patch.setattr(scara_claims, "fit_steps", lambda seed, duration, follow: own(seed, duration, "always"))
    return ClaimRuns(0)


def no_transient(patch: Patch) -> ClaimRuns:
    patch.setattr(didim_module, "transient", lambda given, problem: 0.0)
    return ClaimRuns(0)


def start_on_the_reference(patch: Patch) -> ClaimRuns:
    patch.setattr(scara_claims, "CLAIMED", Claims(start_off=0.0))
    return ClaimRuns(0)


@pytest.mark.parametrize(
    ("breaking", "rows", "lost"),
    [
        (
            gains_that_stay,
            scara_claims._rows_of_gains,
            {
                "deviation of ZZ1R, inertia believed 2 × too large, gains follow",
                "iterations on the rad/s loop, gains follow",
                "iterations on the rad/s loop, never following over following",
            },
        ),
        (
            gains_that_always_follow,
            scara_claims._rows_of_gains,
            {
                "told as a wrong law, inertia believed 2 × too large, gains never follow",
                "iterations on the rad/s loop, never following over following",
            },
        ),
        (
            no_transient,
            scara_claims._rows_of_start,
            {
                "deviation of ZZ1R, start 0.3 rad off, 5/ω_n dropped",
                "‖Y − Wχ‖ / ‖Y‖, nothing dropped over 5/ω_n dropped",
            },
        ),
        (
            start_on_the_reference,
            scara_claims._rows_of_start,
            {"‖Y − Wχ‖ / ‖Y‖, nothing dropped over 5/ω_n dropped"},
        ),
    ],
)
def test_a_broken_method_loses_its_row(
    breaking: Callable[[Patch], ClaimRuns],
    rows: Callable[[list[ClaimRuns]], list[Row]],
    lost: set[str],
    monkeypatch: Patch,
) -> None:
    broken = breaking(monkeypatch)
    assert refused(rows([broken])) == lost


class KnownLoop(ClaimRuns):
    """A seed where the loop is as believed, W that of the simulation, and samples are quick."""

    @cached_property
    def detuned(self) -> dict[float, Estimate]:
        return {ratio: RUNS.regular_start for ratio, _ in CLAIMED.tunings}

    @cached_property
    def from_reference(self) -> Estimate:
        return RUNS.regular_start

    @cached_property
    def third(self) -> Estimate:
        return RUNS.regular_start

    @cached_property
    def slow_idim(self) -> Estimate:
        return RUNS.idim

    @cached_property
    def printed_start(self) -> Estimate:
        one_pass = DIDIM(start=scara_claims.PRINTED_START, follow_inertia="always", max_iterations=1)
        return replace(identify(loop_problem(RUNS.experiment), one_pass), iterations=6)


def test_where_nothing_is_wrong_the_rows_about_wrong_things_are_lost() -> None:
    known = [KnownLoop(0)]
    assert len(refused(scara_claims._rows_of_tuning(known))) == len(CLAIMED.tunings)
    assert len(refused(scara_claims._rows_of_reference(known))) == 2
    assert len(refused(scara_claims._rows_of_third(known))) == 3
    assert not scara_claims._row_of_slow_samples(known).ok
    assert refused(scara_claims._rows_of_printed_start(known)) == {
        "iterations",
        "distance to the fixed point of M = 1 [σ]",
    }


@pytest.fixture(scope="module")
def drawn() -> dict[int, FloatArray]:
    return {seed: scara_claims.deviations(seed, 100.0) for seed in DRAWS}


@pytest.mark.parametrize(("factor", "ok"), [(1.0, True), (0.7, False), (1.5, False)])
def test_sigma_too_small_and_too_large_are_both_refused(
    drawn: dict[int, FloatArray], factor: float, ok: bool, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(scara_claims, "CLAIMED", Claims(draws=DRAWS))
    monkeypatch.setattr(scara_claims, "deviations", lambda seed, duration: drawn[seed] / factor)
    assert scara_claims._row_of_deviations([RUNS]).ok == ok
