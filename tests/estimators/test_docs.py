"""The page on estimators says what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dynid import estimators as public
from dynid.base import find_base
from dynid.core.finding import Name
from dynid.estimators import WLS, Bootstrap, Essential, identify
from dynid.estimators.essential import THRESHOLDS
from dynid.estimators.uncertainty import KINDS
from support.estimation import CASES, scara, scara_motions, scara_problem

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "estimators.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {
        "robot": find_base(scara()[0].robot).robot,
        "motions": scara_motions(CASES["separable"], noise=0.02),
    }
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "estimators.md", "exec"), names)
    assert capsys.readouterr().out
    assert {"Fs1", "vs2", "Ft1", "vt2"} <= set(names["estimate"].further.names)


def test_every_strategy_rule_and_outcome_is_described() -> None:
    strategies = {type(case.strategy).__name__ for case in CASES.values()}
    assert strategies <= set(public.__all__)
    assert all(f"`{name}(" in PAGE for name in strategies)
    assert all(f'`"{rule}"`' in PAGE for rule in THRESHOLDS)
    text = "".join(path.read_text(encoding="utf-8") for path in Path(public.__file__).parent.rglob("*.py"))
    failures = set(re.findall(r"Name\.([A-Z_]+),\s*Level\.FAIL", text))
    assert {"RANK_DEFICIENT", "OUTLIERS_DOMINATE", "NOT_GENERIC"} <= failures
    assert all(f"`{Name[name].value}`" in PAGE for name in failures | {"FINE"})
    uncertainty = (DOCS / "uncertainty.md").read_text(encoding="utf-8")
    assert all(f'`"{name}"`' in uncertainty for name in KINDS)


def test_every_fact_is_described() -> None:
    text = PAGE + (DOCS / "uncertainty.md").read_text(encoding="utf-8")
    strategies = [Essential(WLS(uncertainty="hac")), WLS(uncertainty=Bootstrap(replicates=20))]
    problem = scara_problem(CASES["wls"], noise=0.02)
    keys = {key for strategy in strategies for key in identify(problem, strategy).facts}
    undescribed = {"cross_joint", "replicates", "residual_norm", "torque_norm"}  # options and plain norms
    assert [key for key in sorted(keys - undescribed) if f"`{key}`" not in text] == []
