"""The pages on logs and on the data check say what is so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from dynid.core.finding import Name
from dynid.logs.log import CHANNELS
from dynid.logs.mapping import LogMapping, mapping_from_table
from dynid.logs.read import ENDINGS
from dynid.logs.words import UNITS
from dynid.preparation.repair import REPAIRS

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_mappings_of_the_page_are_mappings() -> None:
    texts = re.findall(r"```toml\n(.*?)```", page("logs.md"), re.DOTALL)
    tx40, emps, german, bag, partial, late = (mapping_from_table(tomllib.loads(text)) for text in texts)
    assert tx40.files == ("pos_read_data.csv", "curr_data.csv")
    assert emps.channels["torque"].unit == ("V",)
    assert german.csv.decimal == ","
    assert bag.bag.joints == ("shoulder", "elbow", "wrist")
    assert isinstance(bag, LogMapping)
    assert (partial.channels["position"].columns, partial.channels["position"].unit) == (None, ("deg",))
    assert partial.channels["torque"].gain == (5.0,)
    assert (late.channels["torque"].delay_s, late.channels["torque"].thin) == ((0.012,), 10)


def test_every_unit_and_ending_is_described() -> None:
    text = page("logs.md")
    units = {unit for channel in ("position", "torque") for unit in UNITS[channel]}
    assert [unit for unit in sorted(units) if f"`{unit}`" not in text] == []
    assert [ending for ending in ENDINGS if f"`{ending}`" not in text] == []
    assert all(f"`[{channel}]`" in text for channel in CHANNELS)


def test_every_finding_is_described() -> None:
    text = page("data-check.md")
    names = list(Name)
    found = {name.value for name in names[: names.index(Name.LOG_CHECKED)]}
    assert [name for name in sorted(found | set(REPAIRS)) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("name", ["logs.md", "data-check.md"])
def test_the_python_of_the_pages_compiles(name: str) -> None:
    for code in re.findall(r"```python\n(.*?)```", page(name), re.DOTALL):
        compile(code, name, "exec")
