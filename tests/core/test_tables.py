"""Declared tables: one declaration gives objects, files, sentences, rows of the docs and help of options."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import pytest

from dynid.core.errors import DynidError, UnknownNameError
from dynid.core.files import toml_text
from dynid.core.keys import OtherKey, docs_rows, key, option_help
from dynid.core.tables import check_fields, table_from, to_table


class Shape(StrEnum):
    ROUND = "round"
    FLAT = "flat"


@dataclass(frozen=True)
class Inner:
    name: str = key("what it is called", "")
    width: float = key("width", 1.0, unit="m", above=0)


@dataclass(frozen=True)
class Outer:
    rate_hz: float = key("rate", unit="Hz", above=0)
    order: int = key("order of the filter", 4, least=1, most=12)
    points: int = key("samples of a difference", 3, choices=(3, 5))
    window: int = key(
        "samples of the median", 0, allowed="0 or an odd number", rule=lambda n: n == 0 or n % 2 == 1
    )
    shape: Shape = key("shape", Shape.ROUND)
    sign: str = key("sign between cells", ",", choices={"comma": ",", "tab": "\t"})
    angle: float = key("angle", 0.0, unit="rad", other=OtherKey("angle_deg", "deg", math.radians))
    limit: float = key("largest speed", math.inf, infinite=True)
    cutoff_hz: float | None = key("cut-off", None, unit="Hz", above=0)
    used: bool = key("whether it is used", True, name="use")
    gravity: tuple[float, float, float] = key("gravity", (0.0, 0.0, -9.81), unit="m/s²")
    gains: tuple[float, ...] = key("gains", (1.0,), per_axis=True, least=0)
    directions: tuple[float, ...] = key("directions", (1.0,), per_axis=True, choices=(1, -1))
    waves: tuple[tuple[float, ...], ...] = key("waves", (), per_axis=True, longest=3)
    columns: str | int | tuple[str | int, ...] | None = key("columns", None)
    inner: Inner = key("one part", factory=Inner)
    parts: tuple[Inner, ...] = key("parts", ())
    lengths: Mapping[str, float] = key("lengths", factory=dict)
    others: Mapping[str, Inner] = key("left and right", factory=dict, choices=("left", "right"), spread=True)
    note: str = "no key"


FULL = """rate_hz = 500
points = 5
shape = "flat"
sign = "tab"
angle_deg = 180
use = false
gains = [1, 2]
waves = [[1.5, 2], 3]
columns = ["a", 2]
inner = { width = 2 }
lengths = { D3 = 0.5 }
[[parts]]
name = "a"
[[parts]]
width = 3
[left]
width = 4
"""


def test_a_full_table_is_read_and_written_back() -> None:
    made = table_from(tomllib.loads(FULL), Outer, axes=2)
    assert (made.rate_hz, type(made.rate_hz), made.points, made.sign) == (500.0, float, 5, "\t")
    assert (made.shape, made.angle, made.used, made.limit) == (Shape.FLAT, math.pi, False, math.inf)
    assert (made.gains, made.waves, made.columns) == ((1.0, 2.0), ((1.5, 2.0), (3.0,)), ("a", 2))
    assert made.inner == Inner(width=2.0)
    assert (made.parts, made.lengths) == ((Inner("a"), Inner(width=3.0)), {"D3": 0.5})
    assert made.others == {"left": Inner(width=4.0)}
    assert "order" not in to_table(made)
    text = toml_text(to_table(made))
    assert table_from(tomllib.loads(text), Outer, axes=2) == made
    assert "[[parts]]" in text
    assert "[left]" in text


def test_one_value_serves_all_axes() -> None:
    assert table_from({"rate_hz": 1, "gains": 3}, Outer, axes=3).gains == (3.0, 3.0, 3.0)
    assert table_from({"rate_hz": 1, "gains": [3]}, Outer, axes=2).gains == (3.0, 3.0)
    assert table_from({"rate_hz": 1, "gains": 3}, Outer).gains == (3.0,)


def test_chosen_numbers_have_the_declared_type() -> None:
    made = table_from({"rate_hz": 1, "directions": [1, -1]}, Outer)
    assert made.directions == (1.0, -1.0)
    assert {type(number) for number in made.directions} == {float}


def test_a_negative_zero_is_not_the_default() -> None:
    assert math.copysign(1, to_table(Outer(1.0, angle=-0.0))["angle"]) == -1


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({}, "rate_hz is missing; give a number above 0 Hz."),
    "unknown": ({"ordre": 1}, "Unknown key 'ordre'. Did you mean 'order'?"),
    "field's name": ({"used": True}, "Unknown key 'used'. Did you mean 'use'?"),
    "no key": ({"note": "x"}, "Unknown key 'note'."),
    "word": ({"rate_hz": "5"}, "rate_hz is '5'; it must be a number above 0 Hz."),
    "truth": ({"rate_hz": True}, "rate_hz is True; it must be a number above 0 Hz."),
    "zero": ({"rate_hz": 0}, "rate_hz is 0; it must be a number above 0 Hz."),
    "nan": ({"rate_hz": math.nan}, "rate_hz is nan; it must be a finite number."),
    "infinite": ({"rate_hz": math.inf}, "rate_hz is inf; it must be a finite number."),
    "huge": ({"rate_hz": 1e305}, "rate_hz is 1e+305; it must be between -1e+300 and 1e+300."),
    "digits": (
        {"rate_hz": 10**400},
        "rate_hz is a number of more than 300 digits; it must be between -1e+300",
    ),
    "nan limit": ({"limit": math.nan}, "limit is nan; it must be a number."),
    "fraction": ({"order": 4.5}, "order is 4.5; it must be a whole number from 1 to 12."),
    "beyond": ({"order": 13}, "order is 13; it must be a whole number from 1 to 12."),
    "truth as order": ({"order": True}, "order is True; it must be a whole number from 1 to 12."),
    "choice of numbers": ({"points": 4}, "points is 4; it must be 3 or 5."),
    "rule": ({"window": 4}, "window is 4; it must be 0 or an odd number."),
    "enumeration": ({"shape": "rund"}, "Unknown shape 'rund'. Did you mean 'round'?"),
    "choice": ({"sign": "coma"}, "Unknown sign 'coma'. Did you mean 'comma'?"),
    "choice by a number": ({"sign": 3}, "sign is 3; it must be comma or tab."),
    "both": ({"angle": 1, "angle_deg": 2}, "angle and angle_deg are both given; keep one."),
    "other key": ({"angle_deg": "x"}, "angle_deg is 'x'; it must be a number in deg."),
    "switch": ({"use": 1}, "use is 1; it must be true or false."),
    "count": ({"gravity": [0, 0]}, "gravity is [0, 0]; it must be a list of 3 numbers in m/s²."),
    "entry": ({"gravity": [0, "a", 0]}, "entry 2 of gravity is 'a'; it must be a number in m/s²."),
    "axes": ({"gains": [1, 2, 3]}, "gains has 3 values for 2 axes; give one per axis, or one for all."),
    "empty": ({"gains": []}, "gains is an empty list; give one value per axis, or one for all."),
    "negative gain": ({"gains": [1, -2]}, "entry 2 of gains is -2; it must be a number from 0."),
    "rows": ({"waves": [[1], 2, 3]}, "waves has 3 values for 2 axes; give one list of numbers per axis."),
    "row of words": ({"waves": [["a"], 2]}, "entry 1 of entry 1 of waves is 'a'; it must be a number."),
    "no rows": ({"waves": 0.5}, "waves is 0.5; it must be a list of numbers per axis."),
    "too long": ({"waves": [[1, 2, 3, 4], 2]}, "entry 1 of waves has 4 entries; at most 3 are taken."),
    "columns": ({"columns": 1.5}, "columns is 1.5; it must be text, a whole number or a list of"),
    "no table": ({"inner": 5}, "inner is 5; it must be a table of keys and values."),
    "inside": ({"inner": {"width": 0}}, "[inner]: width is 0; it must be a number above 0 m."),
    "inside, unknown": ({"inner": {"with": 0}}, "[inner]: Unknown key 'with'. Did you mean 'width'?"),
    "in a list": ({"parts": [{}, {"width": "x"}]}, "parts 2: width is 'x'; it must be a number above 0 m."),
    "in a named one": ({"parts": [{"name": "a", "width": "x"}]}, "parts 'a': width is 'x'; it must"),
    "list of numbers": ({"parts": [1]}, "entry 1 of parts is 1; it must be a table of keys and values."),
    "free names": ({"lengths": {"D": "x"}}, "[lengths]: D is 'x'; it must be a number."),
    "spread": ({"left": {"width": "x"}}, "[left]: width is 'x'; it must be a number above 0 m."),
    "spread, unknown": ({"lift": {}}, "Unknown key 'lift'. Did you mean 'left'"),
    "long value": ({"rate_hz": "x" * 1000}, "…; it must be a number above 0 Hz."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_every_slip_has_its_sentence(name: str) -> None:
    content, sentence = REFUSED[name]
    with pytest.raises(DynidError) as caught:
        table_from(content if name == "missing" else {"rate_hz": 5, **content}, Outer, axes=2)
    assert sentence in str(caught.value)
    assert len(str(caught.value)) < 400


def test_what_is_no_table_is_told_with_its_place() -> None:
    with pytest.raises(DynidError, match=r"\[low_pass\] is 5; it must be a table of keys and values\."):
        table_from(5, Inner, "[low_pass]")


@dataclass(frozen=True)
class Checked:
    count: int = key("count", 0, least=0)
    values: tuple[float, ...] = key("values", (), least=0)

    def __post_init__(self) -> None:
        check_fields(self, "The plan")


def test_values_of_python_are_checked_and_brought_to_their_types() -> None:
    made = Checked(np.int64(3), np.array([1, 2], dtype=np.float32))  # type: ignore[arg-type]
    assert (made, type(made.count), type(made.values[0])) == (Checked(3, (1.0, 2.0)), int, float)
    with pytest.raises(DynidError, match=r"The plan: count is -1; it must be a whole number from 0\."):
        Checked(-1)
    with pytest.raises(DynidError, match="The plan: values is 'ab'; it must be a list of numbers from 0"):
        Checked(values="ab")  # type: ignore[arg-type]


def test_rows_of_the_docs() -> None:
    rows = {row.split(" | ")[0]: row for row in docs_rows(Outer)}
    assert rows["| `rate_hz`"] == "| `rate_hz` | rate [Hz]; above 0 | needed |"
    assert rows["| `order`"] == "| `order` | order of the filter; from 1 to 12 | `4` |"
    assert rows["| `angle` or `angle_deg`"] == "| `angle` or `angle_deg` | angle [rad, deg] | `0.0` |"
    assert rows["| `shape`"] == '| `shape` | shape; `round` or `flat` | `"round"` |'
    assert rows["| `gains`"] == "| `gains` | gains; from 0; one, or one per axis | `1.0` |"
    assert rows["| `[[parts]]`"] == "| `[[parts]]` | parts | none |"
    assert rows["| `[left]` `[right]`"] == "| `[left]` `[right]` | left and right | none |"


def test_help_of_options() -> None:
    assert option_help(Outer, "rate_hz") == "Rate [Hz]; above 0."
    assert option_help(Outer, "points") == "Samples of a difference; 3 or 5."
    assert option_help(Outer, "window") == "Samples of the median; 0 or an odd number."
    with pytest.raises(UnknownNameError, match=r"Unknown field of Outer 'rate'\. Did you mean 'rate_hz'"):
        option_help(Outer, "rate")
