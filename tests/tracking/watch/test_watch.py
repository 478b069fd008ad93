"""A payload, a push and a broken model beside a drawn arm: seen, named, and kept out of its parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

import numpy as np

from dynid.core.finding import Name
from dynid.estimators.recursive.recursion import RecursionOptions
from dynid.estimators.recursive.rls import LeastSquaresRecursion
from dynid.model.inertia import LinkInertia
from dynid.tracking.watch import Watch, WatchedInstant, WatchEvent, WatchOptions
from population.robots import generator
from population.watch import Rows, Stretch, arms, stretch_rows

RATE = 50.0
STRETCH = Stretch(60.0, payload=0.2, carried_s=20.0, pushes=(8.0,))


@cache
def rows_and_body() -> tuple[Rows, LinkInertia]:
    """A drawn arm that picks a payload up at 60 s, puts it down at 80 s, and is pushed at 100 s."""
    index, arm = next(islice(arms("showing"), 2, None))
    rows, body = stretch_rows(arm, STRETCH, generator("showing", 80, index))
    assert body is not None
    return rows, body


def recursion() -> LeastSquaresRecursion:
    rows, _ = rows_and_body()
    sigma = 0.05 * np.sqrt(np.mean(rows.y**2, axis=0))
    return LeastSquaresRecursion(rows.base.names, sigma, None, RecursionOptions(blocks=0))


@dataclass
class Run:
    """A watch and its recursion, and what was told so far."""

    watch: Watch
    recursion: LeastSquaresRecursion
    events: list[WatchEvent]

    def through(self, instants: list[WatchedInstant]) -> Run:
        for at in instants:
            self.events += self.watch.update(self.recursion, at)
        return self

    def named(self, name: Name) -> list[WatchEvent]:
        return [event for event in self.events if event.finding.name is name]


def new_run(options: WatchOptions | None = None) -> Run:
    return Run(Watch(rows_and_body()[0].base, RATE, options), recursion(), [])


@cache
def whole_run() -> Run:
    return new_run().through(list(rows_and_body()[0].instants()))


def test_nominal_motion_is_silent() -> None:
    told = [e for e in whole_run().events if e.finding.name is not Name.INERTIA_NOT_POSITIVE]
    assert [e for e in told if e.time < STRETCH.nominal_s] == []


def test_a_payload_is_told_and_weighed() -> None:
    (seen,), (weighed,) = (whole_run().named(n) for n in (Name.PAYLOAD_PICKED_UP, Name.PAYLOAD_WEIGHED))
    body = rows_and_body()[1]
    assert 0 < seen.time - STRETCH.nominal_s < 1.5
    assert abs(seen.onset - STRETCH.nominal_s) < 0.5
    np.testing.assert_allclose(weighed.finding.figures["mass"], body.mass, rtol=0.05)


def test_it_is_told_when_it_is_put_down() -> None:
    (down,) = whole_run().named(Name.PAYLOAD_PUT_DOWN)
    assert 0 < down.time - STRETCH.put_down < 2.0
    assert not whole_run().watch.loaded


def test_a_push_is_a_collision() -> None:
    (push,) = whole_run().named(Name.COLLISION)
    assert abs(push.onset - STRETCH.pushed[0]) < 0.5
    assert push.finding.where.axis is not None


def test_the_arm_does_not_swallow_the_payload() -> None:
    rows, _ = rows_and_body()
    before = rows.time < STRETCH.nominal_s - 1.0
    at = (rows.time > STRETCH.nominal_s + 2.0) & (rows.time < STRETCH.put_down - 1.0)
    loaded = list(rows.instants())[: int(np.flatnonzero(at)[-1])]
    errors = []
    for options in (WatchOptions(), WatchOptions(acts=False)):
        run = new_run(options).through(loaded)
        left = rows.y[before] - rows.W[before] @ run.recursion.values
        errors.append(float(np.sqrt(np.mean(left[-1000:] ** 2))))
    assert errors[0] < 0.6 * errors[1]


def test_a_watch_that_does_not_act_changes_nothing() -> None:
    instants = list(rows_and_body()[0].instants())[:3500]
    alone = recursion()
    for at in instants:
        alone.update(at.W, at.y)
    run = new_run(WatchOptions(acts=False)).through(instants)
    np.testing.assert_array_equal(run.recursion.values, alone.values)
    assert run.named(Name.PAYLOAD_PICKED_UP)


def test_it_goes_on_after_a_restart() -> None:
    instants = list(rows_and_body()[0].instants())
    first = new_run().through(instants[:2500])
    second = new_run()
    second.watch.restore(first.watch.state())
    second.recursion.restore(first.recursion.state())
    second.through(instants[2500:])
    last = [(e.time, e.finding.name) for e in whole_run().events if e.time > instants[2500].time]
    assert [e.finding.name for e in second.events] == [name for _, name in last]
    assert max(abs(e.time - t) for e, (t, _) in zip(second.events, last, strict=True)) < 0.5


def test_masked_rows_are_no_alarm() -> None:
    rng, run = np.random.default_rng(9), new_run()
    for at in list(rows_and_body()[0].instants())[:2900]:
        rows = (rng.random(len(at.y)) > 0.3).astype(float)
        masked = replace(at, W=at.W * rows[:, None], y=at.y * rows, rows=rows)
        run.events += run.watch.update(run.recursion, masked)
    assert [e for e in run.events if e.finding.name is not Name.INERTIA_NOT_POSITIVE] == []


def test_parameters_no_robot_has_are_told() -> None:
    run = new_run()
    run.through(list(rows_and_body()[0].instants())[:2500])
    run.events.clear()
    run.recursion.restore({**run.recursion.state(), "factor": _turned(run.recursion)})
    run.through(list(rows_and_body()[0].instants())[2500:2520])
    (event,) = run.named(Name.INERTIA_NOT_POSITIVE)
    assert event.finding.figures["smallest_eigenvalue"] < 0


def _turned(recursion: LeastSquaresRecursion) -> np.ndarray:
    """The factor of the same information with χ replaced by −χ."""
    factor = np.array(recursion.state()["factor"])
    factor[:, -1] *= -1
    return factor


def test_memory_is_flat() -> None:
    run, instants = new_run(), list(rows_and_body()[0].instants())
    sizes = []
    for part in (instants[:1500], instants[1500:3000]):
        run.through(part)
        sizes.append(sum(np.size(v) for v in run.watch.state().values()))
    assert sizes[0] == sizes[1]
