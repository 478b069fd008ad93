"""Tables with wrong, missing and foreign entries: an object or one sentence, never anything else."""

from __future__ import annotations

import copy
import random
import tomllib
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

import pytest

from dynid.core.errors import DynidError
from dynid.core.tables import table_from
from dynid.logs.mapping import mapping_from_table
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import robot_from_table
from dynid.preparation.preparation import Preparation
from dynid.simulation.controller_file import controller_from_table
from dynid.simulation.reference_file import Clock, reference_from_table

SCARA = load_robot("scara")
STRANGE: list[Any] = [
    True, 0, -1, 3.5, "", "x", "joint1", [], [1], [1, 2], ["a"], [[1, 0], [0, 1]], {}, {"a": 1}, 1e301,
    10**320, float("nan"), [True], [{}],
]  # fmt: skip


def shipped(package: str, file: str) -> dict[str, Any]:
    return tomllib.loads((resources.files(package) / file).read_text(encoding="utf-8"))


PLAN = {"cutoff_hz": 10, "speed_thresholds": [0.1, 0.2], "stamps": "even", "median_window": 5, "drop_end": 3}
PID = {"kind": "pid", "rate_hz": 5e2, "kp": 3, "kd": [1, 2], "ki": 1, "posture": [0, 0], "feedforward": True}
MAPPING = {
    "time": {"column": 1, "unit": "ms"},
    "csv": {"delimiter": ";", "header": False},
    "position": {"columns": "2-3", "unit": "deg", "sign": [1, -1]},
    "torque": {"columns": [6, 7], "unit": "A", "gain": [11.4, 11.2], "thin": 3},
}
FAMILIES: dict[str, tuple[Callable[[dict[str, Any]], object], dict[str, Any]]] = {
    "robot": (robot_from_table, shipped("dynid.model", "catalog/tx40.toml")),
    "coupled robot": (robot_from_table, shipped("dynid.model", "catalog/haptic.toml")),
    "controller": (lambda content: controller_from_table(content, SCARA), PID),
    "reference": (
        lambda content: reference_from_table(content, SCARA, Clock(1e-2, 2.0)),
        shipped("dynid.simulation", "references/scara.toml"),
    ),
    "mapping": (mapping_from_table, MAPPING),
    "plan": (lambda content: table_from(content, Preparation), PLAN),
}


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all entries."""
    inner = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in list(inner):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def damage(content: dict[str, Any], rng: random.Random) -> None:
    """Take an entry out, or put something strange in its place."""
    *path, last = rng.choice(list(places(content)))
    table: Any = content
    for key in path:
        table = table[key]
    if rng.random() < 0.2:
        del table[last]
    else:
        table[last] = copy.deepcopy(rng.choice(STRANGE))


@pytest.mark.parametrize("family", FAMILIES)
def test_damaged_tables_give_an_object_or_a_sentence(family: str) -> None:
    read, good = FAMILIES[family]
    read(copy.deepcopy(good))
    rng, sentences = random.Random(0), []
    for _ in range(200):
        content = copy.deepcopy(good)
        damage(content, rng)
        try:
            read(content)
        except DynidError as error:
            sentences.append(str(error))
    assert 40 < len(sentences) < 200
    assert not any("\n" in sentence for sentence in sentences)
    assert max(map(len, sentences)) < 2500  # a list of known parameters may be long
