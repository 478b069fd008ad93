"""Verbs that are given something else than they take answer with a sentence, never with a traceback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynid
from dynid.checks import check_log
from dynid.estimators import Honest
from support.logs import pendulum_log

ROBOT, LOG = dynid.load_robot("double_pendulum"), pendulum_log(seconds=4.0)


@pytest.fixture(scope="module")
def result() -> dynid.FitResult:
    return dynid.fit(ROBOT, LOG, progress=None)


def without_speeds() -> dynid.Log:
    kept = {name: values for name, values in LOG.channels.items() if name != "velocity"}
    return replace(LOG, channels=kept)


def made_log(**fields: Any) -> dynid.Log:
    return dynid.Log(**{"name": "a", "time": [0.0, 1.0], "channels": {"position": [[0.0], [1.0]]}, **fields})


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "plan": (
        lambda: dynid.fit(ROBOT, LOG, plan="plan.toml"),
        "fit takes a Preparation or None for plan, not str 'plan.toml'; use dynid.Preparation",
    ),
    "split": (
        lambda: dynid.fit(ROBOT, LOG, split="0.5"),
        "a number or None for split, not str '0.5'",
    ),
    "share": (lambda: dynid.fit(ROBOT, LOG, split=2), "is 2; it must be a number between 0 and 1"),
    "progress": (
        lambda: dynid.fit(ROBOT, LOG, progress=3),
        "fit takes a function of a text or None for progress, not int 3",
    ),
    "robot": (lambda: dynid.fit("tx40", LOG), "fit takes a Robot for robot, not str 'tx40'; use load_robot"),
    "logs": (lambda: dynid.fit(ROBOT, "a.csv"), "fit takes a Log or a list of Logs for logs, not str"),
    "some logs": (lambda: dynid.fit(ROBOT, [LOG, 3]), "a list of Logs for logs, not list of Log and int"),
    "rows": (lambda: dynid.fit(ROBOT, LOG.time), "a list of Logs for logs, not ndarray; use read_log for a"),
    "a class": (
        lambda: dynid.fit(ROBOT, LOG, dynid.WLS),
        "a Strategy for strategy, not the class WLS",
    ),
    "overrides": (
        lambda: dynid.fit(ROBOT, LOG, overrides=[1]),
        "fit takes a mapping of names to values for overrides, not list of int",
    ),
    "property": (
        lambda: dynid.fit(ROBOT, LOG, overrides={"ends": 1}),
        "key of the preparation 'ends'",
    ),
    "thresholds": (
        lambda: dynid.fit(ROBOT, LOG, overrides={"speed_thresholds": (0.1, 0.2, 0.3)}),
        "has 3 speed thresholds, but robot 'double_pendulum' has 2 coordinates; give one each",
    ),
    "controller": (
        lambda: dynid.fit(ROBOT, LOG, dynid.DIDIM(), controller="pd"),
        "fit takes a Controller or None for controller, not str 'pd'; use load_controller for a name or file",
    ),
    "cut-off": (
        lambda: dynid.fit(ROBOT, LOG, overrides={"cutoff_hz": 1e-6}),
        "The cut-off is 1e-06 Hz, but the log lasts 4 s: nothing of its motion would be left",
    ),
    "no speeds": (
        lambda: dynid.prepare(without_speeds(), dynid.Preparation(velocity="measured")),
        'velocity = "measured" was asked for; map its columns, or give --velocity differentiated',
    ),
    "uncertainty": (
        lambda: dynid.WLS(uncertainty=None),
        "WLS takes text or an Uncertainty for uncertainty, not None",
    ),
    "iterations": (lambda: dynid.WLS(iterations="a"), "WLS takes a whole number for iterations, not str 'a'"),
    "blocks": (lambda: Honest(blocks=2.5), "Honest takes a whole number for blocks, not float 2.5"),
    "prior": (
        lambda: dynid.Ridge(prior={"ZZ1": "b"}),
        "Ridge takes a mapping of names to numbers or None for prior, not dict of str",
    ),
    "essential": (
        lambda: dynid.Essential("wls"),
        "Essential takes a Strategy for strategy, not str 'wls'; give an estimator with its options",
    ),
    "base": (
        lambda: check_log(LOG, ROBOT, "ab"),
        "check takes a list of whole numbers or None for base",
    ),
    "no such base": (lambda: check_log(LOG, ROBOT, [99]), "give indices of the 26 standard parameters"),
    "compare": (
        lambda: dynid.compare(3),
        "compare takes a list of results for given, not int 3; use load_result for a folder",
    ),
    "load": (lambda: dynid.load_result(3), "load_result takes text or a path for folder, not int 3"),
    "save": (lambda: dynid.save_log(LOG, None), "save_log takes text or a path for path, not None"),
    "made up": (lambda: made_log(made_up="x"), "Log takes an array of truth values or None for made_up, not"),
    "time": (lambda: made_log(time=["a", "b"]), "time of log 'a' must be an array of numbers"),
    "channel": (
        lambda: made_log(channels={"torque": "ab"}),
        "Channel 'torque' of log 'a' must be an array",
    ),
    "repair of a name": (
        lambda: dynid.repair("log.csv"),
        "repair takes a Log for log, not str 'log.csv'",
    ),
    "prepare a name": (lambda: dynid.prepare("log.csv", None), "prepare takes a Log for log, not str"),
    "prepare by a name": (
        lambda: dynid.prepare(LOG, "plan.toml"),
        "prepare takes a Preparation for plan, not str",
    ),
    "suggest": (lambda: dynid.suggest("log.csv"), "suggest takes a Log for log, not str"),
    "identify": (lambda: dynid.identify(3, dynid.WLS()), "takes a Problem or a LoopProblem for problem, not"),
    "simulate": (lambda: dynid.simulate(ROBOT, {}, "pd", "x"), "simulate takes a Controller for controller"),
    "read nothing": (lambda: dynid.read_log(None), "A log is read from a file or folder"),
    "mapping": (lambda: dynid.read_log("log.csv", 3), "A mapping is a TOML file or a LogMapping, not int"),
}


@pytest.mark.parametrize("kind", CALLS)
def test_the_sentence_says_what_is_taken(kind: str) -> None:
    call, sentence = CALLS[kind]
    with pytest.raises(dynid.DynidError, match=sentence):
        call()


def test_what_is_like_the_kind_is_taken() -> None:
    """Numbers of NumPy, lists for arrays, subclasses for classes, and None where it is allowed."""
    assert dynid.WLS(iterations=np.int64(2)).iterations == 2
    assert dynid.Ridge(relative_sigma=np.float32(0.5), prior={"ZZ1": 1}).strength == 1.0
    assert dynid.Essential(dynid.IRLS(), threshold=None).rule == "sigma"
    assert made_log(made_up=[True, False]).made_up.dtype == bool
    assert check_log(LOG, ROBOT, np.arange(3)).facts["parameters"] == 3


def test_one_defect_may_be_named_alone() -> None:
    assert dynid.repair(LOG, "jitter") is LOG


def test_results_say_what_they_cannot_write_or_read(result: dynid.FitResult, tmp_path: Path) -> None:
    with pytest.raises(dynid.DynidError, match=r"q must be an array of numbers \(could not"):
        result.predict("a", "b", "c")
    for write in (result.save, result.report, result.plot):
        with pytest.raises(dynid.DynidError, match=r"takes text(,| or) a path"):
            write(3)
    pytest.importorskip("matplotlib")
    with pytest.raises(
        dynid.DynidError, match=r"cannot be written to .*No such file.* in a folder that exists"
    ):
        result.plot(str(tmp_path / "none" / "torques.png"))
    with pytest.raises(dynid.DynidError, match=r"Give a file that ends in \.png, \.svg or \.pdf"):
        result.plot(str(tmp_path / "torques.xyz"))


def test_a_finding_can_be_overruled_from_python_and_the_report_says_so() -> None:
    """The refusal names both faces; accept= lets the log pass, and it is recorded."""
    silent = replace(pendulum_log(seconds=6.0), name="silent")
    torque = silent.array("torque").copy()
    torque[:, 1] = 0.0
    silent = replace(silent, channels={**silent.channels, "torque": torque})
    with pytest.raises(dynid.DynidError) as told:
        dynid.fit(ROBOT, silent)
    assert '--accept "stuck channel" (accept="stuck channel") lets it pass' in str(told.value)
    assert check_log(silent, ROBOT, accept="stuck channel").verdict != "not usable"
    result = dynid.fit(ROBOT, LOG, accept=["stuck channel"])
    assert "Accepted by the user, whatever the data check finds: stuck channel." in json.dumps(
        result.document
    )
    with pytest.raises(dynid.DynidError, match=r"Unknown finding to accept 'stuck'.*stuck channel"):
        dynid.validate(result, LOG, accept="stuck")
    with pytest.raises(dynid.DynidError, match="fit takes a list of texts for accept, not int 3"):
        dynid.fit(ROBOT, silent, accept=3)


def test_logged_speeds_are_mentioned_whether_used_or_not(result: dynid.FitResult) -> None:
    """Without --verbose too, and with a plan of the user's; nothing is said where the log holds none."""
    assert re.search(r"[Ss]peeds .*differentiated positions", result.summary())
    plan = dynid.Preparation(velocity="measured", decimation=5)
    assert "Logged velocity is used, as the preparation says." in dynid.fit(ROBOT, LOG, plan=plan).summary()
    assert "ogged" not in dynid.fit(ROBOT, without_speeds(), plan=dynid.Preparation(decimation=5)).summary()
