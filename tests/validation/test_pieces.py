"""Validation in pieces gives the figures of validation in one piece."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.preparation.motion import Motion
from dynid.validation.figures import error_figures
from dynid.validation.model import as_model
from dynid.validation.pieces import validate_pieces
from dynid.validation.tally import FigureSums
from dynid.validation.validate import validate
from support.study import PLAN, study


def cut(motion: Motion, count: int) -> list[Motion]:
    rows = np.array_split(np.arange(motion.samples), count)
    names = ("time", "q", "qd", "qdd", "tau")
    return [replace(motion, **{n: getattr(motion, n)[r] for n in names}) for r in rows]


def test_sums_give_the_figures() -> None:
    rng = np.random.default_rng(0)
    tau, model = rng.normal(size=(2, 300, 3))
    counts = rng.uniform(size=tau.shape) < 0.8
    counts[:, 2] = False
    sums = FigureSums(3)
    for rows in np.array_split(np.arange(300), 7):
        sums.add(tau[rows], model[rows], counts[rows])
    found, wanted = sums.figures(), error_figures([tau], [model], [counts])
    for name, value in vars(wanted).items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-12, err_msg=name)


def test_pieces_equal_the_whole_at_full_rate() -> None:
    s = study()
    plan = replace(PLAN, decimation=1, speed_thresholds=(0.05,) * 6)
    (motion,) = s.unseen
    whole = validate(s.estimate, s.unseen, plan)
    pieces = validate_pieces(as_model(s.estimate), [("pick_and_place", cut(motion, 5))], plan)
    for name in ("full", "decimated"):
        found, wanted = getattr(pieces, name), getattr(whole, name)
        for key, value in vars(wanted).items():
            np.testing.assert_allclose(getattr(found, key), value, rtol=1e-9, atol=1e-12, err_msg=key)
    for name, value in whole.shares.rms.items():
        np.testing.assert_allclose(pieces.shares.rms[name], value, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            pieces.shares.percent[name], whole.shares.percent[name], rtol=1e-9, atol=1e-9
        )
    np.testing.assert_allclose(pieces.doubt_rms, whole.doubt_rms, rtol=1e-9)
    assert pieces.motions[0].samples == motion.samples
    assert pieces.verdict.grade == whole.verdict.grade
    assert set(pieces.to_dict()) == set(whole.to_dict())


def test_decimated_pieces_differ_at_their_edges_only() -> None:
    s = study()
    whole = validate(s.estimate, s.unseen, PLAN)
    pieces = validate_pieces(as_model(s.estimate), [("a", cut(s.unseen[0], 3))], PLAN)
    np.testing.assert_allclose(pieces.judged.rms, whole.judged.rms, rtol=0.05)
    assert abs(pieces.judged.samples[0] - whole.judged.samples[0]) <= 3


def test_concerns_may_come_with_the_pieces() -> None:
    s = study()
    concerns: list[Finding] = []

    def logs():  # type: ignore[no-untyped-def]
        for name in ("a", "b"):
            concerns.append(Finding(Name.DELAY, Level.CARE, f"{name} is odd."))
            yield name, list(s.unseen)

    found = validate_pieces(
        as_model(s.estimate), logs(), PLAN, concerns=concerns, seen=lambda: len(concerns) == 2
    )
    assert (found.verdict.grade, found.seen) == ("care", True)
    assert [finding.sentence for finding in found.verdict.findings[:2]] == ["a is odd.", "b is odd."]
    assert [motion.name for motion in found.motions] == ["a", "b"]
    with pytest.raises(DynidError, match="Validation was given no motion"):
        validate_pieces(as_model(s.estimate), [], PLAN)
