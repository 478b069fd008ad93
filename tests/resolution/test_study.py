"""Studies: verdicts, thresholds, methods, bad requests."""

from __future__ import annotations

import pickle
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import DynidError, UnknownNameError
from dynid.core.executor import LocalExecutor
from dynid.estimators.linear.least_squares import OLS
from dynid.logs.spool import SpoolWriter
from dynid.resolution.chain import SensorSetting
from dynid.resolution.outcome import BiasVerdict, Outcome, ReferenceEstimate
from dynid.resolution.request import SensorRequest
from dynid.resolution.search import largest_fine_step
from dynid.simulation.controller import Controller
from dynid.workflow.resolution import study_resolution
from support.coarse_arms import PLAN, law, scara, scara_log


def outcome(estimates: list[list[float]], residual: float = 1.0) -> Outcome:
    """Two parameters with values 1, of which the residual sees the first only."""
    factor = np.array([[1.0, 0.0, 1.0], [0.0, 1e-9, 1e-9], [0.0, 0.0, residual]])
    reference = ReferenceEstimate(("A", "B"), ("1", "1"), np.ones(2), np.array([0.01, 0.2]), factor)
    return Outcome(SensorSetting("encoder", "binary", 1e-3), reference, np.array(estimates))


def test_figures_of_the_paper() -> None:
    found = outcome([[0.8, 1.1], [0.9, 1.1]], residual=0.15)
    assert found.mean == pytest.approx([0.85, 1.1])  # eq 18
    assert found.sigma == pytest.approx([np.sqrt(0.005), 0.0])  # eq 19
    assert found.percent_sigma == pytest.approx([100 * np.sqrt(0.005) / 0.85, 0.0])  # eq 20
    assert found.percent_error == pytest.approx([15.0, 10.0])  # eq 21
    assert found.residual_percent == pytest.approx(100 * (np.sqrt(2) - 1))  # eq 22


def test_verdicts_ask_the_parameter_and_the_residual() -> None:
    assert outcome([[1.0, 1.0]] * 2).verdicts == (BiasVerdict.SOUND, BiasVerdict.SOUND)
    assert outcome([[1.0, 1.5]] * 2).verdicts == (
        BiasVerdict.SOUND,
        BiasVerdict.DOUBTFUL,
    )  # no torque shows it
    assert outcome([[0.5, 1.0]] * 2, 0.1).verdicts == (BiasVerdict.BIASED, BiasVerdict.DOUBTFUL)
    wide = outcome([[0.2, 1.0], [1.6, 1.0]], 0.01)
    assert wide.percent_error[0] == pytest.approx(10.0)
    assert wide.verdicts[0] is BiasVerdict.DOUBTFUL  # two runs so far apart show no bias


def test_only_main_parameters_break_a_limit() -> None:
    assert outcome([[1.0, 1.5]] * 2).excess(5.0)[0] == 0.0
    assert outcome([[0.9, 1.0]] * 2, 10.0).excess(5.0) == (pytest.approx(2.0), "A")


def test_one_run_has_no_spread() -> None:
    with pytest.raises(DynidError, match="at least 2"):
        outcome([[1.0, 1.0]])


@pytest.mark.parametrize("start", [1e-6, 1e-3, 0.4])
def test_the_search_finds_the_largest_fine_step(start: float) -> None:
    step, why = largest_fine_step(lambda x: ((x / 0.02) ** 2, "A"), start, 1.0)
    assert 0.02 / 1.05 <= step <= 0.02
    assert why == "A"


def test_the_search_ends_at_both_ends() -> None:
    assert largest_fine_step(lambda x: (0.0, "A"), 1e-3, 1.0) == (1.0, "")
    assert largest_fine_step(lambda x: (2.0, "A"), 1e-3, 1.0) == (0.0, "A")


def test_thresholds_are_near_the_laws_and_numbers_do_not_depend_on_workers() -> None:
    request = SensorRequest(torque_steps=(0.01,), runs=8)
    found, studied = study_resolution(scara(), [scara_log()], request, plan=PLAN)
    again, _ = study_resolution(scara(), [scara_log()], request, plan=PLAN, executor=LocalExecutor(2))
    assert [o.to_dict() for o in found.outcomes] == [o.to_dict() for o in again.outcomes]
    assert found.findings == again.findings
    for percent in (1.0, 5.0):
        own = found.threshold("encoder", percent)
        assert own is not None
        assert own.law_step == pytest.approx(own.setting.step, rel=0.25)
    assert studied.plan == PLAN
    assert sum("counts per joint turn" in f.sentence for f in found.findings) == 2
    assert any("torque sensor" in f.sentence for f in found.findings)


def test_a_step_twice_the_threshold_is_told_and_half_of_it_is_sound() -> None:
    found, _ = study_resolution(scara(), [scara_log()], SensorRequest(torque_steps=(), runs=8), plan=PLAN)
    own = found.threshold("encoder", 5.0)
    assert own is not None
    coarse = SensorRequest(
        steps=(own.setting.step / 5, 2 * own.setting.step), torque_steps=(), thresholds=False
    )
    fine, bad = study_resolution(scara(), [scara_log(7)], coarse, plan=PLAN)[0].outcomes
    assert fine.excess(5.0)[0] < 1.0 < bad.excess(5.0)[0]


