"""The page about simulation: its code runs, and every law, estimate and outcome is on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dynid.core.finding import Name
from dynid.simulation import Controller, laws, simulate, user_law
from dynid.simulation.controller import KINDS
from dynid.simulation.law import Law
from dynid.simulation.setup import FRICTIONS, Accuracy

PAGE = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text(encoding="utf-8")


def test_the_code_runs() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile("\n".join(blocks), "simulation.md", "exec"), names)
    assert names["run"].outcome.name == "fine"
    assert [run.outcome.name for run in names["runs"]] == ["fine"] * 3
    own = Controller(names["law"], 5e-3)
    assert simulate(names["robot"], None, own, names["reference"]).outcome.name == "fine"


def test_every_law_estimate_friction_and_outcome_is_described() -> None:
    found = [v for module in (laws, user_law) for v in vars(module).values() if isinstance(v, type)]
    named = [v.__name__ for v in found if issubclass(v, Law) and v is not Law and v.__name__[0] != "_"]
    assert len(named) == 6
    assert [name for name in named if f"`{name}(" not in PAGE] == []
    assert [kind for kind in KINDS if f'Velocity("{kind}"' not in PAGE] == []
    assert [kind for kind in FRICTIONS if f'friction="{kind}"' not in PAGE] == []
    names = (
        Name.FINE, Name.DIVERGED, Name.INERTIA_NOT_POSITIVE, Name.FRICTION_TOO_STIFF,
        Name.TOLERANCE_NOT_REACHED, Name.OUTSIDE_LIMITS, Name.LAW_GAVE_NAN,
    )  # fmt: skip
    assert [name for name in names if f"\n| {name} |" not in PAGE] == []
    assert Accuracy().tolerance == 5e-6
    assert "5·10⁻⁶" in PAGE
