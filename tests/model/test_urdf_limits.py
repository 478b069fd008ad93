"""Limits, friction and lengths of a URDF: what is unknown, what is kept, what is refused."""

from __future__ import annotations

import math

import pytest

from dynid.core.errors import ModelError
from dynid.model.loaders.urdf import from_urdf_text
from support.urdf_text import joint, link, robot


def one(**change: str) -> str:
    """One joint between two links, with parts of it changed."""
    return robot(link("base", ""), link("l1"), joint("j1", "base", "l1", **change))  # type: ignore[arg-type]


def test_limits_and_friction_are_kept() -> None:
    more = '<limit lower="-1.5" upper="2" effort="30" velocity="4"/><dynamics damping="0.7" friction="0.2"/>'
    loaded = from_urdf_text(one(more=more))
    limits = loaded.joints[0].limits
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == (-1.5, 2.0, 30.0, 4.0)
    assert (loaded.parameters["Fv1"], loaded.parameters["Fc1"]) == (0.7, 0.2)
    assert loaded.terms == ("Ia", "Fv", "Fc", "off")
    continuous = from_urdf_text(one(kind="continuous", more=more)).joints[0].limits
    assert (continuous.lower, continuous.upper, continuous.velocity) == (-float("inf"), float("inf"), 4.0)


def test_zero_limits_mean_unknown() -> None:
    loaded = from_urdf_text(one(more='<limit lower="0" upper="0" effort="0" velocity="0"/>'))
    assert loaded.joints[0].limits == type(loaded.joints[0].limits)()


@pytest.mark.parametrize("word", ["inf", "-inf", "+inf", "INF", "infinity", "1e999", "-1e999", " inf "])
def test_infinite_limits_mean_unknown(word: str) -> None:
    infinite = " ".join(f'{key}="{word}"' for key in ("lower", "upper", "effort", "velocity"))
    loaded = from_urdf_text(one(more=f"<limit {infinite}/>"))
    assert loaded.joints[0].limits == type(loaded.joints[0].limits)()
    half = from_urdf_text(one(more=f'<limit lower="{word}" upper="0" effort="3" velocity="{word}"/>'))
    limits = half.joints[0].limits
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == (-math.inf, 0.0, 3.0, math.inf)


@pytest.mark.parametrize("word", ["nan", "1_0", "fast", "", "1 2", "0x10"])
def test_other_limits_must_be_numbers(word: str) -> None:
    loaded = from_urdf_text(one(more=f'<limit lower="-1" upper="{word}" effort="3" velocity="1"/>'))
    assert f"Joint 'j1': <limit>: upper='{word}' must be 1 finite number" in loaded.notes[0]
    assert loaded.joints[0].limits == type(loaded.joints[0].limits)()
    with pytest.raises(ModelError, match=r"<origin>: xyz='0 0 inf' must be 3 finite numbers"):
        from_urdf_text(one(xyz="0 0 inf"))


def test_sentences_are_whole() -> None:
    with pytest.raises(ModelError, match=r"are read, so make it fixed or replace it by revolute and"):
        from_urdf_text(one(kind="floating"))
    with pytest.raises(ModelError, match=r"one root link is allowed, so join them with fixed joints\."):
        from_urdf_text(robot(link("a"), link("b")))


def test_far_lengths_are_refused_by_name() -> None:
    with pytest.raises(
        ModelError, match=r"Joint 'j1': [br] is 2000000\.0; it must be a number from -1e\+06 to 1e\+06 m"
    ):
        from_urdf_text(one(xyz="0 0 2e6"))


def test_the_largest_double_as_a_limit_is_taken() -> None:
    more = (
        '<limit lower="-1.7976931348623157e+308" upper="1.7976931348623157e+308" effort="10" velocity="1"/>'
    )
    assert from_urdf_text(one(more=more)).joints[0].limits.upper > 1e308