def test_iv_and_didim_bear_what_least_squares_does_not() -> None:
    request = SensorRequest(torque_steps=(), runs=3, steps=(1.5e-3,), thresholds=False)
    found, _ = study_resolution(
        scara(), [scara_log()], request, plan=PLAN, methods=("LS", "IV", "DIDIM"), controller=law()
    )
    shift = {o.setting.method: o.percent_error[o.reference.names.index("ZZ1R")] for o in found.outcomes}
    assert shift["LS"] > 5.0
    assert shift["IV"] < shift["LS"] / 3
    assert shift["DIDIM"] < 0.1


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"steps": (0.0,)}, "above 0"),
        ({"steps": (-1.0,)}, "above 0"),
        ({"torque_steps": (0.0,)}, "above 0"),
        ({"torque_steps": (2.0,)}, "from 1e-09 to 1"),
        ({"ratios": (1e-300, 1.0)}, "from 0.0001 to 10000"),
        ({"steps": (5.0,)}, "larger than the motion of axis"),
        ({"runs": 1}, "at least 2"),
        ({"side": "motor"}, "no drives"),
        ({"side": "left"}, "joint, motor"),
        ({"modes": ()}, "at least one"),
        ({"ratios": (1.0,)}, "2 numbers"),
        ({"ratios": (0.0, 0.0)}, "not all 0"),
    ],
)
def test_sensors_that_there_are_not_are_refused(request_: dict[str, object], words: str) -> None:
    with pytest.raises(DynidError, match=words):
        study_resolution(scara(), [scara_log()], SensorRequest(**request_), plan=PLAN)  # type: ignore[arg-type]


def test_methods_that_lack_something_are_refused() -> None:
    with pytest.raises(DynidError, match="--controller"):
        study_resolution(scara(), [scara_log()], methods=("LS", "IV"), plan=PLAN)
    with pytest.raises(UnknownNameError, match="DIDIM"):
        study_resolution(scara(), [scara_log()], methods=("OE",), plan=PLAN)


def test_an_axis_may_keep_its_encoder() -> None:
    shifts = {}
    for ratios in ((0.0, 1.0), (1.0, 0.0)):
        request = SensorRequest(ratios=ratios, steps=(3e-3,), torque_steps=(), thresholds=False)
        found, _ = study_resolution(scara(), [scara_log()], request, plan=PLAN)
        shifts[ratios] = dict(zip(found.reference["LS"].names, found.outcomes[0].percent_error, strict=True))
    second, first = shifts.values()
    assert second["ZZ1R"] < 1.0 < 20.0 < first["ZZ1R"]
    assert second["Fc1"] < 1.0 < 10.0 < first["Fc1"]
    assert first["Fv2"] < 10.0 < 30.0 < second["Fv2"]


def test_ends_are_dropped_where_the_plan_keeps_them() -> None:
    request = SensorRequest(steps=(1e-4,), torque_steps=(), thresholds=False)
    found, studied = study_resolution(scara(), [scara_log()], request, plan=replace(PLAN, drop_samples=0))
    assert studied.plan.drop_samples in (100, 101)
    assert any(f.name == "ends dropped" for f in found.findings)


def test_a_chain_goes_to_other_processes() -> None:
    request = SensorRequest(steps=(1e-4,), torque_steps=(), runs=4, thresholds=False)
    here, there = (
        study_resolution(scara(), [scara_log()], request, plan=PLAN, executor=executor)[0]
        for executor in (LocalExecutor(), LocalExecutor(2, "processes"))
    )
    assert [o.to_dict() for o in here.outcomes] == [o.to_dict() for o in there.outcomes]


def test_runs_of_another_controller_are_not_taken(tmp_path: Path) -> None:
    request = SensorRequest(steps=(1e-4,), torque_steps=(), runs=2, thresholds=False)

    def study(controller: Controller, seed: int = 0) -> None:
        study_resolution(
            scara(),
            [scara_log(seed)],
            request,
            plan=PLAN,
            methods=("LS", "IV"),
            controller=controller,
            kept_in=tmp_path / "runs",
        )

    study(law())
    study(law())  # the same study goes on
    for other in ((law().scaled([2.0, 2.0]), 0), (law(), 7)):
        with pytest.raises(DynidError, match="answers of another study"):
            study(*other)


def test_runs_of_other_stamps_are_not_taken(tmp_path: Path) -> None:
    request = SensorRequest(steps=(1e-4,), torque_steps=(), runs=2, thresholds=False)
    log = scara_log()
    for time in (log.time, 1.25 * log.time):
        again = pytest.raises(DynidError, match="another study") if time is not log.time else nullcontext()
        with again:
            study_resolution(
                scara(),
                [replace(log, time=time)],
                request,
                plan=PLAN,
                strategy=OLS(uncertainty="classical"),
                kept_in=tmp_path / "runs",
            )


def test_logs_on_disk_go_to_processes() -> None:
    log = scara_log()
    writer = SpoolWriter(2)
    writer.append(log.array("position"))
    back = pickle.loads(pickle.dumps(replace(log, channels={**log.channels, "position": writer.finish()})))
    assert np.array_equal(back.array("position"), log.array("position"))


def test_ratios_scale_the_largest_step() -> None:
    for ratios, step in (((100.0, 1.0), 0.05), ((1.0, 100.0), 0.05)):
        request = SensorRequest(ratios=ratios, steps=(step,))
        axis = 1 + int(np.argmax(ratios))
        with pytest.raises(
            DynidError, match=rf"The step 5 of the encoder .* motion of axis {axis}, which is 2"
        ):
            study_resolution(scara(), [scara_log()], request, plan=PLAN)


def test_measured_speeds_are_refused() -> None:
    with pytest.raises(DynidError, match="leave --velocity measured away"):
        study_resolution(scara(), [scara_log()], overrides={"velocity": "measured"})
