"""P4 on a simulated iiwa: what is accepted, what is refused, and that refusals can happen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

from dynid.casestudies import iiwa, iiwa_recursion, iiwa_runs, iiwa_tables
from dynid.casestudies.case import Row
from dynid.casestudies.iiwa_runs import BOTH, IiwaRuns, RealRun, base, real_arm, truth
from dynid.core.errors import DynidError
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.workflow.controller_model import ControllerModel


def refused(rows: list[Row] | tuple[Row, ...]) -> set[str]:
    return {row.quantity for row in rows if not row.ok}


@pytest.fixture(scope="module")
def runs() -> IiwaRuns:
    return IiwaRuns(0)


def test_the_formulas_of_table_1() -> None:
    assert refused(iiwa_tables.table_1_rows()) == set()


def test_a_wrong_formula_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = iiwa_tables.TABLE_1.replace("MY5R = MY5 + MZ6", "MY5R = MY5 - MZ6")
    monkeypatch.setattr(iiwa_tables, "TABLE_1", wrong)
    assert refused(iiwa_tables.table_1_rows()) == {"formulas that are the printed ones"}


def test_the_real_arm_is_near_its_model() -> None:
    own = base().own_values
    off = [abs(truth()[base().names.index(name)] / value - 1) for name, value in own.items()]
    assert 0.005 < max(off) < 0.021
    assert len(own) == 21
    assert real_arm().parameters["Fc4"] == 0.3


@pytest.fixture(scope="module")
def few_noises() -> Iterator[None]:
    """Two of the four noises of the commanded torque, which is enough for a quick look."""
    few = {name: iiwa_runs.NOISES[name] for name in ("without noise", BOTH)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(iiwa_runs, "NOISES", few)
        patch.setattr(iiwa_tables, "NOISES", few)
        yield


def test_the_model_inside_the_controller(runs: IiwaRuns, few_noises: None) -> None:
    assert refused([*iiwa_tables.table_2_rows([runs]), *iiwa_tables.table_3_rows([runs])]) == set()


def with_friction(model: ControllerModel) -> ControllerModel:
    """A controller with Coulomb friction of joint 4 in its model."""
    kept = model.kept | (np.array(base().names) == "Fc4")
    return replace(model, estimate=replace(model.estimate, kept=kept))


def test_a_false_parameter_is_refused(runs: IiwaRuns, few_noises: None) -> None:
    ghost = IiwaRuns(0)
    object.__setattr__(ghost, "models", {name: with_friction(own) for name, own in runs.models.items()})
    object.__setattr__(ghost, "as_printed", runs.as_printed)
    assert f"{BOTH}: others, kept" in refused(iiwa_tables.table_2_rows([ghost]))


def test_the_controller_follows_as_p4_says(runs: IiwaRuns) -> None:
    assert refused(iiwa_tables.figure_3_rows([runs])) == set()


def test_starts(runs: IiwaRuns) -> None:
    assert refused(iiwa_recursion.figure_4_rows([runs])) == set()


class IgnorantRuns(IiwaRuns):
    """A prior that knows nothing."""

    @cached_property
    def prior(self) -> ParameterPrior:
        """As P4 starts without knowledge."""
        return ParameterPrior.even(len(base()), iiwa_recursion.RULES.no_knowledge)


def test_a_start_without_knowledge_is_refused(runs: IiwaRuns) -> None:
    ignorant = IgnorantRuns(0)
    object.__setattr__(ignorant, "fine", runs.fine)
    names = refused(iiwa_recursion.figure_4_rows([ignorant]))
    assert len([name for name in names if "from the controller's model" in name]) >= 6


@pytest.mark.slow
def test_coarse_encoders_show_what_instruments_are_for(runs: IiwaRuns) -> None:
    assert refused(iiwa_recursion._coarse_rows([runs])) == set()
    fine = IiwaRuns(0)
    object.__setattr__(fine, "coarse", runs.fine)
    assert refused(iiwa_recursion._coarse_rows([fine])) == {"3e-4 rad, RLS without filter: ZZ2R off [%]"}


def test_rows_at_rest_of_any_joint_are_dropped(runs: IiwaRuns) -> None:
    for motion in (runs.fine.filtered_motion, runs.fine.raw_motion):
        assert np.all(np.abs(motion.qd) >= iiwa_runs.SETTING.slow)


def test_no_seeds_are_refused() -> None:
    with pytest.raises(DynidError, match="at least 1"):
        iiwa.run(seeds=0)


def test_a_run_has_the_noise_of_its_encoder(runs: IiwaRuns) -> None:
    run: RealRun = runs.fine
    noise = run.log.array("position") - run.simulation.q[1:]
    assert noise.std() == pytest.approx(iiwa_runs.SETTING.fine, rel=0.02)


@pytest.mark.slow
def test_all_rows_hold_on_four_seeds() -> None:
    result = iiwa.run(seeds=4)
    assert refused(result.rows) == set()
    document = result.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == json.loads(json.dumps(document))
