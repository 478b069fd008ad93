"""What cannot be designed is told in one sentence: what was given, what is allowed, what to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.core.finding import Name
from dynid.excitation import (
    AOptimal,
    Design,
    DesignTask,
    LimitChoice,
    LogSigma,
    PriorInformation,
    Workcell,
    design_motion,
)
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.model.shapes import capsules_from_frames
from dynid.trajectories import FourierSpace, ModifiedFourierSpace, SplineSpace

NAN = math.nan


def design(robot: str | Robot = "scara", **task: Any) -> Design:
    arm = load_robot(robot) if isinstance(robot, str) else robot
    return design_motion(arm, DesignTask(**task), starts=1, workers=1)


def told(made: Callable[[], object]) -> str:
    """The one sentence (or two: what, and what to do) of what cannot be."""
    with pytest.raises(DynidError) as caught:
        made()
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def limited(robot: str = "tx90", **limits: Any) -> str:
    return told(lambda: design(robot, limits=LimitChoice(**limits)))


def test_limits_that_contradict_each_other() -> None:
    assert limited(lower=1.0, upper=-1.0) == (
        "The position limits of joint1 contradict each other: lower 1 is not below upper -1; a joint that "
        "may not move cannot be excited."
    )
    assert "The velocity limit of joint1 is 0; it must be positive" in limited(velocity=0.0)
    assert "The acceleration limit of joint1 is -1; it must be" in limited(acceleration=-1.0)
    assert "entry 1 of velocity is nan; it must be a finite number" in limited(velocity=NAN)
    assert "give one number, or 6, one for each of joint1, joint2," in limited(velocity=(1.0, 2.0))
    assert "share is 0; it must be a number above 0 and at most 1" in told(lambda: LimitChoice(share=0))


@pytest.mark.parametrize("value", [0.0, -1.0, NAN, math.inf])
def test_motions_without_length(value: float) -> None:
    for made in (lambda: SplineSpace(value, 5), lambda: ModifiedFourierSpace(0.1, 5, value)):
        assert told(made) == f"duration is {value!r}; it must be a positive number."
    assert told(lambda: FourierSpace(value, 5)).startswith(f"frequency_hz is {value!r}; it must be")


def test_too_few_coefficients_for_rest_at_both_ends() -> None:
    assert "1 harmonics were asked for; a Fourier series that starts and ends at rest needs 2 to 100" in told(
        lambda: FourierSpace(0.1, 1)
    )
    assert "a modified Fourier series has 1 to 100" in told(lambda: ModifiedFourierSpace(0.1, 0))
    assert "0 knots were asked for" in told(lambda: SplineSpace(10.0, 0))


def test_a_start_pose_outside_the_limits() -> None:
    assert told(lambda: design("tx90", start=[0, 3.0, 0, 0, 0, 0])) == (
        "The start pose [0.0, 3.0, 0.0, 0.0, 0.0, 0.0] cannot be reached: joint2 would stand at 3, outside "
        "-2.269 … 2.574. Give another pose, or other limits."
    )


def test_a_start_pose_in_which_links_touch() -> None:
    sentence = told(lambda: design("ur10", start=[0, -1.5, 3.0, 0, 0, 0], workcell=Workcell(floor=0.0)))
    assert "cannot be reached: link 1 and link 3 come 0.0623 m too close; " in sentence
    sentence = told(lambda: design("ur10", start=[0, 0.8, 0, 0, 0, 0], workcell=Workcell(floor=0.0)))
    assert "link 3 and the floor come" in sentence


def test_a_start_pose_that_the_motors_cannot_hold() -> None:
    sentence = told(
        lambda: design("double_pendulum", start=[np.pi / 2, 0], limits=LimitChoice(effort=1.0))  # type: ignore[arg-type]
    )
    assert "joint1 would need 4.143 to rest, and its limit is 1; joint2 would need 1.777" in sentence


def test_a_start_pose_that_is_none() -> None:
    assert "is [0.0, 3.0]; give 6 numbers, one per axis" in told(lambda: design("tx90", start=[0, 3.0]))
    assert "give 2 numbers, one per axis" in told(lambda: design(start=[NAN, 0.0]))
    assert "of at most 100000 rad or m" in told(lambda: design(start=[1e6, 0.0]))
    assert "takes an array of numbers or None for start" in told(lambda: design(start="home"))


def test_a_start_pose_without_room() -> None:
    near = [np.pi - 1e-12, 0, 0, 0, 0, 0]
    assert "No motion about the start pose keeps all limits" in told(lambda: design("tx90", start=near))


def test_no_pose_is_possible() -> None:
    sentence = told(lambda: design("iiwa14", workcell=Workcell(floor=3.0)))
    assert sentence.startswith(
        "No pose was found at which the robot can rest within its limits; in the middle"
    )
    assert "link 2 and the floor come 3.1 m too close" in sentence
    sentence = limited("ur10", effort=0.5)
    assert "shoulder_lift_joint would need 123.9 to rest, and its limit is 0.5" in sentence


def test_robots_that_lack_something() -> None:
    assert told(lambda: design("rx90")).startswith("Robot 'rx90' has no speed limit for joint1, joint2,")
    assert "add limits = { velocity = … } to the robot file" in told(lambda: design("emps"))
    sentence = told(lambda: design("pendubot"))
    assert sentence.startswith("No motor drives elbow of robot 'pendubot': such a joint cannot be told where")
    bare = replace(load_robot("scara"), shapes=())
    assert "Robot 'scara' has no shapes" in told(lambda: design(bare, workcell=Workcell(floor=0.0)))


def test_pairs_that_are_not_looked_at_are_told() -> None:
    """No motion changes the height of a SCARA: a floor above it says nothing, and the design says so."""
    robot = load_robot("scara")
    shaped = robot.with_shapes(capsules_from_frames(robot, 0.05))
    found = design(shaped, workcell=Workcell(floor=5.0)).findings
    sentences = [finding.sentence for finding in found if finding.name is Name.UNCHECKED_LIMIT]
    assert any("no motion changes their distance: " in s and "and the floor" in s for s in sentences)


def test_unknown_names() -> None:
    assert "Unknown criterion 'logdet'. Did you mean 'log-det'" in told(lambda: design(criterion="logdet"))
    assert "Unknown base parameter 'ZZ9'" in told(lambda: design(essential=["ZZ9"]))
    assert "essential parameters is empty; name at least one" in told(lambda: design(essential=[]))


@pytest.mark.parametrize("noise", [NAN, -1.0, 0.0, [1.0, 2.0, 3.0], [1.0, NAN]])
def test_noise_that_is_none(noise: Any) -> None:
    assert told(lambda: design(noise=noise)) == (
        f"The noise is {noise}; give one positive number, or 2, one per axis."
    )


def test_logs_of_no_size_or_too_large() -> None:
    assert "rate_hz is nan and periods 1; give a positive rate" in told(lambda: DesignTask(rate_hz=NAN))
    assert "give a positive rate and at least one period" in told(lambda: DesignTask(periods=0))
    assert told(lambda: DesignTask(rate_hz=1e12)).startswith(
        "At 1e+12 Hz the log has 1e+13 samples of a motion"
    )
    assert "has 1 samples of a motion of 10 s; 8 coefficients per axis need 16" in told(
        lambda: DesignTask(rate_hz=0.1)
    )
    for samples in (3, 10**9):
        assert told(lambda n=samples: DesignTask(samples=n)).startswith(
            f"The criterion has {samples:.6g} samples"
        )  # type: ignore[misc]


def test_priors_that_do_not_fit() -> None:
    ones = np.ones(2)
    assert "has shape (3, 3), and the robot has 8 base parameters" in told(
        lambda: design(prior=PriorInformation(np.eye(3), ones, 100.0, "a log"))
    )
    assert "give a matrix that is symmetric, finite and not negative" in told(
        lambda: PriorInformation(np.full((8, 8), NAN), ones, 100.0, "a log")
    )
    assert "and a rate of 0 Hz" in told(lambda: PriorInformation(np.eye(8), ones, 0.0, "a log"))


def test_sizes_of_parameters_that_do_not_fit() -> None:
    assert told(lambda: design(criterion=AOptimal((1.0, 2.0)))).startswith("units has 2 entries, and 8 base")
    assert told(lambda: design(criterion=LogSigma((1.0,)))).startswith("weights has 1 entries, and 8 base")
    assert "give sizes that are finite and not zero" in told(lambda: AOptimal((1.0, 0.0)))
    assert "give numbers from 0, one of them above it" in told(lambda: LogSigma((-1.0, 2.0)))


def test_searches_that_cannot_begin() -> None:
    robot = load_robot("scara")
    assert told(lambda: design_motion(robot, starts=0)) == "0 starts were asked for; give at least 1."
    assert told(lambda: design_motion(robot, seed=-1)) == "The seed is -1; give a whole number from 0."
    assert "number of workers is 0; it must be at least 1" in told(lambda: design_motion(robot, workers=0))
    assert "takes a Solver or None for solver" in told(lambda: design_motion(robot, solver="barrier"))  # type: ignore[arg-type]
    assert "use load_robot for a name or file" in told(lambda: design_motion("tx90"))  # type: ignore[arg-type]
    spline = {"space": SplineSpace(), "conservative": True}
    assert "and the motion is a SplineSpace; ask for exact limits" in told(lambda: design(**spline))
    limits = LimitChoice(velocity=1.0)  # type: ignore[arg-type]
    assert "robots without coupled joints" in told(lambda: design("haptic", conservative=True, limits=limits))
