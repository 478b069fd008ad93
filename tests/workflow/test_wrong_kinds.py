"""Verbs that are given something else than they take answer with a sentence, never with a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dynid
from support.logs import pendulum_log

ROBOT, LOG = dynid.load_robot("double_pendulum"), pendulum_log(seconds=4.0)


@pytest.fixture(scope="module")
def result() -> dynid.FitResult:
    return dynid.fit(ROBOT, LOG, progress=None)


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "plan": (lambda: dynid.fit(ROBOT, LOG, plan="plan.toml"), "fit takes a Preparation, not str; use"),
    "split": (lambda: dynid.fit(ROBOT, LOG, split="0.5"), "is '0.5'; it must be a number between 0 and 1"),
    "repair of a name": (lambda: dynid.repair("log.csv"), "repair takes a Log, not str; use read_log"),
    "prepare a name": (lambda: dynid.prepare("log.csv", None), "prepare takes a Log, not str"),
    "prepare by a name": (lambda: dynid.prepare(LOG, "plan.toml"), "prepare takes a Preparation, not str"),
    "suggest": (lambda: dynid.suggest("log.csv"), "suggest takes a Log, not str"),
    "read nothing": (lambda: dynid.read_log(None), "A log is read from a file or folder"),
    "mapping": (lambda: dynid.read_log("log.csv", 3), "A mapping is a TOML file or a LogMapping, not int"),
}


@pytest.mark.parametrize("kind", CALLS)
def test_the_sentence_says_what_is_taken(kind: str) -> None:
    call, sentence = CALLS[kind]
    with pytest.raises(dynid.DynidError, match=sentence):
        call()


def test_one_defect_may_be_named_alone() -> None:
    assert dynid.repair(LOG, "jitter") is LOG


def test_results_say_what_they_cannot_write_or_read(result: dynid.FitResult, tmp_path: Path) -> None:
    with pytest.raises(dynid.DynidError, match=r"q, qd and qdd must be arrays of numbers"):
        result.predict("a", "b", "c")
    pytest.importorskip("matplotlib")
    with pytest.raises(
        dynid.DynidError, match=r"cannot be written to .*No such file.* in a folder that exists"
    ):
        result.plot(str(tmp_path / "none" / "torques.png"))
    with pytest.raises(dynid.DynidError, match=r"Give a file that ends in \.png, \.svg or \.pdf"):
        result.plot(str(tmp_path / "torques.xyz"))
