"""What cannot be simulated is told in a sentence: what was given, what is allowed, what to do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.simulation import (
    PID,
    Accuracy,
    Bandwidth,
    Cascade,
    ComputedTorque,
    Controller,
    Disturbances,
    OpenLoop,
    Sensors,
    UserLaw,
    Velocity,
    simulate,
    simulate_many,
)
from dynid.simulation.reference import reference_of_log
from dynid.trajectories.reference import Reference, from_samples
from dynid.trajectories.sines import Sines
from support.loops import scara, scara_controller, scara_reference

ROBOT = scara()
R = scara_reference(5e-3, 0.1)
PAIR = PID((1.0, 1.0))


def run(controller: Controller | None = None, reference: Reference = R, **options: Any) -> object:
    return simulate(
        ROBOT, options.pop("parameters", None), controller or scara_controller(), reference, **options
    )


def user(torques: int, rates: int) -> UserLaw:
    return UserLaw(lambda s, m, g, ops: ([0.0] * torques, [0.0] * rates), 2, name="mine")


def own(function: Any) -> UserLaw:
    return UserLaw(function, 2, name="mine")


CASES: dict[str, tuple[Callable[[], object], str]] = {
    "law and robot": (
        lambda: run(Controller(PID((1.0,) * 3), 5e-3)),
        "The controller has 3 axes, but robot 'scara' has 2; give one set of gains per axis",
    ),
    "reference and robot": (
        lambda: run(reference=Reference(5e-3, np.zeros((9, 3)))),
        "The reference has 3 axes, but robot 'scara' has 2",
    ),
    "outside the limits": (
        lambda: simulate(
            load_robot("tx40"), None, Controller(PID((1.0,) * 6), 0.01), Reference(0.01, np.full((9, 6), 9.0))
        ),
        "runs from 9 to 9, outside its limits .* shrink the reference or correct the limits",
    ),
    "position noise": (
        lambda: run(sensors=Sensors(position_noise=1e-4)),
        "Noise needs a source of random numbers; give a numpy Generator",
    ),
    "disturbance": (lambda: run(disturbances=Disturbances(noise=1.0)), "Noise needs a source"),
    "start": (
        lambda: run(start=(np.array([0.0, np.nan]), np.zeros(2))),
        r"The start has shape \(2,\) or values that are not finite; give finite positions and speeds \(2,\)",
    ),
    "start's shape": (lambda: run(start=(np.zeros(3), np.zeros(2))), r"The start has shape \(3,\)"),
    "torque": (
        lambda: run(torque=np.zeros((5, 2))),
        r"The torque from outside has shape \(5, 2\) .* expected \(20, 2\), one row per sample",
    ),
    "torque not finite": (
        lambda: run(torque=np.full((20, 2), np.inf)),
        "The torque from outside has shape .* values that are not finite",
    ),
    "parameters": (
        lambda: run(parameters=np.zeros(5)),
        r"The parameters of robot 'scara' have shape \(5,\) .* or give them by name",
    ),
    "parameters not finite": (
        lambda: run(parameters=np.full(len(ROBOT.table), np.nan)),
        "The parameters of robot 'scara' .* are not finite",
    ),
    "parameter's name": (lambda: run(parameters={"ZZ9": 1.0}), "ZZ9"),
    "feedforward's name": (
        lambda: run(Controller(PAIR, 5e-3, feedforward={"Nobody": 1.0})),
        "Nobody",
    ),
    "resolution per axis": (
        lambda: run(sensors=Sensors(resolution=(1e-3,) * 3)),
        "resolution has 3 values for 2 axes; give one per axis, or one for all",
    ),
    "ripple per axis": (
        lambda: run(disturbances=Disturbances(ripple=(1.0,) * 3, ripple_order=1.0)),
        "ripple has 3 values for 2 axes",
    ),
    "no drives": (
        lambda: run(sensors=Sensors(resolution=1e-3, side="motor")),
        r"Encoders are on the motors, but robot 'scara' has no \[drives\]",
    ),
    "saturation": (
        lambda: Controller(PAIR, 5e-3, saturation=(3.0, -1.0)),
        r"saturation is \(3.0, -1.0\); every axis needs a positive torque",
    ),
    "sample time": (lambda: Controller(PAIR, 0.0), "sample_time is 0.0 s; it must be positive"),
    "infinite time": (lambda: Controller(PAIR, float("nan")), "sample_time is nan s; it must be positive"),
    "delay": (lambda: Controller(PAIR, 5e-3, delay=-1), "delay is -1 samples; give a whole number from 0"),
    "half delay": (lambda: Controller(PAIR, 5e-3, delay=0.5), "delay is 0.5 samples"),  # type: ignore[arg-type]
    "posture": (
        lambda: Controller(PAIR, 5e-3, posture="minimum"),
        "posture is 'minimum'; give 'maximum' or one position per axis",
    ),
    "posture's length": (
        lambda: Controller(PAIR, 5e-3, posture=(0.0,) * 3),
        "posture has 3 values for 2 axes",
    ),
    "friction": (lambda: Accuracy("stik"), "Unknown friction model 'stik'. Did you mean 'stick'"),
    "width": (lambda: Accuracy(width=0.0), "width is 0.0 and tolerance .* both must be positive"),
    "tolerance": (lambda: Accuracy(tolerance=float("nan")), "tolerance nan; both must be positive"),
    "substeps": (lambda: Accuracy(substeps=0), "substeps is 0; allowed are 1 to 256"),
    "gains": (lambda: PID((1.0, 2.0), (1.0, 2.0, 3.0)), "kp has 2 values for 3 axes"),
    "gain not finite": (lambda: PID((1.0, np.inf)), "kp is .*; give one finite number per axis"),
    "frequency": (
        lambda: Bandwidth((1.0, 0.0)),
        r"natural_frequency of the bandwidth law is \(1.0, 0.0\); every axis needs a positive number",
    ),
    "cascade": (lambda: Cascade((1.0, 2.0), (1.0, 2.0, 3.0)), "kp has 2 values for 3 axes"),
    "computed torque": (lambda: ComputedTorque(ROBOT, (1.0,) * 3, 1.0), "kp has 3 values for 2 axes"),
    "own law's torques": (
        lambda: run(Controller(user(3, 0), 5e-3)),
        "The law 'mine' gives 3 torques and 0 memory rates; 2 and 0 are needed",
    ),
    "own law's memory": (lambda: run(Controller(user(2, 1), 5e-3)), "gives 2 torques and 1 memory rates"),
    "own law's states": (
        lambda: run(Controller(user(2, 1), 5e-3)),
        r"states is 0 \(missing or zero, so that memory is empty\): set states = 1",
    ),
    "own law's index": (
        lambda: run(Controller(UserLaw(lambda s, m, g, ops: ([m[0]] * 2, []), 2, name="mine"), 5e-3)),
        "The law 'mine' takes an entry that is not there: it has 2 axes, 0 gains and states = 0 .missing",
    ),
    "own law's numpy": (
        lambda: run(
            Controller(UserLaw(lambda s, m, g, ops: ([np.tanh(q) for q in s.position], []), 2), 5e-3)
        ),
        r"calls a function of numpy on a signal; use those of ops instead, such as ops\.functions\['tanh'\]",
    ),
    "own law's if": (
        lambda: run(
            Controller(own(lambda s, m, g, ops: ([1.0 if s.position[0] > 0 else 2.0] * 2, [])), 5e-3)
        ),
        r"The law 'mine' fails on symbols .*decide with ops instead of if",
    ),
    "own law's None": (
        lambda: run(Controller(own(lambda s, m, g, ops: None), 5e-3)),
        r"The law 'mine' fails on symbols \(it answers None\); return torques and memory rates as two lists",
    ),
    "own law's text": (
        lambda: run(Controller(own(lambda s, m, g, ops: (["a"] * 2, [])), 5e-3)),
        r"The law 'mine' fails on symbols \(it answers 'a' where a number belongs\)",
    ),
    "own law's error": (
        lambda: run(Controller(own(lambda s, m, g, ops: 1 / 0), 5e-3)),
        r"The law 'mine' fails on symbols \(ZeroDivisionError: division by zero\)",
    ),
    "own law's exit": (
        lambda: run(Controller(own(lambda s, m, g, ops: sys.exit(3)), 5e-3)),
        r"The law 'mine' fails on symbols \(SystemExit: 3\)",
    ),
    "computed torque without a model": (
        lambda: ComputedTorque(replace(ROBOT, parameters={}), 1.0, 1.0),
        r"Robot 'scara' has no parameters, so that computed torque has no model .*with_parameters",
    ),
    "no threads": (
        lambda: simulate_many(ROBOT, [None, None], scara_controller(), R, threads=0),
        "threads is 0; give a whole number of at least 1",
    ),
    "fewer threads": (
        lambda: simulate_many(ROBOT, [None, None], scara_controller(), R, threads=-1),
        "threads is -1; give a whole number of at least 1",
    ),
    "half substeps": (
        lambda: Accuracy(substeps=2.5),  # type: ignore[arg-type]
        "substeps is 2.5; allowed are 1 to 256",
    ),
    "law without rule": (
        lambda: Controller(OpenLoop(2), 5e-3).scaled((1.0, 2.0)),
        "The law OpenLoop has no rule to follow the robot's inertia",
    ),
    "velocity": (
        lambda: Velocity("backwards"),
        "Unknown velocity estimate 'backwards'. Did you mean 'backward'",
    ),
    "no cut-off": (lambda: Velocity("filtered"), "'filtered' has cutoff_hz None; give a positive cut-off"),
    "cut-off": (lambda: Velocity("backward", 3.0), "'backward' has cutoff_hz 3.0"),
    "noise": (lambda: Sensors(position_noise=-1.0), "position_noise is -1.0; give numbers of at least 0"),
    "side": (lambda: Sensors(side="gear"), "Unknown encoder side 'gear'"),
    "lag": (lambda: Sensors(torque_delay=-2), "torque_delay is -2; give a whole number of samples"),
    "lag beyond the log": (
        lambda: run(sensors=Sensors(torque_delay=10**15)),
        "torque_delay is 1000000000000000 samples, and the log has only 20; shorten the delay",
    ),
    "ripple without order": (
        lambda: Disturbances(ripple=(0.0, 2.0), ripple_order=(3.0, 0.0)),
        "a ripple would do nothing; give its periods per turn or metre as ripple_order",
    ),
    "ripple": (lambda: Disturbances(ripple=float("nan")), "ripple is nan; give numbers of at least 0"),
    "reference's shape": (lambda: Reference(5e-3, np.zeros(9)), r"The reference has shape \(9,\)"),
    "reference not finite": (lambda: Reference(5e-3, np.full((9, 2), np.nan)), "values that are not finite"),
    "reference's speed": (
        lambda: Reference(5e-3, np.zeros((9, 2)), np.zeros((8, 2))),
        r"qd of the reference has shape \(8, 2\); expected finite values \(9, 2\)",
    ),
    "reference's time": (
        lambda: Reference(0.0, np.zeros((9, 2))),
        "sample_time is 0.0 s; it must be positive",
    ),
    "resampling": (lambda: R.resampled(1e-3, "quintic"), "Unknown way to resample 'quintic'"),
    "resampling time": (lambda: R.resampled(-1.0), "sample_time is -1.0 s; it must be positive"),
    "sines": (lambda: Sines(((1.0,), (1.0,)), ((1.0,),)), "give one list per axis of amplitudes"),
    "short sines": (
        lambda: Sines(((1.0,),), ((1.0,),)).sample(0.1, 0.05),
        "A reference of 0.05 s in steps of 0.1 s has fewer than two samples",
    ),
    "points": (lambda: from_samples([0.0, 0.0], np.zeros((2, 1)), 0.1), "give increasing stamps"),
    "log without reference": (
        lambda: reference_of_log(Log("run7", np.arange(3.0), {"position": np.zeros((3, 2))})),
        r"Log 'run7' has no reference channel \(it has position\); map the reference columns",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_told_in_a_sentence(case: str) -> None:
    action, sentence = CASES[case]
    with pytest.raises(DynidError, match=sentence):
        action()


def test_whole_numbers_of_numpy_are_whole() -> None:
    delayed = Controller(PAIR, 5e-3, delay=np.int64(2))  # type: ignore[arg-type]
    assert delayed == Controller(PAIR, 5e-3, delay=2)
    assert type(delayed.delay) is int
    assert type(Sensors(torque_delay=np.int64(1)).torque_delay) is int  # type: ignore[arg-type]
    assert type(Accuracy(substeps=np.int32(4)).substeps) is int  # type: ignore[arg-type]
